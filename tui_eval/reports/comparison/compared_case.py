"""What a case came to in one column."""

from collections.abc import Hashable
from typing import NamedTuple


class ComparedCase(NamedTuple):
    """What a case came to in one column."""

    value: float | None
    """In 0..1: its epochs reduced; None: it has no result, or not yet."""
    outputs: Hashable
    """Its outputs in the store: equal where they are the very same; None: it has none there."""
    row: Hashable
    """Equal where its row is as it is written there; where not, `Side.row_digest` tells."""
    weight: float = 1.0
    cluster: str | None = None
    """Which others it is not independent of; None: of none."""
