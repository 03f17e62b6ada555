import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

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
from tui_eval.model.outputs.output import Failure, Usage
from tui_eval.model.states import RunState
from tui_eval.reports.results import results
from tui_eval.reports.terminal.summary import summary
from tui_eval.reports.terminal.tables import AnsiStyle
from tui_eval.store.read.consignment_queries import BulkProgress

WRONG = Told(FAIL)


def told(
    tmp_path: Path, plan: Plan, width: int = 200, colour: bool = False, groups: bool = False
) -> str:
    with filled(tmp_path / "store.db", plan) as (db, run):
        return summary(results(db, run), width=width, ink=AnsiStyle(colour), groups=groups)


def test_each_target_has_its_row_with_rate_interval_and_n(tmp_path: Path) -> None:
    text = told(tmp_path, Plan({"a": [Told()] * 10, "b": [WRONG] * 10}, cases(10)))
    (a,) = re.findall(r"^a \(simulated\) .*$", text, re.M)
    assert a.split()[2:5] == ["100.0%", "72.2–100.0%", "10"]
    (b,) = re.findall(r"^b \(simulated\) .*$", text, re.M)
    assert b.split()[2:5] == ["0.0%", "0.0–27.8%", "10"]


def test_what_was_left_out_stands_beside_n_with_the_range(tmp_path: Path) -> None:
    plan = Plan({"gpt": [Told(), WRONG, ERROR, CANCELLED, Told(UNGRADED)]}, cases(5))
    text = told(tmp_path, plan)
    assert (
        "left out of n: 1 errored, 1 ungraded, 1 cancelled; "
        "20.0% if all of it had failed, 80.0% if all had passed" in text
    )


def test_passes_of_which_nothing_was_required_are_said_in_one_line(tmp_path: Path) -> None:
    optional = Told(FAIL, required=False)
    none = told(tmp_path / "none", Plan({"a": [optional] * 3, "b": [optional] * 3}, cases(3)))
    assert none.count("nothing was required of the outputs, so every one passes") == 1
    (row,) = re.findall(r"^a \(simulated\) .*$", none, re.M)
    assert row.split()[2] == "100.0%"
    assert "0.00 " not in row  # there is no mean of scores that are not there
    some = told(tmp_path / "some", Plan({"a": [optional, Told(), Told()]}, cases(3)))
    assert "nothing was required of 1 output among those that pass" in some
    (row,) = re.findall(r"^a \(simulated\) .*$", some, re.M)
    assert "1.00" in row
    assert "nothing was required" not in told(tmp_path, Plan({"a": [Told(), WRONG]}, cases(2)))


def test_distinct_errors_are_named_with_their_counts(tmp_path: Path) -> None:
    other = Told(grade=None, failure=Failure("auth", "the key was refused"))
    text = told(tmp_path, Plan({"gpt": [ERROR, other, ERROR]}, cases(3)))
    assert "2 × timeout: no answer within 300 s" in text
    assert "1 × auth: the key was refused" in text
    assert "tui-eval retry capitals-" in text


def test_an_error_names_its_targets_where_there_are_several(tmp_path: Path) -> None:
    other = Told(grade=None, failure=Failure("auth", "the key was refused"))
    plan = Plan({"a": [ERROR, ERROR, other], "b": [ERROR, Told(), Told()]}, cases(3))
    text = told(tmp_path, plan)
    assert "    3 × timeout (a 2, b 1): no answer within 300 s" in text
    assert "    1 × auth (a): the key was refused" in text
    alone = told(tmp_path / "alone", Plan({"a": [ERROR]}, cases(1)))
    assert "    1 × timeout: no answer within 300 s" in alone


