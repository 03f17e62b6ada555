import json
import sqlite3
from functools import partial
from pathlib import Path

import pytest

from tests.store.fates import finish
from tests.support import Staged, do, new_run, reading, score, staged
from tui_eval.model.case import Case
from tui_eval.model.outputs.output import Failure
from tui_eval.model.score import Grade, Score, Tally
from tui_eval.model.states import Verdict
from tui_eval.reports.rates import trial_figures
from tui_eval.store.chunks import kept_figures
from tui_eval.store.search import groups as groups_module
from tui_eval.store.search import views
from tui_eval.store.search.folding import fold_reason
from tui_eval.store.search.groups import Grouping, Groups
from tui_eval.store.search.views import Condition, FilterKind, Places, View
from tui_eval.store.tx import Tx
from tui_eval.store.write import run_writes, score_writes, trial_moves, trial_verbs
from tui_eval.store.write.run_writes import NewTrial


@pytest.fixture
def made(db: sqlite3.Connection) -> Staged:
    """Six trials: one passed, three failed, one ungraded, one in error."""
    made = staged(db, 6)
    for place in range(5):
        verdict = True if place == 0 else None if place == 4 else False
        finish(db, made.trials[place], score(verdict))
        reason = "judge is gone" if place == 4 else f'expected "{place}", got {place * 7}'
        db.execute("UPDATE scores SET reason = ? WHERE trial = ?", (reason, made.trials[place]))
    failure = Failure("timeout", "no answer within 300 s")
    do(db, lambda tx: trial_moves.fail_trial(tx, made.trials[5], failure))
    return made


def test_only_the_largest_groups_are_told_of(
    db: sqlite3.Connection, made: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups_module, "MOST", 1)
    groups = Groups(made.run, Grouping.REASON, None, 6)
    assert not groups.step(db)
    assert len(groups.counts) == 3
    assert groups.largest == [(Condition(FilterKind.REASON, "expected “…”, got #", "exact"), 3)]


def grouped(
    db: sqlite3.Connection, made: Staged, by: Grouping, listed: Places | None = None
) -> dict[Condition, int]:
    groups = Groups(made.run, by, listed, 6)
    while groups.step(db):
        pass
    assert groups.looked == (6 if listed is None else len(listed))
    for part, n in groups.counts.items():  # choosing a group lists just those it counts
        places = views.places(db, made.run, View((part,)))
        assert n == len([place for place in places if listed is None or place in listed])
    return dict(groups.counts)


def test_reasons_that_differ_in_details_are_one_group(db: sqlite3.Connection, made: Staged) -> None:
    alike = Condition(FilterKind.REASON, "expected “…”, got #", "exact")
    gone, timeout = (
        Condition(FilterKind.REASON, "judge is gone", "exact"),
        Condition(FilterKind.ERROR, "timeout"),
    )
    assert grouped(db, made, Grouping.REASON) == {alike: 3, gone: 1, timeout: 1}
    assert grouped(db, made, Grouping.REASON, [0, 2, 5]) == {alike: 1, timeout: 1}


def test_scorers_errors_and_targets_are_grouped(db: sqlite3.Connection, made: Staged) -> None:
    assert grouped(db, made, Grouping.SCORER) == {Condition(FilterKind.SCORER, "exact"): 3}
    assert grouped(db, made, Grouping.ERROR) == {Condition(FilterKind.ERROR, "timeout"): 1}
    assert list(grouped(db, made, Grouping.TARGET).values()) == [6]


def test_what_is_only_reported_stands_apart_and_fails_nothing(
    db: sqlite3.Connection, made: Staged
) -> None:
    style = Score("style", Grade.of(False, "is not polite"), required=False)
    for place in (0, 1, 4):  # one passed, one failed, one is ungraded
        do(
            db,
            partial(score_writes.add_scores, trial=made.trials[place], scores=[style], fresh=True),
        )
    exact, reported = (
        Condition(FilterKind.SCORER, "exact"),
        Condition(FilterKind.SCORER, "style", reported=True),
    )
    assert grouped(db, made, Grouping.SCORER) == {exact: 3, reported: 3}
    groups = Groups(made.run, Grouping.REASON, None, 6)
    groups.step(db)
    assert groups.grouped == 5  # the failed ones, the ungraded one and the errored one
    assert groups.largest[-1] == (
        Condition(FilterKind.REASON, "is not polite", "style", reported=True),
        3,
    )
    grouped(db, made, Grouping.REASON)


