"""How a suite was launched last: what was typed, where that is not the suite's own."""

import json
from dataclasses import asdict, replace
from typing import Any

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.config.app_state import AppState
from tui_eval.ui.suites.launch_form import ONLY, LaunchForm

_NAME = "launches"
_MOST = 100
"""Suites whose forms are remembered: those launched last."""
_TYPED = (
    "cases", "tags", "limit", "sample", "epochs", "concurrency", "parameters", "max_cost",
    "max_tokens",
)  # fmt: skip
_TICKED = ("judge",)
_ONCE = frozenset({"all_targets", "cache", "baseline"})
"""What is not remembered: asking again for what is there is a wish of one launch, and what a run is
compared with is about that run."""


def recall(remembered: AppState, suite: str, usual: LaunchForm) -> LaunchForm:
    """Return the form a suite was launched with last.

    Args:
        remembered: What the app remembers.
        suite: The suite's file.
        usual: The form where nothing was chosen; has every target.
    """
    kept = _forms(remembered).get(suite)
    if not isinstance(kept, dict):
        return usual
    chosen = _targets(kept.get("targets"), usual.targets)
    only = kept.get("only")
    said: dict[str, Any] = {
        **{name: text for name in _TYPED if isinstance(text := kept.get(name), str)},
        **{name: ticked for name in _TICKED if isinstance(ticked := kept.get(name), bool)},
        "only": only if only in ONLY else usual.only,
    }
    return replace(usual, targets=chosen, all_targets=chosen == usual.targets, **said)


def _targets(kept: Json, there: tuple[str, ...]) -> tuple[str, ...]:
    """Return those targets that are still there; all, where none is."""
    names = kept if isinstance(kept, list) else list(there)
    return tuple(name for name in there if name in names) or there


def keep(remembered: AppState, suite: str, form: LaunchForm, usual: LaunchForm) -> None:
    """Remember how a suite was launched."""
    forms = _forms(remembered)
    forms.pop(suite, None)
    said, own = asdict(form), asdict(usual)
    chosen: JsonObject = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in said.items()
        if value != own[name] and name not in _ONCE
    }
    if chosen:
        forms[suite] = chosen
    remembered.set(_NAME, json.dumps(dict(list(forms.items())[-_MOST:])))


def _forms(remembered: AppState) -> dict[str, Json]:
    try:
        found = json.loads(remembered.get(_NAME) or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
