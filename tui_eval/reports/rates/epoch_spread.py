"""How far the scores of a case's epochs lie apart: how much its target varies."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from tui_eval.format import decimal, many


@dataclass(frozen=True, slots=True)
class EpochSpread:
    """The scores of a case's epochs in one column, those that have one."""

    epochs: int
    mean: float
    sd: float
    """Their standard deviation (n − 1)."""

    @property
    def words(self) -> str:
        """Say it in a line."""
        scored = many(self.epochs, "epoch")
        return f"mean {decimal(self.mean)}, sd {decimal(self.sd)} over {scored}"


def epoch_spread(scores: Iterable[float | None]) -> EpochSpread | None:
    """Return how far scores lie apart; None: fewer than two epochs have one."""
    found = [score for score in scores if score is not None]
    if len(found) < 2:
        return None
    return EpochSpread(len(found), statistics.fmean(found), statistics.stdev(found))
