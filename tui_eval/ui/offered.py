"""What can be done on a screen, in the order people look for it: for the help and the palette."""

from dataclasses import dataclass

from textual.binding import ActiveBinding, Binding
from textual.dom import DOMNode
from textual.screen import Screen

_MOVES = ("table", "page", "form")
"""Areas whose keys one knows: they come last."""


@dataclass(frozen=True, slots=True)
class Offered:
    """One action with all its keys."""

    area: str
    """What it belongs to: `run`, `table`, …; `everywhere`."""
    keys: tuple[str, ...]
    """As Textual calls them."""
    active: ActiveBinding


def offered(screen: Screen[object]) -> list[Offered]:
    """Give a screen's actions that have an id: its own first, those of moving about last."""
    keys: dict[str, list[str]] = {}
    actives: dict[str, ActiveBinding] = {}
    nodes: dict[DOMNode, int] = {}
    """From the inside out."""
    for key, active in screen.active_bindings.items():
        nodes.setdefault(active.node, len(nodes))
        if active.binding.id is not None:
            keys.setdefault(active.binding.id, []).append(key)
            actives.setdefault(active.binding.id, active)
    found = [Offered(_area(name), tuple(keys[name]), active) for name, active in actives.items()]

    def place(one: Offered) -> tuple[int, str, int, int]:
        return _rank(one.area), one.area, nodes[one.active.node], _place(one.active)

    return sorted(found, key=place)


def _area(binding_id: str) -> str:
    return binding_id.partition(".")[0] if "." in binding_id else "everywhere"


def _rank(area: str) -> int:
    return 2 if area in _MOVES else 1 if area == "everywhere" else 0


def _place(active: ActiveBinding) -> int:
    """Give where a class says what its keys do, so that keys that belong together stay so."""
    own = type(active.node).BINDINGS
    ids = [binding.id for binding in own if isinstance(binding, Binding)]
    return ids.index(active.binding.id) if active.binding.id in ids else len(ids)
