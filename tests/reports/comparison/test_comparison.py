from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tests.reports.filled import CANCELLED, ERROR, FAIL, UNGRADED, Plan, Told, cases, fill
from tests.support import do, reading, writing
from tui_eval.model.case import Case
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.score import Grade, Score
from tui_eval.model.states import RunState
from tui_eval.reports.comparison.baseline.baseline_file import BaselineFile, baseline_lines
from tui_eval.reports.comparison.comparison import (
    ComparisonChoice,
    RunComparison,
    Word,
    compare,
)
from tui_eval.reports.comparison.comparison_document import comparison_document, row_document
from tui_eval.reports.comparison.pairing import NothingToPairError
from tui_eval.reports.comparison.side import RunSide
from tui_eval.reports.terminal.comparison_text import comparison_text
from tui_eval.reports.terminal.tables import AnsiStyle
from tui_eval.store import requests
from tui_eval.store.read import run_queries
from tui_eval.store.tx import Tx
from tui_eval.store.write.people import human_scores

GOOD, WRONG, UNSURE = Told(), Told(FAIL), Told(UNGRADED)
ALL = ComparisonChoice({})


@contextmanager
def sides(folder: Path, *plans: Plan) -> Iterator[tuple[RunSide, RunSide]]:
    store = folder / "store.db"
    runs = [fill(store, plan) for plan in plans]
    with reading(store) as db:
        first, second = (RunSide(db, run_queries.run(db, run)) for run in runs)
        yield first, second


def verdicts(passes: Sequence[bool], of: Sequence[Case] | None = None, **run: object) -> Plan:
    told = [GOOD if one else WRONG for one in passes]
    return Plan({"gpt": told}, of or cases(len(told)), run=run)


def compared(folder: Path, a: Plan, b: Plan, choice: ComparisonChoice = ALL) -> RunComparison:
    with sides(folder, a, b) as (one, other):
        return compare(one, other, choice)


def test_what_flipped_is_counted_and_named_with_what_got_worse_first(tmp_path: Path) -> None:
    a = verdicts([True, True, False, False, False])
    b = verdicts([True, False, True, True, False])
    found = compared(tmp_path, a, b)
    (row,) = found.rows
    assert (row.n, row.pairs.both, row.pairs.worse, row.pairs.better, row.pairs.neither) == (
        5,
        1,
        1,
        2,
        1,
    )
    assert (row.rate_a, row.rate_b) == (0.4, 0.6)
    assert row.difference is not None
    assert row.difference.diff == pytest.approx(0.2)
    assert row.difference.p == 1.0  # one against two
    assert row.difference.method == "newcombe, mcnemar-exact"
    assert row.word is Word.UNCLEAR
    assert [(flip.case_id, flip.a, flip.b) for flip in found.flips] == [
        ("case-1", 1.0, 0.0),
        ("case-2", 0.0, 1.0),
        ("case-3", 0.0, 1.0),
    ]


@pytest.mark.parametrize(
    ("a", "b", "word"),
    [
        (0, 40, Word.BETTER),
        (40, 0, Word.WORSE),
        (40, 40, Word.UNCLEAR),  # forty cases do not show that there is no difference
    ],
)
def test_words(tmp_path: Path, a: int, b: int, word: Word) -> None:
    found = compared(
        tmp_path, verdicts([n < a for n in range(40)]), verdicts([n < b for n in range(40)])
    )
    assert found.rows[0].word is word


def test_what_is_certainly_close_is_equivalent(tmp_path: Path) -> None:
    plan = verdicts([n % 2 == 0 for n in range(300)])
    assert compared(tmp_path, plan, plan).rows[0].word is Word.EQUIVALENT
    close = ComparisonChoice({}, margin=0.0005)
    assert compared(tmp_path, plan, plan, close).rows[0].word is Word.UNCLEAR


def test_cases_that_are_not_compared_are_counted(tmp_path: Path) -> None:
    changed = [*cases(6)]
    changed[1] = replace(changed[1], fields={"n": "another row"})
    a = Plan({"gpt": [GOOD, GOOD, UNSURE, ERROR, GOOD]}, cases(5))
    b = Plan({"gpt": [WRONG, GOOD, GOOD, GOOD, CANCELLED, GOOD]}, changed)
    (row,) = compared(tmp_path, a, b).rows
    assert (row.n, row.columns.changed, row.columns.only_a, row.columns.only_b) == (1, 1, 0, 1)
    assert (row.columns.left_out_a, row.columns.left_out_b, row.pairs.worse) == (2, 1, 1)


