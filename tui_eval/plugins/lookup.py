"""Which plugin a name stands for; nothing of it is imported by looking.

A distribution is looked up by its name, as importlib.metadata finds it on `sys.path`. Only `doctor`
and the app's forms for imports and exports look at all distributions that there are.
"""

import importlib.metadata
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import Distribution, EntryPoint
from pathlib import Path
from typing import Final

import tui_eval

GROUP: Final = "tui_eval"
NAME: Final = r"([A-Za-z0-9][A-Za-z0-9._-]*)\.([A-Za-z_][A-Za-z0-9_-]*)"
"""A plugin's name: the distribution's, and its own."""
_NAME: Final = re.compile(NAME)
_MODULE: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


class PluginSort(StrEnum):
    """What a plugin is."""

    SCORER = "scorer"
    TARGET = "target"
    IMPORTER = "importer"
    EXPORTER = "exporter"


class PluginError(Exception):
    """A name stands for no plugin, or for several."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(f"{message}; {hint}" if hint else message)
        self.message = message
        self.hint = hint
        """What to do."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """An entry point of an installed distribution."""

    sort: PluginSort
    name: str
    """`DISTRIBUTION.NAME`, as it was asked for."""
    distribution: str
    """The distribution's name and version: `acme 1.2.0`."""
    module: str
    place: str
    """The folder that the distribution is installed in."""
    record: Path | None
    """The list of its files with their digests; None: it has none."""


def is_plugin_name(name: str) -> bool:
    """Say whether a word has the form of a plugin's name, `DISTRIBUTION.NAME`."""
    return _NAME.fullmatch(name) is not None


def find_plugin(sort: PluginSort, name: str) -> Plugin:
    """Return the plugin of a name.

    Raises:
        PluginError: there is none, or there are several.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        raise PluginError(f'"{name[:80]}" is no plugin', "one is named DISTRIBUTION.NAME")
    wanted, own = found.groups()
    there = _installed(wanted)
    if not there:
        raise PluginError(
            f'no distribution is called "{wanted}"', f"install it where tui-eval is: {sys.prefix}"
        )
    if len(there) > 1:
        places = " and ".join(str(one.locate_file("")) for one in there)
        raise PluginError(f'"{wanted}" is installed twice, in {places}', "remove one of them")
    points = [point for point in _points(there[0]) if point.name == f"{sort}.{own}"]
    if not points:
        others = [point.name for point in _points(there[0])]
        hint = f"it has {', '.join(sorted(others))}" if others else "it has no plugin at all"
        raise PluginError(f'{wanted} has no {sort} "{own}"', hint)
    if len({point.value for point in points}) > 1:
        modules = " and ".join(sorted(point.value for point in points))
        raise PluginError(f'{wanted} has two {sort}s "{own}": {modules}', "one of them has to go")
    return _plugin(sort, name, there[0], points[0])


def all_plugins() -> Iterator[Plugin | PluginError]:
    """Yield every plugin of this Python, and what is wrong with those that cannot be used."""
    seen: set[str] = set()
    for distribution in importlib.metadata.distributions():
        for point in sorted(_points(distribution)):
            sort, _, own = point.name.partition(".")
            name = f"{distribution.name}.{own}"
            if f"{sort} {name}" in seen:
                continue
            seen.add(f"{sort} {name}")
            try:
                yield find_plugin(PluginSort(sort), name)
            except PluginError as error:
                yield PluginError(f"{sort} {name}: {error}")
            except ValueError:
                sorts = ", ".join(PluginSort)
                yield PluginError(f"{name}: {point.name} is no {sorts}")


def plugins_of(sort: PluginSort) -> list[Plugin]:
    """Return the plugins of a sort that can be used, by name."""
    there = (one for one in all_plugins() if isinstance(one, Plugin) and one.sort is sort)
    return sorted(there, key=lambda one: one.name)


def _installed(name: str) -> list[Distribution]:
    """Return the distributions of a name, each place once."""
    found = {
        str(Path(str(one.locate_file(""))).resolve()): one
        for one in importlib.metadata.distributions(name=name)
    }
    return [*found.values()]


def _points(distribution: Distribution) -> Iterator[EntryPoint]:
    yield from (point for point in distribution.entry_points if point.group == GROUP)


def _plugin(sort: PluginSort, name: str, of: Distribution, point: EntryPoint) -> Plugin:
    if _MODULE.fullmatch(point.value) is None:
        raise PluginError(f"its entry point names no module, but {point.value[:80]!r}")
    record = next((one for one in of.files or () if one.name == "RECORD"), None)
    return Plugin(
        sort,
        name,
        f"{of.name} {of.version}",
        point.value,
        str(of.locate_file("")),
        None if record is None else Path(str(of.locate_file(record))),
    )


def worker_path() -> list[str]:
    """Return where workers look for modules: where this process does, but for the current folder.

    What lies beside a suite must not stand in a plugin's place, or its dependencies'.
    """
    here, ours = str(Path.cwd()), str(Path(tui_eval.__file__).parents[1])
    found = [one for one in sys.path if one not in ("", here) and Path(one).is_absolute()]
    return found if ours in found else [*found, ours]
