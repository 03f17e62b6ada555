"""What there is to set: each field of the configuration with its value and who says so."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from tui_eval.model.bounds import LOG_LEVELS
from tui_eval.model.home import from_home
from tui_eval.providers.presets import PRESETS, key_hosts
from tui_eval.store.location import usual_store
from tui_eval.suites.config.configuration import Configuration
from tui_eval.suites.loading.errors import Mistake
from tui_eval.ui.keys.keymap import Action
from tui_eval.ui.settings.preferences import Preferences


class SettingKind(Enum):
    """How a setting is changed."""

    HEAD = "head"
    """No setting: the name of those below."""
    MISTAKE = "mistake"
    THEME = "theme"
    TEXT = "text"
    KEY = "key"


@dataclass(frozen=True, slots=True)
class Setting:
    """One line of the screen."""

    kind: SettingKind
    at: tuple[str, ...]
    """Where it stands in the configuration; a lone table: a new field of it."""
    words: str
    """May be foreign, as all else here."""
    value: str = ""
    source: str = ""
    """Who says so."""
    own: str = ""
    """What the configuration says, as it is asked for; empty: nothing."""
    hint: str = ""
    """What may be said."""
    choices: Sequence[str] = ()
    """All that may be said; empty: it is typed."""


@dataclass(frozen=True, slots=True)
class SettingSources:
    """What the screen goes by."""

    read: Configuration
    looks: Preferences
    actions: Mapping[str, Action]
    """All there are, by their ids."""
    store: Path
    """The one that is open."""
    shown: Callable[[str], str]
    """Gives a key as it is shown."""


def settings(known: SettingSources) -> list[Setting]:
    """Return every line of the screen."""
    return [*_mistakes(known.looks.mistakes), *_plain(known), *_hosts(known), *_keys(known)]


def _mistakes(mistakes: Sequence[Mistake]) -> Iterator[Setting]:
    if mistakes:
        yield Setting(SettingKind.HEAD, (), "mistakes: what they are about has its default")
    for one in mistakes:
        told = ": ".join(filter(None, [one.field, one.message]))
        line = f"line {one.line}" if one.line is not None else ""
        hint = f"; {one.hint}" if one.hint else ""
        yield Setting(SettingKind.MISTAKE, (), f"{told}{hint}", line, own=str(one.line or ""))


def _plain(known: SettingSources) -> Iterator[Setting]:
    read, looks = known.read, known.looks
    name = read.file.name
    yield Setting(SettingKind.HEAD, (), "the app and its runs")
    source = name if looks.theme_from == str(read.file) else looks.theme_from
    yield Setting(SettingKind.THEME, ("theme",), "theme", looks.theme, source, read.theme or "")
    said = str(read.store) if read.store is not None else ""
    next_time = "from the next start on" if said and known.store != read.store else ""
    yield Setting(
        SettingKind.TEXT,
        ("store",),
        "store",
        _short(Path(said)) if next_time else _short(known.store),
        next_time or _store_source(known),
        _short(Path(said)) if said else "",
        "the file's path; ~ is your home",
    )
    concurrency = "" if read.concurrency is None else str(read.concurrency)
    yield Setting(
        SettingKind.TEXT,
        ("concurrency",),
        "concurrency, where no suite says",
        concurrency or "auto",
        name if concurrency else "default",
        concurrency,
        "calls in flight at each endpoint: a number, or auto",
    )
    yield Setting(
        SettingKind.TEXT,
        ("log_level",),
        "how much engines log",
        os.environ.get("TUI_EVAL_LOG_LEVEL") or read.log_level or "info",
        "TUI_EVAL_LOG_LEVEL"
        if os.environ.get("TUI_EVAL_LOG_LEVEL")
        else (name if read.log_level else "default"),
        read.log_level or "",
        choices=tuple(LOG_LEVELS),
    )


def _store_source(known: SettingSources) -> str:
    named = os.environ.get("TUI_EVAL_STORE")
    if named and Path(named) == known.store:
        return "TUI_EVAL_STORE"
    if known.store == known.read.store:
        return known.read.file.name
    return "default" if known.store == usual_store() else "--store"


def _short(path: Path) -> str:
    home = from_home("~")
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def _hosts(known: SettingSources) -> Iterator[Setting]:
    own = known.read.keys
    presets = {one.api_key_env for one in PRESETS.values() if one.api_key_env is not None}
    yield Setting(SettingKind.HEAD, (), "hosts that keys may be sent to")
    for variable in [*sorted(own), *sorted(presets - set(own))]:
        hosts = sorted((key_hosts(variable) or frozenset()) | own.get(variable, frozenset()))
        yield Setting(
            SettingKind.TEXT,
            ("keys", variable),
            variable,
            ", ".join(hosts) or "none",
            known.read.file.name if variable in own else "preset",
            ", ".join(sorted(own.get(variable, ()))),
            "hosts, with commas; .example.org is every host below it",
        )
    hint = "VARIABLE = host, host"
    yield Setting(SettingKind.TEXT, ("keys",), "another key…", hint=hint)


def _keys(known: SettingSources) -> Iterator[Setting]:
    area = ""
    for name, action in known.actions.items():
        if action.area != area:
            area = action.area
            yield Setting(SettingKind.HEAD, (), f"keys: {area}")
        own = known.looks.keymap.get(name)
        keys = own or action.keys
        yield Setting(
            SettingKind.KEY,
            ("keymap", name),
            action.words,
            " ".join(dict.fromkeys(map(known.shown, keys))),
            known.read.file.name if own else "",
            " ".join(own or ()),
        )
