import sys

import pytest

from tests.scoring.making import refused, scored, scorers
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.states import Verdict
from tui_eval.scoring.rules.instructions import RULES
from tui_eval.suites.scorers.instructions import ARGUMENTS
from tui_eval.suites.scorers.setting_error import SettingError

GERMAN = "Das ist ein ganz gewöhnlicher deutscher Satz über das Wetter in Hamburg."
ENGLISH = "This is an ordinary English sentence about the weather in Hamburg today."


def asked(instruction: str, kwargs: JsonObject, *, loose: bool = False) -> JsonObject:
    return {
        "kind": "instructions",
        "instructions": [instruction],
        "kwargs": [kwargs],
        "loose": loose,
    }


FOLLOWED: dict[str, tuple[JsonObject, list[str], list[str]]] = {
    "keywords:existence": (
        {"keywords": ["river", "C++"]},
        ["The River and c++", "riverbank, C++"],
        ["The river", "", "C and river"],
    ),
    "keywords:frequency": (
        {"keyword": "war", "frequency": 2, "relation": "at least"},
        ["War and war", "warwar", "a war, wars"],
        ["war", "peace"],
    ),
    "keywords:forbidden_words": (
        {"forbidden_words": ["can", "a.b"]},
        ["We cannot", "axb"],
        ["We CAN.", "it is a.b here"],
    ),
    "keywords:letter_frequency": (
        {"letter": "A", "let_frequency": 2, "let_relation": "less than"},
        ["a", "none here but one: a", "b"],
        ["aA", "banana"],
    ),
    "language:response_language": ({"language": "de"}, [GERMAN, "123"], [ENGLISH, ""]),
    "length_constraints:number_sentences": (
        {"num_sentences": 2, "relation": "at least"},
        ["One. Two.", "One! Two? Three"],
        ["One", "Mr. One."],
    ),
    "length_constraints:number_paragraphs": (
        {"num_paragraphs": 2},
        ["a\n***\nb", "*** a *** b ***"],
        ["a", "a *** b *** c", "a *** *** b"],
    ),
    "length_constraints:number_words": (
        {"num_words": 3, "relation": "less than"},
        ["one two", "one-two"],
        ["one two three", "a-b-c"],
    ),
    "length_constraints:nth_paragraph_first_word": (
        {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "Then"},
        ["First.\n\nThen, more.", 'First.\n\n"then" more'],
        ["First.\n\nMore.", "Then.", "First.\n\nThen.\n\nLast."],
    ),
    "detectable_content:number_placeholders": (
        {"num_placeholders": 2},
        ["[a] [b]", "[a][b][c]"],
        ["[a", "[a] b]", "[a\n]"],
    ),
    "detectable_content:postscript": (
        {"postscript_marker": "P.P.S"},
        ["Bye. P.P.S. more", "p. p. s more"],
        ["P.S. more", "Bye"],
    ),
    "detectable_format:number_bullet_lists": (
        {"num_bullets": 2},
        ["* a\n* b", " - a\n- b", "* a\n- b\n** bold"],
        ["* a", "* a\n* b\n* c", "1. a\n2. b"],
    ),
    "detectable_format:constrained_response": (
        {},
        ["My answer is no.", "Well: My answer is maybe."],
        ["my answer is no.", "No."],
    ),
    "detectable_format:number_highlighted_sections": (
        {"num_highlights": 2},
        ["*a* and *b*", "**a** and **b**"],
        ["*a*", "* * and **", "*a\nb*"],
    ),
    "detectable_format:multiple_sections": (
        {"section_spliter": "Day", "num_sections": 2},
        ["Day 1 x Day 2 y", "Day1 Day2 Day3"],
        ["Day 1", "day 1 day 2"],
    ),
    "detectable_format:json_format": (
        {},
        ['{"a": 1}', "```json\n[1]\n```", "42"],
        ["Here: {}", "{'a': 1}", "[" * 5000],
    ),
    "detectable_format:title": (
        {},
        ["<<A title>>\ntext", "text <<t>>"],
        ["<A title>", "<<>>", "<<a\nb>>", ">> <<"],
    ),
    "combination:two_responses": (
        {},
        ["a\n******\nb", "****** a ****** b ******"],
        ["a", "a ****** a", "a ****** b ****** c"],
    ),
    "combination:repeat_prompt": (
        {"prompt_to_repeat": "Say it."},
        ["Say it. Done", "  SAY IT.\nx"],
        ["Done. Say it.", "Say that."],
    ),
    "startend:end_checker": (
        {"end_phrase": "That is all."},
        ["x THAT IS ALL.", 'x That is all." '],
        ["That is all. Bye", "That is all"],
    ),
    "startend:quotation": ({}, ['"a"', ' "a" b "c" '], ['"', '"a', "'a'"]),
    "change_case:capital_word_frequency": (
        {"capital_frequency": 2, "capital_relation": "at least"},
        ["NASA and EU", "I am A"],
        ["NASA", "Nasa Eu"],
    ),
    "change_case:english_capital": ({}, [ENGLISH.upper()], [ENGLISH, GERMAN.upper(), "12"]),
    "change_case:english_lowercase": ({}, [ENGLISH.lower()], [ENGLISH, GERMAN.lower(), "12"]),
    "punctuation:no_comma": ({}, ["none; here", "1.000"], ["a, b", "1,000"]),
}


