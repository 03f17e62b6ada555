"""Regular expressions of people, run on texts of models: always with a limit in time and memory.

The `regex` module copies the operand of a quantifier as often as it must match at least, and does
so for nested quantifiers too: `(?:a{1000}){1000}` becomes a million copies, and so do twenty `+`
nested in each other. So a pattern is measured before it is compiled (`size`).
"""

import re
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Protocol

from tui_eval.suites import loop_bounds
from tui_eval.suites.loop_bounds import NotAtOnceError

LIMIT_S = 1.0
"""Seconds of this process's processor time that one pattern may take on one text.

The time of other threads counts too, so it may end sooner; on a busy machine it ends later.
"""
MOST_SIZE: Final = 100_000
"""The most characters of a pattern, each counted as often as it is copied: 100 MB compiled."""
MOST_DEPTH: Final = 100
"""How deep groups may stand in each other."""
_KEPT: Final = 10 * MOST_SIZE
"""The total size of the compiled patterns that are kept."""
_QUICKLY_COMPILED: Final = 1_000
"""The size of a pattern that is compiled in a few milliseconds."""


class Match(Protocol):
    """The part of a match that is used."""

    def group(self, group: int = 0, /) -> str | None:
        """Return the text of a group; None where it took no part in the match."""


class Pattern(Protocol):
    """The part of a compiled pattern that is used."""

    pattern: str
    groups: int

    def search(self, string: str, *, timeout: float) -> Match | None:
        """Find the first match."""

    def finditer(self, string: str, *, timeout: float) -> Iterator[Match]:
        """Find all matches."""


class PatternError(ValueError):
    """A pattern that is no regular expression, or too large a one; the message says why."""


class TooSlowError(Exception):
    """A pattern that took longer than its limit."""

    def __init__(self, pattern: str) -> None:
        shown = pattern if len(pattern) <= 60 else f"{pattern[:59]}…"
        super().__init__(f"the pattern /{shown}/ took longer than {LIMIT_S:g} s")


# --- size -------------------------------------------------------------------------------------


def size(pattern: str) -> int:
    """Return how large a pattern becomes as it is compiled; never less than it does.

    Raises:
        PatternError: groups stand too deep in each other.
    """
    flags = _FLAGS.match(pattern)
    letters = flags[1] if flags else ""
    if _FLAGS_WITHIN.search(pattern, flags.end() if flags else 0):
        return _unread_size(pattern)
    # where a scope is not clear, the larger of the two readings holds
    return _Scan(pattern, verbose="x" in letters, nested="V1" in letters).size()


_FLAGS: Final = re.compile(r"\(\?([A-Za-z01]+)\)")
_FLAGS_WITHIN: Final = re.compile(r"\(\?[A-Za-z01-]*[xV]")
"""Flags that change how what follows is read, anywhere but in the beginning."""
_COUNT: Final = re.compile(r"\{\s*(\d*)\s*(,?)\s*(\d*)\s*\}")
_LEAST: Final = re.compile(r"\{\s*(\d+)|\+")
_SET_NAME: Final = re.compile(r"\[:[^\]\[]*:\]")


def _unread_size(pattern: str) -> int:
    """Return the most that any reading of a pattern could come to."""
    most = len(pattern)
    for found in _LEAST.finditer(pattern):
        most = min(most * (_number(found[1]) + 1 if found[1] else 2), 10**12)
    return most


def _number(digits: str) -> int:
    return int(digits) if len(digits) < 12 else 10**12


@dataclass(slots=True)
class _Group:
    """A group that is not closed yet."""

    total: int = 1
    last: int = 0
    """The size of what a quantifier would repeat."""

    def add(self, item: int) -> None:
        self.total += item
        self.last = item

    def repeat(self, times: int) -> None:
        self.total += self.last * (times - 1)
        self.last *= times


