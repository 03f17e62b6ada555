"""Each format read by what it is for, with every hostile text that there is."""

import json
import re
import xml.parsers.expat
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import html5lib
import junitparser
import pyarrow.parquet as pq
import pytest
from markdown_it import MarkdownIt

from tests import hostile
from tests.reports.filled import (
    CANCELLED,
    ERROR,
    FAIL,
    OPEN,
    UNGRADED,
    Plan,
    Told,
    cases,
    fill,
    filled,
)
from tests.support import reading
from tui_eval.model.case import Case
from tui_eval.model.score import Grade
from tui_eval.model.visible import visible
from tui_eval.reports.comparison.baseline.base import base_of
from tui_eval.reports.comparison.side import RunSide
from tui_eval.reports.exports.export_choice import ExportChoice
from tui_eval.reports.exports.foreign_text import markup_text
from tui_eval.reports.exports.format_names import ENDINGS
from tui_eval.reports.exports.formats import FORMATS, format_of
from tui_eval.reports.exports.whole_file import to_file
from tui_eval.store.read import run_queries
from tui_eval.store.write.baseline_writes import BaseChoice

HOSTILE = hostile.outputs()
MIXED = Plan(
    {
        "small": [Told(), Told(FAIL), ERROR, CANCELLED, Told(UNGRADED), OPEN],
        "large": [Told(), Told(), Told(FAIL), Told(), Told(), Told()],
    },
    cases(6, tags=("europe",)),
)
CHOICE = ExportChoice()


def hostile_plan() -> Plan:
    """Make a run in which everything that others say is hostile."""
    told = [Told(Grade.of(False, text), text) for text in HOSTILE]
    of = [Case(n, f"{n} {text[:200]}", {"n": text}) for n, text in enumerate(HOSTILE)]
    return Plan({"gpt": told}, of)


def exported(folder: Path, plan: Plan, name: str, choice: ExportChoice = CHOICE) -> Path:
    file = folder / f"out{ENDINGS[name] or ''}"
    with filled(folder / "store.db", plan) as (db, run):
        to_file(file, FORMATS[name](db, run_queries.run(db, run), choice))
    return file


