"""What a suite wants that needs trust, and the question whether it may."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from tui_eval.resources import styles_dir
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.ui.dialogs.dialog import Dialog
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.screens.base.base_screen import BaseScreen
from tui_eval.ui.suites import suite_list
from tui_eval.ui.suites.suite_list import SuiteEntry
from tui_eval.ui.text.prose import Para, fold
from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.bar import Bar
from tui_eval.ui.widgets.hints import Hints
from tui_eval.ui.widgets.page import Page
from tui_eval.ui.widgets.toned import Piece

if TYPE_CHECKING:
    from tui_eval.suites.trust.permissions import Permission, PermissionRequest

Answer: TypeAlias = Literal["once", "always"]
"""Trust for this launch, or until what the suite wants changes."""

_WIDTH = 72
_AROUND = 8
"""Lines and cells of the screen that are not the list."""
_TONES: dict[str, Tone] = {"trusted": "dim", "new": "plain", "changed": "error"}


class TrustQuestion(Dialog[Answer | None]):
    """Lists exactly what a suite will do; None where it may not."""

    CSS_PATH = styles_dir() / "trust_question.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "answer('once')", "Once", id="consent.once", tooltip="Trust this launch"),
        Binding(
            "t",
            "answer('always')",
            "Trust",
            id="consent.always",
            tooltip="Trust the suite until what it wants changes",
        ),
        Binding("escape,q", "answer('')", "No", id="consent.no", tooltip="Do not trust it"),
    ]

    def __init__(self, entry: SuiteEntry) -> None:
        super().__init__()
        self.entry = entry

    def compose(self) -> ComposeResult:
        """Lay the box out; the list scrolls where it is long."""
        paras = tuple(permission_paras(self.entry.asks))
        width = min(_WIDTH, max(self.app.size.width - _AROUND, 20))
        needed = sum(1 for _ in fold(paras, width - 2))
        page = Page()
        page.show(paras)
        with Vertical(classes="box"):
            yield Bar([Piece(self.entry.name, "strong"), Piece(" needs your trust. It wants to")])
            page.styles.height = max(min(needed, self.app.size.height - _AROUND), 1)
            yield page
            yield Bar([Piece("Look at the suite before you say yes.", "dim")])
            yield Hints(
                ("consent.once", "this once"),
                ("consent.always", "until it changes"),
                ("consent.no", "no"),
            )

    def on_mount(self) -> None:
        """Have keys scroll the list."""
        self.set_focus(self.query_one(Page))

    def action_answer(self, answer: str) -> None:
        """Give the answer."""
        match answer:
            case "once" | "always":
                self.dismiss(answer)
            case _:
                self.dismiss(None)


def permission_paras(asks: "Sequence[PermissionRequest]") -> Iterator[Para]:
    """Say what is wanted, what changed, and what was trusted before."""
    for ask in asks:
        tone = _TONES.get(ask.standing, "plain")
        yield Para(ask.permission.does, tone, label="•")
        if ask.difference:
            yield Para(ask.difference, "error", indent=2)


async def ask_for_trust(screen: BaseScreen, entry: SuiteEntry) -> SuiteEntry | None:
    """Ask until a suite may do all it wants; None: it may not, or it cannot be read any more.

    What lies outside a suite's folder may want more once it is read: then it is asked again.
    """
    allowed: set[Permission] = set()
    while entry.wants_trust:
        answer = await screen.app.push_screen_wait(TrustQuestion(entry))
        if answer is None:
            return None
        if answer == "once":
            allowed.update(ask.permission for ask in entry.asks)
        else:
            try:
                await asyncio.to_thread(suite_list.trust, entry)
            except (OSError, SuiteError) as error:
                screen.say(f"{error}; trust it this once", "error")
        entry = await asyncio.to_thread(suite_list.read, entry.path, entry.sample, allowed)
    if not entry.usable:
        edit = key("suites.edit", "e")
        screen.say(f"it has mistakes: they stand in the preview; {edit} opens the file")
        return None
    return entry
