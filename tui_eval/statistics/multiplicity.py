"""Several tests at once: p values that hold for all of them together."""

from collections.abc import Sequence


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Return the p values, each as large as it has to be where so many are looked at.

    Holm 1979, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6: in
    ascending order the i-th of m is multiplied by m − i + 1, and none is below the one before.

    Args:
        ps: p values in any order; a None stays one and is no test.
    """
    places = sorted((p, place) for place, p in enumerate(ps) if p is not None)
    adjusted: list[float | None] = [None] * len(ps)
    least = 0.0
    for rank, (p, place) in enumerate(places):
        least = min(1.0, max(least, (len(places) - rank) * p))
        adjusted[place] = least
    return adjusted
