import sqlite3
from contextlib import closing

import pytest

from tui_eval.model.outputs.finish import Ending, ending
from tui_eval.store.read.figures.endings import ended

REASONS = ("stop", "STOP", "end_turn", "length", "MAX_TOKENS", "max tokens", "safety", "x", "error")


@pytest.mark.parametrize("how", Ending)
def test_a_reason_says_in_the_store_what_it_says_elsewhere(how: Ending) -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        for reason in REASONS:
            (says,) = db.execute(f"SELECT {ended('?1', how)}", (reason,)).fetchone()
            known = how is not Ending.UNKNOWN and ending(reason) is how
            assert bool(says) is known, reason


def test_without_a_reason_nothing_is_said() -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        assert db.execute(f"SELECT {ended('NULL', Ending.CUT)}").fetchone() == (None,)
