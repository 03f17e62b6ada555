import dataclasses

from hypothesis import given
from hypothesis import strategies as st

from tests.scoring.making import check, subject
from tui_eval.model.case import Case
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Output, Usage
from tui_eval.scoring.check import Check, Subject

EXACT: JsonObject = {"kind": "exact", "expected": "{{ answer }}"}
OUTPUT = Output("42", finish_reason="stop", usage=Usage(output=1), latency_s=1.0, cost_usd=0.1)


def test_the_key_is_32_bytes_and_the_same_for_the_same() -> None:
    key = check(EXACT, answer="42").key(OUTPUT)
    assert len(key) == 32
    assert key == check(EXACT, answer="42").key(OUTPUT)


def test_names_weights_and_what_a_scorer_does_not_use_are_in_no_key() -> None:
    named: JsonObject = {**EXACT, "name": "same", "weight": 3, "required": False}
    with_when: JsonObject = {**EXACT, "when": "{{ tag is defined }}"}
    key = check(EXACT, answer="42").key(OUTPUT)
    assert key == check(named, answer="42").key(OUTPUT)
    assert key == check(with_when, answer="42", tag="x").key(OUTPUT)


def test_whatever_decides_the_grade_is_in_the_key() -> None:
    base = check(EXACT, answer="42")
    others = [
        check(EXACT, answer="43"),
        check({**EXACT, "not": True}, answer="42"),
        check({**EXACT, "of": "last_line"}, answer="42"),
        check({**EXACT, "threshold": 0.5}, answer="42"),
        check({**EXACT, "ignore_case": True}, answer="42"),
        check({**EXACT, "kind": "starts_with"}, answer="42"),
        dataclasses.replace(base, input="What else?"),
    ]
    keys = {made.key(OUTPUT) for made in (base, *others)}
    keys.add(base.key(dataclasses.replace(OUTPUT, text="43")))
    assert len(keys) == len(others) + 2


def test_two_questions_with_the_same_answer_have_their_own_scores() -> None:
    asked = [
        Subject(Case(0, "a", {}), "6 × 7?"),
        Subject(Case(1, "b", {}), "40 + 2?"),
        Subject(Case(2, "c", {}), None, ({"role": "user", "content": "6 × 7?"},)),
        Subject(Case(3, "d", {"q": 1})),
        Subject(Case(4, "e", {"q": 2})),
    ]
    keys = {Check("x", "exact", {"expected": ["42"]}, one.input()).key(OUTPUT) for one in asked}
    assert len(keys) == len(asked)


def test_a_text_is_scored_once_whatever_its_call_took_but_a_figure_is_not() -> None:
    slower = dataclasses.replace(OUTPUT, latency_s=2.0, cost_usd=0.2, usage=Usage(output=2))
    assert check(EXACT, answer="42").key(OUTPUT) == check(EXACT, answer="42").key(slower)
    for kind in ("latency", "tokens", "cost"):
        made = check({"kind": kind, "max": 1})
        assert made.key(OUTPUT) != made.key(slower)
        assert made.key(OUTPUT) == made.key(dataclasses.replace(OUTPUT, text="43"))


def test_ways_of_writing_the_same_question_share_a_key() -> None:
    one = check({"kind": "exact", "expected": "a"})
    listed = check({"kind": "exact", "expected": ["a"]})
    assert one.key(OUTPUT) == listed.key(OUTPUT)


@given(st.dictionaries(st.text(min_size=1), st.text()), st.text())
def test_the_order_of_settings_makes_no_difference(settings: dict[str, str], text: str) -> None:
    forwards: JsonObject = dict(settings)
    backwards: JsonObject = dict(reversed(settings.items()))
    output = Output(text)
    assert Check("a", "exact", forwards).key(output) == Check("b", "exact", backwards).key(output)


def test_templates_see_the_case_and_the_reserved_names_win() -> None:
    names = subject({"output": "old", "case": 1, "city": "Paris"}, Output("new", fields={"a": 1}))
    seen = names.names(("output", "fields"))
    assert (seen["output"], seen["fields"], seen["city"]) == ("new", {"a": 1}, "Paris")
    assert seen["case"] == {"output": "old", "case": 1, "city": "Paris"}
    assert seen["prompt"] == "What?"
    assert seen["messages"] == [{"role": "user", "content": "What?"}]


def test_before_there_is_an_output_its_names_are_undefined() -> None:
    assert {"output", "fields"} & set(
        subject({"output": "old", "fields": []}, None).names(("output", "fields"))
    ) == set()


def test_what_was_said_before_the_question_is_part_of_what_was_asked() -> None:
    asked: list[JsonObject] = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Ho"},
        {"role": "user", "content": [{"type": "image", "path": "a.png"}]},
    ]
    shots: JsonObject = {"role": "user", "content": "an example"}
    case = Case(0, "c", {})
    talk = Subject(case, "[image a.png]", (shots, *asked), conversation=tuple(asked))
    assert talk.input() == [*asked[:2], {"role": "user", "content": "[image a.png]"}]
    alone = Subject(case, "Hi", (shots, asked[0]), conversation=(asked[0],))
    assert alone.input() == "Hi"
    assert talk.names(())["messages"] == [
        shots,
        *asked[:2],
        {**asked[2], "content": "[image a.png]"},
    ]
