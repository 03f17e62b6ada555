"""A plugin as a target."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, JsonValue, StrictStr

from tui_eval.plugins.lookup import PluginSort
from tui_eval.suites.plugins.plugin_fields import plugin_permission
from tui_eval.suites.spec.table import Text
from tui_eval.suites.spec.targets.python import WorkerTargetSpec
from tui_eval.suites.trust.permissions import Permission


class PluginTargetSpec(WorkerTargetSpec):
    """A target that an installed distribution brings, called in kept processes of its own."""

    TEMPLATED: ClassVar[tuple[str, ...]] = ("args",)

    kind: Literal["plugin"]
    """What it is; a suite writes its name, DISTRIBUTION.NAME."""
    plugin: Text
    """Its name. Written when the suite is read."""
    distribution: StrictStr = ""
    """The distribution with its version. Written when the suite is read."""
    version: StrictStr = ""
    """Its own version. Written when the suite is read."""
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    """What it makes of the table's other fields. Written when the suite is read."""
    args: Annotated[dict[str, JsonValue] | None, Field()] = None
    """What else of the case its request has, by name, templates inside."""

    @classmethod
    def permissions(cls, table: Mapping[str, object], folder: Path | None) -> Iterator[Permission]:
        """Yield that its code is run, and keys handed on."""
        name = str(table.get("plugin"))
        yield plugin_permission(PluginSort.TARGET, name)
        yield from cls.environment_permissions(table, name)

    def in_words(self) -> str:
        """Say which plugin it is."""
        return f"plugin {self.plugin} of {self.distribution}"
