"""Launch: what to run of a suite, and what the store has of it already."""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Input

from tui_eval.engine.settings import Settings
from tui_eval.model.visible import visible
from tui_eval.resources import styles_dir
from tui_eval.store.errors import StoreError
from tui_eval.ui.context import AppContext
from tui_eval.ui.dialogs.dialog import Dialog
from tui_eval.ui.keys.acting import say
from tui_eval.ui.suites.case_book import CaseBook
from tui_eval.ui.suites.launch_controls import LaunchControls
from tui_eval.ui.suites.launch_fields import FIELDS
from tui_eval.ui.suites.launch_form import (
    FormError,
    LaunchForm,
    NotReadyError,
    launch,
    preflight_paras,
    trouble,
    usual_form,
)
from tui_eval.ui.suites.saved_form import keep, recall
from tui_eval.ui.suites.suite_list import SuiteEntry
from tui_eval.ui.widgets.bar import Bar
from tui_eval.ui.widgets.form_controls import ChoiceField, FormButton, TickBox
from tui_eval.ui.widgets.hints import Hints
from tui_eval.ui.widgets.page import Page
from tui_eval.ui.widgets.toned import Piece

if TYPE_CHECKING:
    from tui_eval.engine.preflight.preflight import Preflight

_REST_S = 0.2
"""The fields rest so long before the data is read."""
_LEAST_FORM = 4
"""Lines of the form that stay in view, whatever is said under it."""
_SAID = 5
"""Lines for what is said under the form, where the screen has room; it scrolls where it is more."""
_LEAST_SAID = 2
"""Lines that are always said there, and one for each judge: trials, and calls with their cost."""
_AROUND = 6
"""Lines of the box that are neither the form nor what is said: borders, title, Start, gaps."""


@dataclass(frozen=True, slots=True)
class EditRequest:
    """A person wants to edit the suite, and to be here again after that."""

    file: Path
    line: int | None


_TARGETS = ("t", "targets", "targets", "Which targets are asked")
_ONLY = ("o", "only", "only", "Only cases whose latest verdict is so")
_CACHE = ("u", "cache", "use cache", "Use outputs and grades that the store has, or ask anew")
_JUDGE = ("d", "judge", "run the judge", "Have judges grade, or leave that for later")


def _leads_to(letter: str, field: str, label: str, does: str) -> Binding:
    return Binding(letter, f"field({field!r})", label, id=f"launch.{field}", tooltip=does)


