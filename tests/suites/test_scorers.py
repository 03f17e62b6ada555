import json

import pytest
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter, ValidationError

from tui_eval.suites.scorers import PARTS, SCORERS, ScorerSpec, check_part, is_template

SPEC: TypeAdapter[ScorerSpec] = TypeAdapter(ScorerSpec)

LEAST: dict[str, dict[str, object]] = {
    "exact": {"expected": "a"},
    "includes": {"expected": "a"},
    "starts_with": {"expected": "a"},
    "regex": {"expected": "a+"},
    "numeric": {"expected": 1},
    "math": {"expected": "1/2"},
    "choice": {"expected": "A"},
    "likelihood": {"expected": "a"},
    "fuzzy": {"expected": "a"},
    "f1": {"expected": "a"},
    "similarity": {"metric": "bleu", "expected": "a"},
    "json": {},
    "json_schema": {"schema": {"type": "object"}},
    "tool_calls": {"max_calls": 3},
    "instructions": {"instructions": ["punctuation:no_comma"], "kwargs": [{}]},
    "recorded": {"value": 0.5},
    "latency": {"max": 1.5},
    "tokens": {"max": 10},
    "cost": {"max": 0.01},
    "finish": {},
    "code": {"tests": "assert f(1) == 2"},
    "command": {"command": ["check"]},
    "python": {"callable": "grading:score"},
    "function": {"function": "score", "digest": "of its code"},
    "plugin": {"plugin": "acme.even", "distribution": "acme 1.0", "version": "1"},
    "judge": {"rubric": "Is it clear?", "scale": [1, 5]},
}


def mistakes(settings: dict[str, object]) -> list[tuple[str, str]]:
    with pytest.raises(ValidationError) as caught:
        SPEC.validate_python(settings)
    return [("".join(map(str, error["loc"][-1:])), error["msg"]) for error in caught.value.errors()]


def test_every_kind_is_listed_and_can_be_written_with_little() -> None:
    assert tuple(LEAST) == tuple(SCORERS)
    for kind, least in LEAST.items():
        assert SPEC.validate_python({"kind": kind, **least}).kind == kind


def test_a_scorer_is_called_by_its_kind_unless_it_has_a_name() -> None:
    assert SPEC.validate_python({"kind": "exact", "expected": "a"}).name == "exact"
    assert SPEC.validate_python({"kind": "exact", "expected": "a", "name": "same"}).name == "same"


def test_the_common_fields_have_their_documented_defaults() -> None:
    spec = SPEC.validate_python({"kind": "exact", "expected": "a"})
    assert (spec.weight, spec.required, spec.negate, spec.of) == (1.0, True, False, "text")
    assert spec.threshold is None
    assert spec.when is None


def test_all_of_several_are_asked_for_by_includes_and_any_by_the_others() -> None:
    match = {
        kind: SPEC.validate_python({"kind": kind, "expected": "a"}).model_dump()["match"]
        for kind in ("includes", "exact", "starts_with", "regex")
    }
    assert match == {"includes": "all", "exact": "any", "starts_with": "any", "regex": "any"}


def test_not_is_written_so_in_a_suite_and_survives_a_round_trip() -> None:
    spec = SPEC.validate_python({"kind": "includes", "expected": ["a"], "not": True})
    assert spec.negate
    again = SPEC.validate_json(SPEC.dump_json(spec, by_alias=True))
    assert again == spec


@pytest.mark.parametrize("kind", SCORERS)
def test_a_frozen_suite_gives_the_same_scorer_back(kind: str) -> None:
    spec = SPEC.validate_python({"kind": kind, **LEAST[kind]})
    assert SPEC.validate_python(SPEC.dump_python(spec, by_alias=True)) == spec


def test_unknown_keys_are_mistakes_and_so_are_the_names_used_in_code() -> None:
    given = {"kind": "exact", "expected": "a", "requird": True, "negate": True}
    assert [key for key, _ in mistakes(given)] == ["requird", "negate"]


def test_an_unknown_kind_is_a_mistake_that_lists_those_there_are() -> None:
    [(_, message)] = mistakes({"kind": "exat", "expected": "a"})
    assert all(f"'{kind}'" in message for kind in SCORERS)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("weight", 0),
        ("weight", -1),
        ("weight", True),
        ("weight", "2"),
        ("weight", float("inf")),
        ("threshold", 1.01),
        ("threshold", -0.1),
        ("required", "yes"),
        ("not", 1),
        ("when", True),
        ("name", ""),
        ("name", "two\nlines"),
        ("expected", []),
        ("expected", None),
        ("expected", {"a": 1}),
        ("expected", ["a", None]),
        ("match", "some"),
        ("ignore_case", "true"),
    ],
)
def test_a_wrong_value_is_one_mistake_at_its_field(field: str, value: object) -> None:
    found = mistakes({"kind": "exact", "expected": "a", field: value})
    assert [key for key, _ in found] == [field]


@pytest.mark.parametrize(
    "of",
    [
        "text",
        "reasoning",
        "last_line",
        "json:$.answer",
        "json:$.docs[*]['the text'][-1]",
        "field:contexts",
        "turn:1",
        "regex:Answer: (.*)",
    ],
)
def test_of_takes_every_documented_form(of: str) -> None:
    check_part(of)


