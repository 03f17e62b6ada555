"""The filter menu and the sort menu of the Run screen."""

from collections.abc import Iterator
from dataclasses import replace

from tui_eval.store.board import Counts
from tui_eval.store.browse import Order, View, Which
from tui_eval.ui.run.feed import Figures, Snapshot
from tui_eval.ui.screens.menu import Choice
from tui_eval.ui.words import number


def choices(run: Snapshot, figures: Figures | None, view: View) -> list[Choice[View]]:
    """Give the views one key away from this one, with how many trials each lists.

    Choosing what is in force takes it away; the parts (how they stand, target, scorer, error)
    narrow each other.
    """
    total = run.total
    every = View(order=view.order, reverse=view.reverse)
    found = [Choice("all", every, number(total.total), not view.narrowed)]
    found += _standings(total, figures, view)
    if len(run.columns) > 1:
        for column in run.columns:
            n = run.by_column.get(column.index, Counts()).total
            chosen = view.column == column.index
            other = replace(view, column=None if chosen else column.index)
            found.append(Choice(f"target {column.name}", other, number(n), chosen))
    if figures is not None:
        for scorer, n in figures.failing:
            chosen = view.scorer == scorer
            other = replace(view, scorer=None if chosen else scorer, error=None)
            found.append(Choice(f"fails {scorer}", other, number(n), chosen))
        for kind, n in figures.errors:
            chosen = view.error == kind
            other = replace(view, error=None if chosen else kind, scorer=None)
            found.append(Choice(f"error {kind}", other, number(n), chosen))
        if figures.noted or view.noted:
            other = replace(view, noted=not view.noted)
            found.append(Choice("has a note", other, number(figures.noted), view.noted))
        for tag, n in figures.tags:
            chosen = view.tag == tag
            other = replace(view, tag=None if chosen else tag)
            found.append(Choice(f"tag {tag}", other, number(n), chosen))
    return found


def _standings(total: Counts, figures: Figures | None, view: View) -> Iterator[Choice[View]]:
    cut = sum(figures.cut.values()) if figures is not None else 0
    for which, n in (
        (Which.UNMET, total.failed + total.ungraded + total.error),
        (Which.FAILED, total.failed),
        (Which.UNGRADED, total.ungraded),
        (Which.ERRORS, total.error),
        (Which.PASSED, total.passed),
        (Which.CUT, cut),
        (Which.CANCELLED, total.cancelled),
        (Which.OPEN, total.total - total.settled),
    ):
        chosen = view.which is which
        if n or chosen:
            yield Choice(
                str(which), replace(view, which=None if chosen else which), number(n), chosen
            )


_ORDER_WORDS = {
    Order.PLACE: ("dataset order", "dataset order, last first"),
    Order.VERDICT: ("verdict, failures first", "verdict, passed first"),
    Order.SCORE: ("score, lowest first", "score, highest first"),
    Order.LATENCY: ("call time, slowest first", "call time, quickest first"),
    Order.COST: ("cost, dearest first", "cost, cheapest first"),
    Order.CHANGED: ("changed, latest first", "changed, earliest first"),
}


def orders(view: View) -> list[Choice[View]]:
    """Give the orders there are; choosing the one in force turns it round."""
    found = []
    for order, (forth, back) in _ORDER_WORDS.items():
        chosen = view.order is order
        found.append(
            Choice(
                label=back if chosen and view.reverse else forth,
                value=replace(view, order=order, reverse=chosen and not view.reverse),
                note="again turns it" if chosen else "",
                chosen=chosen,
            )
        )
    return found


def words(view: View, run: Snapshot) -> list[str]:
    """Give what a view is narrowed to in words; empty: to nothing."""
    found = []
    if view.which is not None:
        found.append(str(view.which))
    if view.column is not None:
        name = next((c.name for c in run.columns if c.index == view.column), str(view.column))
        found.append(name)
    if view.scorer is not None:
        found.append(f"fails {view.scorer}")
    if view.error is not None:
        found.append(f"error {view.error}")
    if view.tag is not None:
        found.append(f"tag {view.tag}")
    if view.noted:
        found.append("has a note")
    if view.text:
        found.append(f"“{view.text}”")
    return found


def order_words(view: View) -> str:
    """Give a view's order in words; empty: dataset order."""
    if view.order is Order.PLACE and not view.reverse:
        return ""
    return f"by {_ORDER_WORDS[view.order][view.reverse]}"
