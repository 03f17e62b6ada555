import json
import os
import re
import sqlite3
import subprocess
import sys
from typing import Any

import pytest

from tests.cli.conftest import Command, Done, Place
from tui_eval.store import schema


def test_runs_are_listed_newest_first(place: Place, tui_eval: Command) -> None:
    tui_eval("run", place.suite(), "--name", "the first")
    tui_eval("run", place.suite(), "--limit", "1")
    done = tui_eval("runs")
    newest, oldest = done.out.splitlines()[1:]
    assert "done, partial" in newest
    assert oldest.endswith("the first")
    assert "100.0%" in oldest
    assert len(tui_eval("runs", "--limit", "1").out.splitlines()) == 2


@pytest.mark.parametrize(
    "command",
    [
        ("runs",),
        ("show", "last"),
        ("check", "s.toml"),
        ("export", "last", "--format", "csv"),
        ("delete", "last", "--yes"),
    ],
)
def test_a_store_that_an_older_version_wrote_is_brought_up_to_date_by_whoever_reads_it(
    place: Place, tui_eval: Command, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    tui_eval("run", place.suite())

    def more(db: sqlite3.Connection) -> None:
        db.execute("CREATE TABLE more (a)")

    was = len(schema.MIGRATIONS)
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, more))
    done = tui_eval(*command)
    assert done.code == 0
    assert f"brought up to date for this tui-eval; what it was is kept as {place.store.name}" in (
        done.err
    )
    assert place.store.with_name(f"{place.store.name}.schema-{was}").exists()


def test_a_run_has_one_pass_rate_wherever_it_is_shown(place: Place, tui_eval: Command) -> None:
    suite = place.folder / place.suite(n=3, target="accuracy = 0.5", more="[run]\nepochs = 3")
    heavy = 'tags = ["sum"]\nweight = 7.5'
    suite.write_text(suite.read_text().replace('tags = ["sum"]', heavy, 1))
    tui_eval("run", suite.name)
    document = json.loads(tui_eval("show", "last", "--json").out)
    rate = document["targets"]["made-up"]["pass_rate"]
    assert rate != pytest.approx(document["counts"]["passed"] / 9, abs=1e-3)
    assert f" {rate:.1%} " in tui_eval("show", "last").out
    assert f" {rate:.1%} " in tui_eval("runs").out


def test_runs_as_json_are_documents_without_scorers_and_tags(
    place: Place, tui_eval: Command
) -> None:
    tui_eval("run", place.suite())
    (whole,) = json.loads(tui_eval("runs", "--json").out)
    document = json.loads(tui_eval("show", "last", "--json").out)
    assert {*document} - {*whole} == {"scorers", "tags", "baseline"}
    for column in document["targets"].values():
        del column["vs_baseline"]
    assert {name: document[name] for name in whole} == whole


def test_without_a_store_the_list_is_empty(place: Place, tui_eval: Command) -> None:
    assert tui_eval("runs", "--json") == Done(0, "[]\n", "")
    assert tui_eval("runs").out == ""
    assert not place.store.exists()


def test_show_gives_the_same_document_as_run(place: Place, tui_eval: Command) -> None:
    ran = json.loads(tui_eval("run", place.suite(), "--json").out)
    assert json.loads(tui_eval("show", ran["run"], "--json").out) == ran
    assert json.loads(tui_eval("show", ran["run"][:6], "--json").out) == ran


def test_failures_are_told_with_their_reasons(place: Place, tui_eval: Command) -> None:
    tui_eval("run", place.suite(n=10, target="accuracy = 0.5"))
    whole: dict[str, Any] = json.loads(tui_eval("show", "last", "--failed", "--json").out)
    failed = [trial["case_id"] for trial in whole["trials"]]
    assert len(failed) == whole["counts"]["failed"] > 0
    told = tui_eval("show", "last", "--failed").out.splitlines()
    assert [line.split()[0] for line in told] == failed
    assert all('got "wrong"' in line for line in told)


