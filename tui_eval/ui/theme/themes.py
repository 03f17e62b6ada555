"""The themes: calm, one accent; red and green for verdicts and differences alone.

Text stands out by 4.5:1 at least from all it stands on, in the themes of high contrast by 7:1.
"""

from typing import Final

from textual.theme import Theme

from tui_eval.ui.theme.colours import Colours
from tui_eval.ui.theme.editor_colours import EDITORS, LIGHT_ONES


def _theme(name: str, colours: Colours, *, dark: bool) -> Theme:
    return Theme(
        name=name,
        dark=dark,
        primary=colours.accent,
        secondary=colours.accent,
        accent=colours.accent,
        foreground=colours.text,
        background=colours.ground,
        surface=colours.ground,
        panel=colours.box,
        success=colours.passed,
        warning=colours.ungraded,
        error=colours.failed,
        variables={
            "dim": colours.dim,
            "rule": colours.rule,
            "cursor": colours.cursor,
            "cursor-blurred": colours.cursor_blurred,
            "marked": colours.marked,
            "bar": colours.box,
            "found": colours.found,
            "quoted": colours.quoted,
            "figure": colours.figure,
            "added": colours.added,
            "removed": colours.removed,
            "ungraded": colours.ungraded,
            "block-cursor-background": colours.cursor,
            "block-cursor-foreground": colours.on_cursor,
            "block-cursor-text-style": "none",
            "input-cursor-background": colours.text,
            "input-selection-background": colours.selection,
            "scrollbar": colours.rule,
            "scrollbar-background": colours.ground,
            "scrollbar-hover": colours.scrollbar_hover,
            "scrollbar-active": colours.accent,
            "border": colours.accent,
            "border-blurred": colours.rule,
        },
    )


DARK: Final = _theme(
    "dark",
    Colours(
        text="#c9d1d9",
        ground="#15191f",
        box="#1d232c",
        dim="#939eab",
        rule="#3a4350",
        accent="#6cb6c9",
        passed="#7cc48a",
        failed="#ee8585",
        ungraded="#d7a65f",
        cursor="#26354a",
        cursor_blurred="#222a34",
        marked="#2a2f3f",
        found="#5c4a1e",
        quoted="#a9bcdd",
        figure="#c9b2e4",
        added="#1d4a2c",
        removed="#5c2c31",
        selection="#6cb6c9 35%",
        scrollbar_hover="#56616f",
        on_cursor="#e6ebf1",
    ),
    dark=True,
)
LIGHT: Final = _theme(
    "light",
    Colours(
        text="#2b3036",
        ground="#faf9f5",
        box="#efede6",
        dim="#565f6a",
        rule="#c9c6bd",
        accent="#15607a",
        passed="#216a30",
        failed="#a92b26",
        ungraded="#7c5000",
        cursor="#cfe3ea",
        cursor_blurred="#e7e5de",
        marked="#e9e2f2",
        found="#f3dd9c",
        quoted="#2c4f85",
        figure="#603c8f",
        added="#c3ebcb",
        removed="#f8d3cf",
        selection="#15607a 30%",
        scrollbar_hover="#a9a69d",
        on_cursor="#1d2126",
    ),
    dark=False,
)
DARK_CONTRAST: Final = _theme(
    "dark-contrast",
    Colours(
        text="#ffffff",
        ground="#000000",
        box="#10131a",
        dim="#c6ced8",
        rule="#4d5765",
        accent="#5fd7ff",
        passed="#6ee787",
        failed="#ffb3b3",
        ungraded="#ffc66b",
        cursor="#103052",
        cursor_blurred="#232a35",
        marked="#33264d",
        found="#5a4300",
        quoted="#c4d8ff",
        figure="#e2ccff",
        added="#0b4a1e",
        removed="#5e1c22",
        selection="#5fd7ff 35%",
        scrollbar_hover="#8b96a5",
        on_cursor="#ffffff",
    ),
    dark=True,
)
LIGHT_CONTRAST: Final = _theme(
    "light-contrast",
    Colours(
        text="#000000",
        ground="#ffffff",
        box="#f0f1f4",
        dim="#394048",
        rule="#9aa2ab",
        accent="#003f66",
        passed="#004a14",
        failed="#8a0000",
        ungraded="#5c3500",
        cursor="#bfe0f5",
        cursor_blurred="#e0e3e8",
        marked="#e6dcf7",
        found="#ffe08a",
        quoted="#12305e",
        figure="#40156e",
        added="#b9f0c4",
        removed="#ffd2cd",
        selection="#003f66 25%",
        scrollbar_hover="#4f565f",
        on_cursor="#000000",
    ),
    dark=False,
)
_OF_EDITORS = (
    _theme(name, colours, dark=name not in LIGHT_ONES) for name, colours in EDITORS.items()
)
THEMES: Final = {
    theme.name: theme for theme in (DARK, LIGHT, DARK_CONTRAST, LIGHT_CONTRAST, *_OF_EDITORS)
}
USUAL: Final = DARK.name
"""Where nobody has chosen one."""
_OWN_NAMES: Final = (
    "dim", "rule", "cursor", "cursor-blurred", "marked", "bar", "found", "ungraded",
    "scrollbar", "border",
)  # fmt: skip
OWN_VARIABLES: Final = {
    theme.dark: {name: theme.variables[name] for name in _OWN_NAMES} for theme in (DARK, LIGHT)
}
"""Names of our own that style sheets use, with what they are where a theme lacks them: by whether
it is a dark one."""
