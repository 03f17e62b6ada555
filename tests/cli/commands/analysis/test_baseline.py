"""`run --baseline`: what is refused before anything is asked, and what is kept."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command, Place, document


def ran(tui_eval: Command, *arguments: str) -> str:
    return str(document(tui_eval("run", *arguments, "--json"))["run"])


def test_a_run_keeps_the_run_it_was_launched_with(place: Place, tui_eval: Command) -> None:
    before = ran(tui_eval, place.suite(n=6))
    worse = place.suite(n=6, target="accuracy = 0.0")
    whole = document(tui_eval("run", worse, "--baseline", before, "--json", "--fresh"))
    row = whole["targets"]["made-up"]["vs_baseline"]
    assert whole["baseline"] == {"name": before, "run": before, "why": None, "scorers_differ": []}
    assert (row["n"], row["worse"], row["better"]) == (6, 6, 0)
    (compared,) = json.loads(tui_eval("compare", before, whole["run"], "--json").out)["rows"]
    assert row == compared
    place.suite(n=6)
    tui_eval("rescore", "last", "--suite", "s.toml")
    assert document(tui_eval("show", "last", "--json"))["baseline"]["run"] == before


def test_a_file_that_is_gone_since_still_counts(place: Place, tui_eval: Command) -> None:
    suite = place.suite(n=6)
    ran(tui_eval, suite)
    assert tui_eval("baseline", "sums", "last", "--write", "base.jsonl").code == 0
    run = ran(tui_eval, suite, "--baseline", "base.jsonl")
    Path("base.jsonl").unlink()
    found = document(tui_eval("show", run, "--json"))
    assert found["baseline"] == {
        "name": "base.jsonl",
        "run": None,
        "why": None,
        "scorers_differ": [],
    }
    assert found["targets"]["made-up"]["vs_baseline"]["both"] == 6


@pytest.mark.parametrize(
    ("named", "says"),
    [
        ("nothing-here", "no run is called 'nothing-here'"),
        ("no-base.jsonl", "line 1: is no line of a baseline file"),
        ("another.jsonl", "no case of sums is one of another.jsonl's"),
        ("columns.jsonl", "no target is one of columns.jsonl's, which has big, small"),
    ],
)
def test_what_cannot_be_compared_starts_nothing(
    place: Place, tui_eval: Command, named: str, says: str
) -> None:
    def lines(*columns: str) -> str:
        return "".join(
            json.dumps({"column": one, "case_id": "x", "digest": "00", "verdict": "pass"}) + "\n"
            for one in columns
        )

    Path("no-base.jsonl").write_text('{"verdict": NaN}\n')
    Path("another.jsonl").write_text(lines("gpt"))
    Path("columns.jsonl").write_text(lines("big", "small"))
    suite = place.suite()
    ran(tui_eval, suite, "--limit", "1")
    refused = tui_eval("run", suite, "--baseline", named)
    assert (refused.code, says in refused.err) == (2, True), refused.err
    partial = tui_eval("run", suite, "--baseline", "last")
    assert "a baseline is a whole run" in partial.err
    assert len(json.loads(tui_eval("runs", "--json").out)) == 1


def test_one_baseline_is_about_one_suite(place: Place, tui_eval: Command) -> None:
    both = (place.suite(), place.suite(name="t.toml"))
    assert "name one" in tui_eval("run", *both, "--baseline", "last").err


def test_a_gate_without_a_baseline_is_told_before_and_passes(
    place: Place, tui_eval: Command
) -> None:
    gate = "[gate.baseline]\nmax_drop = 0.1\n"
    suite = place.suite(more=gate)
    (looked,) = json.loads(tui_eval("check", suite, "--json").out)
    assert looked["baseline"] is None
    assert "[gate.baseline]: sums has no baseline" in looked["warnings"][0]
    done = tui_eval("run", suite)
    assert (done.code, "note: [gate.baseline]" in done.err) == (0, True)
    assert "but against the baseline it is unclear" in done.out
    run = json.loads(tui_eval("runs", "--json").out)[0]["run"]
    tui_eval("baseline", "sums", run)
    assert f"compared with {run}, its baseline" in tui_eval("check", suite).out
    assert tui_eval("run", place.suite(more=f'{gate}unclear = "fail"')).code == 1  # 4 cases
