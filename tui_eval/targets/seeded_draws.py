"""How what is simulated draws: always alike for the same things.

Not by `suites.data.seeded_sampling`, which orders cases: what either gave is recorded in stores and
in samples, and would be another by the other's digest.
"""

from collections.abc import Mapping

from tui_eval.model.json import Json, digest


def draw(*parts: Json) -> float:
    """Draw a number in 0..1 that is the same for the same parts in every run."""
    return int.from_bytes(digest(list(parts))[:7], "big") / 2**56


def seconds(latency: float | tuple[float, float], drawn: float) -> float:
    """Return how long an answer takes, by a number in 0..1."""
    if not isinstance(latency, tuple):
        return latency
    low, high = latency
    return low + (high - low) * drawn


def drawn_fault(faults: Mapping[str, float], drawn: float) -> str | None:
    """Return the fault that is due, by the shares of each and a number in 0..1; None: none is."""
    for fault, share in faults.items():
        if drawn < share:
            return fault
        drawn -= share
    return None
