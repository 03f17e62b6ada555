"""The confusion table of multiple choice: each cell lists the trials it counts."""

import sqlite3

from tests.store.fates import finish
from tests.support import score, staged
from tui_eval.store.search import views
from tui_eval.store.search.confusion import Confusion, cell
from tui_eval.store.search.views import View
from tui_eval.texts.choice_reasons import ChosenOption

REASONS = (
    ("expected B (Mars), got B (Mars)", '"B"', True),
    ("expected B (Mars), got C (Venus)", '"C"', False),
    ("expected B (Mars), got C (Venus)", '"C"', False),
    ('expected A (Io), found no choice in "x"', None, False),
    ('expected A (Io), ambiguous between A and B: "x"', '["A", "B"]', False),
    ("the output was cut short at its token limit", None, None),
)


def test_each_cell_counts_the_trials_that_it_lists(db: sqlite3.Connection) -> None:
    made = staged(db, len(REASONS))
    for trial, (reason, raw, verdict) in zip(made.trials, REASONS, strict=True):
        finish(db, trial, score(verdict))
        db.execute("UPDATE scores SET reason = ?, raw = ? WHERE trial = ?", (reason, raw, trial))
    found = Confusion(made.run, ["exact"], None, len(REASONS))
    assert not found.step(db)
    assert found.looked == len(REASONS)
    assert found.counts["exact"] == {
        ChosenOption("B", "B"): 1,
        ChosenOption("B", "C"): 2,
        ChosenOption("A", "none"): 1,
        ChosenOption("A", "several"): 1,
    }
    for choice, n in found.counts["exact"].items():
        assert len(views.places(db, made.run, View((cell("exact", choice),)))) == n
    some = Confusion(made.run, ["exact"], [0, 2, 5], len(REASONS))
    some.step(db)
    assert some.looked == 3
    assert some.counts["exact"] == {ChosenOption("B", "B"): 1, ChosenOption("B", "C"): 1}