@pytest.mark.parametrize("width", range(40, 90, 7))
def test_errors_and_gate_break_only_between_words(tmp_path: Path, width: int) -> None:
    message = (
        "models.example: status 503 after 12,345 ms, request id req-0123456789-abcdef, 3.25 of 4"
    )
    failed = Told(grade=None, failure=Failure("server_error", message))
    plan = Plan(
        {"東京-model": [failed, WRONG], "b": [failed, WRONG]},
        cases(2),
        gate={"pass_rate": 0.98765, "max_error_rate": 0.0125},
    )
    text = told(tmp_path, plan, width=width)
    lines = text.splitlines()
    below = lines[lines.index("2 errors") :]
    assert all(cell_len(line) <= width for line in below if not line.startswith("tui-eval"))
    words = " ".join(below).split()
    for word in (*message.split(), "(東京-model", "98.765%,", "1.25%,"):
        assert word in words
    name = next(line for line in lines if "done after" in line).split()[0]
    assert any(line.startswith(f"tui-eval show {name} --failed") for line in below)


def test_an_unfinished_run_is_so_far_and_says_how_to_resume(tmp_path: Path) -> None:
    plan = Plan({"gpt": [Told(), OPEN]}, cases(2), state=RunState.INTERRUPTED)
    text = told(tmp_path, plan)
    assert "so far" in text
    assert "1 of 2 trials" in text
    assert "tui-eval resume capitals-" in text


@pytest.mark.parametrize(
    ("stopped_by", "hint"),
    [
        ("unknown_model", "\ntui-eval run 'evals/my suite.toml'"),
        ("max_cost_usd", " --max-cost USD  finish what is missing"),
        ("max_tokens", " --max-tokens N  finish what is missing"),
        ("max_errors", "  finish what is missing"),
    ],
)
def test_a_paused_run_says_what_goes_on_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stopped_by: str, hint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    run = fill(tmp_path / "store.db", Plan({"gpt": [ERROR, OPEN]}, cases(2), state=RunState.PAUSED))
    with closing(sqlite3.connect(tmp_path / "store.db")) as db, db:
        db.execute(
            "UPDATE runs SET stopped_by = ?, reason = 'so it was', path = ?",
            (stopped_by, str(tmp_path / "evals" / "my suite.toml")),
        )
    with reading(tmp_path / "store.db") as db:
        text = summary(results(db, run), width=200, ink=AnsiStyle(), groups=False)
    assert hint in text
    assert "so it was" in text
    assert ("tui-eval run" in text) == (stopped_by == "unknown_model")


def test_what_providers_have_in_bulk_is_told_while_it_is_under_way(tmp_path: Path) -> None:
    run = fill(tmp_path / "store.db", Plan({"gpt": [OPEN, OPEN]}, cases(2), state=RunState.PAUSED))
    with reading(tmp_path / "store.db") as db:
        of = results(db, run)
    of = replace(of, bulk=(BulkProgress(1, 0, 2, 1, None),))
    assert "\nbulk 1 of 2\n" in summary(of, width=200, ink=AnsiStyle())
    assert "bulk" not in summary(replace(of, bulk=()), width=200, ink=AnsiStyle())


def test_a_run_that_was_stopped_by_hand_needs_no_reason(tmp_path: Path) -> None:
    plan = Plan({"gpt": [Told(), OPEN]}, cases(2), state=RunState.INTERRUPTED)
    run = fill(tmp_path / "store.db", plan)
    with closing(sqlite3.connect(tmp_path / "store.db")) as db, db:
        db.execute("UPDATE runs SET stopped_by = 'person', reason = 'stopped'")
    with reading(tmp_path / "store.db") as db:
        text = summary(results(db, run), width=200, ink=AnsiStyle())
    assert "\nstopped" not in text


