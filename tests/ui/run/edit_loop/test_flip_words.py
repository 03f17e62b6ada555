"""Which way verdicts would turn, and the rate then."""

from dataclasses import replace

from tui_eval.model.states import Verdict
from tui_eval.reports.live_results import LiveResults
from tui_eval.reports.rates.pass_rates import ColumnPassRate
from tui_eval.store.read.run_counts import Counts
from tui_eval.ui.run.edit_loop.flip_words import rate_words, turn_words

TURNS = {
    (Verdict.PASS, Verdict.FAIL): 3,
    (Verdict.FAIL, Verdict.PASS): 9,
    (Verdict.UNGRADED, Verdict.PASS): 1,
}


def results(rate: float = 0.7, *, judged: bool = False) -> LiveResults:
    counts = Counts(total=101, done=101, passed=70, failed=30, ungraded=1)
    told = ColumnPassRate(rate=rate, interval=None, n=100, open=False)
    return LiveResults(counts, {0: counts}, {0: told}, judged)


def test_turns_are_told_the_commonest_first() -> None:
    assert turn_words(TURNS) == "9 ✗→✓, 3 ✓→✗, 1 ?→✓"
    assert turn_words({}) == ""


def test_the_rate_that_would_be_counts_what_is_graded_then() -> None:
    assert rate_words(TURNS, results()) == "70.0% → 76.2%"  # 77 of 101
    assert rate_words(TURNS, results(judged=True)) == "~70.0% → ~76.2%"


def test_a_rate_that_is_no_matter_of_counting_is_not_told() -> None:
    assert rate_words(TURNS, None) == ""
    assert rate_words(TURNS, results(0.66)) == "", "cases have weights"
    one = results()
    assert rate_words(TURNS, replace(one, rates={**one.rates, 1: one.rates[0]})) == ""
