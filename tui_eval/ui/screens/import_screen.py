"""Import: which file, as what, and where to; then what could not be carried over."""

import asyncio
import threading
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.suggester import Suggester
from textual.widgets import Input

from tui_eval.resources import styles_dir
from tui_eval.ui.context import AppContext
from tui_eval.ui.dialogs.confirm_dialog import ConfirmDialog
from tui_eval.ui.dialogs.dialog import Dialog
from tui_eval.ui.screens.base.base_screen import BaseScreen
from tui_eval.ui.screens.import_notes_screen import ImportNotesScreen
from tui_eval.ui.suites import import_form
from tui_eval.ui.suites.import_form import ImportFormError, ImportSource
from tui_eval.ui.text.prose import Para, fold
from tui_eval.ui.widgets.bar import Bar, Lines
from tui_eval.ui.widgets.form_controls import ChoiceField, FormButton
from tui_eval.ui.widgets.toned import Piece

if TYPE_CHECKING:
    from tui_eval.suites.importers.writing import WrittenSuite

_REST_S = 0.1
"""The field rests so long before the file is looked at."""
_UNKNOWN = ("–",)
_MOST_SAID = 8
"""Lines of what is wrong that are shown under the form."""


class _Paths(Suggester):
    """Completes the name of a file."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        """Return the path that was probably begun."""
        return await asyncio.to_thread(import_form.completed, value)


class ImportScreen(Dialog["WrittenSuite | None"]):
    """A form; returns what was written, or None where nothing was."""

    CSS_PATH = styles_dir() / "import_screen.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "bring_in", "Import", id="import.import", tooltip="Import the file"),
        Binding("escape", "close", "Close", id="import.close", tooltip="Import nothing"),
        Binding("down", "app.focus_next", "Next", id="import.next", tooltip="The next field"),
        Binding("up", "app.focus_previous", "Back", id="import.back", tooltip="The field before"),
    ]

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._app_context = context
        self._source: ImportSource | None = None
        self._proposed = ""
        """What stands in the last field as long as nobody wrote there."""
        self._busy = False
        self._stopped = threading.Event()
        """Set where nobody waits for the suite any more."""
        self.file = Input(
            placeholder="promptfooconfig.yaml, log.eval, questions.jsonl …",
            id="file",
            compact=True,
            suggester=_Paths(),
        )
        self.format = ChoiceField(_UNKNOWN, id="format")
        self.suite = Input(placeholder="NAME.toml", id="suite", compact=True)
        self._said = Lines(id="said")
        self._press = FormButton("Import")

    def compose(self) -> ComposeResult:
        """Lay the form out."""
        with Vertical(classes="box"):
            yield Bar([Piece("Import ", "accent"), Piece("another tool's file", "strong")])
            yield Bar()
            for label, field in (("file", self.file), ("as", self.format), ("to", self.suite)):
                with Horizontal(classes="field"):
                    yield Bar([Piece(label, "dim")], classes="label")
                    yield field
            yield self._said
            with Horizontal(id="last"):
                yield self._press
                yield Bar(
                    [
                        Piece("   enter", "accent", "screen.bring_in"),
                        Piece(" imports  ", "plain", "screen.bring_in"),
                        Piece("esc", "accent", "screen.close"),
                        Piece(" closes  ", "plain", "screen.close"),
                        Piece("right", "accent"),
                        Piece(" completes", "plain"),
                    ]
                )

    def on_mount(self) -> None:
        """Stand in the first field."""
        self.set_focus(self.file)
        self._look()

    @on(Input.Changed, "#file")
    @work(exclusive=True, group="look")
    async def _look(self) -> None:
        """Look at the file that is named, once the field rests."""
        await asyncio.sleep(_REST_S)
        await self._look_now()

    async def _look_now(self) -> ImportSource:
        source = await asyncio.to_thread(import_form.look_at, self.file.value)
        if self._source is None or self._source.formats != source.formats:
            self.format.words = source.formats or _UNKNOWN
            self.format.picked = 0
            self.format.refresh()
        self._source = source
        if self.suite.value == self._proposed:
            found = (
                import_form.proposed(source.path, self._app_context.paths) if source.formats else ""
            )
            self._proposed = str(found)
            self.suite.value = self._proposed
        self._tell()
        return source

    @on(ChoiceField.Changed)
    def _tell(self) -> None:
        """Say what the file is, or why it is none."""
        source = self._source
        if source is None or source.trouble is not None:
            self._say(source.trouble if source else "", wrong=bool(self.file.value))
            return
        self._say(import_form.told(source, self.format.word), wrong=False)

    def _say(self, text: str | None, *, wrong: bool) -> None:
        width = max(self._said.size.width, 20)
        lines = list(fold([Para(text or "", "ungraded" if wrong else "dim")], width))
        if len(lines) > _MOST_SAID:
            lines = [*lines[: _MOST_SAID - 1], (f"… and {len(lines) - _MOST_SAID + 1} more", "dim")]
        self._said.show([[Piece(line, tone)] for line, tone in lines])

    @on(Input.Submitted)
    @on(FormButton.Pressed)
    def _pressed(self) -> None:
        self.action_bring_in()

    @work
    async def action_bring_in(self) -> None:
        """Import the file; ask before anything is replaced."""
        if self._busy:
            return
        self._busy = True
        try:
            written = await self._brought_in()
        except ImportFormError as error:
            self._say(str(error), wrong=True)
            self.app.bell()
            return
        finally:
            self._busy = False
        if written is not None and self.is_active:
            self.dismiss(written)

    async def _brought_in(self) -> "WrittenSuite | None":
        source = await self._look_now()
        if source.trouble is not None:
            raise ImportFormError(source.trouble)
        suite = import_form.destination(self.suite.value)
        there = await asyncio.to_thread(import_form.in_the_way, source.path, suite)
        if there:
            names = " and ".join(path.name for path in there)
            stands = "is" if len(there) == 1 else "are"
            question = ConfirmDialog(
                f"{names} {stands} there already. Replace?", yes="Replace", no="Keep"
            )
            if not await self.app.push_screen_wait(question):
                return None
        self._say("importing…", wrong=False)
        return await asyncio.to_thread(
            import_form.import_suite,
            source.path,
            self.format.word,
            suite,
            self._stopped,
            replacing=bool(there),
        )

    def on_unmount(self) -> None:
        """Give up what is still being imported."""
        self._stopped.set()

    def action_close(self) -> None:
        """Import nothing."""
        self.dismiss(None)


async def imported(screen: BaseScreen) -> Path | None:
    """Ask for a file and import it; return the new suite, None: there is none."""
    written = await screen.app.push_screen_wait(ImportScreen(screen.context))
    if written is None:
        return None
    await screen.app.push_screen_wait(ImportNotesScreen(written))
    return written.suite