@pytest.mark.parametrize(("truncated", "said"), [("ungraded", True), ("grade", False)])
def test_answers_cut_short_come_with_what_to_do(tmp_path: Path, truncated: str, said: bool) -> None:
    plan = Plan(
        {"gpt": [Told(UNGRADED, finish_reason="length"), Told()]},
        cases(2),
        run={"truncated": truncated},
    )
    run = fill(tmp_path / "store.db", plan)
    with closing(sqlite3.connect(tmp_path / "store.db")) as db, db:
        db.execute("UPDATE columns SET kind = 'model', source = 'asked'")
    with reading(tmp_path / "store.db") as db:
        text = summary(results(db, run), width=80, ink=AnsiStyle())
    assert ("raise the limit in the target's params, or in its limits" in text) == said


def test_small_groups_show_counts_and_larger_ones_rates(tmp_path: Path) -> None:
    few, many = cases(24)[:4], cases(24)[4:]
    few = [type(case)(case.seq, case.id, {}, tags=("few",)) for case in few]
    many = [type(case)(case.seq, case.id, {}, tags=("many",)) for case in many]
    text = told(tmp_path, Plan({"gpt": [Told()] * 24}, [*few, *many]), groups=True)
    (row_few,) = re.findall(r"^few .*$", text, re.M)
    (row_many,) = re.findall(r"^many .*$", text, re.M)
    assert "%" not in row_few
    assert row_few.split()[2:] == ["few", "4", "0", "0", "0"]
    assert "few: under 20 cases, so counts and no rate" in text
    assert row_many.split()[2:4] == ["100.0%", "83.9–100.0%"]


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_a_narrow_terminal_folds_the_table_and_loses_nothing(tmp_path: Path, width: int) -> None:
    text = told(tmp_path, Plan({"a-rather-long-target-name": [Told()]}, cases(1)), width=width)
    table = [line for line in text.splitlines() if "a-rather" in line or "target" in line]
    assert all(cell_len(line) <= width for line in table)
    for figure in ("100.0%", "20.7–100.0%", "1.00", "0.50s", "10/5", "$0.0010"):
        assert figure in text


def test_tokens_that_nobody_counted_are_unknown(tmp_path: Path) -> None:
    plan = Plan({"gpt": [Told(usage=Usage())], "other": [Told(usage=Usage(10))]}, cases(1))
    text = told(tmp_path, plan)
    rows = re.findall("^(?:gpt|other) .*$", text, re.M)
    assert [re.findall(r"\S+/\S+", row) for row in rows] == [["–/–"], ["10/–"]]


def test_lines_beside_the_table_are_folded_between_words(tmp_path: Path) -> None:
    told_ = [Told(), WRONG, ERROR, CANCELLED, Told(UNGRADED)]
    plan = Plan({"gpt-with-a-long-name": told_, "other": told_}, cases(5), partial=True)
    wide, narrow = told(tmp_path / "wide", plan, width=400), told(tmp_path, plan, width=60)
    (line,) = [line for line in wide.splitlines() if line.startswith("other: left out")]
    assert len(line) > 60
    folded = narrow.splitlines()
    at = next(i for i, line in enumerate(folded) if line.startswith("other: left out"))
    assert all(cell_len(text) <= 60 for text in folded[: at + 3])
    assert line in " ".join(" ".join(text.split()) for text in folded[at : at + 4])


def test_colours_come_only_where_they_are_wanted(tmp_path: Path) -> None:
    plan = Plan({"gpt": [WRONG]}, cases(1), gate={"pass_rate": 0.5})
    assert "\x1b" not in told(tmp_path / "plain", plan)
    assert "\x1b[31mthe gate does not hold" in told(tmp_path / "colour", plan, colour=True)


def test_foreign_text_reaches_no_terminal_as_it_is(tmp_path: Path) -> None:
    bad = "\x1b]52;c;x\x07[/red]\u202e\n"
    plan = Plan(
        {f"t{bad}": [Told(grade=None, failure=Failure(f"k{bad}", f"m{bad}"))]},
        cases(1, tags=(f"tag{bad}",)),
    )
    text = told(tmp_path, plan, groups=True)
    assert not set(text) & {"\x1b", "\x07", "\u202e"}
    assert "[/red]" in text
