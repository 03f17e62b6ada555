"""Which actions there are, on which keys, and what comes of a person's own keys for them.

A binding has an id; the person's configuration gives keys to ids. Nothing of what is wrong there
is taken: those actions keep the keys they had.
"""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Final

from textual.app import App
from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import Keys
from textual.screen import ModalScreen, Screen
from textual.widget import Widget

from tui_eval.suites.errors import did_you_mean, nearest
from tui_eval.ui.offered import area_of, rank

_OURS: Final = "tui_eval."
_ALWAYS: Final = {
    "ctrl+q": "always quits",
    "escape": "always goes back",
    "ctrl+c": "always copies, or says what to press",
}
"""Keys that no action can take, and that no action of theirs can lose."""
_MODIFIERS: Final = ("ctrl", "alt", "shift", "super", "hyper", "meta")
_SAME: Final = {
    "ctrl+i": "tab",
    "ctrl+m": "enter",
    "ctrl+left_square_bracket": "escape",
    "ctrl+left_square_brace": "escape",
    "return": "enter",
    "esc": "escape",
}
"""Keys that terminals cannot tell from others, and what people call keys."""
_NAMED: Final = frozenset(key.value for key in Keys if "+" not in key.value and key.value[0] != "<")


@dataclass(frozen=True, slots=True)
class Action:
    """What a key does, wherever it does it."""

    id: str
    area: str
    """What it belongs to: `run`, `table`, …; `everywhere`."""
    words: str
    """What comes of it."""
    keys: tuple[str, ...]
    """Without anything in the configuration; as Textual calls them."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something a keymap cannot have."""

    id: str
    message: str
    hint: str | None


@dataclass(frozen=True, slots=True)
class _Chain:
    """Actions whose keys are looked at one after the other, for what has the focus on a screen."""

    screen: str
    ids: frozenset[str]


@cache
def actions() -> Mapping[str, Action]:
    """Give every action by its id, in the order of the help; those of boxes on a screen last."""
    found: dict[str, Action] = {}
    for kind in _nodes():
        for binding in _bindings(kind):
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


def key_named(text: str) -> str | None:
    """Give what Textual calls a key that a person names; None: there is none of that name."""
    if text in ("+", ","):
        return {"+": "plus", ",": "comma"}[text]
    *modifiers, base = text.split("+") if not text.endswith("++") else [*text[:-2].split("+"), "+"]
    modifiers = [one.strip().lower() for one in modifiers]
    base = base if len(base) == 1 else base.strip()
    if len(base) == 1 and base.isprintable():
        (made,) = Binding.make_bindings([Binding(base, "", "")]) if base != "," else [None]
        base = made.key if made is not None else "comma"
    elif base.lower() in _SAME or base.lower() in _NAMED:
        base = base.lower()
    elif base not in _character_names():
        return None
    if any(one not in _MODIFIERS for one in modifiers):
        return None
    if modifiers == ["shift"] and len(base) == 1:
        return base.upper()  # what terminals make of it
    ordered = sorted(set(modifiers), key=_MODIFIERS.index)
    name = "+".join([*ordered, base])
    return _SAME.get(name, name)


@cache
def _character_names() -> frozenset[str]:
    characters = [chr(code) for code in range(33, 127) if chr(code) != ","]
    made = Binding.make_bindings([Binding(one, "", "") for one in characters])
    return frozenset([*(binding.key for binding in made), "comma"])


def checked(
    wanted: Mapping[str, Sequence[str]],
) -> tuple[dict[str, tuple[str, ...]], list[Problem]]:
    """Look through a keymap.

    Args:
        wanted: Keys, as a person names them, by the ids of actions.

    Returns:
        What can be used of it: keys as Textual calls them, those that cannot be lost included.
        And what is wrong with the rest.
    """
    problems: list[Problem] = []
    kept: dict[str, tuple[str, ...]] = {}
    for name, keys in wanted.items():
        action = actions().get(name)
        if action is None:
            problems.append(Problem(name, "no action has this id", did_you_mean(name, actions())))
            continue
        wrong = [problem for key in keys if (problem := _refused(action, key)) is not None]
        if wrong:
            problems += wrong
            continue
        named = [found for key in keys if (found := key_named(key)) is not None]
        lasting = [key for key in action.keys if key in _ALWAYS]
        kept[name] = tuple(dict.fromkeys([*named, *lasting]))
    while clashes := list(_clashes(kept)):
        # those of each clash keep their usual keys, which may clash with others again
        problems += clashes
        for clash in clashes:
            kept.pop(clash.id, None)
    return kept, problems


