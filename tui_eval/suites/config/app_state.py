"""What the app remembers from one start to the next: nothing that matters to a result."""

import getpass
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import platformdirs

GRADER: Final = "grader"
"""Under this is remembered who grades outputs."""


def state_file(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the file: `TUI_EVAL_STATE`, else in the user's state directory."""
    named = environ.get("TUI_EVAL_STATE")
    return Path(named) if named else platformdirs.user_state_path("tui-eval") / "app.json"


def login_name() -> str:
    """Return the name of whoever is logged in; where nobody is, `me`."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no such user in this container
        return "me"


class AppState:
    """A few words by name. A file that cannot be read or written is no reason to stop."""

    def __init__(self, file: Path, *, keeps: bool = True) -> None:
        """Read what is remembered.

        Args:
            file: Where it is kept.
            keeps: False: nothing is written there, and what is set lasts until the app ends.
        """
        self.file = file
        self._keeps = keeps
        self._values = _read(file)

    def get(self, name: str) -> str | None:
        """Return what is remembered under a name; None: nothing."""
        return self._values.get(name)

    def set(self, name: str, value: str) -> bool:
        """Remember something; False where it lasts only until the app ends."""
        if self._values.get(name) == value:
            return True
        self._values[name] = value
        if not self._keeps:
            return False
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            beside = self.file.with_suffix(".new")
            beside.write_text(json.dumps(self._values, indent=1), encoding="utf-8")
            beside.replace(self.file)
        except OSError:
            return False
        return True


def _read(file: Path) -> dict[str, str]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {str(name): value for name, value in found.items() if isinstance(value, str)}
