import json
import math

from hypothesis import given
from hypothesis import strategies as st

from tui_eval.reports.jsontext import dumps

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=20)


@given(
    st.recursive(ANY_TEXT | st.integers() | st.none(), lambda inner: st.lists(inner), max_leaves=5)
)
def test_any_text_comes_back_and_is_harmless_on_the_way(value: object) -> None:
    text = dumps(value)
    text.encode("utf-8", "strict")
    assert text.isprintable()
    assert json.loads(text) == value


def test_what_json_cannot_hold_is_null() -> None:
    assert dumps({"a": [math.nan, math.inf, 1.5]}) == '{"a": [null, null, 1.5]}'


def test_letters_stay_readable() -> None:
    assert dumps("Zürich 東京") == '"Zürich 東京"'


def test_indented_documents_keep_their_lines() -> None:
    assert dumps({"a": "\u009b"}, indent=2) == '{\n  "a": "\\u009b"\n}'
