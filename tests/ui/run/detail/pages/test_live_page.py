"""What a running attempt takes stays in view, however little room there is."""

from dataclasses import replace
from pathlib import Path

from tests.support import reading
from tests.ui.playing import para_words, plain_run
from tui_eval.model.outputs.attempt_record import AttemptProgress
from tui_eval.model.states import TrialState
from tui_eval.store.read.trials import trial_queries
from tui_eval.ui.run.detail.live_reader import LiveView
from tui_eval.ui.run.detail.pages.live_page import LiveSeen, live_figures
from tui_eval.ui.theme.glyphs import UNICODE

TOLD = AttemptProgress("running", 12, "bash", 50.0, 90_000_000, 3, 4_100, 238_000)
LIMITS = {"wall": 300.0, "cpu_s": 60.0, "memory": 300e6, "cost_usd": 2.0, "tokens": 5e6}
SEEN = LiveSeen(
    TOLD,
    LiveView(1, limits=LIMITS, figures={"tool_calls": 30, "tokens": 1_250_000, "cost_usd": 0.25}),
)


def figures(store: Path, width: int, height: int, state: TrialState = TrialState.RUNNING) -> str:
    made = plain_run(store, 1)
    with reading(store) as db:
        found = trial_queries.whole(db, made.run, made.trials[0])
    assert found is not None
    found = replace(found, trial=replace(found.trial, state=state), attempts=())
    return para_words(live_figures(found, SEEN, width, height, UNICODE, 0.0))


def test_figures_stand_side_by_side_with_their_limits(store: Path) -> None:
    lines = figures(store, 77, 20).splitlines()
    assert len(lines) == 6
    assert max(map(len, lines)) <= 77
    assert lines[0].split() == ["running", "bash"]
    assert lines[1].split() == [
        "wall", "▁▁▁▁▁▁▁", "0:00", "of", "5:00", "CPU", "▄▄▄▄▄▄▁", "50.0s", "of", "60.0s",
    ]  # fmt: skip
    assert "1.2M of 5.0M" in lines[5] or "1.3M of 5.0M" in lines[5]
    assert "$0.25 of $2.00" in lines[5]  # its own word


def test_where_there_is_little_room_those_stay_that_are_nearest_to_a_limit(store: Path) -> None:
    assert [line.split()[0] for line in figures(store, 40, 3).splitlines()] == [
        "running", "CPU", "memory",
    ]  # fmt: skip
    assert figures(store, 40, 1).split() == ["running", "bash"]


def test_nothing_is_told_of_what_does_not_run(store: Path) -> None:
    assert figures(store, 77, 20, TrialState.DONE) == ""
