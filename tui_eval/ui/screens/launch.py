"""Launch: what to run of a suite, and what the store has of it already."""

import asyncio
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input

from tui_eval.model.visible import visible
from tui_eval.resources import styles_dir
from tui_eval.store.errors import StoreError
from tui_eval.ui.bench import Bench
from tui_eval.ui.suites.launching import (
    Form,
    FormError,
    Outlook,
    launch,
    outlook,
    outlook_lines,
)
from tui_eval.ui.suites.shelf import Entry
from tui_eval.ui.widgets.bar import Bar
from tui_eval.ui.widgets.tick import Press, Tick
from tui_eval.ui.widgets.toned import Piece

if TYPE_CHECKING:
    from tui_eval.suites.spec import Suite

_REST_S = 0.2
"""The fields rest so long before the data is read."""
_LABEL = 10


class Launch(ModalScreen[int | None]):
    """A form; gives the id of the run it made, or None where nobody started one."""

    CSS_PATH = styles_dir() / "launch.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "start", "Start", id="launch.start", tooltip="Start the run"),
        Binding("escape", "close", "Close", id="launch.close", tooltip="Start nothing"),
        Binding("down", "app.focus_next", "Next", id="launch.next", tooltip="The next field"),
        Binding("up", "app.focus_previous", "Back", id="launch.back", tooltip="The field before"),
    ]

    def __init__(self, bench: Bench, entry: Entry) -> None:
        super().__init__()
        assert entry.suite is not None, "only a valid suite is launched"
        self._bench = bench
        self._entry = entry
        self._suite = entry.suite
        self._outlook: Outlook | None = None
        self._starting = False
        self._ticks = [Tick(target.name, True) for target in self._suite.targets]
        self._fields = {
            label: Input(placeholder=hint, id=label.replace(" ", "-"), compact=True)
            for label, hint in _hints(self._suite).items()
        }
        self._cache = Tick("use outputs that are there already", self._suite.run.cache, id="cache")
        self._first = Bar(id="first")
        self._second = Bar(id="second")
        self._start = Press("Start")

    def compose(self) -> ComposeResult:
        """Lay the form out; the suite's own values stand in the empty fields."""
        with Vertical(classes="box"):
            yield Bar([Piece("Launch ", "accent"), Piece(self._suite.name, "strong")], id="name")
            with VerticalScroll(id="targets", can_focus=False):
                yield from self._ticks
            for label, field in self._fields.items():
                with Horizontal(classes="field"):
                    yield Bar([Piece(label.ljust(_LABEL), "dim")])
                    yield field
            yield self._cache
            yield self._first
            yield self._second
            with Horizontal(id="last"):
                yield self._start
                yield Bar(
                    [
                        Piece("   enter", "accent", "screen.start"),
                        Piece(" starts  ", "plain", "screen.start"),
                        Piece("space", "accent"),
                        Piece(" ticks  ", "plain"),
                        Piece("esc", "accent", "screen.close"),
                        Piece(" closes", "plain", "screen.close"),
                    ]
                )

    def on_mount(self) -> None:
        """Stand on Start, and begin to count."""
        self._start.focus()
        self._count()

    @property
    def form(self) -> Form:
        """What stands in the fields now."""
        fields = {label: field.value for label, field in self._fields.items()}
        return Form(
            targets=tuple(tick.label for tick in self._ticks if tick.ticked),
            all_targets=all(tick.ticked for tick in self._ticks),
            cases=fields["cases"],
            tags=fields["tags"],
            limit=fields["limit"],
            epochs=fields["epochs"],
            concurrency=fields["at once"],
            cache=self._cache.ticked,
        )

    @on(Input.Changed)
    @on(Tick.Changed)
    def _changed(self) -> None:
        self._count()

    @work(exclusive=True, group="count")
    async def _count(self) -> None:
        self._outlook = None
        try:
            settings = self.form.settings()
        except FormError as error:
            self._outlook = Outlook(None, str(error), ())
            self._show()
            return
        self._show()
        await asyncio.sleep(_REST_S)
        self._outlook = await self._bench.desk.ponder(outlook, self._entry, settings)
        self._show()

    def _show(self) -> None:
        first, second = outlook_lines(self._outlook)
        self._first.show(first)
        self._second.show(second)

    @on(Press.Pressed)
    @on(Input.Submitted)
    def _pressed(self) -> None:
        self.action_start()

    @work
    async def action_start(self) -> None:
        """Make the run and start its engine."""
        if self._starting:
            return
        trouble = self._outlook.trouble if self._outlook is not None else None
        try:
            settings = self.form.settings()
        except FormError as error:
            self._refuse(str(error))
            return
        if trouble is not None:
            self._refuse(trouble)
            return
        self._starting = True
        try:
            run_id = await asyncio.to_thread(launch, self._bench.desk.path, self._entry, settings)
        except (StoreError, OSError) as error:
            self._starting = False
            self._refuse(str(error))
            return
        self.dismiss(run_id)

    def _refuse(self, why: str) -> None:
        self.notify(visible(why), severity="warning", markup=False)

    def action_close(self) -> None:
        """Start nothing."""
        self.dismiss(None)


def _hints(suite: "Suite") -> dict[str, str]:
    """Give the fields by their labels, each with what an empty one means."""
    at_once = suite.run.concurrency or "the endpoint's own"
    return {
        "cases": "ids, with commas; empty: all",
        "tags": "any of these, with commas; empty: all",
        "limit": "only so many cases; empty: all",
        "epochs": f"{suite.run.epochs}: how often each case is asked",
        "at once": f"{at_once}: calls in flight at each endpoint",
    }
