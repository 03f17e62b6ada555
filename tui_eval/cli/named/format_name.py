"""The name of a format on the command line: one of ours, or a plugin's."""

import re
from typing import Final

import click

_PLUGIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\.[A-Za-z_][A-Za-z0-9_-]*")
"""As `plugins.lookup` has it, which `--help` does not load."""


class FormatName(click.Choice[str]):
    """A format by its name; what is none is refused with the nearest there is."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Read it; the name of a plugin is looked up later."""
        if _PLUGIN.fullmatch(value):
            return value
        from tui_eval.suites.loading.errors import nearest

        near = None if value in self.choices else nearest(value, map(str, self.choices))
        if near is not None:
            self.fail(f"no format is called {value!r}; did you mean {near}?", param, ctx)
        return super().convert(value, param, ctx)