def test_who_says_fail_is_counted_where_the_trial_failed(
    db: sqlite3.Connection, made: Staged
) -> None:
    """As the head counts it: a trial without a verdict has not failed, whoever said fail of it."""
    other = Score("other", Grade.of(False, "no"))
    do(db, lambda tx: score_writes.add_scores(tx, made.trials[4], [other], fresh=True))
    assert grouped(db, made, Grouping.SCORER) == {Condition(FilterKind.SCORER, "exact"): 3}
    assert dict(trial_figures.failing(db, made.run)) == {"exact": 3}


def test_a_requirement_groups_those_that_miss_it(db: sqlite3.Connection, made: Staged) -> None:
    parts = [
        {"number": 1, "text": "names \ud83d a city", "value": 0},
        {"number": 2, "text": "is short", "value": 1},
        {"number": 3, "text": None, "value": 0},
    ]
    raw = json.dumps({"form": "requirements", "parts": parts})
    for place in (1, 2):
        db.execute("UPDATE scores SET raw = ? WHERE trial = ?", (raw, made.trials[place]))
    missed = Condition(FilterKind.REQUIREMENT, "names \ud83d a city", "exact")
    assert grouped(db, made, Grouping.REQUIREMENT) == {missed: 2}


def test_a_trial_is_counted_once_in_each_of_its_groups(db: sqlite3.Connection) -> None:
    run = new_run(db)

    def unit(tx: Tx) -> None:
        tags = [("a", "b"), ("a", "a"), ()]
        run_writes.add_cases(tx, run, [Case(i, f"c{i}", {}, tags=tags[i]) for i in range(3)])
        run_writes.add_trials(tx, run, [NewTrial(i, i, 0, 0, None) for i in range(3)])

    do(db, unit)
    groups = Groups(run, Grouping.TAG, None, 3)
    assert not groups.step(db)
    assert groups.counts == {Condition(FilterKind.TAG, "a"): 2, Condition(FilterKind.TAG, "b"): 1}
    assert groups.grouped == 2


@pytest.mark.parametrize(
    ("reason", "folded"),
    [
        ("got 3 of 1,250 in 0.5s", "got # of # in #s"),
        ("expected 'a b', got `x`", "expected “…”, got “…”"),
        ('expected "a", "b", "c" or 2 more, got "d"', "expected “…”, got “…”"),
        ("doesn't say 'why'", "doesn't say “…”"),
        ("expected B (p = 8), got C (a (b), c…)", "expected “…”, got “…”"),
        ("expected B or D, got A", "expected “…”, got “…”"),
        (
            "expected B (no), ambiguous between A and B: 'x'",
            "expected “…”, ambiguous between “…”: “…”",
        ),
        ("expected 3 (three), found no choice in 'x'", "expected “…”, found no choice in “…”"),
        ("expected JSON, got prose", "expected JSON, got prose"),
        ("id 3f2b9c00de at -1.5e-3", "id # at #"),
        ("a  b\n c", "a b c"),
        ("\ud800 no", "? no"),
        ("x" * 5000, "x" * 200),
    ],
)
def test_details_are_left_out_of_reasons(reason: str, folded: str) -> None:
    assert fold_reason(reason) == folded


@pytest.mark.parametrize("by", [*Grouping])
def test_groups_of_a_large_run_are_kept_until_a_trial_changes(
    path: Path, db: sqlite3.Connection, made: Staged, monkeypatch: pytest.MonkeyPatch, by: Grouping
) -> None:
    monkeypatch.setattr(kept_figures, "KEPT_FROM", 1)

    def found() -> tuple[object, ...]:
        with reading(path) as other:
            groups = Groups(made.run, by, None, len(made.trials))
            while groups.step(other):
                pass
            return groups.grouped, groups.looked, groups.counts, groups.largest

    first = found()
    with monkeypatch.context() as blind:
        blind.setattr(Groups, "_count", None)
        blind.setattr(Groups, "_add", None)
        assert found() == first
    do(db, lambda tx: trial_verbs.rescore(tx, made.trials[0]))
    do(db, lambda tx: score_writes.add_scores(tx, made.trials[0], [score(False)], fresh=False))
    do(db, lambda tx: trial_moves.settle(tx, made.trials[0], Tally(Verdict.FAIL, 0.0)))
    assert found()[1] == len(made.trials)
    if by in (Grouping.REASON, Grouping.SCORER):
        assert found() != first
