"""What the app makes of the person's configuration."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tui_eval.suites.config.configuration import Configuration
from tui_eval.suites.loading.errors import Mistake, did_you_mean
from tui_eval.ui.keys.keymap import Keyboard, checked
from tui_eval.ui.theme.themes import THEMES, USUAL


@dataclass(frozen=True, slots=True)
class Preferences:
    """What is in force."""

    theme: str
    theme_from: str
    """The file that says so, `remembered` or `default`."""
    keymap: Mapping[str, tuple[str, ...]]
    """Keys in place of the usual ones, as Textual calls them, by the ids of actions."""
    mistakes: tuple[Mistake, ...]
    """All there are in the file; what they are about is as usual."""


def preferences(
    read: Configuration, remembered: str | None, keyboard: Callable[[], Keyboard]
) -> Preferences:
    """Look through a configuration.

    Args:
        read: The configuration.
        remembered: The theme that was chosen in the app last; None: none was.
        keyboard: Gives the usual keys; slow, so asked only where there are others.
    """
    theme, theme_from = theme_of(read, remembered)
    mistakes = list(read.mistakes)
    if read.theme is not None and read.theme not in THEMES:
        hint = did_you_mean(read.theme, THEMES)
        mistakes.append(read.mistake(("theme",), f"no theme is called {read.theme!r}", hint))
    keymap: dict[str, tuple[str, ...]] = {}
    if read.keymap:
        keymap, problems = checked(keyboard(), read.keymap)
        mistakes += [read.mistake(_place(read, one.id), one.message, one.hint) for one in problems]
    mistakes.sort(key=lambda one: one.line or 0)
    return Preferences(theme, theme_from, keymap, tuple(mistakes))


def theme_of(read: Configuration, remembered: str | None) -> tuple[str, str]:
    """Return the theme, and who says so: the configuration, what is remembered, or nobody."""
    if read.theme in THEMES:
        return read.theme, str(read.file)
    if remembered in THEMES:
        return remembered, "remembered"
    return USUAL, "default"


def _place(read: Configuration, name: str) -> tuple[str, ...]:
    quoted = ("keymap", name)
    return quoted if quoted in read.lines else ("keymap", *name.split("."))
