"""What rows of a list tell: which columns are shown."""

from dataclasses import replace
from pathlib import Path

from tests.support import reading
from tests.ui.playing import plain_run
from tui_eval.store.read.trials import trial_rows
from tui_eval.ui.run.list.seen_rows import SeenRows


def test_columns_that_tell_nothing_are_known(store: Path) -> None:
    made = plain_run(store, 1)
    with reading(store) as db:
        trial = trial_rows.trial(db, made.trials[0])
    assert trial is not None
    graded = SeenRows()
    graded.see([replace(trial, score=1.0, latency_s=None)])
    assert (graded.partial_scores, graded.latencies) == (False, False)
    graded.see([replace(trial, score=0.5, latency_s=0.2)])
    graded.see([replace(trial, score=None, latency_s=None)])
    assert (graded.partial_scores, graded.latencies) == (True, True)