class LaunchScreen(Dialog[int | EditRequest | None]):
    """A form; returns the id of the run it made, a request to edit the suite, or None."""

    CSS_PATH = styles_dir() / "launch_screen.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "start", "Start", id="launch.start", tooltip="Start the run"),
        Binding(
            "escape",
            "close",
            "Close",
            id="launch.close",
            tooltip="Leave the field; then the form: nothing is started",
        ),
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
        Binding("down,j", "app.focus_next", "Next", id="launch.next", tooltip="The next field"),
        Binding("up,k", "app.focus_previous", "Back", id="launch.back", tooltip="The field before"),
        *(_leads_to(*one) for one in (_TARGETS, _ONLY, _CACHE, _JUDGE)),
        *(_leads_to(field.letter, field.id, field.label, field.does) for field in FIELDS),
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
        self._was_refused = False
        """Whether there has been a reason why nothing can be started: there may be others."""
        self._wanted: Settings | None = None
        """What is being counted, or was counted last."""
        self._starting = False
        self._made: int | None = None
        """The run that was made; None: none was yet."""
        self._usual = usual_form(suite)
        self._last = last = recall(context.remembered, str(entry.path), self._usual)
        """How it was launched last; as the suite says, where it was not, or so."""
        self._controls = LaunchControls(suite, last)
        self._title = Bar(id="name")
        self._said = Page(id="said")
        self._said.can_focus = False
        self._start = FormButton("Start")

    def compose(self) -> ComposeResult:
        """Lay the form out; the suite's own values stand in the empty fields."""
        with Vertical(classes="box"):
            yield self._title
            yield self._controls
            yield self._said
            with Horizontal(id="last"):
                yield self._start
                yield Hints(
                    ("launch.start", "start"),
                    ("launch.edit", "edit suite"),
                    ("launch.close", "close"),
                    more=[Piece("space", "accent"), Piece(" tick")],
                )

    def on_mount(self) -> None:
        """Stand on Start, and begin to count."""
        self._share_height(self.app.size.height)
        self.set_focus(self._start)
        self._count()

    def on_resize(self, event: events.Resize) -> None:
        """Share the new height between the form and what is said under it."""
        self._share_height(event.size.height)

    def _share_height(self, height: int) -> None:
        """Give both parts the lines they keep: nothing moves once the form is shown.

        Where fields would be out of view, they go before lines that most launches leave empty; a
        reason why nothing can be started goes before fields.
        """
        room = height - _AROUND
        fields = self._controls.lines
        least = _SAID if self._was_refused else _LEAST_SAID + len(self._suite.judges)
        said = max(min(_SAID, room - fields), min(least, _SAID, room - _LEAST_FORM), 1)
        self._said.styles.height = said
        self._controls.styles.height = max(min(fields, room - said), 1)

    @property
    def form(self) -> LaunchForm:
        """What stands in the fields now."""
        return self._controls.form

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        if not self._controls.is_label(event.input):
            self._count()

    @on(TickBox.Changed)
    @on(ChoiceField.Changed)
    def _changed(self) -> None:
        self._count()

    @work(exclusive=True, group="count")
    async def _count(self) -> None:
        self._found, self._refused = None, ()
        form = self.form
        try:
            settings = form.settings()
        except FormError as error:
            self._wanted = None
            self._refused = (str(error),)
            self._show()
            return
        self._wanted = settings
        self._show()
        await asyncio.sleep(_REST_S)
        try:
            found = await self._app_context.client.ponder(
                lambda db: (
                    self._book.of_launch(
                        db, settings, form.suite_of(self._suite), form.baseline.strip()
                    )
                    if self._wanted is settings
                    else None
                )  # while it waited for its turn another was asked for
            )
        except FormError as error:
            self._refused = (str(error),)
            self._show()
            return
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
        self._controls.fill(self._usual)
        self._count()

    def action_edit(self) -> None:
        """Leave the form for the editor."""
        refused = self._app_context.restrictions.why_not("launch.edit")
        if refused is not None:
            say(self, f"not available: {refused}")
        elif not self._starts():
            self.dismiss(EditRequest(*self._where()))

    def _where(self) -> tuple[Path, int | None]:
        wrong = self._found.mistakes if self._found is not None else ()
        return replace(self._entry, mistakes=wrong or self._entry.mistakes).where()

    def _show(self) -> None:
        self._show_title()
        self._said.show(tuple(preflight_paras(self._found, self._refused)))
        refused = bool(self._refused or (self._found is not None and trouble(self._found)))
        may_start = not self._refused and (self._found is None or self._found.may_start)
        self._start.set_class(not may_start, "-unavailable")
        if refused and not self._was_refused:
            self._was_refused = True
            self._share_height(self.app.size.height)
            if self.focused is not None:
                self.call_after_refresh(self.focused.scroll_visible, animate=False)
        self._said.can_focus = self._said.max_scroll_y > 0  # to be scrolled

    def action_field(self, name: str) -> None:
        """Go to a field by its letter; a box that stands alone is ticked."""
        self._controls.go_to(name)

    @on(FormButton.Pressed)
    @on(Input.Submitted)
    def _pressed(self) -> None:
        self.action_start()

    @work
    async def action_start(self) -> None:
        """Make the run and start its engine."""
        if self._starting:
            return
        form = self.form
        try:
            settings, baseline = form.settings(), form.baseline.strip()
            suite = await asyncio.to_thread(form.suite_of, self._suite)
        except FormError as error:
            self._refuse(str(error))
            return
        if self._found is not None and not self._found.may_start:
            self._refuse()
            return
        self._starting = True
        label = self._controls.label or form.parameters.strip() or None
        try:
            with self._app_context.keys_wait():
                client = self._app_context.client
                entry = replace(self._entry, suite=suite)
                run_id = await client.act(launch, client.path, entry, settings, label, baseline)
        except (NotReadyError, StoreError, OSError) as error:
            self._starting = False
            self._refuse(str(error))
            return
        keep(self._app_context.remembered, str(self._entry.path), form, self._usual)
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
        """Leave a text field; from elsewhere the form: nothing is started."""
        if isinstance(self.focused, Input):
            self._start.focus()
        elif not self._starts():
            self.dismiss(None)

    def _starts(self) -> bool:
        """Say that the run is being made, if it is: that cannot be taken back from here."""
        if self._starting:
            say(self, "the run is being started")
        return self._starting
