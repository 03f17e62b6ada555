"""What would become of a run's verdicts, in words: which way they turn, and the rate then."""

from collections.abc import Mapping

from tui_eval.format import number, rate
from tui_eval.model.states import Verdict
from tui_eval.reports.live_results import LiveResults
from tui_eval.ui.theme.glyphs import UNICODE, Glyphs

Turns = Mapping[tuple[Verdict, Verdict], int]
"""How many verdicts turn, by what they were and would be."""


def turn_words(turns: Turns, glyphs: Glyphs = UNICODE) -> str:
    """Say how many verdicts turn which way, the commonest first: `9 ✗→✓, 3 ✓→✗`."""
    most_first = sorted(turns.items(), key=lambda one: -one[1])
    return ", ".join(
        f"{number(n)} {glyphs.verdict(was)}{glyphs.turns}{glyphs.verdict(would)}"
        for (was, would), n in most_first
    )


def rate_words(turns: Turns, results: LiveResults | None, glyphs: Glyphs = UNICODE) -> str:
    """Say what a run's pass rate is and would be: `71.2% → 71.9%`.

    Empty where that is no matter of counting: with several targets, weights, several epochs, or
    before the run's own rate is known.
    """
    if results is None or len(results.rates) != 1:
        return ""
    ((column, told),) = results.rates.items()
    counts = results.by_column.get(column)
    if counts is None or told.rate is None or not counts.graded or told.n != counts.graded:
        return ""
    if abs(told.rate - counts.passed / counts.graded) > 1e-9:
        return ""
    passes = sum(n * ((to is Verdict.PASS) - (of is Verdict.PASS)) for (of, to), n in turns.items())
    graded = sum(
        n * ((of is Verdict.UNGRADED) - (to is Verdict.UNGRADED)) for (of, to), n in turns.items()
    )
    if counts.graded + graded <= 0:
        return ""
    would = (counts.passed + passes) / (counts.graded + graded)
    return f"{rate(told.rate, results.judged)} {glyphs.turns} {rate(would, results.judged)}"
