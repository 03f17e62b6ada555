"""Launch: what to run of a suite, and what the store has of it already."""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

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
from tui_eval.ui.context import AppContext
from tui_eval.ui.keys.acting import say
from tui_eval.ui.suites.case_book import CaseBook
from tui_eval.ui.suites.launch_form import (
    FIELDS,
    ONLY,
    FormError,
    LaunchForm,
    NotReadyError,
    hints,
    launch,
    preflight_paras,
    usual_form,
)
from tui_eval.ui.suites.saved_form import keep, recall
from tui_eval.ui.suites.suite_list import SuiteEntry
from tui_eval.ui.text.prose import fold
from tui_eval.ui.widgets.bar import Bar, Lines
from tui_eval.ui.widgets.form_controls import ChoiceField, FormButton, TickBox
from tui_eval.ui.widgets.hints import Hints
from tui_eval.ui.widgets.toned import Piece

if TYPE_CHECKING:
    from tui_eval.engine.preflight.preflight import Preflight

_REST_S = 0.2
"""The fields rest so long before the data is read."""
_LABEL = 11
_LEAST_FORM = 4
"""Lines of the form that stay in view, whatever is said under it."""
_AROUND = 6
"""Lines of the box that are neither the form nor what is said: borders, title, Start, gaps."""


@dataclass(frozen=True, slots=True)
class EditRequest:
    """A person wants to edit the suite, and to be here again after that."""

    file: Path
    line: int | None