def test_a_row_whose_columns_stand_in_another_order_is_the_same(tmp_path: Path) -> None:
    a = verdicts([True], [Case(0, "case-0", {"n": 0, "q": "?"})])
    b = verdicts([True], [Case(0, "case-0", {"q": "?", "n": 0})])
    (row,) = compared(tmp_path, a, b).rows
    assert (row.n, row.columns.changed) == (1, 0)


def test_a_tag_or_a_recording_is_no_part_of_the_row(tmp_path: Path) -> None:
    case = Case(0, "case-0", {"n": 0})
    other = replace(case, tags=("new",), recorded={"gpt": {"output": "Paris"}})
    assert compared(tmp_path, verdicts([True], [case]), verdicts([True], [other])).rows[0].n == 1


def test_epochs_are_one_value_compared_by_t(tmp_path: Path) -> None:
    a = Plan({"gpt": [GOOD, WRONG] * 40}, cases(40), epochs=2)
    b = Plan({"gpt": [GOOD, GOOD] * 30 + [GOOD, WRONG] * 10}, cases(40), epochs=2)
    found = compared(tmp_path, a, b)
    (row,) = found.rows
    assert (row.rate_a, row.rate_b) == (0.5, 0.875)
    assert (row.pairs.better, row.pairs.both) == (30, 10)
    assert row.difference is not None
    assert row.difference.method == "paired-t"
    assert row.word is Word.BETTER
    assert comparison_document(found)["flips"] == [
        {"case_id": f"case-{n}", "row": 0, "from": 0.5, "to": "pass"} for n in range(30)
    ]


def test_a_case_of_any_name_is_told_by_it(tmp_path: Path) -> None:
    odd = [Case(0, "half \ud83d of it", {"n": 0}, ("odd \ud83d",)), *cases(2)[1:]]
    by_tag = ComparisonChoice({}, by="tag")
    found = compared(tmp_path, verdicts([True] * 2, odd), verdicts([False] * 2, odd), by_tag)
    assert [flip.case_id for flip in found.flips] == ["half \ud83d of it", "case-1"]
    assert list(found.groups) == ["odd \ud83d"]
    changed = [replace(odd[0], fields={"n": 7}), odd[1]]
    other = compared(tmp_path, verdicts([True] * 2, odd), verdicts([False] * 2, changed))
    assert other.rows[0].columns.changed == 1


def test_weights_count(tmp_path: Path) -> None:
    heavy = [replace(case, weight=3.0 if case.seq == 0 else 1.0) for case in cases(4)]
    a = verdicts([True, False, False, False], heavy)
    b = verdicts([False, True, True, False], heavy)
    (row,) = compared(tmp_path, a, b).rows
    assert row.difference is not None
    assert row.rate_a == 0.5
    assert row.rate_b == pytest.approx(1 / 3)
    assert row.difference.diff == pytest.approx(-1 / 6)


def test_groups_by_tag_have_p_values_that_hold_for_all_of_them(tmp_path: Path) -> None:
    tagged = [replace(case, tags=("even" if case.seq % 2 == 0 else "odd",)) for case in cases(60)]
    a = verdicts([False] * 60, tagged)
    b = verdicts([n % 2 == 0 for n in range(60)], tagged)
    found = compared(tmp_path, a, b, ComparisonChoice({}, by="tag"))
    even, odd = found.groups["even"][0], found.groups["odd"][0]
    assert (even.n, even.pairs.better, odd.pairs.better) == (30, 30, 0)
    assert even.difference is not None
    assert even.difference.p is not None
    assert even.p_holm == pytest.approx(2 * even.difference.p)
    assert (even.word, odd.word) == (Word.BETTER, Word.UNCLEAR)


def test_each_group_has_its_flips(tmp_path: Path) -> None:
    tagged = [replace(case, tags=("even" if case.seq % 2 == 0 else "odd",)) for case in cases(4)]
    a, b = verdicts([True, True, False, False], tagged), verdicts([True, False, True, True], tagged)
    found = compared(tmp_path, a, b, ComparisonChoice({}, by="tag"))
    assert {
        name: [(flip.case_id, flip.row, flip.b) for flip in flips]
        for name, flips in found.flips_of_groups.items()
    } == {"even": [("case-2", 0, 1.0)], "odd": [("case-1", 0, 0.0), ("case-3", 0, 1.0)]}
    by_scorer = compared(tmp_path, a, b, ComparisonChoice({}, by="scorer"))
    assert by_scorer.flips_of_groups == {"exact": by_scorer.flips}


