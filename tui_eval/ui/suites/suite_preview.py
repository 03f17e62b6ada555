"""The preview of the suite under the cursor: what it would ask, case by case."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from tui_eval.format import number
from tui_eval.ui.context import AppContext
from tui_eval.ui.suites.case_book import CaseBook
from tui_eval.ui.suites.preview import PreviewState, preview
from tui_eval.ui.suites.suite_list import SuiteEntry
from tui_eval.ui.suites.trend import Trend
from tui_eval.ui.widgets.bar import Bar
from tui_eval.ui.widgets.page import Page
from tui_eval.ui.widgets.toned import Piece, fit, width_of

if TYPE_CHECKING:
    import sqlite3

    from tui_eval.engine.preflight.preflight import Preflight

_REST_S = 0.15
"""The cursor rests so long on a suite before its cases are read."""
_LEAST_ID = 8
"""Cells that a case's id has in the upper edge, whatever else stands there."""


class SuitePreview(Vertical):
    """Reads what a suite would do, little by little, and shows what is known of it."""

    @dataclass
    class CaseTurned(Message):
        """Another case is shown, or it is known now whether there is any."""

    @dataclass
    class Counted(Message):
        """All cases of a suite have been gone through."""

        entry: SuiteEntry
        expected: "Preflight"

    def __init__(self, context: AppContext) -> None:
        super().__init__(id="preview")
        self.shown: SuiteEntry | None = None
        """The suite it is of; None: of none, or of one that is to be read anew."""
        self.page = Page()
        self._app_context = context
        self._rule = Bar(id="rule", fill=context.glyphs.rule, frame=True)
        self._book: CaseBook | None = None
        self._known = PreviewState()
        self._trends: Mapping[str, Trend] = {}
        self._at = 0
        """Which case is shown, or is to be."""

    def compose(self) -> ComposeResult:
        """Lay the parts out."""
        yield self._rule
        yield self.page

    def on_mount(self) -> None:
        """Frame it while it has the focus."""
        self._rule.follow_focus(self.page)

    @property
    def has_case(self) -> bool:
        """Whether a case is shown."""
        return self._known.leaf is not None and self._known.leaf.case is not None

    def book_of(self, entry: SuiteEntry) -> CaseBook:
        """Return what reads a suite: its own, with what it has read already, where it is shown."""
        return self._book if self._book is not None and self.shown is entry else CaseBook(entry)

    def show(self, entry: SuiteEntry) -> None:
        """Show a suite; what is shown already stays as it is."""
        if entry is not self.shown:
            self._read(entry)

    def show_trends(self, trends: Mapping[str, Trend]) -> None:
        """Show how suites did lately, by their names."""
        self._trends = trends
        self._show()

    def replace(self, entry: SuiteEntry) -> None:
        """Take the same suite with more known of it."""
        self.shown = entry
        self._show()

    def forget(self) -> None:
        """Read the suite anew, whichever is shown next."""
        self.shown = None

    def turn(self, step: int) -> None:
        """Show the next case, or the one before."""
        if self.shown is not None:
            self._at = max(self._at + step, 0)
            self._read(self.shown)

    @work(exclusive=True, group="preview")
    async def _read(self, entry: SuiteEntry) -> None:
        """Read what is shown, once the cursor rests."""
        if self.shown is not entry:
            if self.shown is None or self.shown.path != entry.path:
                self._at = 0
            self.shown, self._book, self._known = entry, None, PreviewState()
            self._show(new=True)
            if entry.suite is None:
                return
            await asyncio.sleep(_REST_S)
            self._book = CaseBook(entry)
        book, client = self._book, self._app_context.client
        if book is None:
            return
        turned = self._known.leaf is not None
        leaf = await asyncio.to_thread(book.leaf, self._at)
        self._at = leaf.index
        self._known = replace(self._known, leaf=leaf, judged=())
        self._show(turned=turned)
        self.post_message(self.CaseTurned())
        if leaf.case is not None:
            judged = await client.ponder(book.judged, leaf.case)
            self._known = replace(self._known, judged=judged)
            self._show()
        if self._known.expected is None:  # last: it goes through all cases
            expected = await client.survey(book.expected)
            self._known = replace(self._known, expected=expected)
            self._show()
            if (survey := expected.survey) is not None and expected.suite.scorers:
                shows = await client.survey(_shown_by, entry.name, survey.cases)
                self._known = replace(self._known, shows=shows)
                self._show()
            self.post_message(self.Counted(entry, expected))

    def _show(self, *, new: bool = False, turned: bool = False) -> None:
        """Show what is known of the suite.

        Args:
            new: Whether it is another suite: its beginning is shown.
            turned: Whether it is another case: what it asks is shown.
        """
        entry = self.shown
        if entry is None:
            return
        self._show_rule(entry)
        known = replace(self._known, trend=self._trends.get(entry.name))
        made = preview(entry, known, time.time())
        self.page.show(made.paras, keep_place=not new)
        if turned and made.question is not None:
            self.page.reveal(made.question)

    def on_resize(self) -> None:
        """Give the case's id the new room."""
        if self.shown is not None:
            self._show_rule(self.shown)

    def _show_rule(self, entry: SuiteEntry) -> None:
        """Say what the preview is of: the case stands here, wherever one scrolls to."""
        glyphs = self._app_context.glyphs
        left = [Piece(" "), Piece(entry.name, "strong"), Piece(" ")]
        right = [Piece(f" {entry.path.name} ", "dim")]
        leaf, expected = self._known.leaf, self._known.expected
        if leaf is not None and leaf.case is not None:
            cases = expected.survey.cases if expected and expected.survey else entry.cases
            of = f"/{number(cases)}" if cases is not None else ""
            left += [
                Piece(f"{glyphs.rule} ", "dim"),
                Piece(f"case {number(leaf.index + 1)}{of} "),
            ]
            taken = sum(width_of(piece.text) for piece in (*left, *right))
            room = min(width_of(leaf.case.id), max(self._rule.room - taken - 1, _LEAST_ID))
            name = fit(leaf.case.id, room, ellipsis=glyphs.cut, keep=6)
            left.append(Piece(f"{name} ", "accent"))
        self._rule.show(left, right)


def _shown_by(db: "sqlite3.Connection", suite: str, cases: int) -> str:
    """Say which difference so many cases of a suite show."""
    from tui_eval.reports.sample_size import sample_size_before, sample_size_words

    return sample_size_words(sample_size_before(db, suite, cases))