class LaunchScreen(ModalScreen[int | EditRequest | None]):
    """A form; returns the id of the run it made, a request to edit the suite, or None."""

    CSS_PATH = styles_dir() / "launch_screen.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "start", "Start", id="launch.start", tooltip="Start the run"),
        Binding("escape", "close", "Close", id="launch.close", tooltip="Start nothing"),
        Binding(
            "ctrl+r",
            "as_suite",
            "As the suite says",
            id="launch.as-suite",
            tooltip="Every field as the suite says",
        ),
        Binding(
            "e",
            "edit",
            "Edit",
            id="launch.edit",
            tooltip="Edit the suite at what is wrong, and read it again",
        ),
        Binding("down", "app.focus_next", "Next", id="launch.next", tooltip="The next field"),
        Binding("up", "app.focus_previous", "Back", id="launch.back", tooltip="The field before"),
    ]

    def __init__(self, context: AppContext, entry: SuiteEntry, book: CaseBook) -> None:
        super().__init__()
        assert entry.suite is not None, "only a suite that can be read is launched"
        self._app_context = context
        self._entry = entry
        self._suite = suite = entry.suite
        self._book = book
        self._found: Preflight | None = None
        self._refused: tuple[str, ...] = ()
        """Why nothing can be started, beside what `_found` says."""
        self._wanted: Settings | None = None
        """What is being counted, or was counted last."""
        self._starting = False
        self._made: int | None = None
        """The run that was made; None: none was yet."""
        self._usual = usual_form(suite)
        self._last = last = recall(context.remembered, str(entry.path), self._usual)
        """How it was launched last; as the suite says, where it was not, or so."""
        self._ticks = [
            TickBox(target.name, target.name in last.targets) for target in suite.targets
        ]
        self._fields = {
            name: Input(
                getattr(last, name, ""),
                placeholder=hint,
                id=name.replace("_", "-"),
                compact=True,
                select_on_focus=False,
            )
            for name, hint in hints(suite).items()
        }
        self._only = ChoiceField(ONLY, id="only", first=ONLY.index(last.only))
        self._cache = TickBox("use cache", last.cache, id="cache")
        self._judge = TickBox("run the judge", last.judge, id="judge")
        self._title = Bar(id="name")
        self._form = VerticalScroll(id="form", can_focus=False)
        self._said = Lines(id="said")
        self._start = FormButton("Start")

    def compose(self) -> ComposeResult:
        """Lay the form out; the suite's own values stand in the empty fields."""
        with Vertical(classes="box"):
            yield self._title
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
                yield Hints(
                    ("launch.start", "starts"),
                    ("launch.edit", "edits"),
                    ("launch.close", "closes"),
                    more=[Piece("space", "accent"), Piece(" ticks")],
                )

    def on_mount(self) -> None:
        """Stand on Start, and begin to count."""
        self._start.focus()
        self._count()

    def on_resize(self) -> None:
        """Fold what is said for the new width."""
        self._show()

    @property
    def form(self) -> LaunchForm:
        """What stands in the fields now."""
        fields = {name: field.value for name, field in self._fields.items() if name != "label"}
        return LaunchForm(
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

    @on(TickBox.Changed)
    @on(ChoiceField.Changed)
    def _changed(self) -> None:
        self._count()

    @work(exclusive=True, group="count")
    async def _count(self) -> None:
        self._found, self._refused = None, ()
        try:
            settings = self.form.settings()
        except FormError as error:
            self._wanted = None
            self._refused = (str(error),)
            self._show()
            return
        self._wanted = settings
        self._show()
        await asyncio.sleep(_REST_S)
        found = await self._app_context.client.ponder(
            lambda db: (
                self._book.of_launch(db, settings) if self._wanted is settings else None
            )  # while it waited for its turn another was asked for
        )
        if found is not None:
            self._found = found
            self._show()

    def _show_title(self) -> None:
        """Say where the fields are not as the suite says, and how to get there."""
        right: list[Piece] = []
        form = self.form
        if form != self._usual:
            back = self._key_to_suite
            right = [
                Piece("as last time  " if form == self._last else "", "ungraded"),
                Piece(back, "accent", "screen.as_suite"),
                Piece(" as the suite says ", "plain", "screen.as_suite"),
            ]
        self._title.show([Piece("Launch ", "accent"), Piece(self._suite.name, "strong")], right)

    @property
    def _key_to_suite(self) -> str:
        found = (one.binding for one in self.active_bindings.values())
        return next(
            (self.app.get_key_display(one) for one in found if one.id == "launch.as-suite"), ""
        )

    def action_as_suite(self) -> None:
        """Set every field to what the suite says."""
        usual = self._usual
        for tick in self._ticks:
            tick.ticked = tick.label in usual.targets
        for name, field in self._fields.items():
            field.value = getattr(usual, name, field.value)
        self._only.picked = ONLY.index(usual.only)
        self._cache.ticked, self._judge.ticked = usual.cache, usual.judge
        self._count()

    def action_edit(self) -> None:
        """Leave the form for the editor."""
        if not self._starts():
            self.dismiss(EditRequest(*self._where()))

    def _where(self) -> tuple[Path, int | None]:
        wrong = self._found.mistakes if self._found is not None else ()
        return replace(self._entry, mistakes=wrong or self._entry.mistakes).where()

    def _show(self) -> None:
        self._show_title()
        width = self._said.size.width
        if not width:
            self.call_after_refresh(self._show)
            return
        paras = preflight_paras(self._found, self._refused)
        lines = [[Piece(text, tone)] for text, tone in fold(paras, width)]
        room = self.app.size.height - _AROUND
        most = room - _LEAST_FORM
        if len(lines) > most:
            hidden = len(lines) - most + 1
            lines = [*lines[: most - 1], [Piece(f"… and {hidden} more lines", "dim")]]
        self._said.show(lines)
        fields = len(self._ticks) + len(FIELDS) + 2  # and those for `only`, and the boxes below
        self._form.styles.height = max(min(fields, room - len(lines)), 1)

    @on(FormButton.Pressed)
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
        if self._found is not None and not self._found.may_start:
            self._refuse()
            return
        self._starting = True
        label = self._fields["label"].value.strip() or None
        try:
            with self._app_context.keys_wait():
                client = self._app_context.client
                run_id = await client.act(launch, client.path, self._entry, settings, label)
        except (NotReadyError, StoreError, OSError) as error:
            self._starting = False
            self._refuse(str(error))
            return
        keep(self._app_context.remembered, str(self._entry.path), self.form, self._usual)
        self._made = run_id
        self._go_to_run()

    def on_screen_resume(self) -> None:
        """Go to a run that was made while something covered the form."""
        self._go_to_run()

    def _go_to_run(self) -> None:
        if self._made is not None and self.is_active:  # else it is covered, or was left
            self.dismiss(self._made)

    def _refuse(self, why: str = "") -> None:
        """Say why nothing was started, whole, under the form.

        Args:
            why: The reason, where it does not stand there already.
        """
        self._refused = tuple(why.splitlines())
        self._show()
        self.app.bell()
        self.notify(visible("not started: see below the form"), severity="warning", markup=False)

    def action_close(self) -> None:
        """Start nothing."""
        if not self._starts():
            self.dismiss(None)

    def _starts(self) -> bool:
        """Say that the run is being made, if it is: that cannot be taken back from here."""
        if self._starting:
            say(self, "the run is being started")
        return self._starting


def _label(text: str) -> Bar:
    return Bar([Piece(text.ljust(_LABEL), "dim")], classes="label")
