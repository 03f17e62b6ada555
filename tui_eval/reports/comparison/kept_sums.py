"""What pairs of columns sum up to, kept with a large run until either side changes."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final, TypeAlias

from tui_eval.reports.comparison.pairing import PairedColumns, paired
from tui_eval.reports.comparison.side import RunSide, Side
from tui_eval.statistics.paired import PairTally
from tui_eval.store.chunks import division
from tui_eval.store.chunks.kept_answers import answer_of
from tui_eval.store.read import run_queries
from tui_eval.store.text import dump

_FORMAT: Final = 1
"""Of what is kept: another number, and it is summed up anew."""

SummedPairs: TypeAlias = tuple[PairedColumns, PairTally]
"""Two columns: what of their cases is not compared, and what the others sum up to."""


def summed(a: Side, b: Side, names: Sequence[tuple[str, str]]) -> list[SummedPairs]:
    """Sum up columns of A with columns of B, by the trials' own verdicts.

    Of two runs it is kept with B where that is large, as lists are; while an engine works on either
    of them, or one side is a file, it is summed up each time.
    """
    if not (isinstance(a, RunSide) and isinstance(b, RunSide) and a.db is b.db) or a.run.live:
        return _summed(a, b, names)
    change = run_queries.last_change(a.db, a.run.id)
    rests_on = [
        _FORMAT,
        [a.run.name, a.run.created_at, change, division.newest(a.db, a.run.id, change)],
        [repr((side.rules.errors, side.rules.reductions[0])) for side in (a, b)],
        list(names),
    ]
    kept: list[Any] = answer_of(
        b.db,
        b.run.id,
        f"pairs {dump(rests_on)}",
        lambda: [[asdict(columns), tally.as_json()] for columns, tally in _summed(a, b, names)],
    )
    return [(PairedColumns(**columns), PairTally.of_json(tally)) for columns, tally in kept]


def _summed(a: Side, b: Side, names: Sequence[tuple[str, str]]) -> list[SummedPairs]:
    found = (paired(a, b, pair) for pair in names)
    return [(of.columns, of.pairs.tally) for of in found]
