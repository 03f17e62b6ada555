"""What the app remembers of a run's list: filter, text and order, until it is opened again."""

import json

from tui_eval.model.json import Json
from tui_eval.store.search.views import Condition, FilterKind, Order, TrialOutcome, View
from tui_eval.suites.config.app_state import AppState

_NAME = "lists"
_MOST = 200
"""Runs that are remembered: those looked at last."""


def recall(remembered: AppState, run_name: str) -> View:
    """Return how a run was listed last; all in dataset order where nothing is remembered."""
    return _view(_lists(remembered).get(run_name))


def keep(remembered: AppState, run_name: str, view: View) -> None:
    """Remember how a run is listed."""
    lists = _lists(remembered)
    before = lists.pop(run_name, None)
    if view != View():
        lists[run_name] = _described(view)
    elif before is None:
        return
    newest = dict(list(lists.items())[-_MOST:])
    remembered.set(_NAME, json.dumps(newest))


def _lists(remembered: AppState) -> dict[str, Json]:
    try:
        found = json.loads(remembered.get(_NAME) or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _described(view: View) -> Json:
    return {
        "parts": [
            [part.kind, part.value, part.scorer, part.reported, part.other] for part in view.parts
        ],
        "text": view.text,
        "order": view.order,
        "reverse": view.reverse,
        "by_case": view.by_case,
    }


def _view(described: Json) -> View:
    """Read what may have been written by another version: what is not understood is left out."""
    if not isinstance(described, dict):
        return View()
    parts, text, order = (described.get(name) for name in ("parts", "text", "order"))
    known = map(_part, parts if isinstance(parts, list) else [])
    return View(
        parts=tuple(part for part in known if part is not None),
        text=text if isinstance(text, str) else "",
        order=Order(order) if order in list(Order) else Order.PLACE,
        reverse=described.get("reverse") is True,
        by_case=described.get("by_case") is True,
    )


def _part(described: Json) -> Condition | None:
    match described:
        case [str() as kind, str() as value, str() as scorer, *more] if kind in list(FilterKind):
            if kind == FilterKind.STANDS and value not in list(TrialOutcome):
                return None
            other = more[1] if len(more) > 1 else ""
            if kind == FilterKind.PASSES_FAILS and not other:
                return None
            return Condition(
                FilterKind(kind),
                value,
                scorer,
                more[:1] == [True],
                other if isinstance(other, str) else "",
            )
    return None
