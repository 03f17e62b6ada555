import jinja2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sampling import examples
from tui_eval.model.json import Json
from tui_eval.suites.templates.template import NestedTemplate, Template, TemplateError

ROW: dict[str, Json] = {
    "question": "Why?",
    "level": 4,
    "share": 0.5,
    "good": True,
    "nothing": None,
    "choices": ["red", "blue"],
    "metadata": {"topic": "sums", "items": [1, 2], "2": "two"},
}


def value(source: str) -> Json:
    return Template(source, "prompt.user").value({**ROW, "case": ROW})


def error(source: str) -> str:
    with pytest.raises(TemplateError) as caught:
        value(source)
    return str(caught.value)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ question }}", "Why?"),
        ("{{ level }}", 4),
        ("{{ share }}", 0.5),
        ("{{ good }}", True),
        ("{{ nothing }}", None),
        ("{{ choices }}", ["red", "blue"]),
        ("{{ metadata }}", ROW["metadata"]),
        ("{{ choices.1 }}", "blue"),
        ("{{ level > 3 }}", True),
        ("{{ choices | map('upper') }}", ["RED", "BLUE"]),
        ("{{ [level, question] }}", [4, "Why?"]),
        ("{{ range(3) }}", [0, 1, 2]),
        ("{{ {'a': level} }}", {"a": 4}),
        ("{{ missing is defined }}", False),
        ("{{ missing | default([]) }}", []),
    ],
)
def test_one_expression_alone_keeps_its_type(source: str, expected: Json) -> None:
    assert value(source) == expected
    assert type(value(source)) is type(expected)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (" {{ level }}", " 4"),
        ("{{ level }}\n", "4\n"),
        ("{{ level }}{{ share }}", "40.5"),
        ("{{ good }}/{{ nothing }}", "True/None"),
        ("{{ choices }}!", "['red', 'blue']!"),
        ("{% for c in choices %}{{ loop.index }}. {{ c }}\n{% endfor %}", "1. red\n2. blue\n"),
        ("no names at all", "no names at all"),
        ("", ""),
        ("{# nothing #}a", "a"),
        ("a }} b", "a }} b"),
        ("{{ '{{' }} {{ level }}", "{{ 4"),
        ("{{ question if level > 9 }}", ""),
    ],
)
def test_anything_else_gives_a_text(source: str, expected: str) -> None:
    assert value(source) == expected


def test_text_gives_a_text_also_for_one_expression() -> None:
    assert Template("{{ level }}", "f").text(ROW) == "4"
    assert Template("{{ choices | list }}", "f").text(ROW) == "['red', 'blue']"


def test_fields_win_over_methods() -> None:
    assert value("{{ metadata.items }}") == [1, 2]
    assert value("{{ metadata['items'] }}") == [1, 2]
    assert value("{{ case.items() | length }}") == len(ROW)


def test_fields_win_over_what_jinja_has() -> None:
    assert Template("{{ range }}", "f").value({"range": "near"}) == "near"
    assert Template("{{ range | upper }}", "f").value({"range": "near"}) == "NEAR"


def test_numbers_in_paths_find_items_and_keys() -> None:
    assert value("{{ choices[0] }}") == "red"
    assert value("{{ metadata.2 }}") == "two"


def test_a_field_called_self_is_reached_by_the_case() -> None:
    row: dict[str, Json] = {"self": "me"}
    assert Template("{{ case.self }}", "f").value({**row, "case": row}) == "me"
    with pytest.raises(TemplateError, match=r"write case\.self"):
        Template("{{ self }}", "f")


def test_line_ends_of_other_systems_become_one() -> None:
    assert value("a\r\nb {{ level }}\r{{ level | string }}") == "a\nb 4\n4"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ questio }}", 'prompt.user: "questio" is undefined; did you mean "question"?'),
        ("{{ questio | upper }}", 'prompt.user: "questio" is undefined; did you mean "question"?'),
        ("{{ [questio] }}", 'prompt.user: "questio" is undefined; did you mean "question"?'),
        (
            "a {{ metadata.topc }}",
            'prompt.user: "topc" is undefined in a table; did you mean "topic"?',
        ),
        (
            "{{ zzz }}",
            (
                'prompt.user: "zzz" is undefined; there are question, level, share, good, nothing, '
                "choices, metadata"
            ),
        ),
        ("{{ question.upper }}", "prompt.user: it gives a function, which is no value"),
        ("{{ 1 / 0 }}", "prompt.user: division by zero"),
        ("{{ choices[7] }}", 'prompt.user: "7" is undefined in a list'),
        ("{{ metadata.x[0] }}", 'prompt.user: "x" is undefined in a table'),
        ("{{ question.x[0][1].y }}", 'prompt.user: "x" is undefined in a text'),
    ],
)
def test_what_fails_for_a_case_names_field_and_name(source: str, expected: str) -> None:
    assert error(source) == expected


