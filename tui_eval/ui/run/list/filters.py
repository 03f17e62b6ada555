"""Filters and orders of the Run screen in words, with what there is to choose from."""

from collections.abc import Iterator
from dataclasses import dataclass

from tui_eval.store.read.run_counts import Counts
from tui_eval.store.rows import TrialRow
from tui_eval.store.search.views import Condition, FilterKind, Order, TrialOutcome, View
from tui_eval.ui.dialogs.menu import Choice
from tui_eval.ui.run.figures import Figures
from tui_eval.ui.run.snapshot import Snapshot

_OF_CASES = (FilterKind.DIFFER, FilterKind.ALL_FAIL, FilterKind.PASSES_FAILS)


@dataclass(frozen=True, slots=True)
class FilterChoice:
    """A part that a filter may have."""

    part: Condition
    n: int | None
    """Trials of the run it lets through, or cases; None: nobody has counted."""

    @property
    def of_cases(self) -> bool:
        """Whether it is about whole cases, and these are counted."""
        return self.part.kind in _OF_CASES


def offers(
    run: Snapshot, figures: Figures | None, view: View, here: TrialRow | None = None
) -> list[FilterChoice]:
    """Return the conditions worth choosing and those chosen, with how many trials each keeps.

    Args:
        run: The run.
        figures: What has been counted of it; None: nothing yet.
        view: What is listed.
        here: The trial under the cursor: of many columns its own is compared with the others.
    """
    found = [*_standings(run.total, figures)]
    if run.epochs > 1:
        found.append(FilterChoice(Condition(FilterKind.FLAKY), None))
    found += [FilterChoice(part, None) for part in _comparing(run, here)]
    if len(run.columns) > 1:
        for column in run.columns:
            n = run.by_column.get(column.index, Counts()).total
            found.append(FilterChoice(Condition(FilterKind.TARGET, column.name), n))
    if figures is not None:
        found += [
            FilterChoice(Condition(FilterKind.SCORER, name), n) for name, n in figures.failing
        ]
        found += [FilterChoice(Condition(FilterKind.ERROR, kind), n) for kind, n in figures.errors]
        found.append(FilterChoice(Condition(FilterKind.NOTED), figures.noted))
        found += [FilterChoice(Condition(FilterKind.TAG, tag), n) for tag, n in figures.tags]
    offered = {offer.part for offer in found if offer.n != 0}
    found = [offer for offer in found if offer.n != 0 or offer.part in view.parts]
    return found + [FilterChoice(part, None) for part in view.parts if part not in offered]


def _standings(total: Counts, figures: Figures | None) -> Iterator[FilterChoice]:
    for which, n in (
        (TrialOutcome.UNMET, total.failed + total.ungraded + total.error),
        (TrialOutcome.FAILED, total.failed),
        (TrialOutcome.UNGRADED, total.ungraded),
        (TrialOutcome.ERRORS, total.error),
        (TrialOutcome.PASSED, total.passed),
        (TrialOutcome.CANCELLED, total.cancelled),
        (TrialOutcome.OPEN, total.total - total.settled),
    ):
        yield FilterChoice(Condition(FilterKind.STANDS, which), n)
    if figures is not None:
        yield FilterChoice(Condition(FilterKind.CUT), sum(figures.cut.values()))


def _comparing(run: Snapshot, here: TrialRow | None) -> Iterator[Condition]:
    """Yield what cases are to have come to in other columns, and in the earlier run."""
    if run.earlier is not None and run.total.graded:
        yield Condition(FilterKind.CHANGED, run.earlier.name)
        yield Condition(FilterKind.BROKE, run.earlier.name)
    if len(run.columns) < 2 or not run.total.graded:
        return
    yield Condition(FilterKind.DIFFER)
    yield Condition(FilterKind.ALL_FAIL)
    first, *others = (column.name for column in run.columns)
    pairs = [pair for other in others for pair in ((first, other), (other, first))]
    if here is not None and here.column != first:
        beside = [other for other in others if other != here.column]
        pairs += [pair for one in beside for pair in ((here.column, one), (one, here.column))]
    for passes, fails in pairs:
        yield Condition(FilterKind.PASSES_FAILS, passes, other=fails)


_ORDER_WORDS = {
    Order.PLACE: ("dataset order", "dataset order, last first"),
    Order.CASE: ("case, A to Z", "case, Z to A"),
    Order.TARGET: ("target, A to Z", "target, Z to A"),
    Order.EPOCH: ("epoch, first first", "epoch, last first"),
    Order.VERDICT: ("verdict, failures first", "verdict, passed first"),
    Order.SCORE: ("score, lowest first", "score, highest first"),
    Order.LATENCY: ("call time, slowest first", "call time, quickest first"),
    Order.COST: ("cost, dearest first", "cost, cheapest first"),
    Order.TOKENS: ("tokens, most first", "tokens, fewest first"),
    Order.ATTEMPTS: ("attempts, most first", "attempts, fewest first"),
    Order.CHANGED: ("changed, latest first", "changed, earliest first"),
}


def orders(view: View, run: Snapshot) -> list[Choice[tuple[Order, bool]]]:
    """Return the orders there are; choosing the one in force turns it round."""
    found = []
    for order, (forth, back) in _ORDER_WORDS.items():
        chosen = view.order is order
        if (order is Order.TARGET and len(run.columns) < 2) or (
            order is Order.EPOCH and run.epochs < 2
        ):
            continue
        found.append(
            Choice(
                label=back if chosen and view.reverse else forth,
                value=(order, chosen and not view.reverse),
                note="again turns it" if chosen else "",
                chosen=chosen,
            )
        )
    return found


def part_words(part: Condition) -> str:
    """Return a part in words; may be foreign text."""
    words = _words(part)
    return f"reported: {words}" if part.reported else words


def _words(part: Condition) -> str:
    match part.kind:
        case FilterKind.STANDS:
            return "queued, running" if part.value == TrialOutcome.OPEN else part.value
        case FilterKind.PASSES_FAILS:
            return f"{part.value} passes, {part.other} fails"
        case FilterKind.CHANGED:
            return f"changed since {part.value}"
        case FilterKind.BROKE:
            return f"passed in {part.value}, fails now"
        case FilterKind.SCORER:
            return f"fails {part.value}"
        case FilterKind.REASON:
            return f"{part.scorer}: {part.value}"
        case FilterKind.CHOICE:
            return f"{part.scorer}: expected {part.value}"
        case FilterKind.REQUIREMENT:
            return f"{part.scorer} unmet: {part.value}"
        case FilterKind.ERROR | FilterKind.TAG | FilterKind.TARGET:
            return f"{part.kind} {part.value}"
        case _:
            return _WITHOUT_VALUE[part.kind]


_WITHOUT_VALUE = {
    FilterKind.CUT: "truncated",
    FilterKind.FLAKY: "flaky",
    FilterKind.NOTED: "has a note",
    FilterKind.DIFFER: "targets differ",
    FilterKind.ALL_FAIL: "all targets fail",
}


def order_words(view: View) -> str:
    """Return a view's order in words; empty: dataset order."""
    if view.in_dataset_order:
        return ""
    return f"by {_ORDER_WORDS[view.order][view.reverse]}"
