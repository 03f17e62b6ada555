"""The palette as a dialog: Textual's own, painted as ours are."""

from textual.command import CommandPalette

from tui_eval.ui.dialogs.dialog import PaintedOnce


class PaletteDialog(PaintedOnce[None], CommandPalette):
    """Every action by its name; what it offers comes from the app's providers."""
