"""What came of an import: above all what was not carried over."""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from tui_eval.resources import styles_dir
from tui_eval.ui.dialogs.dialog import Dialog
from tui_eval.ui.suites import import_form
from tui_eval.ui.text.prose import fold
from tui_eval.ui.widgets.bar import Bar
from tui_eval.ui.widgets.page import Page
from tui_eval.ui.widgets.toned import Piece

if TYPE_CHECKING:
    from tui_eval.suites.importers.writing import WrittenSuite


_WIDTH = 74
_AROUND = 8


class ImportNotesScreen(Dialog[None]):
    """Says what came of an import, above all what was not carried over."""

    CSS_PATH = styles_dir() / "import_notes_screen.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,escape,q", "close", "Close", id="import.seen", tooltip="Go on to the suite"),
    ]

    def __init__(self, written: "WrittenSuite") -> None:
        super().__init__()
        self._written = written
        self._paras = tuple(import_form.import_paras(written))
        self._page = Page()

    def compose(self) -> ComposeResult:
        """Lay the box out; the list scrolls where it is long."""
        self._page.show(self._paras)
        with Vertical(classes="box"):
            yield Bar([Piece("Imported ", "accent"), Piece(self._written.suite.name, "strong")])
            yield self._page
            yield Bar()
            yield Bar(
                [
                    Piece("enter", "accent", "screen.close"),
                    Piece(" to the suite   ", "plain", "screen.close"),
                    Piece("It stands at the top of the suite too.", "dim"),
                ]
            )

    def on_mount(self) -> None:
        """Have keys scroll the list."""
        self.set_focus(self._page)

    def on_resize(self) -> None:
        """Be as high as the list, where there is room."""
        width = min(_WIDTH, max(self.app.size.width - _AROUND, 20))
        needed = sum(1 for _ in fold(self._paras, width - 2))
        self._page.styles.height = max(min(needed, self.app.size.height - _AROUND), 1)

    def action_close(self) -> None:
        """Go on to the suite."""
        self.dismiss(None)
