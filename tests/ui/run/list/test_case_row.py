"""The rows of a list by case."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support import reading
from tests.ui.playing import plain_run
from tui_eval.model.states import TrialState, Verdict
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.rows import TrialRow
from tui_eval.store.search.case_conditions import EarlierResult
from tui_eval.ui.run.list.case_row import CaseLayout, case_cell, case_mark, short_names, telling
from tui_eval.ui.theme.glyphs import ASCII, UNICODE


@pytest.fixture
def trial(store: Path) -> TrialRow:
    made = plain_run(store, 1, failing=())
    with reading(store) as db:
        found = trial_rows.trial(db, made.trials[0])
    assert found is not None
    return found


def fates(trial: TrialRow, said: str) -> list[TrialRow]:
    """Give epochs that came to this: passed, failed, ungraded, in error, running, queued."""
    verdicts = {"p": Verdict.PASS, "f": Verdict.FAIL, "u": Verdict.UNGRADED}
    states = {"e": TrialState.ERROR, "r": TrialState.RUNNING, "q": TrialState.QUEUED}
    return [
        replace(trial, epoch=at, state=states.get(one, TrialState.DONE), verdict=verdicts.get(one))
        for at, one in enumerate(said)
    ]


@pytest.mark.parametrize(
    ("said", "mark"),
    [
        ("p", ("✓", "pass")),
        ("f", ("✗", "fail")),
        ("e", ("!", "error")),
        ("r", ("…", "accent")),
        ("ppp", ("3/3", "pass")),
        ("pfp", ("2/3", "ungraded")),
        ("fff", ("0/3", "fail")),
        ("pue", ("1/1?", "pass")),
        ("qpe", ("1/1!", "pass")),
        ("qqf", ("0/1·", "fail")),
        ("qq", ("0/0·", "dim")),
    ],
)
def test_a_mark_says_over_how_many_it_is(trial: TrialRow, said: str, mark: tuple[str, str]) -> None:
    assert case_mark(fates(trial, said), UNICODE) == mark


@pytest.mark.parametrize(
    ("epochs", "longest"), [(1, "[✗] was ✓"), (4, "[2/4?] was 2/3"), (12, "[ 9/12?] was 10/12")]
)
def test_there_is_room_for_what_a_case_was(epochs: int, longest: str) -> None:
    layout = CaseLayout(("a", "b"), epochs=epochs, compared=True)
    widths = [field.least for field in layout.fields(range(2), 120)[1:-1]]
    assert widths == [len(longest)] * 2
    narrow = [field.least for field in layout.fields(range(2), 40)[1:-1]]
    assert max(narrow) < len(longest)


def test_a_cell_says_that_keys_act_on_it_and_what_it_was(trial: TrialRow) -> None:
    failed = fates(trial, "f")
    plain = case_cell(failed, None, UNICODE, here=False, marked=False, asked=False)
    assert (plain.text, plain.note) == (" ✗ ", "")
    was = EarlierResult(1, 1, worse=True)
    here = case_cell(failed, was, UNICODE, here=True, marked=True, asked=False)
    assert (here.text, here.note, here.note_tone) == ("[✗◆]", "was ✓", "fail")
    several = EarlierResult(2, 3, worse=False)
    asked = case_cell(fates(trial, "ppp"), several, ASCII, here=False, marked=False, asked=True)
    assert (asked.text, asked.note) == (" ~ ", "was 2/3")


def test_a_row_tells_why_of_the_first_that_did_not_pass_or_of_the_one_under_the_cursor(
    trial: TrialRow,
) -> None:
    row = fates(trial, "prfe")
    assert telling(row, None) is row[2]
    assert telling(row, row[0]) is row[2]
    assert telling(row, row[3]) is row[3]
    assert telling(row[:2], None) is row[1]
    assert telling(row[:1], None) is None


def test_columns_are_called_by_what_tells_them_apart() -> None:
    assert short_names(["gpt/terse", "gpt/cot"]) == ["terse", "cot"]
    assert short_names(["gpt/terse", "llama/terse"]) == ["gpt", "llama"]
    assert short_names(["gpt/terse", "llama/cot"]) == ["gpt/terse", "llama/cot"]
    assert short_names(["gpt", "gpt/cot"]) == ["gpt", "gpt/cot"]
    assert short_names(["gpt/terse"]) == ["gpt/terse"]


def test_the_column_that_is_looked_at_is_always_shown() -> None:
    layout = CaseLayout(tuple(f"target-{n:02}" for n in range(20)))
    for column in range(20):
        shown = layout.shown(78, column)
        assert column in shown
        fields = layout.fields(shown, 78)
        assert len(fields) == len(shown) + 2
        assert fields[-1].title == f"why  (+{20 - len(shown)} targets)"
        assert sum(field.least + 2 for field in fields) - 2 <= 78
    assert list(CaseLayout(("a", "b")).shown(78, 1)) == [0, 1]
    compared = CaseLayout(("a", "b"), 1, True)
    assert [field.least for field in compared.fields(range(2), 78)][1:3] == [9, 9]
    assert list(layout.shown(20, 7)) == [7]


def test_long_names_are_cut_before_a_column_goes() -> None:
    layout = CaseLayout(("large", "small", "tiny-quantized-4bit-instruct", "tiny"))
    fields = layout.fields(layout.shown(60, 0), 60)
    assert [field.title for field in fields[1:]] == ["large", "small", "tiny-qu…", "tiny", "why"]
    roomy = layout.fields(layout.shown(90, 0), 90)
    assert roomy[3].least == 16
    # cut any further they would read alike: rather some are not shown
    alike = CaseLayout(tuple(f"a-long-name-{n}-and-more" for n in range(5)))
    assert len(alike.shown(60, 0)) < 5
    assert {field.least for field in alike.fields(alike.shown(60, 0), 60)[1:-1]} == {16}
