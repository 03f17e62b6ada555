import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import ODD_TEXTS, any_text, joined
from tui_eval.model.json import Json, canonical, compact, digest, dotted

any_json: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | any_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
    max_leaves=12,
)


@given(any_json)
def test_every_value_has_a_canonical_form_in_ascii_that_reads_back(value: Json) -> None:
    assert json.loads(canonical(value).decode("ascii")) == json.loads(json.dumps(value))


@given(any_json | st.floats() | st.tuples(any_text), st.booleans())
def test_what_is_compact_is_what_python_writes(value: Json, sort_keys: bool) -> None:
    written = json.dumps(value, separators=(",", ":"), sort_keys=sort_keys)
    assert compact(sort_keys=sort_keys)(value) == written
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("json.encoder.c_make_encoder", None)
        assert compact(sort_keys=sort_keys)(value) == written


@given(st.dictionaries(any_text, st.integers(), max_size=6))
def test_the_order_of_keys_is_in_no_digest(value: dict[str, int]) -> None:
    assert digest(value) == digest(dict(reversed(value.items())))


@given(any_text, any_text)
def test_texts_share_a_digest_only_if_they_are_the_same_json(one: str, other: str) -> None:
    assert (digest(one) == digest(other)) == (joined(one) == joined(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, "1"),
        (1, True),
        (0, False),
        (None, "null"),
        (None, []),
        ([], {}),
        ([1, 2], [12]),
        (["a", "b"], ["a,b"]),
        ({"a": None}, {}),
        (1, 1.5),
        ("", None),
    ],
)
def test_different_values_have_different_digests(one: Json, other: Json) -> None:
    assert digest(one) != digest(other)


def test_tuples_and_lists_are_alike() -> None:
    assert digest((1, 2)) == digest([1, 2])


def test_a_digest_is_the_sha256_of_the_canonical_form() -> None:
    assert canonical({"b": [1, "é"], "a": None}) == b'{"a":null,"b":[1,"\\u00e9"]}'
    assert digest("x") == hashlib.sha256(b'"x"').digest()


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_odd_texts_read_back_from_their_canonical_form(text: str) -> None:
    assert json.loads(canonical(text)) == text


ROW: dict[str, Json] = {
    "metadata": {"topic": "rivers", "": "no name"},
    "messages": [{"content": "hello"}, {"content": "there"}],
    "a.b": "literal",
    "a": {"b": "nested"},
    "10": "ten",
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("metadata.topic", "rivers"),
        ("messages.0.content", "hello"),
        ("messages.1", {"content": "there"}),
        ("metadata.", "no name"),
        ("a.b", "literal"),
        ("10", "ten"),
    ],
)
def test_a_dotted_path_leads_into_a_row(path: str, found: Json) -> None:
    assert dotted(ROW, path) == found


@pytest.mark.parametrize(
    ("path", "walked"),
    [
        ("metadata.theme.colour", "metadata.theme"),
        ("messages.2", "messages.2"),
        ("messages.-1", "messages.-1"),
        ("messages.²", "messages.²"),
        ("messages.٠", "messages.٠"),
        ("messages." + "9" * 5000, "messages." + "9" * 5000),
        ("10.x", "10.x"),
        ("", ""),
        ("nothing", "nothing"),
    ],
)
def test_a_path_that_leads_nowhere_is_named_up_to_the_missing_step(path: str, walked: str) -> None:
    with pytest.raises(KeyError) as missing:
        dotted(ROW, path)
    assert missing.value.args == (walked,)


@given(any_text)
def test_any_path_is_found_or_missing(path: str) -> None:
    try:
        dotted(ROW, path)
    except KeyError:
        assert path not in ROW
