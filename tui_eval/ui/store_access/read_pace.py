"""How often what the store has is read again while it changes."""

MOST_S = 10.0
"""What took long, maybe because the machine was busy for a moment, is read again after so long."""


def rest(least_s: float, took_s: float, share: float) -> float:
    """Return the seconds until something is read again: the longer it took, the longer.

    Args:
        least_s: So long at least.
        took_s: How long it took to read.
        share: So many times as long as that, `MOST_S` at most.
    """
    return max(least_s, min(took_s * share, MOST_S))
