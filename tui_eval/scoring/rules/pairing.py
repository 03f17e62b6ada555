"""Which calls are the expected ones: the most that can be paired, in their order or in any."""

from collections import deque
from collections.abc import Callable, Collection
from typing import TypeAlias

Fits: TypeAlias = Callable[[int, int], bool]
"""Whether an expected call and a call, by their numbers, may be paired."""


def in_any_order(
    expected: int, optional: Collection[int], calls: int, fits: Fits
) -> dict[int, int]:
    """Pair as many expected calls as can be; of these as many as can be that are not optional.

    A maximum matching by augmenting paths: an expected call that was paired stays so, whatever
    call it gives up to another.

    Returns:
        The numbers of calls by those of the expected ones.
    """
    call_of: dict[int, int] = {}
    expected_of: dict[int, int] = {}
    for start in sorted(range(expected), key=lambda one: one in optional):
        reached_from: dict[int, int] = {}
        waiting = deque([start])
        free: int | None = None
        while waiting and free is None:
            wanted = waiting.popleft()
            for call in range(calls):
                if call in reached_from or not fits(wanted, call):
                    continue
                reached_from[call] = wanted
                if call not in expected_of:
                    free = call
                    break
                waiting.append(expected_of[call])
        while free is not None:
            wanted = reached_from[free]
            given_up = call_of.get(wanted)
            call_of[wanted], expected_of[free] = free, wanted
            free = given_up
    return call_of


def in_order(expected: int, optional: Collection[int], calls: int, fits: Fits) -> dict[int, int]:
    """Pair as `in_any_order` does, but so that the paired calls stand in the expected order.

    A longest common subsequence, by dynamic programming.
    """
    worth = [1 if one in optional else expected + 1 for one in range(expected)]
    best = [[0] * (calls + 1) for _ in range(expected + 1)]
    for one in reversed(range(expected)):
        for call in reversed(range(calls)):
            skipped = max(best[one + 1][call], best[one][call + 1])
            paired = best[one + 1][call + 1] + worth[one]
            best[one][call] = paired if paired > skipped and fits(one, call) else skipped
    pairs: dict[int, int] = {}
    one = call = 0
    while one < expected and call < calls:
        if best[one][call] == best[one + 1][call]:
            one += 1
        elif best[one][call] == best[one][call + 1]:
            call += 1
        else:
            pairs[one] = call
            one, call = one + 1, call + 1
    return pairs


def side_by_side(
    expected: int, optional: Collection[int], calls: int, fits: Fits, *, others_around: bool
) -> bool:
    """Tell whether expected calls follow each other with nothing between them but what is optional.

    Args:
        expected: How many are expected.
        optional: Those that may be missing.
        calls: How many calls there are.
        fits: Which may be paired.
        others_around: Whether all expected calls are to be found somewhere among the calls; else
            all calls somewhere among the expected ones.
    """
    before = [others_around or call == 0 for call in range(calls + 1)]
    reached = before[calls]
    for one in range(expected):
        after = [not others_around or (before[0] and one in optional)]
        for call in range(calls):
            left_out = one in optional and before[call + 1]
            after.append(left_out or (before[call] and fits(one, call)))
        before = after
        reached = reached or (not others_around and before[calls])
    return any(before) if others_around else reached
