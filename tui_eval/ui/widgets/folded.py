"""Words that are folded to the room there is, and folded anew where that is another."""

from collections.abc import Sequence

from textual.geometry import Size
from textual.strip import Strip

from tui_eval.ui.text.prose import Para, fold
from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.toned import Piece, Toned


class Folded(Toned):
    """Paragraphs in a dialog; as high as they get."""

    DEFAULT_CSS = "Folded { height: auto; width: 1fr; }"

    def __init__(
        self,
        paras: Sequence[Para] = (),
        *,
        id: str | None = None,  # noqa: A002 - Textual's name for it
    ) -> None:
        """Make it.

        Args:
            paras: What it says; may be foreign.
            id: Its name in style sheets.
        """
        super().__init__(id=id)
        self._paras = tuple(paras)
        self._lines: tuple[int, list[tuple[str, Tone]]] = (0, [])
        """Cells that it is folded to, and the lines."""

    def show(self, paras: Sequence[Para]) -> None:
        """Say something else."""
        if tuple(paras) != self._paras:
            self._paras, self._lines = tuple(paras), (0, [])
            self.refresh(layout=True)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """Take all there is."""
        return container.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Take a line for each that it folds to."""
        return len(self._folded(width))

    def render_line(self, y: int) -> Strip:
        """Draw a line."""
        width, base = self.size.width, self.rich_style
        lines = self._folded(width)
        pieces = [Piece(*lines[y])] if y < len(lines) else []
        return self.line(pieces, width).adjust_cell_length(width, base)

    def _folded(self, width: int) -> list[tuple[str, Tone]]:
        if self._lines[0] != width:
            self._lines = width, list(fold(self._paras, width))
        return self._lines[1]