def test_each_instruction_has_arguments_a_rule_and_an_example() -> None:
    assert [*ARGUMENTS] == [*RULES] == [*FOLLOWED]
    assert len(RULES) == 25


@pytest.mark.parametrize("instruction", FOLLOWED)
def test_an_answer_follows_an_instruction_or_does_not(instruction: str) -> None:
    kwargs, followed, not_followed = FOLLOWED[instruction]
    for answers, verdict in ((followed, Verdict.PASS), (not_followed, Verdict.FAIL)):
        for answer in answers:
            grade = scored(asked(instruction, kwargs), answer)
            assert grade.verdict is verdict, (answer, grade.reason)


def test_the_value_is_the_share_that_was_followed() -> None:
    settings: JsonObject = {
        "kind": "instructions",
        "instructions": "{{ ids }}",
        "kwargs": "{{ kwargs }}",
    }
    ids: Json = ["punctuation:no_comma", "keywords:existence", "punctuation:no_comma"]
    kwargs: Json = [{}, {"keywords": ["x"], "num_words": None}, None]
    grade = scored(settings, "no", ids=ids, kwargs=kwargs)
    assert grade.verdict is Verdict.FAIL
    assert grade.value == pytest.approx(2 / 3)
    assert grade.reason == '2 of 3 followed; keywords:existence: "x" is missing'
    assert grade.raw == {
        "1. punctuation:no_comma": True,
        "2. keywords:existence": False,
        "3. punctuation:no_comma": True,
    }
    assert scored({**settings, "threshold": 0.6}, "no", ids=ids, kwargs=kwargs).verdict == "pass"


@pytest.mark.parametrize(
    ("instruction", "answer", "kwargs"),
    [
        ("startend:end_checker", "The end.\nHope it helps!", {"end_phrase": "The end."}),
        ("combination:repeat_prompt", "Sure:\nSay it. x", {"prompt_to_repeat": "Say it."}),
        ("startend:quotation", 'Sure:\n"a"\nBye', {}),
        ("keywords:existence", "a*b", {"keywords": ["ab"]}),
    ],
)
def test_a_loose_check_overlooks_first_and_last_lines_and_asterisks(
    instruction: str, answer: str, kwargs: JsonObject
) -> None:
    assert scored(asked(instruction, kwargs), answer).verdict is Verdict.FAIL
    assert scored(asked(instruction, kwargs, loose=True), answer).verdict is Verdict.PASS


def test_without_what_tells_languages_apart_it_is_ungraded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "langdetect", None)
    grade = scored(asked("language:response_language", {"language": "de"}), GERMAN)
    assert grade.verdict is Verdict.UNGRADED
    assert "install tui-eval[instructions]" in grade.reason


@pytest.mark.parametrize(
    ("ids", "kwargs", "said"),
    [
        (["no:such"], [{}], 'instructions has "no:such", which is none of IFEval'),
        ([], [], "instructions is an empty list"),
        (["punctuation:no_comma"], [], "kwargs has 0 tables for 1 instructions"),
        (["punctuation:no_comma"], [3], 'kwargs has "3" where a table is meant'),
        (["punctuation:no_comma"], [{"x": 1}], 'punctuation:no_comma takes no "x"'),
        (["keywords:existence"], [{}], "keywords:existence needs keywords"),
        (["keywords:existence"], [{"keywords": "x"}], "keywords of keywords:existence is "),
        (["detectable_format:number_bullet_lists"], [{"num_bullets": 1.5}], "a whole number"),
        ("x", [], "instructions is a text that is no JSON"),
    ],
)
def test_instructions_that_make_no_sense_are_refused(ids: Json, kwargs: Json, said: str) -> None:
    settings: JsonObject = {"kind": "instructions", "instructions": ids, "kwargs": kwargs}
    with pytest.raises(SettingError) as caught:
        scorers(settings)
    assert said in str(caught.value)
    templated: JsonObject = {"kind": "instructions", "instructions": "{{ i }}", "kwargs": "{{ k }}"}
    assert said in refused(templated, i=ids, k=kwargs)
