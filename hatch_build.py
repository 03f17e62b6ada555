"""What the build adds to a wheel: the manual page, where `make dist` has made it before."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ManualPage(BuildHookInterface[Any]):
    """Puts the page where `man` looks: in share/man of what it is installed into."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add it; an install from a checkout has none, and needs none."""
        page = Path(self.root, "build", "man", "tui-eval.1")
        if version == "standard" and page.exists():
            build_data["shared_data"][str(page)] = "share/man/man1/tui-eval.1"