def test_groups_by_scorer(tmp_path: Path) -> None:
    found = compared(
        tmp_path, verdicts([False] * 9), verdicts([True] * 9), ComparisonChoice({}, by="scorer")
    )
    (row,) = found.groups["exact"]
    assert (row.n, row.pairs.better) == (9, 9)
    one = compared(
        tmp_path, verdicts([False] * 9), verdicts([True] * 9), ComparisonChoice({}, "exact")
    )
    assert one.rows[0].pairs.better == 9


def test_a_scorer_that_a_run_has_not_is_named_with_those_that_it_has(tmp_path: Path) -> None:
    plan = verdicts([True] * 3)
    with pytest.raises(NothingToPairError, match='has no scorer "exakt"; it has exact'):
        compared(tmp_path, plan, plan, ComparisonChoice({}, "exakt"))


def test_clusters_widen_the_interval(tmp_path: Path) -> None:
    passages = [Case(n, f"case-{n}", {"n": n, "passage": n // 10}) for n in range(60)]
    a, b = verdicts([False] * 60, passages), verdicts([n < 20 for n in range(60)], passages)
    alone = compared(tmp_path, a, b).rows[0].difference
    one, other = (replace(plan, cluster="passage") for plan in (a, b))
    together = compared(tmp_path, one, other).rows[0].difference
    assert alone is not None
    assert together is not None
    assert together.clusters == 6
    assert together.diff == alone.diff
    assert together.stderr is not None
    assert alone.stderr is not None
    assert together.stderr > 2 * alone.stderr


def test_columns_of_one_name_belong_together_or_those_that_are_named(tmp_path: Path) -> None:
    a = Plan({"small": [GOOD], "large": [WRONG]}, cases(1))
    b = Plan({"large": [GOOD], "other": [WRONG]}, cases(1))
    with sides(tmp_path, a, b) as (one, other):
        assert [(row.columns.a, row.columns.b) for row in compare(one, other, ALL).rows] == [
            ("large", "large")
        ]
        named = ComparisonChoice({"small": "other"})
        assert [
            (row.columns.a, row.columns.b, row.pairs.worse)
            for row in compare(one, other, named).rows
        ] == [("small", "other", 1)]
        with pytest.raises(NothingToPairError, match='has no target "medium"; it has small, large'):
            compare(one, other, ComparisonChoice({"medium": "other"}))


def test_what_has_no_name_in_common_must_be_named(tmp_path: Path) -> None:
    a = Plan({"x": [GOOD], "y": [GOOD]}, cases(1))
    b = Plan({"v": [GOOD], "w": [GOOD]}, cases(1))
    with pytest.raises(NothingToPairError, match="--row X=Y"):
        compared(tmp_path, a, b)


def test_single_columns_are_compared_whatever_they_are_called(tmp_path: Path) -> None:
    a, b = Plan({"x": [GOOD]}, cases(1)), Plan({"v": [GOOD]}, cases(1))
    assert [(row.columns.a, row.columns.b) for row in compared(tmp_path, a, b).rows] == [("x", "v")]


def test_a_run_against_itself_shares_every_output(tmp_path: Path) -> None:
    plan = Plan({"gpt": [GOOD, WRONG, Told(text=None, grade=None)]}, cases(3))
    store = tmp_path / "store.db"
    run = fill(store, plan)
    with reading(store) as db:
        side = RunSide(db, run_queries.run(db, run))
        (row,) = compare(side, side, ALL).rows
    assert (row.n, row.columns.shared, row.pairs.worse, row.pairs.better) == (2, 2, 0, 0)


def test_outputs_are_shared_where_all_epochs_are_the_very_same(tmp_path: Path) -> None:
    failed = replace(ERROR)
    plan = Plan(
        {"gpt": [GOOD, WRONG, GOOD, failed, failed, failed]},
        cases(3),
        epochs=2,
        run={"errors": "fail"},
    )
    store = tmp_path / "store.db"
    run = fill(store, plan)
    with reading(store) as db:
        side = RunSide(db, run_queries.run(db, run))
        (row,) = compare(side, side, ALL).rows
    assert (row.n, row.columns.shared) == (3, 2)


def test_the_text_says_what_could_not_have_been_seen(tmp_path: Path) -> None:
    a = Plan({"gpt": [GOOD, WRONG, ERROR, GOOD]}, cases(4))
    b = Plan({"gpt": [WRONG, GOOD, GOOD, GOOD, GOOD]}, cases(5))
    text = comparison_text(compared(tmp_path, a, b), width=200, ink=AnsiStyle(False))
    assert "3 pairs, 2 differ: too few, a difference of any size may be missed" in text
    assert "1 case only in" in text
    assert "1 case without a result in" in text
    assert "pass → fail  case-0" in text


def test_the_document_and_the_text_say_the_same(tmp_path: Path) -> None:
    a, b = verdicts([False] * 40), verdicts([n < 30 for n in range(40)])
    found = compared(tmp_path, a, b)
    document = comparison_document(found)
    row = _rows(document)[0]
    assert row["word"] == "better"
    assert row["diff"] == 0.75
    text = comparison_text(found, width=200, ink=AnsiStyle(False))
    assert "+75.0" in text
    low, high = _numbers(row["diff_ci95"])
    assert f"[{low * 100:+.1f}, {high * 100:+.1f}]" in text


def _rows(document: JsonObject) -> list[JsonObject]:
    rows = document["rows"]
    assert isinstance(rows, list)
    return [row for row in rows if isinstance(row, dict)]


def _numbers(value: Json) -> list[float]:
    assert isinstance(value, list)
    return [one for one in value if isinstance(one, float)]


def test_what_is_not_finished_is_said(tmp_path: Path) -> None:
    so_far = Plan({"gpt": [GOOD] * 9, "llama": [WRONG] * 8 + [UNSURE]}, cases(9),
                  state=RunState.INTERRUPTED)  # fmt: skip
    with sides(tmp_path, verdicts([True] * 9), so_far) as (whole, other):
        found = compare(whole, other, ALL)
        columns = compare(other, other, ComparisonChoice({"gpt": "llama"}))
    document = comparison_document(found)
    assert [document[side]["finished"] for side in "ab"] == [True, False]  # type: ignore[index, call-overload]
    for of in (found, columns):
        text = comparison_text(of, width=200, ink=AnsiStyle(False))
        assert text.count(f"{other.name} not finished: so far") == 1
    assert "1 case without a result in llama" in text


def test_verdicts_by_hand_are_told(tmp_path: Path) -> None:
    """A person passes what the scorer failed on one side: the difference may be theirs."""
    with sides(tmp_path, verdicts([True, False, False]), verdicts([False] * 3)) as (a, b):
        with writing(tmp_path / "store.db") as db:
            trials = db.execute("SELECT id, output FROM trials WHERE run = ?", (b.run.id,))
            for trial, output in trials.fetchall()[:2]:
                do(db, partial(_pass_by_hand, run=b.run.id, trial=trial, output=output))
        found = compare(a, b, ALL)
        of_scorer = compare(a, b, ComparisonChoice({}, "exact"))
        file = tmp_path / "kept.jsonl"
        file.write_text("".join(baseline_lines(b)), "utf-8")
        against_file = compare(a, BaselineFile(file), ALL)
    for one in (found, of_scorer, against_file):
        (row,) = one.rows
        assert (row.columns.by_hand_a, row.columns.by_hand_b) == (0, 2)
        assert (row.rate_b, row.pairs.better) == (2 / 3, 1)
    text = comparison_text(found, width=200, ink=AnsiStyle(False))
    assert f"2 pairs graded by hand in {found.b.name}" in text
    assert "by hand on one side alone: the difference may be that of people and scorer" in text
    assert row_document(found.rows[0])["by_hand"] == {"a": 0, "b": 2}


def _pass_by_hand(tx: Tx, run: int, trial: int, output: int) -> None:
    request = requests.ask(tx, run, requests.Verb.GRADE)
    by_hand = Score("exact", Grade.of(True, "right"), source="human")
    assert human_scores.grade(tx, trial, output, by_hand, request) is None


def test_where_there_are_no_groups_it_is_said_why(tmp_path: Path) -> None:
    with sides(tmp_path, verdicts([True] * 3), verdicts([False] * 3)) as (a, b):
        file = tmp_path / "kept.jsonl"
        file.write_text("".join(baseline_lines(a)), "utf-8")
        of_file = compare(BaselineFile(file), b, ComparisonChoice({}, by="scorer"))
        by_tag = compare(a, b, ComparisonChoice({}, by="tag"))
        assert compare(a, b, ALL).why_no_groups is None
        assert compare(a, b, ComparisonChoice({}, by="scorer")).why_no_groups is None
    why = "no groups by scorer: kept.jsonl holds verdicts of cases and none of single scorers"
    assert comparison_document(of_file)["why_no_groups"] == why
    assert why in comparison_text(of_file, width=200, ink=AnsiStyle(False))
    assert by_tag.why_no_groups is not None
    assert "no case that is compared has a tag" in by_tag.why_no_groups
