"""`check`, `export`, `init`, `schema`, `doctor`."""

import csv
import io
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest

from tests.cli.conftest import Command, Done, Place


def test_check_says_what_would_run_and_what_is_there(place: Place, tui_eval: Command) -> None:
    suite = place.suite(n=5, more="[run]\nepochs = 2")
    before = tui_eval("check", suite)
    assert before.code == 0
    assert "5 cases × 1 target × 2 epochs = 10 trials" in before.out
    assert "10 outputs to get: 0 reusable · 0 stale · 10 new\n" in before.out
    assert not place.store.exists()
    tui_eval("run", suite)
    assert "0 outputs to get: 10 reusable · 0 stale · 0 new\n" in tui_eval("check", suite).out
    (found,) = json.loads(tui_eval("check", suite, "--json").out)
    assert (found["reusable"], found["calls"], found["valid"]) == (10, 0, True)
    off = tui_eval("check", suite, "--set", "run.cache=false").out
    assert "10 outputs to get: 10 asked again · 0 stale · 0 new\n" in off
    assert "cache off: 10 outputs are there and asked for again\n" in off
    changed = ["--set", "prompt.user=So: {{ question }}"]
    (found,) = json.loads(tui_eval("check", suite, "--json", *changed).out)
    assert (found["reusable"], found["stale"], found["new"]) == (0, 10, 0)


def test_check_goes_on_after_a_bad_suite_and_exits_2(place: Place, tui_eval: Command) -> None:
    place.suite(name="good.toml")
    (place.folder / "bad.toml").write_text('name = "x"\nnonsense = 1\n[[cases]]\nid = "a"\n')
    done = tui_eval("check", "bad.toml", "good.toml")
    assert done.code == 2
    assert "bad.toml, line 2: nonsense: unknown key" in done.err
    assert "good.toml: sums is valid" in done.out
    bad, good = json.loads(tui_eval("check", "bad.toml", "good.toml", "--json").out)
    assert (bad["file"], bad["valid"], good["file"], good["valid"]) == (
        "bad.toml", False, "good.toml", True,
    )  # fmt: skip
    assert any("nonsense: unknown key" in mistake for mistake in bad["mistakes"])
    assert {*bad} == {"file", "valid", "mistakes"}


def test_check_counts_what_cannot_be_asked(place: Place, tui_eval: Command) -> None:
    suite = place.folder / place.suite(n=3)
    suite.write_text(suite.read_text() + '\n[[cases]]\nid = "odd"\nanswer = "1"\n')
    done = tui_eval("check", suite.name)
    assert done.code == 0
    assert "4 cases × 1 target × 1 epoch = 4 trials" in done.out
    assert "3 outputs to get: 0 reusable · 0 stale · 3 new · 1 broken\n" in done.out
    assert 'error in some cases: prompt.user: "question" is undefined' in done.out
    assert "(1 case: odd)" in done.out
    (found,) = json.loads(tui_eval("check", suite.name, "--json").out)
    assert (found["valid"], found["calls"], found["broken"]) == (True, 3, 1)


def test_check_speaks_of_calls_where_somebody_is_asked(place: Place, tui_eval: Command) -> None:
    done = tui_eval("check", place.asking("http://127.0.0.1:1/v1", n=2))
    assert "2 calls to make: 0 reusable · 0 stale · 2 new\n" in done.out


def test_check_of_what_is_not_there(place: Place, tui_eval: Command) -> None:
    done = tui_eval("check", "none.toml")
    assert (done.code, done.out) == (2, "")
    assert "none.toml: no such file or folder" in done.err


def test_check_of_a_folder_without_suites_says_so_and_looks_at_the_others(
    place: Place, tui_eval: Command
) -> None:
    (place.folder / "empty").mkdir()
    place.suite(name="good.toml")
    done = tui_eval("check", "empty", "none.toml", "good.toml")
    assert done.code == 2
    assert "empty: there is no suite in this folder; a suite is a .toml file" in done.err
    assert "none.toml: no such file or folder" in done.err
    assert "good.toml: sums is valid" in done.out
    listed = json.loads(tui_eval("check", "empty", "none.toml", "good.toml", "--json").out)
    assert [(one["file"], one["valid"]) for one in listed] == [
        ("empty", False),
        ("none.toml", False),
        ("good.toml", True),
    ]


