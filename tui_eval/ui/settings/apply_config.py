"""What the person's configuration says of the app, put in force: its theme and its keys."""

from dataclasses import replace
from typing import TYPE_CHECKING

from textual.app import App
from textual.binding import Binding

from tui_eval.model.visible import visible
from tui_eval.suites.config.app_state import AppState
from tui_eval.ui.keys.shown_keys import name_keys
from tui_eval.ui.theme.themes import THEMES, USUAL

if TYPE_CHECKING:
    from tui_eval.suites.config.configuration import Configuration
    from tui_eval.ui.settings.preferences import Preferences

_READ_S = 12.0
"""Seconds for which a notice stays that is long to read."""
_TOLD_AT_START = 3
"""Mistakes of the configuration that are told one by one."""


class ConfigApplier:
    """Reads the configuration and has the app go by it.

    Most people have none, so what it takes to read one is imported only where there is one.
    """

    def __init__(self, app: App[None], remembered: AppState) -> None:
        self._app = app
        self._remembered = remembered
        self._read: Configuration | None = None
        """As last read; None: there is no file."""

    def theme(self) -> str:
        """Read the configuration; return the theme that the app starts with."""
        from tui_eval.suites.config.config_path import config_file

        chosen = self._remembered.get("theme")
        if not config_file().exists():
            return chosen if chosen in THEMES else USUAL
        from tui_eval.suites.config import configuration
        from tui_eval.ui.settings.preferences import theme_of

        self._read = configuration.read()
        return theme_of(self._read, chosen)[0]

    def begin(self) -> None:
        """Take the person's keys; tell what is wrong in the configuration."""
        if self._read is None:
            name_keys({})
            return
        read, found = self._read, self._put(self._read)
        for mistake in found.mistakes[:_TOLD_AT_START]:
            self._warn(str(replace(mistake, file=read.file.name)), _READ_S)
        if more := found.mistakes[_TOLD_AT_START:]:
            self._warn(f"and {len(more)} more in {read.file}: the settings list all", _READ_S)

    def reread(self) -> "tuple[Configuration, Preferences]":
        """Read the configuration again and apply it; return it, and what was made of it."""
        from tui_eval.suites.config import configuration

        read = configuration.read()
        self._read = read if read.there else None
        found = self._put(read)
        self._app.theme = found.theme
        return read, found

    def set_theme(self, theme: str) -> None:
        """Change the theme; it is kept where it was set: in the configuration, or by the app."""
        self._app.theme = theme
        if self._read is None or self._read.theme is None:
            self._remembered.set("theme", theme)
            return
        from tui_eval.suites.config.config_writing import change
        from tui_eval.suites.loading.errors import SuiteError

        try:
            change(self._read.file, ("theme",), theme)
        except (SuiteError, OSError) as error:
            self._warn(f"not remembered: {error}", None)

    def _put(self, read: "Configuration") -> "Preferences":
        from tui_eval.ui.keys.keyboard import keyboard
        from tui_eval.ui.settings.preferences import preferences

        found = preferences(read, self._remembered.get("theme"), keyboard)
        self._app.set_keymap({name: ",".join(keys) for name, keys in found.keymap.items()})
        name_keys(
            {
                name: self._app.get_key_display(Binding(keys[0], "", ""))
                for name, keys in found.keymap.items()
            }
        )
        return found

    def _warn(self, said: str, seconds: float | None) -> None:
        self._app.notify(visible(said), severity="warning", timeout=seconds, markup=False)
