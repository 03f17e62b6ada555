"""The most that a suite or a person may ask for: more is a slip of the finger, or ill will.

Each call in flight and each epoch takes memory of its own.
"""

from typing import Final

MOST_CALLS: Final = 10_000
"""Calls in flight at one endpoint."""
MOST_EPOCHS: Final = 10_000
"""How often a case is asked, and how often a judge grades the same output."""