@pytest.fixture(scope="module")
def harm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a store with a run full of hostile texts."""
    folder = tmp_path_factory.mktemp("hostile")
    fill(folder / "store.db", hostile_plan())
    return folder


@contextmanager
def written(folder: Path, name: str, choice: ExportChoice = CHOICE) -> Iterator[Path]:
    file = folder / f"{name}{ENDINGS[name] or ''}"
    with reading(folder / "store.db") as db:
        to_file(file, FORMATS[name](db, run_queries.run(db, 1), choice))
    yield file


def test_every_format_has_a_name_and_an_ending_says_one() -> None:
    assert [*FORMATS] == [*ENDINGS]
    for name, ending in ENDINGS.items():
        if ending is not None:
            assert format_of(Path(f"Report{ending.upper()}")) == name
    assert format_of(Path("report.json")) is None


def test_a_suite_of_junit_is_a_column_and_drops_no_trial(tmp_path: Path) -> None:
    file = exported(tmp_path, MIXED, "junit")
    small, large = junitparser.JUnitXml.fromfile(str(file))
    assert (small.name, small.tests, small.failures) == ("capitals.small", 6, 1)
    assert (small.errors, small.skipped) == (1, 3)
    assert (large.tests, large.failures, large.errors, large.skipped) == (6, 1, 0, 0)
    told = {one.name: [(type(r).__name__, r.message) for r in one.result] for one in small}
    assert told == {
        "case-0": [],
        "case-1": [("Failure", "exact: expected 'Paris', got 'London'")],
        "case-2": [("Error", "timeout: no answer within 300 s")],
        "case-3": [("Skipped", "it was cancelled")],
        "case-4": [("Skipped", "exact: the output was cut short")],
        "case-5": [("Skipped", "it is queued")],
    }
    figures = {one.name: one.value for one in small.properties()}  # type: ignore[no-untyped-call]
    assert (figures["n"], figures["pass_rate"]) == ("2", "0.5")


def test_junit_of_hostile_texts_is_xml_and_shows_them(harm: Path) -> None:
    with written(harm, "junit") as file:
        text: list[str] = []
        reader = xml.parsers.expat.ParserCreate()
        reader.CharacterDataHandler = text.append
        reader.Parse(file.read_bytes(), True)
        (suite,) = junitparser.JUnitXml.fromfile(str(file))
    assert suite.tests == len([*suite]) == len(HOSTILE)
    assert "\x1b" not in "".join(text)


ALLOWED = {
    "": {"reportFormat", "specVersion", "reportId", "timestamp", "generatedBy", "results",
         "baseline"},
    "results": {"tool", "summary", "tests", "environment", "extra"},
    "summary": {"tests", "passed", "failed", "skipped", "pending", "other", "flaky", "suites",
                "start", "stop"},
    "test": {"name", "status", "duration", "suite", "message", "rawStatus", "tags", "retries",
             "flaky", "stdout", "extra"},
}  # fmt: skip
"""What version 1.0.0 of the specification knows; it forbids all other names."""


def ctrf(file: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(file.read_text("utf-8"))
    results = report["results"]
    assert set(report) <= ALLOWED[""]
    assert set(results) <= ALLOWED["results"]
    assert set(results["summary"]) == ALLOWED["summary"]
    assert all(isinstance(value, int) for value in results["summary"].values())
    statuses = Counter(test["status"] for test in results["tests"])
    for status in ("passed", "failed", "skipped", "pending", "other"):
        assert results["summary"][status] == statuses[status]
    assert results["summary"]["tests"] == len(results["tests"])
    for test in results["tests"]:
        assert set(test) <= ALLOWED["test"]
        assert test["name"]
        assert isinstance(test["duration"], int)
    return report


def test_ctrf_says_what_each_trial_came_to(tmp_path: Path) -> None:
    results = ctrf(exported(tmp_path, MIXED, "ctrf"))["results"]
    small = [test for test in results["tests"] if test["suite"][1] == "small"]
    assert [(test["status"], test["rawStatus"]) for test in small] == [
        ("passed", "pass"),
        ("failed", "fail"),
        ("failed", "error"),
        ("skipped", "cancelled"),
        ("other", "ungraded"),
        ("pending", "open"),
    ]


def test_ctrf_calls_epochs_that_differ_flaky(tmp_path: Path) -> None:
    plan = Plan({"gpt": [Told(), Told(FAIL), Told(), Told()]}, cases(2), epochs=2)
    tests = ctrf(exported(tmp_path, plan, "ctrf"))["results"]["tests"]
    assert [(test["name"], test["flaky"]) for test in tests] == [
        ("case-0", True),
        ("case-0#2", True),
        ("case-1", False),
        ("case-1#2", False),
    ]


def test_ctrf_names_the_base(tmp_path: Path) -> None:
    first = fill(tmp_path / "store.db", MIXED)
    with reading(tmp_path / "store.db") as db:
        base = run_queries.run(db, first).name
    plan = Plan(MIXED.told, MIXED.cases, base=BaseChoice(base, first))
    one = ctrf(exported(tmp_path, MIXED, "ctrf"))
    two = ctrf(exported(tmp_path, plan, "ctrf"))
    assert "baseline" not in one
    assert two["baseline"]["source"] == base


def test_ctrf_takes_hostile_texts(harm: Path) -> None:
    with written(harm, "ctrf") as file:
        assert len(ctrf(file)["results"]["tests"]) == len(HOSTILE)


def page(file: Path) -> Any:
    text = file.read_text("utf-8")
    found = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(text)
    for element in found.iter():
        assert not [name for name in element.attrib if str(name).startswith("on")]
        assert "style" not in element.attrib  # its policy forbids them
        assert not {"src", "href", "action"} & {*map(str, element.attrib)}
    assert len([*found.iter("script")]) == 1
    return found


def trials(found: Any) -> list[Any]:
    return [one for one in found.iter("details") if "trial" in one.get("class", "").split()]


def test_the_page_has_failures_first_and_counts_what_it_leaves_out(tmp_path: Path) -> None:
    found = page(exported(tmp_path, MIXED, "html", ExportChoice(rows=5)))
    assert [one.get("data-outcome") for one in trials(found)] == [
        *("fail", "error", "fail", "ungraded", "pass"),
    ]
    said, left = (one for one in found.iter("p") if one.get("class") == "left-out")
    assert "".join(said.itertext()).startswith("5 of 12 trials, failures first")
    assert "".join(left.itertext()).startswith("Not on this page: 5 pass, 1 cancelled, 1 open")


def test_the_page_shows_hostile_texts_and_does_nothing_that_they_say(harm: Path) -> None:
    with written(harm, "html", ExportChoice(rows=10_000)) as file:
        found = page(file)
    shown = trials(found)
    assert len(shown) == len(HOSTILE)
    outputs = [list(one.iter("pre")) for one in shown]
    for text, blocks in zip(HOSTILE, outputs, strict=True):
        if len(text) < 20_000:
            seen = {"".join(block.itertext()).lstrip("\n") for block in blocks}
            assert not text or markup_text(text).lstrip("\n") in seen


def test_the_policy_allows_the_script_and_the_styles_of_the_page(tmp_path: Path) -> None:
    text = exported(tmp_path, MIXED, "html").read_text("utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    assert "default-src &#39;none&#39;" in policy[1]
    assert policy[1].count("sha256-") == 2


OURS = re.compile(r"<!-- tui-eval [\w.-]* -->\s*|</?(details|summary)>.*", re.DOTALL)


def test_a_comment_has_a_mark_and_no_more_characters_than_it_may(harm: Path) -> None:
    for most in (2_000, 60_000):
        with written(harm, "markdown", ExportChoice(chars=most)) as file:
            text = file.read_text("utf-8")
        assert text.startswith("<!-- tui-eval capitals -->\n")
        assert len(text) <= most
        tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(text)
        inline = [child for token in tokens for child in token.children or ()]
        assert {token.type for token in inline} <= {
            "text",
            "code_inline",
            "softbreak",
            "html_inline",
        }
        html = [token.content for token in (*tokens, *inline) if token.type.startswith("html")]
        assert all(OURS.fullmatch(one) for one in html)


def test_a_comment_lists_what_flipped(tmp_path: Path) -> None:
    first = fill(tmp_path / "store.db", Plan({"gpt": [Told(), Told(FAIL)]}, cases(2)))
    with reading(tmp_path / "store.db") as db:
        base = run_queries.run(db, first).name
    plan = Plan({"gpt": [Told(FAIL), Told()]}, cases(2), base=BaseChoice(base, first))
    text = exported(tmp_path, plan, "markdown").read_text("utf-8")
    assert f"Against `{base}`:" in text
    assert "- pass → fail: `case-0`\n- fail → pass: `case-1`\n" in text


def test_a_report_compares_with_what_is_named(tmp_path: Path) -> None:
    fill(tmp_path / "store.db", Plan({"gpt": [Told(), Told(FAIL)]}, cases(2)))
    second = fill(tmp_path / "store.db", Plan({"gpt": [Told(FAIL), Told()]}, cases(2)))
    with reading(tmp_path / "store.db") as db:
        run, other = run_queries.run(db, second), run_queries.run(db, 1)
        choice = ExportChoice(base=base_of(RunSide(db, other)))
        text = "".join(map(str, FORMATS["markdown"](db, run, choice)))
    assert f"Against `{other.name}`:" in text


COMMAND = re.compile(r"::(error|warning) title=[^:,\r\n]*::[^\r\n]*")


def test_annotations_are_ten_of_a_kind_at_most(
    harm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    errors = [Told(grade=None, failure=ERROR.failure)] * 12
    plan = Plan({"gpt": [*errors, *[Told(FAIL)] * 4]}, cases(16), gate={"pass_rate": 0.9})
    lines = exported(tmp_path, plan, "github").read_text("utf-8").splitlines()
    assert all(COMMAND.fullmatch(line) for line in lines)
    assert Counter(line.split(" ")[0] for line in lines) == {"::error": 1, "::warning": 10}
    assert "the gate does not hold" in lines[0]
    assert (tmp_path / "summary.md").read_text("utf-8").startswith("<!-- tui-eval capitals -->")


def test_annotations_of_hostile_texts_are_commands_of_ours_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    told = [Told(Grade.ungraded(text), text) for text in HOSTILE]
    of = [Case(n, f"{n} {text[:200]}", {}) for n, text in enumerate(HOSTILE)]
    for part in range(0, len(HOSTILE), 10):
        folder = tmp_path / str(part)
        folder.mkdir()
        here = [Case(n, one.id, {}) for n, one in enumerate(of[part : part + 10])]
        plan = Plan({"gpt": told[part : part + 10]}, here)
        for line in exported(folder, plan, "github").read_text("utf-8").split("\n")[:-1]:
            assert COMMAND.fullmatch(line)


def test_parquet_has_types_and_nested_scores(tmp_path: Path) -> None:
    table = pq.read_table(exported(tmp_path, MIXED, "parquet"))
    rows = table.to_pylist()
    assert len(rows) == 12
    assert str(table.schema.field("latency_s").type) == "double"
    first = next(row for row in rows if row["case_id"] == "case-1" and row["target"] == "small")
    assert (first["verdict"], first["score"], first["tags"]) == ("fail", 0.0, ["europe"])
    assert [(one["scorer"], one["verdict"]) for one in first["scores"]] == [("exact", "fail")]
    assert json.loads(first["case"]) == {"n": 1}


def test_parquet_keeps_hostile_texts_but_for_what_utf8_cannot_hold(harm: Path) -> None:
    with written(harm, "parquet") as file:
        outputs = pq.read_table(file, columns=["output"]).column("output").to_pylist()
    for text, kept in zip(HOSTILE, outputs, strict=True):
        assert kept == re.sub("[\ud800-\udfff]", lambda found: visible(found[0]), text)


def test_parquet_has_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui_eval.reports.exports.parquet.GROUP", 4)
    monkeypatch.setattr("tui_eval.reports.exports.parquet._BATCH", 2)
    file = pq.ParquetFile(exported(tmp_path, MIXED, "parquet"))
    assert [file.metadata.row_group(n).num_rows for n in range(3)] == [4, 4, 4]


def test_long_texts_end_a_row_group_before_it_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = pq.ParquetFile(exported(tmp_path / "whole", MIXED, "parquet"))
    assert whole.metadata.num_row_groups == 1
    monkeypatch.setattr("tui_eval.reports.exports.parquet.GROUP_BYTES", 1)
    monkeypatch.setattr("tui_eval.reports.exports.parquet._BATCH", 3)
    file = pq.ParquetFile(exported(tmp_path / "cut", MIXED, "parquet"))
    assert {file.metadata.row_group(n).num_rows for n in range(4)} == {3}
    column = "case_id"
    assert file.read()[column].to_pylist() == whole.read()[column].to_pylist()


@pytest.mark.parametrize("name", ["jsonl", "junit", "ctrf", "parquet"])
def test_only_failures_of_a_target_where_that_is_asked_for(tmp_path: Path, name: str) -> None:
    file = exported(tmp_path, MIXED, name, ExportChoice(failed=True, target="small"))
    count: dict[str, Callable[[], int]] = {
        "jsonl": lambda: len(file.read_text("utf-8").splitlines()),
        "junit": lambda: sum(one.tests for one in junitparser.JUnitXml.fromfile(str(file))),
        "ctrf": lambda: len(ctrf(file)["results"]["tests"]),
        "parquet": lambda: pq.ParquetFile(file).metadata.num_rows,
    }
    assert count[name]() == 1
