"""A plugin as a scorer."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, JsonValue, StrictStr

from tui_eval.plugins.lookup import PluginSort
from tui_eval.suites.plugins.plugin_fields import plugin_permission, why_unusable
from tui_eval.suites.scorers.programs.bounded import BoundedScorer
from tui_eval.suites.trust.permissions import Permission


class PluginScorer(BoundedScorer):
    """A scorer that an installed distribution brings, called in kept processes of its own."""

    TEMPLATED: ClassVar[tuple[str, ...]] = BoundedScorer.TEMPLATED

    kind: Literal["plugin"]
    plugin: Annotated[StrictStr, Field(min_length=1)] = Field(
        description="Its name, DISTRIBUTION.NAME. Written when the suite is read."
    )
    distribution: StrictStr = Field(
        default="",
        description="The distribution with its version. Written when the suite is read.",
    )
    version: StrictStr = Field(
        default="", description="Its own version. Written when the suite is read."
    )
    settings: dict[str, JsonValue] = Field(
        default_factory=dict,
        description="What it makes of the table's other fields. Written when the suite is read.",
    )
    isolation: Literal["none"] = Field(
        default="none", description="Nothing keeps a plugin from the rest of the machine."
    )

    @classmethod
    def permissions(cls, table: Mapping[str, object], folder: Path | None) -> Iterator[Permission]:
        """Yield that its code is run."""
        yield plugin_permission(PluginSort.SCORER, str(table.get("plugin")))

    def missing_program(self, folder: Path) -> str | None:
        """Say that it is not there, or is another one than when the suite was read."""
        return why_unusable(PluginSort.SCORER, self.plugin, self.distribution)
