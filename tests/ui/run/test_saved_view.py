"""How a run was listed is remembered."""

from pathlib import Path

import pytest

from tests.ui.run.list.making import FAILED
from tui_eval.store.search.views import Condition, FilterKind, Order, View
from tui_eval.suites.config.app_state import AppState
from tui_eval.ui.run import saved_view


def test_how_a_run_was_listed_is_remembered(tmp_path: Path) -> None:
    file = tmp_path / "app.json"
    parts = (
        FAILED,
        Condition(FilterKind.REASON, "got “…” \ud800", "exact", reported=True),
        Condition(FilterKind.PASSES_FAILS, "one", other="two/cot"),
    )
    view = View(parts, "100%_", Order.COST, True, by_case=True)
    saved_view.keep(AppState(file), "a", view)
    assert saved_view.recall(AppState(file), "a") == view
    assert saved_view.recall(AppState(file), "b") == View()
    for n in range(200):
        saved_view.keep(AppState(file), f"r{n}", View(text=str(n)))
    assert saved_view.recall(AppState(file), "a") == View()
    assert saved_view.recall(AppState(file), "r0") == View(text="0")
    saved_view.keep(AppState(file), "r0", View(by_case=True))
    assert saved_view.recall(AppState(file), "r0") == View(by_case=True)
    saved_view.keep(AppState(file), "r0", View())
    assert saved_view.recall(AppState(file), "r0") == View()


@pytest.mark.parametrize(
    "lists",
    ["{", "[]", '{"a": 3}', '{"a": {"parts": [["stands", "no", ""], ["x"], 1], "order": "no"}}'],
)
def test_what_is_remembered_and_not_understood_is_left_out(tmp_path: Path, lists: str) -> None:
    remembered = AppState(tmp_path / "app.json")
    remembered.set("lists", lists)
    assert saved_view.recall(remembered, "a") == View()
