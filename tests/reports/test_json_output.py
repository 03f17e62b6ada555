import json
import math
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from tui_eval.reports.json_output import dumps, pieces

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


@given(
    st.dictionaries(
        ANY_TEXT,
        st.recursive(
            ANY_TEXT | st.integers() | st.none() | st.floats(),
            lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner),
            max_leaves=8,
        ),
        max_size=4,
    )
)
def test_pieces_are_together_what_the_whole_is(value: dict[str, object]) -> None:
    lazy = {name: iter(of) if isinstance(of, list) else of for name, of in value.items()}
    assert "".join(pieces(lazy)) == dumps(value, indent=2)


def test_a_long_list_is_written_before_it_is_gone_through() -> None:
    taken = 0

    def numbers() -> Iterator[int]:
        nonlocal taken
        for number in range(1000):
            taken = number
            yield number

    written = pieces({"numbers": numbers(), "last": [1, {}]})
    first = next(written) + next(written)
    assert first.startswith('{\n  "numbers": [\n    0,\n    1,')
    assert taken < 100
    whole = {"numbers": [*range(1000)], "last": [1, {}]}
    assert first + "".join(written) == dumps(whole, indent=2)
