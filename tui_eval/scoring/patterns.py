"""Regular expressions written by people, run on text written by models: always with a limit."""

import time
from collections.abc import Iterator
from functools import lru_cache
from typing import Protocol

LIMIT_S = 1.0
"""Seconds one pattern may take on one text."""


class Match(Protocol):
    """What is used of a match."""

    def group(self, group: int = 0, /) -> str | None:
        """Give the text of a group; None where it took no part in the match."""


class Pattern(Protocol):
    """What is used of a compiled pattern."""

    groups: int

    def search(self, string: str, *, timeout: float) -> Match | None:
        """Find the first match."""

    def finditer(self, string: str, *, timeout: float) -> Iterator[Match]:
        """Find all matches."""


class PatternError(ValueError):
    """A pattern that is no regular expression; the message says why."""


class TooSlowError(Exception):
    """A pattern that took longer than its limit."""

    def __init__(self) -> None:
        super().__init__(f"the pattern took longer than {LIMIT_S:g} s")


@lru_cache(maxsize=512)
def compiled(pattern: str, ignore_case: bool = False) -> Pattern:
    """Compile a pattern.

    Raises:
        PatternError: when it is no regular expression.
    """
    import regex  # late: only suites that hold a pattern pay for it

    try:
        made: Pattern = regex.compile(pattern, regex.IGNORECASE if ignore_case else 0)
    except regex.error as error:
        raise PatternError(str(error)) from error
    return made


def search(pattern: Pattern, text: str) -> Match | None:
    """Find the first match.

    Raises:
        TooSlowError: when it takes longer than the limit.
    """
    try:
        return pattern.search(text, timeout=LIMIT_S)
    except TimeoutError:
        raise TooSlowError from None


def last(pattern: Pattern, text: str) -> Match | None:
    """Find the last match.

    Raises:
        TooSlowError: when it takes longer than the limit.
    """
    found: Match | None = None
    ends = time.monotonic() + LIMIT_S
    try:
        for match in pattern.finditer(text, timeout=LIMIT_S):
            found = match
            if time.monotonic() > ends:
                raise TooSlowError
    except TimeoutError:
        raise TooSlowError from None
    return found