def test_where_nothing_failed_it_says_so_and_what_else_did_not_pass(
    place: Place, tui_eval: Command
) -> None:
    tui_eval("run", place.suite(n=3))
    assert tui_eval("show", "last", "--failed") == Done(0, "", "nothing failed of 3 trials\n")
    tui_eval("run", place.suite(n=3, target="faults = { empty = 1.0 }"), "--fresh")
    done = tui_eval("show", "last", "--failed")
    assert (done.code, done.out) == (0, "")
    assert re.match("nothing failed of 3 trials; 3 (errored|ungraded): `tui-eval show ", done.err)


def test_errors_and_what_is_ungraded_are_told_with_their_reasons(
    place: Place, tui_eval: Command
) -> None:
    tui_eval("run", place.suite(n=3, target="faults = { empty = 1.0 }"))
    found = [tui_eval("show", "last", which) for which in ("--errors", "--ungraded")]
    listed, none = sorted(found, key=lambda done: not done.out)
    assert [line.split()[0] for line in listed.out.splitlines()] == ["case-0", "case-1", "case-2"]
    assert all(": " in line for line in listed.out.splitlines())
    assert re.match("nothing (errored|is ungraded) of 3 trials; 3 ", none.err)
    both = ("show", "last", "--errors", "--ungraded", "--failed")
    assert tui_eval(*both).out == listed.out
    whole = json.loads(tui_eval(*both, "--json").out)
    assert [trial["case_id"] for trial in whole["trials"]] == ["case-0", "case-1", "case-2"]
    refused = tui_eval("show", "last", "--case", "case-0", "--errors")
    assert (refused.code, "--case and --errors exclude" in refused.err) == (2, True)


def test_one_case_is_told_in_full(place: Place, tui_eval: Command) -> None:
    tui_eval("run", place.suite())
    told = tui_eval("show", "last", "--case", "case-1").out
    for part in (
        "case case-1 of sums-",
        "made-up  pass, score 1.00",
        "question: 1 + 1?",
        "user\n    1 + 1?",
        "output\n    2",
    ):
        assert part in told
    assert "exact: pass 1.00" in told
    assert "attempt 1 answered" in told
    whole = json.loads(tui_eval("show", "last", "--case", "case-1", "--json").out)
    assert [trial["output"] for trial in whole["trials"]] == ["2"]


def test_several_cases_are_told_one_after_the_other(place: Place, tui_eval: Command) -> None:
    tui_eval("run", place.suite())
    words = ["show", "last", "--case", "case-2", "--case", "case-0", "--case", "case-2"]
    told = tui_eval(*words).out
    assert told.index("case case-2 of") < told.index("\n\ncase case-0 of")
    assert told.count("case case-2 of") == 1
    whole = json.loads(tui_eval(*words, "--json").out)
    assert [trial["case_id"] for trial in whole["trials"]] == ["case-2", "case-0"]


def test_no_escape_sequence_of_an_output_reaches_the_terminal(
    place: Place, tui_eval: Command
) -> None:
    suite = place.suite(n=1)
    bad = "\\u001b]52;c;aGk=\\u0007\\u202e[/b]"
    text = (place.folder / suite).read_text()
    text = text.replace('"1 + 1?"', "x").replace('answer = "1"', f'answer = "{bad}"')
    (place.folder / suite).write_text(text.replace('id = "case-0"', f'id = "c{bad}"'))
    ran = tui_eval("run", suite, "--set", "scorers.exact.expected=other")
    assert ran.code == 0
    case = json.loads(tui_eval("export", "last", "--format", "jsonl").out)["case_id"]
    for words in (["--failed"], ["--case", case], ["--json"], ["--json", "--failed"], []):
        done = tui_eval("show", "last", *words)
        assert done.code == 0
        assert not set(done.out + done.err) & {"\x1b", "\x07", "\u202e"}


@pytest.mark.parametrize(
    "words", [["show", "last"], ["export", "last", "--format", "jsonl"], ["runs", "--json"]]
)
def test_a_reader_that_has_gone_is_no_mistake(
    place: Place, tui_eval: Command, words: list[str]
) -> None:
    tui_eval("run", place.suite())
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "tui_eval", *words],
        cwd=place.folder,
        env=place.environment,
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")