def _refused(action: Action, key: str) -> Problem | None:
    name = key_named(key)
    if name is None:
        near = nearest(key.rpartition("+")[2], [*_NAMED, *_SAME])
        hint = f'did you mean "{near}"?' if near else 'write it as "x", "f5" or "ctrl+x"'
        return Problem(action.id, f"no key is called {key!r}", hint)
    if name in _ALWAYS and name not in action.keys:
        return Problem(action.id, f"{key} {_ALWAYS[name]}", "choose another key")
    return None


def _clashes(keymap: Mapping[str, tuple[str, ...]]) -> Iterator[Problem]:
    """Find actions with a new key that does something else on the same screen."""
    seen: set[tuple[str, str]] = set()
    for chain in _chains():
        on: dict[str, list[str]] = {}
        for name in chain.ids:
            for key in keymap.get(name, actions()[name].keys):
                on.setdefault(key, []).append(name)
        for key, names in on.items():
            for name in names if len(names) > 1 else ():
                if name not in keymap or key in actions()[name].keys or (name, key) in seen:
                    continue  # it has always been so, as where one goes on what the other began
                seen.add((name, key))
                others = ", ".join(sorted(other for other in names if other != name))
                yield Problem(
                    name,
                    f"{key} is the key of {others} too, on the {chain.screen} screen",
                    "give one of them another key",
                )


@cache
def _chains() -> tuple[_Chain, ...]:
    app = next(kind for kind in _nodes() if issubclass(kind, App))
    everywhere = _ids(app)
    found: dict[_Chain, None] = {}
    for kind in _nodes():
        if not issubclass(kind, Screen):
            continue
        ids = _ids(kind) if issubclass(kind, ModalScreen) else _ids(kind) | everywhere
        name = kind.__name__.removesuffix("Screen")
        widgets = list(_widgets(importlib.import_module(kind.__module__), set()))
        # what never has the focus stands around what has
        around = [_ids(widget) for widget in widgets if not widget.can_focus]
        ids = ids.union(*around)
        found[_Chain(name, ids)] = None
        for widget in widgets:
            if widget.can_focus:
                found[_Chain(name, ids | _ids(widget))] = None
    return tuple(found)


@cache
def _nodes() -> tuple[type[DOMNode], ...]:
    """Give everything of ours that has keys: the app, its screens, and what stands on them."""
    from tui_eval.ui import screens
    from tui_eval.ui.app import TuiEvalApp
    from tui_eval.ui.screens.base import BaseScreen

    found: dict[type[DOMNode], None] = {}
    for info in pkgutil.iter_modules(screens.__path__):
        module = importlib.import_module(f"{screens.__name__}.{info.name}")
        for value in vars(module).values():
            if (
                isinstance(value, type)
                and issubclass(value, Screen)
                and _is_ours(value)
                and value is not BaseScreen
            ):
                found[value] = None
        found.update(dict.fromkeys(_widgets(module, set())))
    found[TuiEvalApp] = None
    return tuple(found)


def _widgets(module: ModuleType, seen: set[str]) -> Iterator[type[Widget]]:
    """Give the widgets a module names, and those that their modules name."""
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
    """Give the keys of a class and of those of ours that it inherits from."""
    found: list[Binding] = []
    for one in kind.__mro__:
        if _is_ours(one):
            found += Binding.make_bindings(vars(one).get("BINDINGS", ()))
    return found


def _ids(kind: type[DOMNode]) -> frozenset[str]:
    return frozenset(binding.id for binding in _bindings(kind) if binding.id)
