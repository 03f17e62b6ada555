import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import VALUES
from tui_eval.model.json import Json
from tui_eval.texts import json_in_text
from tui_eval.texts.json_in_text import NotJsonError, UnreadableError, extract, parse


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        (" [1, 2] ", [1, 2]),
        ('"text"', "text"),
        ("42", 42),
        ('\ufeff{"a": 1}', {"a": 1}),
        ('Sure!\n```json\n{"a": 1}\n```\nDone.', {"a": 1}),
        ('```\n{"a": 1}\n```\nno:\n```json\n{"a": 2}\n```', {"a": 2}),
        ('```json\n{"a": 1}\n```\nand\n```\nnot json\n```', {"a": 1}),
        ('As in [1], the answer is {"a": {"b": [1, 2]}} (see [2]).', {"a": {"b": [1, 2]}}),
        ('I said {"text": "a } and a { and a \\" too"}.', {"text": 'a } and a { and a " too'}),
        ('a [ that is never closed {"a": 1}', {"a": 1}),
        ('[see {"a": 1}]', {"a": 1}),
        ('He said "hi {" then {"a": 1}', {"a": 1}),
        ('{"a": 1} } ] {', {"a": 1}),
    ],
)
def test_json_is_taken_out_of_what_surrounds_it(text: str, value: Json) -> None:
    assert extract(text) == value


@pytest.mark.parametrize(
    "text", ["", "none", "{'a': 1}", '{"a": 1', "[1,]", "NaN", '{"a": Infinity}', "```json\n{\n```"]
)
def test_what_is_no_json_is_said_to_be_none(text: str) -> None:
    with pytest.raises(NotJsonError):
        parse(text)
    with pytest.raises(NotJsonError):
        extract(text)


def test_the_message_says_where_reading_stopped() -> None:
    with pytest.raises(NotJsonError, match="line 2 column 4"):
        parse('{"a":\n 1 2}')


def test_what_is_beyond_reading_is_not_called_wrong() -> None:
    for text in ("[" * 100_000 + "]" * 100_000, "[" * 100_000, "[" + "9" * 5000 + "]"):
        with pytest.raises(UnreadableError):
            parse(text)
        with pytest.raises(UnreadableError):
            extract(text)


def test_long_prose_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_in_text, "PROSE_LIMIT", 20)
    with pytest.raises(UnreadableError, match="characters"):
        extract("x" * 20 + '{"a": 1}')
    assert extract('{"a": "' + "x" * 20 + '"}') == {"a": "x" * 20}


@given(st.dictionaries(st.text(), VALUES, min_size=1), st.text(alphabet='ab "{[\n`'))
def test_any_object_is_found_behind_any_prose_on_lines_of_its_own(
    value: dict[str, Json], prose: str
) -> None:
    closed = prose.count("{") + prose.count("[") + prose.count("`") + prose.count('"') == 0
    text = f"{prose}\n{json.dumps(value)}\n"
    if closed:
        assert extract(text) == value
    else:
        extract(text)


@given(st.text(alphabet='{}[]",:\\1ab \n`'))
def test_no_text_breaks_the_search(text: str) -> None:
    try:
        extract(text)
    except (NotJsonError, UnreadableError) as told:
        assert str(told)
