"""Where keys are bound: the app, its screens, and what stands on them.

It imports every screen. No screen imports it: the app hands them what they want of it.
"""

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from types import ModuleType
from typing import Final

from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.screen import ModalScreen, Screen
from textual.widget import Widget

from tui_eval.ui import dialogs, screens
from tui_eval.ui.keys.available_actions import area_of, rank
from tui_eval.ui.keys.global_keys import EVERYWHERE
from tui_eval.ui.keys.keymap import Action, Chain, Keyboard
from tui_eval.ui.screens.base.base_screen import BaseScreen

_OURS: Final = "tui_eval."


@cache
def keyboard() -> Keyboard:
    """Return every action, and which of them share a screen."""
    return Keyboard(_actions(), _chains())


def _actions() -> Mapping[str, Action]:
    found: dict[str, Action] = {}
    everywhere = Binding.make_bindings(EVERYWHERE)
    for bindings in (*map(_bindings, _nodes()), everywhere):
        for binding in bindings:
            if not binding.id:
                continue
            known = found.get(binding.id)
            keys = (*(known.keys if known else ()), binding.key)
            words = binding.tooltip or binding.description
            found[binding.id] = Action(
                binding.id,
                area_of(binding.id),
                known.words if known else words,
                tuple(dict.fromkeys(keys)),
            )
    boxes = {
        area_of(name) for kind in _nodes() if issubclass(kind, ModalScreen) for name in _ids(kind)
    }

    def order(item: tuple[str, Action]) -> tuple[bool, int, str]:
        return item[1].area in boxes, rank(item[1].area), item[1].area

    return dict(sorted(found.items(), key=order))


def _chains() -> tuple[Chain, ...]:
    everywhere = _named(EVERYWHERE)
    found: dict[Chain, None] = {}
    for kind in _nodes():
        if not issubclass(kind, Screen):
            continue
        ids = _ids(kind) if issubclass(kind, ModalScreen) else _ids(kind) | everywhere
        name = kind.__name__.removesuffix("Screen")
        widgets = list(_widgets(importlib.import_module(kind.__module__), set()))
        # what never has the focus stands around what has
        around = [_ids(widget) for widget in widgets if not widget.can_focus]
        ids = ids.union(*around)
        found[Chain(name, ids)] = None
        for widget in widgets:
            if widget.can_focus:
                found[Chain(name, ids | _ids(widget))] = None
    return tuple(found)


@cache
def _nodes() -> tuple[type[DOMNode], ...]:
    """Return everything of ours that has keys beside the app: its screens, what stands on them."""
    found: dict[type[DOMNode], None] = {}
    names = [
        f"{package.__name__}.{info.name}"
        for package in (screens, dialogs)
        for info in pkgutil.iter_modules(package.__path__)
    ]
    for name in names:
        module = importlib.import_module(name)
        for value in vars(module).values():
            if (
                isinstance(value, type)
                and issubclass(value, Screen)
                and _is_ours(value)
                and value is not BaseScreen
            ):
                found[value] = None
        found.update(dict.fromkeys(_widgets(module, set())))
    return tuple(found)


def _widgets(module: ModuleType, seen: set[str]) -> Iterator[type[Widget]]:
    """Yield the widgets a module names, and those that their modules name."""
    seen.add(module.__name__)
    for value in list(vars(module).values()):
        if not isinstance(value, type) or not issubclass(value, Widget) or not _is_ours(value):
            continue
        if not issubclass(value, Screen):
            yield value
            if value.__module__ not in seen:
                yield from _widgets(importlib.import_module(value.__module__), seen)


def _is_ours(kind: type) -> bool:
    return kind.__module__.startswith(_OURS)


def _bindings(kind: type[DOMNode]) -> list[Binding]:
    """Return the keys of a class and of those of ours that it inherits from."""
    found: list[Binding] = []
    for one in kind.__mro__:
        if _is_ours(one):
            found += Binding.make_bindings(vars(one).get("BINDINGS", ()))
    return found


def _ids(kind: type[DOMNode]) -> frozenset[str]:
    return _named(_bindings(kind))


def _named(bindings: Iterable[BindingType]) -> frozenset[str]:
    return frozenset(binding.id for binding in Binding.make_bindings(bindings) if binding.id)
