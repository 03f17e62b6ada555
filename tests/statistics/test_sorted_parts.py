from statistics import quantiles

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_eval.statistics import sorted_parts
from tui_eval.statistics.estimates import percentile
from tui_eval.statistics.sorted_parts import SortedParts


@given(st.lists(st.lists(st.sampled_from((0.1, 0.2, 0.3, 1.5, 2.25, 7.0)), max_size=30)))
def test_each_rank_is_that_of_all_values_sorted(parts: list[list[float]]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sorted_parts, "_FEW", 2)
        found = SortedParts([sorted(part) for part in parts])
        assert [*found] == sorted(value for part in parts for value in part)


def test_a_quantile_of_parts_is_that_of_all_values() -> None:
    values = [(number * 7919 % 10_007) / 100 for number in range(10_007)]
    found = SortedParts([sorted(values[at : at + 1000]) for at in range(0, len(values), 1000)])
    assert percentile(found, 0.95) == percentile(sorted(values), 0.95)
    assert percentile(found, 0.5) == quantiles(values, n=2)[0]
    assert found[-1] == max(values) and found[:2] == sorted(values)[:2]
    with pytest.raises(IndexError):
        found[len(values)]