@dataclass(slots=True)
class _Scan:
    """One walk through a pattern."""

    pattern: str
    verbose: bool
    """Whether white space and comments do not count."""
    nested: bool
    """Whether sets may stand in sets."""
    open: list[_Group] = field(default_factory=lambda: [_Group()])

    def size(self) -> int:
        at = 0
        while at < len(self.pattern):
            at = self._step(at)
        while len(self.open) > 1:
            self._close()
        return self.open[0].total

    def _step(self, at: int) -> int:
        """Take what stands at a place; give the place after it."""
        mark = self.pattern[at]
        top = self.open[-1]
        if mark == "\\":
            top.add(1)
            return at + 2
        if mark == "[":
            end = self._set_end(at)
            top.add(end - at)
            return end
        if mark == "(":
            return self._opening(at)
        if mark == ")":
            self._close()
        elif mark in "+*?{":
            return self._quantifier(at)
        elif mark == "#" and self.verbose:
            return self.pattern.find("\n", at) + 1 or len(self.pattern)
        elif not (self.verbose and mark.isspace()):
            top.add(1)
        return at + 1

    def _opening(self, at: int) -> int:
        if self.pattern.startswith("(?#", at):
            return self.pattern.find(")", at) + 1 or len(self.pattern)
        if len(self.open) > MOST_DEPTH:
            raise PatternError(f"its groups stand more than {MOST_DEPTH} deep in each other")
        self.open.append(_Group())
        # the question mark is no quantifier
        return at + 2 if self.pattern.startswith("(?", at) else at + 1

    def _close(self) -> None:
        if len(self.open) > 1:
            inner = self.open.pop().total
            self.open[-1].add(inner)

    def _quantifier(self, at: int) -> int:
        mark = self.pattern[at]
        end, times = at + 1, 2 if mark == "+" else 1
        if mark == "{":
            count = _COUNT.match(self.pattern, at)
            if count is None or not (count[1] or count[2]):
                self.open[-1].add(1)
                return at + 1
            end = count.end()
            exact = not count[2] or count[1] == count[3]
            times = max(1, _number(count[1] or "0") + (not exact))
        self.open[-1].repeat(min(times, 10**12))
        # lazy or possessive: no quantifier of its own
        return end + 1 if self.pattern[end : end + 1] in ("?", "+") else end

    def _set_end(self, at: int) -> int:
        """Return the place after a set; the end of the pattern where it does not end."""
        depth, here = 1, at + 1
        here = self._first_in_set(here)
        while here < len(self.pattern) and depth:
            mark = self.pattern[here]
            if mark == "\\":
                here += 2
            elif mark == "[" and (name := _SET_NAME.match(self.pattern, here)):
                here = name.end()
            elif mark == "[" and self.nested:
                depth += 1
                here = self._first_in_set(here + 1)
            else:
                depth -= mark == "]"
                here += 1
        return min(here, len(self.pattern))

    def _first_in_set(self, at: int) -> int:
        """Pass over what has a meaning of its own in the beginning of a set."""
        at += self.pattern.startswith("^", at)
        return at + self.pattern.startswith("]", at)


# --- compiling and searching ------------------------------------------------------------------


class _Kept:
    """The patterns that were compiled last, up to a size in all."""

    def __init__(self) -> None:
        self._patterns: OrderedDict[tuple[str, bool], tuple[Pattern, int]] = OrderedDict()
        self._size = 0

    def get(self, key: tuple[str, bool]) -> Pattern | None:
        known = self._patterns.get(key)
        return None if known is None else known[0]

    def put(self, key: tuple[str, bool], pattern: Pattern, weight: int) -> None:
        self._patterns[key] = (pattern, weight)
        self._size += weight
        while self._size > _KEPT:
            self._size -= self._patterns.popitem(last=False)[1][1]


_kept: Final = _Kept()


def compiled(pattern: str, ignore_case: bool = False) -> Pattern:
    """Compile a pattern.

    Raises:
        PatternError: when it is no regular expression, or too large a one.
        NotAtOnceError: where that must be done at once and takes longer.
    """
    known = _kept.get((pattern, ignore_case))
    if known is not None:
        return known
    large = size(pattern)
    if large > MOST_SIZE:
        raise PatternError(
            f"it repeats too much: written out it has {_about(large)} characters, "
            f"{MOST_SIZE:,} are the most"
        )
    loop_bounds.allow(large, _QUICKLY_COMPILED)
    import regex  # late: only suites that hold a pattern pay for it

    flags = regex.IGNORECASE if ignore_case else 0
    try:
        made: Pattern = regex.compile(pattern, flags, cache_pattern=False)
    except regex.error as error:
        raise PatternError(str(error)) from error
    except RecursionError as error:
        raise PatternError("its groups stand too deep in each other") from error
    _kept.put((pattern, ignore_case), made, large)
    return made


def _about(count: int) -> str:
    return f"{count:,}" if count < 10**9 else "billions of"


def search(pattern: Pattern, text: str) -> Match | None:
    """Find the first match.

    Raises:
        TooSlowError: when it takes longer than the limit.
        NotAtOnceError: where it must be found at once and takes longer.
    """
    try:
        return pattern.search(text, timeout=_seconds())
    except TimeoutError:
        raise _late(pattern) from None


def last(pattern: Pattern, text: str) -> Match | None:
    """Find the last match.

    Raises:
        TooSlowError: when it takes longer than the limit.
        NotAtOnceError: where it must be found at once and takes longer.
    """
    found: Match | None = None
    seconds = _seconds()
    ends = time.thread_time() + seconds
    try:
        for match in pattern.finditer(text, timeout=seconds):
            found = match
            if time.thread_time() > ends:
                raise _late(pattern)
    except TimeoutError:
        raise _late(pattern) from None
    return found


def _seconds() -> float:
    left = loop_bounds.left()
    return LIMIT_S if left is None else left


def _late(pattern: Pattern) -> TooSlowError | NotAtOnceError:
    return NotAtOnceError() if loop_bounds.asked() else TooSlowError(pattern.pattern)