def test_what_is_not_ready_is_told_of_each_suite_and_is_no_mistake(
    place: Place, tui_eval: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for name, provider in (
        ("model.toml", 'provider = "local"\nmodel = "models/x.gguf"'),
        ("key.toml", 'provider = "openai"\nmodel = "gpt-5-mini"'),
        ("cap.toml", 'base_url = "https://models.example/v1"\nmodel = "m"'),
    ):
        place.suite(name=name, more="[run]\nmax_cost_usd = 1.0" if name == "cap.toml" else "")
        path = place.folder / name
        text = path.read_text()
        made_up = text[text.index("[[targets]]") : text.index("[prompt]")]
        path.write_text(text.replace(made_up, f"[[targets]]\n{provider}\n\n"))
    place.suite(name="ready.toml")
    names = ["model.toml", "key.toml", "cap.toml", "ready.toml"]
    done = tui_eval("check", *names, "--json")
    found = {one["file"]: one for one in json.loads(done.out)}
    assert (done.code, [*found]) == (0, names)
    assert all(one["valid"] and one["trials"] == 4 for one in found.values())
    reasons = [found[name]["not_ready"] for name in names]
    assert [len(one) for one in reasons] == [1, 1, 1, 0]
    assert "there is no file" in reasons[0][0]
    assert "OPENAI_API_KEY is not set" in reasons[1][0]
    assert "max_cost_usd needs a known price" in reasons[2][0]
    assert (found["model.toml"]["calls"], found["key.toml"]["calls"]) == (None, 4)
    said = tui_eval("check", *names)
    assert said.code == 0
    assert said.out.count("not ready: ") == 3
    assert "how many calls that makes is unknown until it is ready" in said.out
    refused = [tui_eval("run", name) for name in names[:3]]
    assert [one.code for one in refused] == [2, 2, 2]
    assert all(why[0] in one.err for why, one in zip(reasons, refused, strict=False))
    assert not place.store.exists()


def test_check_estimates_tokens_and_money(place: Place, tui_eval: Command) -> None:
    suite = place.asking("http://127.0.0.1:9/v1", n=2)
    path = place.folder / suite
    more = "params = { max_tokens = 10 }\nprices = { input = 1.0, output = 100.0 }\n\n[prompt]"
    path.write_text(path.read_text().replace("\n[prompt]", more))
    (found,) = json.loads(tui_eval("check", suite, "--json").out)
    expected = found["expected"]["served"]
    assert expected["output_tokens"] == 20
    assert expected["output_tokens_at_most"] is True
    assert expected["cost_usd"] == pytest.approx((expected["input_tokens"] + 20 * 100) / 1e6)


def test_an_export_goes_to_stdout_or_into_a_file(place: Place, tui_eval: Command) -> None:
    tui_eval("run", place.suite(n=3))
    out = tui_eval("export", "last", "--format", "jsonl")
    assert [json.loads(line)["case_id"] for line in out.out.splitlines()] == [
        "case-0",
        "case-1",
        "case-2",
    ]
    assert tui_eval("export", "last", "--format", "jsonl", "-o", "x.jsonl") == Done(0, "", "")
    assert tui_eval("export", "last", "-o", "x.csv") == Done(0, "", "")
    assert (place.folder / "x.csv").read_text().startswith("run,")
    assert tui_eval("export", "last", "-o", "x.txt").code == 2
    assert Path("x.jsonl").read_text() == out.out
    rows = list(csv.DictReader(io.StringIO(tui_eval("export", "last", "--format", "csv").out)))
    assert [row["output"] for row in rows] == ["1", "2", "3"]


def test_an_export_that_cannot_be_written_says_so(place: Place, tui_eval: Command) -> None:
    tui_eval("run", place.suite())
    done = tui_eval("export", "last", "--format", "csv", "-o", "nowhere/x.csv")
    assert done == Done(2, "", "error: nowhere: no such folder\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device without space")
def test_an_export_without_room_says_so(place: Place, tui_eval: Command) -> None:
    tui_eval("run", place.suite())
    done = tui_eval("export", "last", "--format", "csv", "-o", "/dev/full")
    assert done == Done(2, "", "error: /dev/full: No space left on device\n")
    with Path("/dev/full").open("w") as full:
        asked = subprocess.run(
            [sys.executable, "-m", "tui_eval", "export", "last", "--format", "jsonl"],
            cwd=place.folder,
            env=place.environment,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert asked.returncode == 2
    assert asked.stderr == "error: the output could not be written: no space left on the device\n"


def test_the_first_suite_is_valid_and_runs(place: Place, tui_eval: Command) -> None:
    done = tui_eval("init", "mine")
    assert done.code == 0
    suite = next(line for line in done.out.splitlines() if line.endswith(".toml"))
    assert tui_eval("check", suite).code == 0
    assert tui_eval("run", suite, "--set", "targets.0.latency_s=0").code in (0, 1)


def test_init_touches_nothing_that_is_there(place: Place, tui_eval: Command) -> None:
    Path("suite.toml").write_text("mine")
    done = tui_eval("init")
    assert done.code == 2
    assert "suite.toml: there already" in done.err
    assert [path.name for path in place.folder.iterdir()] == ["suite.toml"]


def test_the_schema_stands_beside_a_first_suite(place: Place, tui_eval: Command) -> None:
    assert "suite.schema.json" in tui_eval("init", "mine").out
    first, _, rest = (place.folder / "mine" / "suite.toml").read_text().partition("\n")
    schema = json.loads((place.folder / "mine" / first.removeprefix("#:schema ./")).read_text())
    jsonschema.validate(tomllib.loads(rest), schema)

    (place.folder / "other").mkdir()
    own = place.folder / "other" / "suite.schema.json"
    own.write_text("{}")
    assert tui_eval("init", "other").code == 0
    assert own.read_text() == "{}"


def test_a_schema_goes_into_a_file_and_is_of_the_configuration_too(
    place: Place, tui_eval: Command
) -> None:
    assert tui_eval("schema", "-o", "s.json").out == ""
    assert (place.folder / "s.json").read_text() == tui_eval("schema").out
    schema = json.loads(tui_eval("schema", "--kind", "config").out)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate({"theme": "dark", "keymap": {"run.retry": "f5"}}, schema)
    for wrong in ({"theme": "drak"}, {"keymap": {"run.rety": "f5"}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)
    assert tui_eval("schema", "-o", "none/s.json").code == 2


def test_the_schema_is_one_and_accepts_a_suite(place: Place, tui_eval: Command) -> None:
    schema = json.loads(tui_eval("schema").out)
    jsonschema.Draft202012Validator.check_schema(schema)
    suite = tomllib.loads((place.folder / place.suite()).read_text())
    jsonschema.validate(suite, schema)


def test_the_doctor_names_keys_and_never_shows_them(
    place: Place, tui_eval: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-0001")
    done = tui_eval("doctor", "--json")
    found = json.loads(done.out)
    assert done.code == 0
    assert found["keys"]["OPENAI_API_KEY"] == "set"
    assert found["store"]["file"] == str(place.store)
    assert "secret" not in done.out
    assert "OPENAI_API_KEY" in tui_eval("doctor").out


def test_the_doctor_says_which_levels_of_isolation_work(
    tui_eval: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    for name, does in (("bwrap", "echo no namespace >&2; exit 1"), ("podman", "exit 0")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)
    found = json.loads(tui_eval("doctor", "--json").out)["isolation"]
    assert found["auto"] == ("none" if found["landlock"].startswith("this kernel") else "landlock")
    assert found["none"].startswith("works, but not without the network: nothing takes")
    assert found["bwrap"].startswith("no namespace: the kernel refuses user namespaces; allow")
    assert found["podman"] == "its engine answers; a run tries its image"
    assert "  bwrap                 no namespace" in tui_eval("doctor").out


def test_the_doctor_looks_at_a_damaged_store_without_touching_it(
    place: Place, tui_eval: Command
) -> None:
    place.store.write_bytes(b"this is no database, but it is long enough to look like one" * 100)
    before = place.store.read_bytes()
    found = json.loads(tui_eval("doctor", "--json").out)
    assert "damaged" in found["store"]["state"]
    assert place.store.read_bytes() == before


def test_doctor_says_whether_a_store_can_be_made_or_written(
    place: Place, tui_eval: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def state() -> str:
        found = json.loads(tui_eval("doctor", "--json").out)["store"]["state"]
        assert isinstance(found, str)
        return found

    def denied() -> str:
        with monkeypatch.context() as patch:
            patch.setattr("os.access", lambda _, mode: mode != os.W_OK)
            return state()

    assert state() == "not made yet; the first run makes it"
    assert denied() == f"not there, and cannot be made: {place.folder} may not be written to"
    tui_eval("run", place.suite())
    assert (state(), denied()) == ("fine", "may only be read, not written")
