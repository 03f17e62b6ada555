"""The keys of the Run screen."""

from dataclasses import replace
from pathlib import Path

from tests.ui.playing import first_snapshot, plain_run
from tui_eval.model.states import RunState
from tui_eval.ui.run.actions.availability import Selection, situation
from tui_eval.ui.run.run_keys import RUN_KEYS, TRIAL_KEYS, key_order


def test_every_key_of_the_run_has_an_id_and_says_what_it_does() -> None:
    keys = [*TRIAL_KEYS, *RUN_KEYS]
    assert all(key.id and key.tooltip and key.description for key in keys)
    assert len({key.id for key in keys}) == len(keys)
    assert len({key.key for key in keys}) == len(keys)


def test_what_finishes_a_run_stands_first_only_where_it_did_not_come_to_its_end(
    store: Path,
) -> None:
    seen = first_snapshot(store, plain_run(store).run)
    run, total = seen.run, seen.total
    done = key_order(situation(run, total, Selection()))
    assert done[:2] == ["run.retry", "run.rescore"]
    assert done[-2:] == ["run.cancel", "run.resume"]
    left = replace(total, queued=1, done=total.done - 1)
    broken = situation(replace(run, state=RunState.INTERRUPTED), left, Selection())
    assert key_order(broken)[0] == "run.resume"
    assert sorted(key_order(broken)) == sorted(done)
