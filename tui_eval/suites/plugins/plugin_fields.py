"""What targets and scorers that are plugins have in common."""

from typing import Final

from tui_eval.plugins.lookup import PluginError, PluginSort, find_plugin
from tui_eval.suites.trust.permissions import Permission

KIND: Final = "plugin"
"""The kind that a run keeps them as."""
KEPT: Final = ("kind", "plugin", "distribution", "version", "settings")
"""Fields that are written when a suite is read, and never by a person."""


def plugin_permission(sort: PluginSort, name: str) -> Permission:
    """Return the permission to run a plugin: its version, and the content of what is installed."""
    try:
        found = find_plugin(sort, name)
    except PluginError:
        return Permission(f"run the plugin {name}, which is not there", f"{sort} plugin {name}")
    return Permission(
        f"run the {sort} {name}, a plugin of {found.distribution} in {found.place}",
        f"{sort} plugin {name}: {found.module} of {found.distribution} in {found.place}",
        found.record,
    )


def why_unusable(sort: PluginSort, name: str, distribution: str) -> str | None:
    """Say why a plugin is not the one that a suite was read with; None: it is.

    Args:
        sort: What it is.
        name: As the suite names it.
        distribution: Its distribution with the version it had then.
    """
    try:
        found = find_plugin(sort, name)
    except PluginError as error:
        return str(error)
    if found.distribution == distribution:
        return None
    return (
        f"plugin {name} was of {distribution}, and is of {found.distribution} now: put that back, "
        "or start a new run, which reuses what is unchanged"
    )