def test_the_undefined_name_is_told_apart() -> None:
    with pytest.raises(TemplateError) as caught:
        value("{{ questio }}")
    assert caught.value.name == "questio"
    assert caught.value.field == "prompt.user"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ a", "f: is no template: unexpected end of template, expected 'end of print "),
        ("{{ a | uper }}", 'f: unknown filter "uper"; did you mean "upper"?'),
        ("{{ a is defned }}", 'f: unknown test "defned"; did you mean "defined"?'),
        ("x\n{% if %}", "f: is no template: Expected an expression"),
        ("{% include 'a' %}", "f: is no template: templates stand alone"),
        ("{% extends 'a' %}", "f: is no template: templates stand alone"),
        ("{% import 'a' as b %}", "f: is no template: templates stand alone"),
        ("{% block a %}{% endblock %}", "f: is no template: templates stand alone"),
        ("{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", "f: cannot be read as a template"),
        ("{% for a in b %}" * 30 + "{% endfor %}" * 30, "f: cannot be read as a template"),
    ],
)
def test_what_is_no_template_is_refused_when_it_is_compiled(source: str, expected: str) -> None:
    with pytest.raises(TemplateError) as caught:
        Template(source, "f")
    assert str(caught.value).startswith(expected)


def test_a_template_knows_the_names_it_uses_and_those_it_needs() -> None:
    made = Template("{{ a }} {{ b.c }} {% if d is defined %}{{ d }}{% endif %}{{ e|d(1) }}", "f")
    assert made.names == {"a", "b", "d", "e"}
    assert made.required == {"a", "b"}
    assert Template("{{ a }} {{ b.c }}", "f").required == {"a", "b"}


def test_values_are_rendered_at_any_depth() -> None:
    made = NestedTemplate(["{{ level }}", {"k": ["a {{ question }}", 3]}, None], "f")
    assert made.value(ROW) == [4, {"k": ["a Why?", 3]}, None]
    assert made.required == {"level", "question"}


def test_a_failure_inside_a_value_names_its_place() -> None:
    with pytest.raises(TemplateError, match=r"f\[1\]\.k: .zzz. is undefined"):
        NestedTemplate(["a", {"k": "{{ zzz }}"}], "f").value(ROW)


_NAMES = st.sampled_from(["a", "b", "range", "items", "is", "loop", "c2", "missing"])
_STEPS = st.sampled_from(["a", "items", "keys", "upper", "0", "1", "10", "count"])
_EXPRESSIONS = st.builds(
    lambda head, steps, left, right: "{{" + left + ".".join([head, *steps]) + right + "}}",
    _NAMES,
    st.lists(_STEPS, max_size=2),
    st.sampled_from(["", " ", "  ", "\n"]),
    st.sampled_from(["", " ", "\t"]),
)
_SOURCES = st.lists(_EXPRESSIONS | st.text("ab{}%#\n\r ", max_size=4), min_size=1, max_size=5).map(
    "".join
)
_DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "items", "0", "count"]), inner, max_size=3)
    ),
    max_leaves=6,
)
_ROWS = st.dictionaries(st.sampled_from(["a", "b", "range", "items", "is", "loop"]), _DATA)


def outcome(source: str, row: dict[str, Json], *, quick: bool) -> Json:
    """Render a template, or give what it says instead; `quick` allows the short way."""
    # a comment is nothing to Jinja, and more than names to the short way
    try:
        made = Template(source if quick else "{# #}" + source, "f")
        return [made.text(row)]
    except TemplateError as told:
        return {"field": told.field, "name": told.name}


@settings(max_examples=examples(400), deadline=None)
@given(_SOURCES, _ROWS)
def test_the_short_way_gives_what_jinja_gives(source: str, row: dict[str, Json]) -> None:
    assert outcome(source, row, quick=True) == outcome(source, row, quick=False)


@settings(max_examples=examples(150), deadline=None)
@given(_SOURCES, _ROWS)
def test_where_jinja_renders_plain_texts_so_do_we(source: str, row: dict[str, Json]) -> None:
    plain = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    texts = {name: item for name, item in row.items() if isinstance(item, str)}
    try:
        expected = plain.from_string(source).render(texts)
    except jinja2.TemplateError:
        return
    if "<" not in expected:  # a method or function as text: an error here
        assert Template(source, "f").text(texts) == expected
