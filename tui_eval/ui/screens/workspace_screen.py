"""What a trial changed in its workspace, and how one file differs from what it was."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from tui_eval.processes.workspace.bounds import WorkspaceError
from tui_eval.resources import styles_dir
from tui_eval.store.read.trials.trial_queries import WholeTrial
from tui_eval.ui.context import AppContext
from tui_eval.ui.screens.base.base_screen import BaseScreen
from tui_eval.ui.screens.diff_screen import ComparedTexts, DiffScreen
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.widgets.bar import Bar
from tui_eval.ui.widgets.drawn_row import Cell, DrawnRow
from tui_eval.ui.widgets.fields import Field
from tui_eval.ui.widgets.keyline import KeyLine
from tui_eval.ui.widgets.rows import Rows
from tui_eval.ui.widgets.toned import Piece

if TYPE_CHECKING:
    from tui_eval.processes.workspace.changes import WorkspaceChanges
    from tui_eval.reports.programs.left_files import LeftFile

# Files and targets are imported where they are used: the first picture needs none of them.


class WorkspaceScreen(BaseScreen):
    """Lists the changed files of one trial."""

    CSS_PATH = styles_dir() / "workspace_screen.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "d,enter",
            "diff",
            "diff",
            id="workspace.diff",
            tooltip="What differs in this file from what the trial found",
        ),
        Binding("w", "leave", "back", id="workspace.back", tooltip="Back to the trial"),
    ]

    def __init__(self, context: AppContext, run_id: int, found: WholeTrial) -> None:
        """Make the screen of a trial.

        Args:
            context: What all screens share.
            run_id: Its run.
            found: The trial.
        """
        super().__init__(context)
        self._run_id = run_id
        self._found = found
        self.changes: WorkspaceChanges | None = None
        """None: they are still being read, or there are none."""
        self._title = Bar(id="title")
        self._said = Bar(id="said")
        self.files = FileTable(context.glyphs)

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield self._title
        yield self._said
        yield self.files
        yield KeyLine(lambda binding: binding.description)

    def on_mount(self) -> None:
        """Begin to read."""
        self.set_focus(self.files)
        self._said.display = False
        self._show_title("reading")
        self._read()

    def why_not(self, action: str) -> str | None:
        """Return why an action is not available now; None: it is."""
        if action == "diff" and self._selected is None:
            return "the list is still being read" if self.changes is None else "nothing changed"
        return None

    @property
    def _selected(self) -> "LeftFile | None":
        files = self.files.files
        return files[self.files.cursor] if self.files.cursor < len(files) else None

    @work
    async def _read(self) -> None:
        from tui_eval.reports.programs.left_files import changes_of, counted, left_files
        from tui_eval.store.files import FileStore

        client, trial = self.context.client, self._found.trial.id
        try:
            changes = await client.ponder(changes_of, FileStore.beside(client.path), trial)
        except (WorkspaceError, OSError) as error:
            self.files.say_empty(str(error))
            self._show_title("")
            return
        if changes is None:
            self.files.say_empty("nothing of a workspace was kept: its target has none")
            self._show_title("")
            return
        self.changes = changes
        self._show_title(counted(changes))
        if changes.incomplete is not None:
            more = f" There may be more: {changes.incomplete}"
            self._said.show([Piece(more, "ungraded")])
            self._said.display = True
        self.files.show(left_files(changes))
        self.refresh_bindings()

    def _show_title(self, counts: str) -> None:
        trial = self._found.trial
        epoch = f"  epoch {trial.epoch + 1}" if trial.epoch else ""
        left = [Piece(" workspace  ", "dim"), Piece(trial.case_id, "strong")]
        left += [Piece(f"  {trial.column}"), Piece(epoch, "dim")]
        self._title.show(left, [Piece(f" {counts} ", "dim")])

    @on(Rows.Opened)
    def _open(self) -> None:
        self.action_diff()

    @work(exclusive=True, group="diff")
    async def action_diff(self) -> None:
        """Show what differs in the file under the cursor from what the trial found."""
        from tui_eval.reports.programs.file_texts import file_texts
        from tui_eval.store.files import FileStore

        file, client = self._selected, self.context.client
        if file is None:
            return
        try:
            with self.context.keys_wait():
                files, trial = FileStore.beside(client.path), self._found.trial
                texts = await client.ponder(file_texts, files, self._run_id, trial, file)
        except (WorkspaceError, OSError) as error:
            self.say(f"{file.name}: {error}")
            return
        compared = ComparedTexts(
            self._found.trial.case_id,
            self._found.trial.column,
            texts.old_name,
            texts.old,
            texts.new,
            file.name,
        )
        await self.app.push_screen(DiffScreen(self.context, compared))


class FileTable(Rows):
    """Lists changed files."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(
            [
                Field("", 1),
                Field("file", 20, share=4, keep=16),
                Field("size", 9, right=True),
                Field("", 10, share=2, drop=1),
            ],
            glyphs=glyphs,
            empty="the list of changes is being read",
            id="files",
        )
        self.files: Sequence[LeftFile] = ()

    def show(self, files: "Sequence[LeftFile]") -> None:
        """List these."""
        self.files = files
        self.say_empty("it changed nothing in its workspace")
        self.resize_to(len(files))

    def row(self, index: int) -> DrawnRow | None:
        """Return the row of a file."""
        file = self.files[index]
        return DrawnRow(
            (
                Cell(file.sign, "strong"),
                Cell(file.name),
                Cell(file.size, "dim"),
                Cell(file.what, "dim"),
            )
        )
