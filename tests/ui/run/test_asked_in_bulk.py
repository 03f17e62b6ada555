"""A run whose trials wait for a provider, as its screen shows it while the provider goes on."""

import time
from functools import partial
from pathlib import Path

import pytest

from tests.support import Staged, do, writing
from tests.ui.playing import app_on, by_hand, lines, run_screen, shown_on, until, until_shown
from tui_eval.model.case import Case
from tui_eval.model.states import RunState
from tui_eval.store import lease
from tui_eval.store.tx import Tx
from tui_eval.store.write import attempt_writes, consignment_writes
from tui_eval.ui.app import TuiEvalApp


def consigned(store: Path, n: int) -> tuple[Staged, int]:
    """Write a live run whose trials are in one consignment; give its id, too."""
    cases = [Case(i, f"c{i}", {}) for i in range(n)]
    made = by_hand(store, cases, answers=[None] * n, state=RunState.RUNNING)
    consignments: list[int] = []

    def consign(tx: Tx) -> None:
        one = consignment_writes.form(tx, made.run, "one", "e", "token")
        for ordinal, trial in enumerate(made.trials):
            attempt = attempt_writes.start_attempt(tx, trial, queue_s=None, wait_s=None)
            assert attempt is not None
            consignment_writes.consign(tx, one, ordinal, attempt)
        consignment_writes.complete(tx, one, n, None, None)
        consignments.append(one)

    with writing(store) as db:
        do(db, consign)
        do(db, partial(lease.acquire, run=made.run))
    return made, consignments[0]


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_rows_in_view_say_how_far_it_is_by_now(store: Path, size: tuple[int, int]) -> None:
    _, consignment = consigned(store, 6)
    ends_by = time.time() + 86_400

    def told(done: int) -> None:
        def look(tx: Tx) -> None:
            consignment_writes.sent(tx, consignment, "batch", ends_by)
            consignment_writes.looked(tx, consignment, "sent", done, ends_by)

        with writing(store) as db:
            do(db, look)

    async with shown_on(app_on(store, run="last"), size) as pilot:
        await run_screen(pilot)
        app = pilot.app
        assert isinstance(app, TuiEvalApp)

        async def all_say(words: str) -> None:
            await until(pilot, lambda: sum(words in line for line in lines(app)) >= 6, words)

        await all_say("bulk 1/1, being sent")
        for done in (0, 2, 5):
            told(done)
            await all_say(f"bulk 1/1, {done} of 6")
            await until_shown(pilot, f"bulk {done} of 6, ")
        assert "about" not in lines(app)[0], "nobody knows when it ends"
