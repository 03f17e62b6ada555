"""The list and the detail beside each other: what is read and drawn of a trial, and when."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support import Staged, do, output, writing
from tests.ui.playing import app_on, by_hand, run_screen, settle, shown_on, until, until_shown
from tui_eval.model.case import Case
from tui_eval.model.states import RunState
from tui_eval.store import lease
from tui_eval.store.read.trials import trial_queries
from tui_eval.ui.run.detail.trial_detail import TrialPage
from tui_eval.ui.screens import run_screen as run_screen_module
from tui_eval.ui.screens.run_screen import RunScreen


class Looked:
    """Counts how often a trial is read, and how many lines of its page are drawn."""

    def __init__(self, patched: pytest.MonkeyPatch) -> None:
        self.reads = self.lines = 0
        whole, line = trial_queries.whole, TrialPage.render_line

        def reading(*args: Any) -> Any:
            self.reads += 1
            return whole(*args)

        def drawing(page: TrialPage, y: int) -> Any:
            self.lines += 1
            return line(page, y)

        patched.setattr(trial_queries, "whole", reading)
        patched.setattr(TrialPage, "render_line", drawing)


def answered(store: Path, made: Staged, place: int) -> None:
    with writing(store) as db:
        do(
            db,
            partial(
                settle,
                trial=made.trials[place],
                generation_key=b"%d" % place,
                answer=output(f"answer {place}"),
            ),
        )


def settled(screen: RunScreen, trials: int) -> bool:
    return screen.run.snapshot is not None and screen.run.snapshot.total.settled == trials


def shows(screen: RunScreen, trial: int) -> bool:
    return screen.detail.found is not None and screen.detail.found.trial.id == trial


async def test_a_settled_trial_is_not_read_again_because_others_change(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its page is drawn again only where it says something else."""
    monkeypatch.setattr(run_screen_module, "_TICK_S", 3600.0)
    made = by_hand(
        store,
        [Case(i, f"c{i}", {}) for i in range(9)],
        answers=[output("answer 0"), *[None] * 17],
        columns=("a", "b"),
        state=RunState.RUNNING,
    )
    with writing(store) as db:
        do(db, partial(lease.acquire, run=made.run))
    async with shown_on(app_on(store, run="last")) as pilot:
        screen = await run_screen(pilot)
        await until_shown(pilot, "answer 0")
        looked = Looked(monkeypatch)
        for nth, place in enumerate((4, 8, 11), 2):
            answered(store, made, place)
            await until(pilot, partial(settled, screen, nth))
        assert not looked.reads
        looked.lines = 0
        screen.pane.tick()  # what stands around it may be another
        await until(pilot, lambda: looked.reads == 1)
        await pilot.pause()
        assert not looked.lines
        answered(store, made, 1)  # the same case in the other column
        await until(pilot, lambda: looked.reads == 2)
        await pilot.press("j", "j")
        await until(pilot, partial(shows, screen, made.trials[2]))
        reads = looked.reads
        answered(store, made, 15)  # of an open trial anything may have gone on
        await until(pilot, lambda: looked.reads > reads)
