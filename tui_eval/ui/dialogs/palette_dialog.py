"""The palette as a dialog: Textual's own, painted as ours are."""

from textual.command import CommandList, CommandPalette

from tui_eval.ui.dialogs.dialog import PaintedOnce

_LIST_S = 0.25
"""Seconds that the first picture may wait for the list: without it there is nothing to see."""


class PaletteDialog(PaintedOnce[None], CommandPalette):
    """Every action by its name; what it offers comes from the app's providers."""

    def on_mount(self) -> None:
        """Show what is offered from the first."""
        self.wait_for_content(_LIST_S)

    # Textual gathers what is offered in a worker, which may find something while the palette is
    # being taken away: what it would show it in has gone, and the app with it.

    def _watch__list_visible(self) -> None:
        if self.query(CommandList):
            super()._watch__list_visible()
        if self._list_visible:
            self.content_is_there()

    async def _watch__show_busy(self) -> None:
        if self.query(CommandList):
            await super()._watch__show_busy()
