from itertools import combinations, permutations

from hypothesis import given
from hypothesis import strategies as st

from tui_eval.scoring.rules import pairing


@st.composite
def _tables(draw: st.DrawFn) -> tuple[int, set[int], int, set[tuple[int, int]]]:
    expected, calls = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    optional = draw(st.sets(st.integers(0, 3), max_size=2)) & set(range(expected))
    cells = [(one, call) for one in range(expected) for call in range(calls)]
    fitting = draw(st.sets(st.sampled_from(cells))) if cells else set()
    return expected, optional, calls, fitting


def _worth(pairs: dict[int, int], optional: set[int]) -> tuple[int, int]:
    """The most that are needed first, then the most in all."""
    return len(pairs.keys() - optional), len(pairs)


def _all_pairings(
    expected: int, calls: int, fitting: set[tuple[int, int]], *, ordered: bool
) -> list[dict[int, int]]:
    found = []
    for size in range(min(expected, calls) + 1):
        for ones in combinations(range(expected), size):
            ways = combinations(range(calls), size) if ordered else permutations(range(calls), size)
            found += [
                pairs
                for way in ways
                if (pairs := dict(zip(ones, way, strict=True))).items() <= fitting
            ]
    return found


@given(_tables())
def test_no_pairing_has_more_of_what_is_needed_or_more_in_all(
    table: tuple[int, set[int], int, set[tuple[int, int]]],
) -> None:
    expected, optional, calls, fitting = table
    for pair, ordered in ((pairing.in_any_order, False), (pairing.in_order, True)):
        pairs = pair(expected, optional, calls, lambda one, call: (one, call) in fitting)
        every = _all_pairings(expected, calls, fitting, ordered=ordered)
        assert pairs in every
        assert _worth(pairs, optional) == max(_worth(one, optional) for one in every)


@given(_tables())
def test_side_by_side_is_what_a_window_without_gaps_is(
    table: tuple[int, set[int], int, set[tuple[int, int]]],
) -> None:
    expected, optional, calls, fitting = table

    def whole(ones: range, found: range) -> bool:
        """Whether these expected ones and these calls are each other's, but for the optional."""
        return any(
            set(pairs.values()) == set(found) and set(ones) - pairs.keys() <= optional
            for pairs in _all_pairings(expected, calls, fitting, ordered=True)
            if pairs.keys() <= set(ones)
        )

    windows = [range(a, b) for a in range(calls + 1) for b in range(a, calls + 1)]
    parts = [range(a, b) for a in range(expected + 1) for b in range(a, expected + 1)]

    def found(*, others_around: bool) -> bool:
        return pairing.side_by_side(
            expected,
            optional,
            calls,
            lambda one, call: (one, call) in fitting,
            others_around=others_around,
        )

    assert found(others_around=True) == any(whole(range(expected), one) for one in windows)
    assert found(others_around=False) == any(whole(one, range(calls)) for one in parts)
