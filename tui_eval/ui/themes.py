"""Two themes: calm, one accent; red and green for verdicts and nothing else."""

from textual.theme import Theme

_DARK = {
    "dim": "#7d8896",
    "rule": "#3a4350",
    "cursor": "#2b3a4d",
    "cursor-blurred": "#222a34",
    "marked": "#2a2f3f",
    "bar": "#1d232c",
    "found": "#5c4a1e",
    "ungraded": "#d7a65f",
    "block-cursor-background": "#2b3a4d",
    "block-cursor-foreground": "#e6ebf1",
    "block-cursor-text-style": "none",
    "input-cursor-background": "#c9d1d9",
    "input-selection-background": "#6cb6c9 35%",
    "scrollbar": "#3a4350",
    "scrollbar-background": "#15191f",
    "scrollbar-hover": "#56616f",
    "scrollbar-active": "#6cb6c9",
    "border": "#6cb6c9",
    "border-blurred": "#3a4350",
}
_LIGHT = {
    "dim": "#6b7480",
    "rule": "#c9c6bd",
    "cursor": "#cfe3ea",
    "cursor-blurred": "#e7e5de",
    "marked": "#e9e2f2",
    "bar": "#efede6",
    "found": "#f3dd9c",
    "ungraded": "#8a5a00",
    "block-cursor-background": "#cfe3ea",
    "block-cursor-foreground": "#1d2126",
    "block-cursor-text-style": "none",
    "input-cursor-background": "#2b3036",
    "input-selection-background": "#1b6e86 30%",
    "scrollbar": "#c9c6bd",
    "scrollbar-background": "#faf9f5",
    "scrollbar-hover": "#a9a69d",
    "scrollbar-active": "#1b6e86",
    "border": "#1b6e86",
    "border-blurred": "#c9c6bd",
}

DARK = Theme(
    name="dark",
    dark=True,
    primary="#6cb6c9",
    secondary="#6cb6c9",
    accent="#6cb6c9",
    foreground="#c9d1d9",
    background="#15191f",
    surface="#15191f",
    panel="#1d232c",
    success="#7cc48a",
    warning="#d7a65f",
    error="#ea7b7b",
    variables=_DARK,
)
LIGHT = Theme(
    name="light",
    dark=False,
    primary="#1b6e86",
    secondary="#1b6e86",
    accent="#1b6e86",
    foreground="#2b3036",
    background="#faf9f5",
    surface="#faf9f5",
    panel="#efede6",
    success="#2b7a3a",
    warning="#8a5a00",
    error="#b3312b",
    variables=_LIGHT,
)
THEMES = {theme.name: theme for theme in (DARK, LIGHT)}
_OWN_NAMES = [name for name in _DARK if name.count("-") < 1 or name == "cursor-blurred"]
OWN_VARIABLES = {
    theme.dark: {name: theme.variables[name] for name in _OWN_NAMES} for theme in (DARK, LIGHT)
}
"""Names of our own that style sheets use, with what they are where a theme lacks them: by whether
it is a dark one."""
