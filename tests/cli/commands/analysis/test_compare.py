import json
from pathlib import Path

from tests.cli.conftest import Command, Place

A, B = ["Paris", "London", "Rome", "Bern"], ["Paris", "Lyon", "Rome", "Basel"]


def suite(place: Place, name: str, answers: list[str]) -> str:
    """Write a suite of four capitals with recorded answers."""
    expected = ["Paris", "London", "Madrid", "Bern"]
    rows = "".join(
        f'{{"id": "c{n}", "capital": "{capital}"}}\n' for n, capital in enumerate(expected)
    )
    (place.folder / "cases.jsonl").write_text(rows)
    (place.folder / f"{name}.jsonl").write_text(
        "".join(f'{{"id": "c{n}", "output": "{one}"}}\n' for n, one in enumerate(answers))
    )
    file = place.folder / f"{name}.toml"
    file.write_text(
        f'name = "{name}"\n[dataset]\npath = "cases.jsonl"\n'
        f'[[targets]]\nkind = "replay"\nname = "model"\npath = "{name}.jsonl"\n'
        '[[scorers]]\nkind = "exact"\nexpected = "{{ capital }}"\n'
    )
    return str(file)


def test_two_runs_are_compared(place: Place, tui_eval: Command) -> None:
    for name, answers in (("before", A), ("after", B)):
        tui_eval("run", suite(place, name, answers))
    done = tui_eval("compare", "before", "after", "--json")
    assert done.code == 0
    document = json.loads(done.out)
    (row,) = document["rows"]
    assert (row["both"], row["worse"], row["better"], row["neither"]) == (1, 2, 0, 1)
    assert row["word"] == "unclear"
    assert [flip["case_id"] for flip in document["flips"]] == ["c1", "c3"]
    assert tui_eval("compare", "before", "after", "--fail-on", "worse").code == 0
    assert tui_eval("compare", "before", "after", "--fail-on", "unclear").code == 1
    text = tui_eval("compare", "before:model", "after:model").out
    assert "4 pairs, 2 differ" in text


def test_a_baseline_is_pinned_written_and_compared_with(place: Place, tui_eval: Command) -> None:
    file = suite(place, "before", A)
    assert tui_eval("baseline", "before").code == 2  # nothing has run yet
    tui_eval("run", file)
    run = json.loads(tui_eval("runs", "--json").out)[0]["run"]
    assert tui_eval("baseline", "before").out == "before has no baseline\n"
    assert tui_eval("baseline", file, run).out == f"{run} is the baseline of before\n"
    assert json.loads(tui_eval("baseline", "before", "--json").out)["baseline"] == run
    base = place.folder / "base.jsonl"
    tui_eval("baseline", "before", "--write", base)
    tui_eval("run", suite(place, "after", B))
    row = json.loads(tui_eval("compare", str(base), "after", "--json").out)
    assert row["a"] == {"run": "base.jsonl", "baseline": True, "finished": True}
    assert row["rows"][0]["worse"] == 2
    assert tui_eval("baseline", "before", "--off").out == "before has no baseline\n"


def test_what_cannot_be_a_baseline_is_refused(place: Place, tui_eval: Command) -> None:
    file = suite(place, "before", A)
    tui_eval("run", file, "--limit", "2")
    refused = tui_eval("baseline", "before", "last")
    assert refused.code == 2
    assert "a baseline is a whole run" in refused.err
    assert tui_eval("baseline", "after", "last").code == 2


def test_what_cannot_be_compared_is_said(place: Place, tui_eval: Command) -> None:
    tui_eval("run", suite(place, "before", A))
    assert "no target" in tui_eval("compare", "last:modell", "last").err
    assert "--row" in tui_eval("compare", "last", "last", "--row", "x").err
    base = Path(place.folder) / "base.jsonl"
    base.write_text("nothing")
    refused = tui_eval("compare", str(base), "last")
    assert refused.code == 2
    assert "line 1: is no line of a baseline file" in refused.err


def test_history_and_power_of_a_suite(place: Place, tui_eval: Command) -> None:
    file = suite(place, "before", A)
    tui_eval("run", file)
    suite(place, "before", B)
    tui_eval("run", file)
    document = json.loads(tui_eval("history", "before", "--json").out)
    assert [case["outcomes"] for case in document["cases"]] == [
        ["pass", "pass"],
        ["pass", "fail"],
        ["fail", "fail"],
        ["pass", "fail"],
    ]
    text = tui_eval("history", file).out
    assert "✓✗" in text
    assert "2 cases always came to the same" in text
    assert tui_eval("history", "before", "--flaky").out.endswith("no case is flaky\n")
    found = json.loads(tui_eval("power", "before", "--json").out)
    assert (found["psi"], found["psi_from"], found["present"]) == (0.5, "runs", 4)
    assert "4 cases can show a difference of 99.8 points" in tui_eval("power", file).out
    assert tui_eval("power", "nothing").code == 2
