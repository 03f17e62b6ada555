"""Launch: what to run of a suite, and what the store has of it already."""

import asyncio
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input

from tui_eval.engine.settings import Settings
from tui_eval.model.visible import visible
from tui_eval.resources import styles_dir
from tui_eval.store.errors import StoreError
from tui_eval.ui.bench import Bench
from tui_eval.ui.prose import fold
from tui_eval.ui.suites.book import Book
from tui_eval.ui.suites.launching import (
    FIELDS,
    ONLY,
    Form,
    FormError,
    NotReadyError,
    Outlook,
    hints,
    launch,
    outlook,
    outlook_paras,
)
from tui_eval.ui.suites.shelf import Entry
from tui_eval.ui.widgets.bar import Bar, Lines
from tui_eval.ui.widgets.tick import Pick, Press, Tick
from tui_eval.ui.widgets.toned import Piece

_REST_S = 0.2
"""The fields rest so long before the data is read."""
_LABEL = 11
_LEAST_FORM = 4
"""Lines of the form that stay in view, whatever is said under it."""
_AROUND = 6
"""Lines of the box that are neither the form nor what is said: borders, title, Start, gaps."""


class Launch(ModalScreen[int | None]):
    """A form; gives the id of the run it made, or None where nobody started one."""

    CSS_PATH = styles_dir() / "launch.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "start", "Start", id="launch.start", tooltip="Start the run"),
        Binding("escape", "close", "Close", id="launch.close", tooltip="Start nothing"),
        Binding("down", "app.focus_next", "Next", id="launch.next", tooltip="The next field"),
        Binding("up", "app.focus_previous", "Back", id="launch.back", tooltip="The field before"),
    ]

    def __init__(self, bench: Bench, entry: Entry, book: Book) -> None:
        super().__init__()
        assert entry.suite is not None, "only a suite that can be read is launched"
        self._bench = bench
        self._entry = entry
        self._suite = suite = entry.suite
        self._book = book
        self._outlook: Outlook | None = None
        self._wanted: Settings | None = None
        """What is being counted, or was counted last."""
        self._starting = False
        self._ticks = [Tick(target.name, True) for target in suite.targets]
        self._fields = {
            name: Input(placeholder=hint, id=name.replace("_", "-"), compact=True)
            for name, hint in hints(suite).items()
        }
        self._only = Pick(ONLY, id="only")
        self._cache = Tick("use what is there already", suite.run.cache, id="cache")
        self._judge = Tick("ask the judge", True, id="judge")
        self._form = VerticalScroll(id="form", can_focus=False)
        self._said = Lines(id="said")
        self._start = Press("Start")

    def compose(self) -> ComposeResult:
        """Lay the form out; the suite's own values stand in the empty fields."""
        with Vertical(classes="box"):
            yield Bar([Piece("Launch ", "accent"), Piece(self._suite.name, "strong")], id="name")
            with self._form:
                yield from self._ticks
                with Horizontal(classes="field"):
                    yield _label("only")
                    yield self._only
                for line in FIELDS:
                    with Horizontal(classes="field"):
                        for name, label in line:
                            yield _label(label)
                            yield self._fields[name]
                with Horizontal(classes="field"):
                    yield self._cache
                    if self._suite.judges:
                        yield self._judge
            yield self._said
            with Horizontal(id="last"):
                yield self._start
                yield Bar(
                    [
                        Piece("   enter", "accent", "screen.start"),
                        Piece(" starts  ", "plain", "screen.start"),
                        Piece("space", "accent"),
                        Piece(" ticks  ", "plain"),
                        Piece("esc", "accent", "screen.close"),
                        Piece(" closes  ", "plain", "screen.close"),
                        Piece("up down", "accent"),
                        Piece(" go on", "plain"),
                    ]
                )

    def on_mount(self) -> None:
        """Stand on Start, and begin to count."""
        self._start.focus()
        self._count()

    def on_resize(self) -> None:
        """Fold what is said for the new width."""
        self._show()

    @property
    def form(self) -> Form:
        """What stands in the fields now."""
        fields = {name: field.value for name, field in self._fields.items() if name != "label"}
        return Form(
            targets=tuple(tick.label for tick in self._ticks if tick.ticked),
            all_targets=all(tick.ticked for tick in self._ticks),
            only=self._only.word,
            cache=self._cache.ticked,
            judge=self._judge.ticked,
            **fields,
        )

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        if event.input is not self._fields["label"]:
            self._count()

    @on(Tick.Changed)
    @on(Pick.Changed)
    def _changed(self) -> None:
        self._count()

    @work(exclusive=True, group="count")
    async def _count(self) -> None:
        self._outlook = None
        try:
            settings = self.form.settings()
        except FormError as error:
            self._wanted = None
            self._outlook = Outlook(None, (str(error),))
            self._show()
            return
        self._wanted = settings
        self._show()
        await asyncio.sleep(_REST_S)
        found = await self._bench.desk.ponder(
            lambda db: (
                outlook(db, self._entry, settings, self._book) if self._wanted is settings else None
            )  # while it waited for its turn another was asked for
        )
        if found is not None:
            self._outlook = found
            self._show()

    def _show(self) -> None:
        width = self._said.size.width
        if not width:
            self.call_after_refresh(self._show)
            return
        lines = [[Piece(text, tone)] for text, tone in fold(outlook_paras(self._outlook), width)]
        room = self.app.size.height - _AROUND
        most = room - _LEAST_FORM
        if len(lines) > most:
            hidden = len(lines) - most + 1
            lines = [*lines[: most - 1], [Piece(f"… and {hidden} more lines", "dim")]]
        self._said.show(lines)
        fields = len(self._ticks) + len(FIELDS) + 2  # and those for `only`, and the boxes below
        self._form.styles.height = max(min(fields, room - len(lines)), 1)

    @on(Press.Pressed)
    @on(Input.Submitted)
    def _pressed(self) -> None:
        self.action_start()

    @work
    async def action_start(self) -> None:
        """Make the run and start its engine."""
        if self._starting:
            return
        try:
            settings = self.form.settings()
        except FormError as error:
            self._refuse(str(error))
            return
        if self._outlook is not None and self._outlook.trouble:
            self._refuse(self._outlook.trouble[0])
            return
        self._starting = True
        label = self._fields["label"].value.strip() or None
        store = self._bench.desk.path
        try:
            run_id = await asyncio.to_thread(launch, store, self._entry, settings, label)
        except (NotReadyError, StoreError, OSError) as error:
            self._starting = False
            self._refuse(str(error))
            return
        self.dismiss(run_id)

    def _refuse(self, why: str) -> None:
        """Say why nothing was started, whole, under the form."""
        self._outlook = Outlook(None, tuple(why.splitlines()))
        self._show()
        self.app.bell()
        self.notify(visible("not started: see below the form"), severity="warning", markup=False)

    def action_close(self) -> None:
        """Start nothing."""
        self.dismiss(None)


def _label(text: str) -> Bar:
    return Bar([Piece(text.ljust(_LABEL), "dim")], classes="label")
