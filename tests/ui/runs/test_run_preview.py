"""The preview of a run on the Runs screen."""

from pathlib import Path

from tests.support import reading
from tests.ui.playing import by_hand, words
from tui_eval.model.case import Case
from tui_eval.model.states import RunState
from tui_eval.store.read.consignment_queries import BulkProgress
from tui_eval.ui.runs.run_list import ListedRun, listed
from tui_eval.ui.runs.run_preview import preview_lines
from tui_eval.ui.theme.glyphs import UNICODE


def previewed(of: ListedRun, width: int = 100) -> list[str]:
    return [words(line).strip() for line in preview_lines(of, None, (), UNICODE, width)]


def test_a_run_that_waits_for_a_provider_says_so_and_not_that_all_is_well(store: Path) -> None:
    by_hand(store, [Case(0, "a", {})], answers=[None], state=RunState.RUNNING)
    with reading(store) as db:
        (one,) = listed(db, {})
    assert previewed(one)[-1] == "nothing is scored yet"
    of = (BulkProgress(2, 0, 700, 12, 10**10), BulkProgress(1, 0, 200, 0, 10**10, "judge"))
    waits = ListedRun(one.run, one.stamp, one.total, one.columns, bulk=of)
    assert previewed(waits)[-2].startswith("bulk 12 of 700, 2 consignments, ")
    assert previewed(waits, 60)[-2] == "bulk 12 of 700; judge bulk 0 of 200"