@pytest.mark.parametrize(
    ("of", "said"),
    [
        ("txt", "names no part"),
        ("", "names no part"),
        ("json:", "names no part"),
        ("json:answer", "such as $.name"),
        ("json:$.a b", "from 'b' on"),
        ("field:", "names no part"),
        ("turn:0", "numbered from 1"),
        ("turn:x", "numbered from 1"),
        ("regex:(", "not a regular expression"),
        ("Text", "names no part"),
    ],
)
def test_another_form_of_of_is_a_mistake_that_says_what_is_allowed(of: str, said: str) -> None:
    [(field, message)] = mistakes({"kind": "exact", "expected": "a", "of": of})
    assert field == "of"
    assert said in message
    if said == "names no part":
        assert all(part in message for part in PARTS)


def test_scorers_of_the_call_refuse_a_part_of_the_text() -> None:
    for kind in ("latency", "tokens", "cost", "finish"):
        [(field, _)] = mistakes({"kind": kind, **LEAST[kind], "of": "reasoning"})
        assert field == "of"


def test_a_pattern_is_compiled_at_once_unless_it_is_a_template() -> None:
    [(field, message)] = mistakes({"kind": "regex", "expected": ["ok", "(no"]})
    assert field == "expected"
    assert "missing )" in message
    SPEC.validate_python({"kind": "regex", "expected": "({{ pattern }}"})


def test_an_empty_text_that_every_output_has_is_a_mistake() -> None:
    for kind in ("includes", "starts_with"):
        assert mistakes({"kind": kind, "expected": ["a", ""]})[0][0] == "expected"
    SPEC.validate_python({"kind": "exact", "expected": ""})


def test_places_of_numbers_count_from_one() -> None:
    for pick in (0, True, "second", 1.5):
        assert mistakes({"kind": "numeric", "expected": 1, "pick": pick})[0][0] == "pick"
    for pick in ("last", "first", 2, -1):
        SPEC.validate_python({"kind": "numeric", "expected": 1, "pick": pick})


def test_choices_are_a_list_a_table_or_a_template() -> None:
    for choices in (["a", "b"], {"x": "a", "y": 2}, "{{ options }}", ["{{ a }}", "{{ b }}"]):
        SPEC.validate_python({"kind": "choice", "expected": "A", "choices": choices})
    wrongs: list[object] = ["A", [], {}, 3, [["a"]]]
    for wrong in wrongs:
        found = mistakes({"kind": "choice", "expected": "A", "choices": wrong})
        assert [key for key, _ in found] == ["choices"]


def test_a_schema_is_given_once_and_is_one() -> None:
    wrongs: list[dict[str, object]] = [
        {},
        {"schema": {}, "schema_file": "a.json"},
        {"schema": {"type": "objekt"}},
        {"schema": "a.json"},
    ]
    for wrong in wrongs:
        mistakes({"kind": "json_schema", **wrong})
    SPEC.validate_python({"kind": "json_schema", "schema_file": "a.json"})


def test_templates_are_found_wherever_a_scorer_has_them() -> None:
    spec = SPEC.validate_python(
        {"kind": "choice", "expected": "{{ a }}", "choices": ["x", "{{ b }}"], "when": "{{ c }}"}
    )
    assert spec.templates() == {
        "when": "{{ c }}",
        "expected": "{{ a }}",
        "choices": ["x", "{{ b }}"],
    }
    assert SPEC.validate_python({"kind": "exact", "expected": "a { b"}).templates() == {}
    assert is_template({"a": [{"b": "{% if x %}y{% endif %}"}]})


@pytest.mark.parametrize(
    "settings",
    [
        {"kind": "regex", "expected": "(?<n>a){99999999}"},
        {"kind": "regex", "expected": ["a", "((a{1000}){1000}){1000}"]},
        {"kind": "exact", "expected": "a", "of": "regex:(" + "(?:" * 30 + "a" + ")+" * 30 + ")"},
        {"kind": "json_schema", "schema": {"items": {"pattern": "[a-z]{99999999}"}}},
        {"kind": "json_schema", "schema": {"patternProperties": {"(ab){9999999}": True}}},
    ],
)
def test_a_pattern_that_would_fill_the_memory_is_refused_uncompiled(
    settings: dict[str, object],
) -> None:
    [(_, message)] = mistakes(settings)
    assert "it repeats too much" in message


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"pattern": "("}, "missing )"),
        ({"$schema": 5}, "the draft is named by a text"),
        ({"properties": {"a": {"minLength": -1}}}, "at $.properties.a.minLength"),
    ],
)
def test_what_is_no_schema_is_told_by_its_place(schema: dict[str, object], said: str) -> None:
    [(_, message)] = mistakes({"kind": "json_schema", "schema": schema})
    assert said in message


def test_a_schema_that_nests_without_end_is_refused() -> None:
    schema: dict[str, object] = {}
    for _ in range(240):
        schema = {"items": schema}
    [(_, message)] = mistakes({"kind": "json_schema", "schema": schema})
    assert "nests too deeply" in message


def test_patterns_in_a_schema_are_of_the_dialect_that_grades() -> None:
    wanted = {"properties": {"pattern": {"pattern": r"^\p{Lu}"}}, "enum": [{"pattern": "("}]}
    SPEC.validate_python({"kind": "json_schema", "schema": wanted})


def test_the_json_schema_for_editors_is_one_and_describes_every_field() -> None:
    schema = SPEC.json_schema(by_alias=True)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    for kind, least in LEAST.items():
        assert validator.is_valid({"kind": kind, **json.loads(json.dumps(least))})
    assert not validator.is_valid({"kind": "exact", "expected": []})
    for name, definition in schema["$defs"].items():
        for field, described in definition.get("properties", {}).items():
            assert field == "kind" or described.get("description"), (name, field)
