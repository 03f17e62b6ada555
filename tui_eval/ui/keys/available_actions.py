"""What can be done on a screen, in the order people look for it: for the help and the palette."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from textual.binding import ActiveBinding, Binding
from textual.dom import DOMNode
from textual.screen import Screen

_MOVES = ("table", "page", "form")
"""Areas whose keys one knows: they come last."""


@dataclass(frozen=True, slots=True)
class AvailableAction:
    """One action with all its keys."""

    area: str
    """What it belongs to: `run`, `table`, …; `everywhere`."""
    keys: tuple[str, ...]
    """As Textual calls them."""
    active: ActiveBinding


def offered(screen: Screen[object]) -> list[AvailableAction]:
    """Return a screen's actions that have an id: its own first, those of moving about last."""
    keys: dict[str, list[str]] = {}
    actives: dict[str, ActiveBinding] = {}
    nodes: dict[DOMNode, int] = {}
    """From the inside out."""
    for key, active in screen.active_bindings.items():
        nodes.setdefault(active.node, len(nodes))
        if active.binding.id is not None:
            keys.setdefault(active.binding.id, []).append(key)
            actives.setdefault(active.binding.id, active)
    found = [
        AvailableAction(area_of(name), tuple(keys[name]), active)
        for name, active in actives.items()
    ]

    def order(one: AvailableAction) -> tuple[int, str, int, int]:
        return rank(one.area), one.area, nodes[one.active.node], place(one.active)

    return sorted(found, key=order)


def bound_to(screen: Screen[Any], key: str) -> ActiveBinding | None:
    """Return what a key would do on a screen, greyed or not; None: nothing.

    It is what `Screen.active_bindings` has for the key, without asking of every other one whether
    it can be done now.
    """
    found: ActiveBinding | None = None
    for node, bindings in screen._modal_binding_chain:  # noqa: SLF001 - all keys are asked for else
        for binding in bindings.key_to_bindings.get(key, ()):
            if found is not None and (found.binding.priority or not binding.priority):
                continue
            enabled = screen.app._check_action_state(binding.action, node)  # noqa: SLF001
            if enabled is not False:  # None: greyed; False: not there
                found = ActiveBinding(node, binding, bool(enabled), binding.tooltip)
    return found


def area_of(binding_id: str) -> str:
    """Return what an action belongs to, by its id: `run`, `table`, …; `everywhere`."""
    return binding_id.partition(".")[0] if "." in binding_id else "everywhere"


def rank(area: str) -> int:
    """Return which areas come first."""
    return 2 if area in _MOVES else 1 if area == "everywhere" else 0


@cache
def _own(kind: type[DOMNode]) -> list[str | None]:
    return [binding.id for binding in kind.BINDINGS if isinstance(binding, Binding)]


def place(active: ActiveBinding) -> int:
    """Return where a class says what its keys do, so that keys that belong together stay so."""
    ids = _own(type(active.node))
    return ids.index(active.binding.id) if active.binding.id in ids else len(ids)
