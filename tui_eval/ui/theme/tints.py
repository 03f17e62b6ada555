"""What each theme makes of tones."""

from functools import cache

from rich.style import Style

from tui_eval.ui.theme.themes import DARK, LIGHT, THEMES
from tui_eval.ui.theme.tones import Tone


@cache
def tone_styles(name: str, dark: bool) -> dict[Tone, Style]:
    """Return what a theme makes of each tone, to be added to what a text stands on.

    Not in the style sheets: there each tone would be a style of each widget, and a start and every
    change of focus would work them all out again.

    Args:
        name: The theme's name.
        dark: Whether it is a dark one, for a theme that is none of ours.
    """
    theme = THEMES.get(name, DARK if dark else LIGHT)
    return {
        "plain": Style.null(),
        "dim": Style(color=theme.variables["dim"], bold=False),
        "strong": Style(bold=True),
        "accent": Style(color=theme.accent),
        "pass": Style(color=theme.success),
        "fail": Style(color=theme.error),
        "ungraded": Style(color=theme.variables["ungraded"]),
        "error": Style(color=theme.error, bold=True),
        "found": Style(color=theme.foreground, bgcolor=theme.variables["found"], underline=True),
        "heading": Style(color=theme.accent, bold=True),
        "stressed": Style(italic=True),
        "struck": Style(color=theme.variables["dim"], strike=True),
        "quoted": Style(color=theme.variables["quoted"]),
        "figure": Style(color=theme.variables["figure"]),
        "added": Style(color=theme.foreground, bgcolor=theme.variables["added"], underline=True),
        "removed": Style(
            color=theme.foreground, bgcolor=theme.variables["removed"], underline=True
        ),
    }
