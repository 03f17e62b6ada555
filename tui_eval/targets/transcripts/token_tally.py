"""Tokens by reply: what is told of a reply again takes the place of what was told before."""

from collections.abc import Callable, Hashable

from tui_eval.model.outputs.output import Usage

_NOTHING = Usage()


class TokenTally:
    """Counts the tokens of many replies."""

    def __init__(self) -> None:
        self._of: dict[Hashable, Usage] = {}
        self._sum = _NOTHING
        self._least = _NOTHING

    def tell(self, reply: Hashable, usage: Usage) -> None:
        """Note the tokens of one reply, in place of what was noted of it before."""
        before = self._of.get(reply, _NOTHING)
        self._of[reply] = usage
        self._sum = _each(sum, self._sum, usage, _each(lambda old: -old[0], before))

    def tell_next(self, usage: Usage) -> None:
        """Note the tokens of a further reply that has no name."""
        self.tell(len(self._of), usage)

    def tell_all(self, *usages: Usage) -> None:
        """Note the tokens of all replies, counted in one or several ways.

        Programs tell of a reply while it is still being made, and of all of them without those of
        their helpers: of several figures for one thing the largest is the whole.
        """
        self._least = _each(max, *usages)

    @property
    def total(self) -> Usage:
        """The tokens of all replies; None for what was told of none."""
        return _each(max, self._sum, self._least)


def _each(combined: Callable[[list[int]], int], *usages: Usage) -> Usage:
    """Combine what is known of each figure; None where nothing is."""

    def figure(*given: int | None) -> int | None:
        known = [one for one in given if one is not None]
        return combined(known) if known else None

    return Usage(
        input=figure(*(one.input for one in usages)),
        output=figure(*(one.output for one in usages)),
        reasoning=figure(*(one.reasoning for one in usages)),
        cached=figure(*(one.cached for one in usages)),
    )
