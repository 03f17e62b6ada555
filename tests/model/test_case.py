import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import any_text
from tui_eval.model.case import Case

json_values = st.none() | st.booleans() | st.integers() | st.text()
rows = st.dictionaries(st.text(), json_values, max_size=4)
cases = st.builds(
    Case,
    seq=st.integers(0, 10**6),
    id=any_text,
    fields=rows,
    tags=st.lists(st.text(), max_size=3).map(tuple),
    scorers=st.lists(rows, max_size=2).map(tuple),
    skip=st.lists(st.text(), max_size=2).map(tuple),
    weight=st.floats(0.001, 1000),
    timeout=st.none() | st.floats(0.1, 1000),
    recorded=st.dictionaries(st.text(), rows, max_size=2),
)


@given(cases)
def test_a_case_reads_back_from_its_frozen_copy(case: Case) -> None:
    kept = json.loads(json.dumps(case.as_json()))
    assert Case.from_json(case.seq, case.id, kept) == case


def test_a_plain_case_keeps_its_fields_and_nothing_else() -> None:
    assert Case(0, "a", {"q": 1}).as_json() == {"fields": {"q": 1}}


def test_a_frozen_copy_without_fields_is_refused() -> None:
    with pytest.raises(TypeError, match="a JSON object was expected, not list"):
        Case.from_json(0, "a", {"fields": []})
