"""Targets and scorers of a suite whose `kind` names a plugin, in the form that runs keep."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from pydantic import BaseModel

from tui_eval.model.json import JsonObject
from tui_eval.plugins.lookup import Plugin, PluginError, PluginSort, find_plugin, is_plugin_name
from tui_eval.suites.loading.errors import Mistake
from tui_eval.suites.loading.source_map import SourceMap, tables
from tui_eval.suites.loading.toml_lines import Path
from tui_eval.suites.plugins.description import PluginDescription, described
from tui_eval.suites.plugins.plugin_fields import KEPT, KIND, plugin_permission
from tui_eval.suites.scorers import scorer_of
from tui_eval.suites.spec import TARGETS
from tui_eval.suites.trust.permissions import Permission

_SORTS: Final[Mapping[str, tuple[PluginSort, type[BaseModel]]]] = {
    "targets": (PluginSort.TARGET, TARGETS.of({"kind": KIND})),
    "scorers": (PluginSort.SCORER, scorer_of({"kind": KIND})),
}


def resolve(
    data: JsonObject, places: SourceMap, allowed: Callable[[Permission], bool]
) -> list[Mistake]:
    """Put each plugin's table into its form: `kind = "plugin"`, its settings apart.

    A plugin is looked up by its name alone. It is imported, for its settings to be checked, only
    where that is allowed.

    Args:
        data: The suite as written; it is changed.
        places: Where its fields stand.
        allowed: Says whether a permission was given.

    Returns:
        What is wrong: plugins that are not there, their settings.
    """
    mistakes: list[Mistake] = []
    for field, (sort, model) in _SORTS.items():
        fields = model.model_fields.items()
        own = {one.alias or name for name, one in fields} - {*KEPT} | {"kind"}
        for path, table in tables(data, field):
            kind = table.get("kind")
            if kind == KIND:
                hint = 'name it: kind = "DISTRIBUTION.NAME"'
                mistakes.append(places.mistake((*path, "kind"), "names no plugin", hint))
            elif isinstance(kind, str) and is_plugin_name(kind):
                mistakes += _resolved(table, path, places, _Named(sort, kind, own), allowed)
    return mistakes


class _Named:
    """A plugin as a table names it."""

    def __init__(self, sort: PluginSort, name: str, own: set[str]) -> None:
        self.sort = sort
        self.name = name
        self.own = own
        """The fields of the table that are ours, not its settings."""


def _resolved(
    table: JsonObject,
    path: Path,
    places: SourceMap,
    named: _Named,
    allowed: Callable[[Permission], bool],
) -> Iterator[Mistake]:
    settings = {name: value for name, value in table.items() if name not in named.own}
    found: Plugin | None = None
    try:
        found = find_plugin(named.sort, named.name)
    except PluginError as error:
        yield places.mistake((*path, "kind"), error.message, error.hint)
    saying = PluginDescription("", settings, ())
    if found is not None and allowed(plugin_permission(named.sort, named.name)):
        saying = described(found, settings)
    for mistake in saying.mistakes:
        yield places.mistake((*path, *mistake.path), mistake.message, mistake.hint)
    for name in settings:
        del table[name]
    table.setdefault("name", named.name.rpartition(".")[2])
    table |= {
        "kind": KIND,
        "plugin": named.name,
        "distribution": "" if found is None else found.distribution,
        "version": saying.version,
        "settings": saying.settings,
    }
