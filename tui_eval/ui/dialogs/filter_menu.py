"""The filter: parts to tick, with how many trials they let through together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from tui_eval.format import many, number
from tui_eval.resources import styles_dir
from tui_eval.store.search.views import Condition
from tui_eval.ui.dialogs.dialog import Dialog
from tui_eval.ui.run.list.filters import FilterChoice, part_words
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.widgets.bar import Bar
from tui_eval.ui.widgets.drawn_row import Cell, DrawnRow
from tui_eval.ui.widgets.fields import Field
from tui_eval.ui.widgets.rows import Rows
from tui_eval.ui.widgets.toned import Piece, width_of

_BOX = 4
"""Cells of a box to tick."""
_WIDTH = 48
"""Cells that the line of keys takes."""


@dataclass(frozen=True, slots=True)
class FilterTotal:
    """What a filter chooses from."""

    n: int
    noun: str
    """`trial`, or `case`."""


class CountParts(Protocol):
    """Counts what parts let through."""

    async def __call__(self, parts: Sequence[Condition], *, by_case: bool, waited_for: bool) -> int:
        """Return how many trials they let through, or cases; `waited_for`: the person waits."""


class FilterMenu(Dialog[tuple[Condition, ...] | None]):
    """Returns the conditions that were chosen; None: the filter stays as it was."""

    CSS_PATH = styles_dir() / "filter_menu.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "tick", "Tick", id="filter.tick", tooltip="Tick or untick this line"),
        Binding(
            "enter",
            "apply",
            "List",
            id="filter.apply",
            tooltip="List what is ticked; if nothing new is, this line too",
        ),
        Binding("0", "clear", "All", id="filter.clear", tooltip="Untick everything"),
        Binding("escape,q,f", "close", "Close", id="filter.close", tooltip="Change nothing"),
    ]

    def __init__(
        self,
        offers: Sequence[FilterChoice],
        parts: Sequence[Condition],
        total: FilterTotal,
        count: CountParts,
        glyphs: Glyphs,
    ) -> None:
        """Prepare it.

        Args:
            offers: What there is to choose from.
            parts: What is in force.
            total: How many trials or cases the run has.
            count: Counts what parts let through; asked for what offers do not say, too.
            glyphs: The shapes.
        """
        super().__init__()
        self.offers = tuple(offers)
        self.ticked = list(parts)
        self._before = tuple(parts)
        self._total = total
        self._count = count
        self._glyphs = glyphs
        self._sum = Bar(id="sum")
        self._notes = max([len(self.noted(offer)) for offer in self.offers] + [0])
        self.rows = _Offers(self, glyphs, self._notes)

    def compose(self) -> ComposeResult:
        """Lay the box out."""
        with Vertical(classes="box") as box:
            box.border_title = "filter"
            yield self.rows
            yield self._sum
            keys = (("space", "tick"), ("enter", "apply"), ("0", "clear"), ("esc", "close"))
            words = {"apply": "list", "clear": "all", "close": "close"}
            yield Bar(
                [
                    piece
                    for key, act in keys
                    for piece in (
                        Piece(key, "accent", f"screen.{act}"),
                        Piece(f" {words.get(act, act)}  ", "plain", f"screen.{act}"),
                    )
                ],
                classes="close",
            )

    def on_resize(self) -> None:
        """Be as large as what it lists, and no larger than the screen."""
        size = self.app.size
        longest = max([width_of(part_words(offer.part)) for offer in self.offers] + [0])
        wide = max(longest + _BOX + self._notes + 8, _WIDTH)
        self.query_one(".box").styles.width = min(wide + 6, max(size.width - 4, 24))
        self.rows.styles.height = min(len(self.offers) + 1, max(size.height - 8, 3))

    def on_mount(self) -> None:
        """Stand on what is in force."""
        self.on_resize()
        rows = self.rows
        rows.resize_to(len(self.offers))
        chosen = [at for at, offer in enumerate(self.offers) if offer.part in self.ticked]
        rows.cursor = chosen[0] if chosen else 0
        self.set_focus(rows)
        self._show_sum()
        self._count_offers()

    def on_rows_opened(self) -> None:
        """Tick the line that was clicked twice."""
        self.action_tick()

    def action_tick(self) -> None:
        """Tick the line under the cursor, or untick it."""
        if not self.offers:
            return
        rows = self.rows
        part = self.offers[rows.cursor].part
        if part in self.ticked:
            self.ticked.remove(part)
        else:
            self.ticked.append(part)
        rows.redraw()
        self._show_sum()

    def action_clear(self) -> None:
        """Untick everything."""
        self.ticked.clear()
        self.rows.redraw()
        self._show_sum()

    def action_apply(self) -> None:
        """List what is ticked; where nothing has been, the line under the cursor too."""
        if self.offers and tuple(self.ticked) == self._before:
            part = self.offers[self.rows.cursor].part
            if part not in self.ticked:
                self.ticked.append(part)
        self.dismiss(tuple(self.ticked))

    def action_close(self) -> None:
        """Change nothing."""
        self.dismiss(None)

    def noted(self, offer: FilterChoice) -> str:
        """Return how many an offer lets through; while that is being counted, with room for it."""
        if offer.n is None:
            most = many(self._total.n, "case") if offer.of_cases else number(self._total.n)
            return self._glyphs.working.rjust(len(most))
        return many(offer.n, "case") if offer.of_cases else number(offer.n)

    @work(exclusive=True, group="sum")
    async def _show_sum(self) -> None:
        """Say how many trials are let through, as soon as that is known."""
        total = many(self._total.n, self._total.noun)
        if not self.ticked:
            self._sum.show([Piece(f"  all {total}", "dim")])
            return
        self._sum.show([Piece(f"  {self._glyphs.working} of {total}", "dim")])
        n = await self._count(
            tuple(self.ticked), by_case=self._total.noun == "case", waited_for=True
        )
        self._sum.show([Piece(f"  {number(n)} of {total}", "strong")])

    @work(group="offers")
    async def _count_offers(self) -> None:
        """Count what nobody has counted, one after the other."""
        for at, offer in enumerate(self.offers):
            if offer.n is None:
                n = await self._count((offer.part,), by_case=offer.of_cases, waited_for=False)
                self.offers = (*self.offers[:at], replace(offer, n=n), *self.offers[at + 1 :])
                self.rows.redraw((at,))


class _Offers(Rows):
    def __init__(self, of: FilterMenu, glyphs: Glyphs, notes: int) -> None:
        fields = [Field("trials that are, or have", 16, share=1), Field("", notes, right=True)]
        super().__init__(fields, glyphs=glyphs, empty="there is nothing to choose from yet")
        self._of = of

    def row(self, index: int) -> DrawnRow | None:
        offer = self._of.offers[index]
        ticked = offer.part in self._of.ticked
        box = "[x] " if ticked else "[ ] "
        label = Cell(f"{box}{part_words(offer.part)}", "accent" if ticked else "plain")
        return DrawnRow((label, Cell(self._of.noted(offer), "dim")))
