"""What lists can be filtered by and put in order by."""

from dataclasses import replace
from pathlib import Path

from tests.support import output, reading
from tests.ui.playing import by_hand, first_snapshot, plain_run
from tests.ui.run.list.making import FAILED
from tui_eval.model.case import Case
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.rows import TrialRow
from tui_eval.store.search.case_conditions import EarlierRun
from tui_eval.store.search.views import UNMET, Condition, FilterKind, Order, TrialOutcome, View
from tui_eval.ui.run.figures import count_figures
from tui_eval.ui.run.list import filters
from tui_eval.ui.run.snapshot import Snapshot


def test_the_filter_menu_offers_what_there_is_with_counts(store: Path) -> None:
    made = plain_run(store, 10)
    found = first_snapshot(store, made.run)
    with reading(store) as db:
        figures = count_figures(db, made.run)
    offered = {offer.part: offer.n for offer in filters.offers(found, figures, View())}
    assert offered == {
        UNMET: 2,
        FAILED: 2,
        Condition(FilterKind.STANDS, TrialOutcome.PASSED): 8,
        Condition(FilterKind.SCORER, "exact"): 2,
        Condition(FilterKind.TAG, "t0"): 5,
        Condition(FilterKind.TAG, "t1"): 5,
    }
    in_force = View(
        (
            Condition(FilterKind.STANDS, TrialOutcome.OPEN),
            Condition(FilterKind.REASON, "so", "exact"),
        )
    )
    again = {offer.part: offer.n for offer in filters.offers(found, figures, in_force)}
    assert set(again) - set(offered) == set(in_force.parts)


def test_what_compares_is_offered_where_there_is_anything_to_compare(store: Path) -> None:
    cases = [Case(i, f"c{i}", {}) for i in range(2)]
    columns = ("one", "two", "three")
    made = by_hand(store, cases, answers=[output("a")] * 6, columns=columns)
    found = first_snapshot(store, made.run)
    earlier = replace(found, earlier=EarlierRun(7, "before-7f3k", is_base=True))

    def comparing(run: Snapshot, here: TrialRow | None = None) -> list[str]:
        offers = filters.offers(run, None, View(), here)
        return [filters.part_words(offer.part) for offer in offers if offer.n is None]

    always = [
        "targets differ",
        "all targets fail",
        "one passes, two fails",
        "two passes, one fails",
    ]
    always += ["one passes, three fails", "three passes, one fails"]
    assert comparing(found) == always
    since = ["changed since before-7f3k", "passed in before-7f3k, fails now"]
    assert comparing(earlier) == since + always
    with reading(store) as db:
        second = trial_rows.trial(db, made.trials[1])
    assert comparing(found, second)[-2:] == ["two passes, three fails", "three passes, two fails"]


def test_an_order_chosen_again_turns_round(store: Path) -> None:
    found = first_snapshot(store, plain_run(store, 2).run)
    offered = [choice.value for choice in filters.orders(View(order=Order.SCORE), found)]
    assert (Order.SCORE, True) in offered
    assert (Order.LATENCY, False) in offered
    assert not {order for order, _ in offered} & {Order.TARGET, Order.EPOCH}
    assert filters.order_words(View()) == ""
    assert filters.order_words(View(order=Order.SCORE)) == "by score, lowest first"


def test_every_part_has_words_of_its_own() -> None:
    words = [filters.part_words(Condition(kind, "v", "s")) for kind in FilterKind]
    assert len(set(words)) == len(words)
    assert (
        filters.part_words(Condition(FilterKind.SCORER, "s", reported=True)) == "reported: fails s"
    )
