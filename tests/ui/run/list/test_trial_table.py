"""The columns of the table of trials."""

import time
from dataclasses import replace
from pathlib import Path
from statistics import stdev

import pytest

from tests.support import reading, writing
from tests.ui.playing import (
    app_on,
    finished,
    made_up,
    plain_run,
    run_screen,
    shown_on,
    until,
    until_shown,
)
from tui_eval.model.outputs.attempt_record import AttemptProgress
from tui_eval.model.states import TrialState
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.rows import TrialRow
from tui_eval.ui.run.list.trial_table import TrialTable
from tui_eval.ui.run.list.why_words import why


def some_trial(store: Path) -> TrialRow:
    made = plain_run(store, 3)
    with reading(store) as db:
        found = trial_rows.trial(db, made.trials[0])
    assert found is not None
    return found


def test_what_came_stands_before_what_was_expected(store: Path) -> None:
    trial = some_trial(store)
    assert why(trial, "expected 18, got 21", 0.0) == "21, expected 18"
    assert why(trial, 'expected "a, got b" or "c", got "d"', 0.0) == (
        '"d", expected "a, got b" or "c"'
    )
    none = 'expected 6, found no number in "none"'
    assert why(trial, none, 0.0) == 'no number in "none", expected 6'
    named = 'capital: expected to include "Paris", got "Lyon: a city"'
    assert why(trial, named, 0.0) == 'capital: "Lyon: a city", expected to include "Paris"'
    for said in ("expected a list", "latency: 3 s, got worse", ""):
        assert why(trial, said or None, 0.0) == said


def test_a_row_says_why(store: Path) -> None:
    trial = some_trial(store)
    assert why(trial, "exact: expected 3", 0.0) == "exact: expected 3"
    assert why(replace(trial, cached=True), None, 0.0) == "from the cache"
    error = replace(trial, state=TrialState.ERROR, error_kind="timeout", error_message="slow")
    assert why(error, None, 0.0) == "timeout: slow"
    waiting = replace(trial, state=TrialState.RUNNING, waiting="429, try 3/6", waiting_until=112.0)
    assert why(waiting, None, 100.0) == "429, try 3/6, in 0:12"
    running = replace(trial, state=TrialState.RUNNING, since=97.0, attempts=2)
    assert why(running, None, 100.0) == "in flight 0:03, try 2"
    assert why(replace(trial, state=TrialState.QUEUED), None, 0.0) == ""


def test_a_running_program_says_how_far_it_is(store: Path) -> None:
    running = replace(some_trial(store), state=TrialState.RUNNING, since=97.0, attempts=1)
    told = AttemptProgress("running", 12, "bash", 34.2, 312_000_000)
    assert why(running, None, 100.0, told) == "0:03 · turn 12 · bash · 34.2s CPU · 312 MB"
    assert why(running, None, 100.0, AttemptProgress("preparing")) == "preparing 0:03"


async def test_at_80_columns_a_running_program_has_the_room_of_figures_it_lacks(
    store: Path,
) -> None:
    made = plain_run(store, 3)
    told = AttemptProgress("running", 12, "bash", 34.2, 312_000_000)
    with writing(store) as db:
        db.execute(
            "UPDATE trials SET state = 'running', score = NULL, verdict = NULL, since = ?, "
            "latency_s = NULL WHERE id = ?",
            (time.time(), made.trials[0]),
        )
    async with shown_on(app_on(store, run="last"), (80, 24)) as pilot:
        await run_screen(pilot)
        await until_shown(pilot, "case-000")
        pilot.app.screen.query_one(TrialTable).show_progress({made.trials[0]: told})
        await until_shown(pilot, "bash · 34.2s CPU · 312 MB")


@pytest.mark.parametrize("prompts", [1, 2])
async def test_a_slash_in_a_targets_name_is_no_prompt(store: Path, prompts: int) -> None:
    names = ("lab/large", "small")
    targets = [{"kind": "simulated", "name": name, "answers": "one"} for name in names]
    asked = {"prompts": [{"name": f"p{at}", "user": "{{ question }}"} for at in range(prompts)]}
    await finished(store, made_up(2, targets=targets, **(asked if prompts > 1 else {})))
    async with shown_on(app_on(store, run="last")) as pilot:
        screen = await run_screen(pilot)
        await until_shown(pilot, "lab/large")
        titles = [field.title for field in screen.trial_list.table.fields]
        assert ("target · prompt" in titles, "target" in titles) == (prompts > 1, prompts == 1)


@pytest.mark.parametrize(("kind", "told"), [("f1", True), ("exact", False)])
async def test_by_case_the_spread_over_epochs_is_a_column_where_it_tells(
    store: Path, kind: str, told: bool
) -> None:
    target = {"kind": "simulated", "name": "one", "answers": ["one two", "one"], "accuracy": 0.5}
    suite = made_up(
        6,
        targets=[target],
        scorers=[{"kind": kind, "expected": "one two"}],
        run={"epochs": 4},
    )
    await finished(store, suite)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        await pilot.press("M")
        await until_shown(pilot, "/4")
        assert ("sd" in [field.title for field in screen.trial_list.table.fields]) is told
        if told:
            table = screen.trial_list.table
            await until(pilot, lambda: all(map(table.row, range(6))))
            row, scores = table.row(0), [trial.score for trial in table._trials.trials_at(0)]
            assert row is not None
            assert row.cells[-2].text == f"{stdev(score or 0.0 for score in scores):.2f}"
