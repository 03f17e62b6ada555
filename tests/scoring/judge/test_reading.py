import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.sampling import one_in
from tui_eval.model.json import Json, JsonObject
from tui_eval.scoring.judge.item import ReplyForm
from tui_eval.scoring.judge.reading import REASON_BYTES, Finding, PartFinding, Reading, read

LINES = [
    json.loads(line)
    for line in (Path(__file__).parent / "judge_replies.jsonl").read_text("utf-8").splitlines()
]
NONCE = "n7f3a9"
SCALE = ReplyForm("scale", 0, 10, (0,))
THREE = dict.fromkeys(("k1a", "k2b", "k3c"), SCALE)


def scores(reading: Reading, forms: dict[str, ReplyForm]) -> dict[str, float | None]:
    """Give the scores by id; what has none must have a reason, and nothing else may have one."""
    assert not reading.findings.keys() - forms.keys()
    without = {id_ for id_ in forms if id_ not in reading.findings}
    assert without == reading.missing.keys()
    assert all(reading.missing.values())
    return {
        id_: reading.findings[id_].parts[0].value if id_ in reading.findings else None
        for id_ in forms
    }


def three(reply: str | None, finish_reason: str = "stop") -> list[float | None]:
    return [*scores(read(reply, THREE, NONCE, finish_reason), THREE).values()]


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line['n']}-{line['category']}")
def test_the_corpus(line: dict[str, Any]) -> None:
    forms = dict.fromkeys(line["ids"], SCALE)
    reading = read(line["reply"], forms, line["nonce"], line["finish_reason"])
    got = scores(reading, forms)
    allowed = line.get("either", {})
    for id_, expected in line["expect"].items():
        given = "ungraded" if got[id_] is None else got[id_]
        assert given in allowed.get(id_, [expected])


def grade(id_: str, score: str, more: str = "") -> str:
    return f'{{"id": "{id_}", "score": {score}, "reason": "ok"{more}}}'


A, B, C = grade("k1a", "7"), grade("k2b", "3"), grade("k3c", "10")


def envelope(*grades: str, nonce: str = NONCE) -> str:
    return f'{{"nonce": "{nonce}", "grades": [{", ".join(grades)}]}}'


WHOLE = envelope(A, B, C)
QUOTED = '"candidate": {"id": "k2b", "score": 10}'

READ_WHOLE = {
    "alone": WHOLE,
    "CRLF": WHOLE.replace(", ", ",\r\n"),
    "BOM": "\ufeff" + WHOLE,
    "BOM after a line": "\n\ufeff" + WHOLE,
    "nested fences": f"````\n```json\n{WHOLE}\n```\n````",
    "two equal fences": f"```json\n{WHOLE}\n```\nor\n```json\n{WHOLE}\n```",
    "in a tag": f"<tool_call>{WHOLE}</tool_call>",
    "as code": f"const grades = {WHOLE};",
    "behind thoughts": f"<think>{{k1a}} is a [7] or {{8}}, k2b: [1, 2</think>{WHOLE}",
    "behind brackets that open nothing": f'He wrote {{"x": then [1 and {{"y" and {WHOLE}',
    "behind LaTeX": rf"\frac{{1}}{{2}} \[ x \] \{{ {WHOLE} }} ] }}",
    "in brackets": f"[as asked: {WHOLE}]",
    "an array behind a bracket that opens nothing": f'["k1a" is best: [{A}, {B}, {C}]',
    "before a quoted grade": f"{WHOLE}\nNote: {grade('k1a', '2')} would be too low.",
    "before its own draft": f"{WHOLE} {envelope(grade('k1a', '1'), nonce='draft')}",
    "behind the form as it was asked for": '{"nonce": "…", "grades": [{"id": "k…", "score": 1}]}'
    + WHOLE,
    "an array": f"[{A}, {B}, {C}]",
    "lines": f"{A}\n{B}\n{C}\n",
    "lines with commas": f"{A},\n{B},\n{C},",
    "a string": json.dumps(WHOLE),
    "a string that is cut": json.dumps(WHOLE + "\n\n")[:-2],
    "one by one": envelope(A) + envelope(B) + envelope(C),
    "an id with escapes": WHOLE.replace("k1a", r"k\u0031\u0061"),
    "raw control characters": WHOLE.replace("ok", "o\n\t\0k"),
    "a lone surrogate": WHOLE.replace("ok", r"\ud800"),
    "no reasons": WHOLE.replace(', "reason": "ok"', ""),
    "reasons that are none": WHOLE.replace('"ok"', '[{"reason": 1}, null]'),
    "ways to write numbers": envelope(
        grade("k1a", "70e-1"), grade("k2b", "3.000"), grade("k3c", "1E+1")
    ),
    "equal again": envelope(A, B, C, grade("k1a", "7.0", ', "reason2": "again"')),
    "no errors": envelope(A, grade("k2b", "3", ', "error": null'), C),
    "other things among grades": envelope(A, "null", '"k2b"', "7", "[]", "{}", B, C),
    "a comment": WHOLE.replace("}, {", '}, // "best" of {all}\n {'),
    "no commas": WHOLE.replace("}, {", "} {"),
    "two commas": WHOLE.replace("}, {", "},, {"),
    "a comma at the end": WHOLE.replace("]}", ",]}"),
    "a brace too many": envelope(A + "}", B, C),
    "a brace too many at the end": envelope(A, B, C + "}"),
    "a bracket too many": envelope(A, B + "]", C),
    "no bracket": WHOLE.replace("]}", "}"),
    "no end": WHOLE[:-2],
    "the nonce cut": f'{{"grades": [{A}, {B}, {C}], "nonce": "n7f',
    "begun anew behind a cut": envelope(A, B)[:-30] + "\nSorry, again:\n" + WHOLE,
    "begun anew behind a comma": envelope(A)[:-2] + ",\n" + WHOLE,
}


@pytest.mark.parametrize("reply", READ_WHOLE.values(), ids=READ_WHOLE.keys())
def test_what_is_said_plainly_is_read(reply: str) -> None:
    assert three(reply) == [7, 3, 10]


NOT_READ = {
    "nothing": None,
    "spaces": " \n",
    "in a wrapper": f'{{"result": {WHOLE}}}',
    "as a tool call": f'{{"name": "grade", "arguments": {WHOLE}}}',
    "as arguments in a string": f'{{"arguments": {json.dumps(WHOLE)}}}',
    "in an array": f"[{WHOLE}]",
    "arrays in an array": f"[[{A}], [{B}]]",
    "arrays in an array that is cut": f"[[{A}, {B}",
    "rows": '[["k1a", 7], ["k2b", 3], ["k3c", 10]]',
    "a string in a string": json.dumps(json.dumps(WHOLE)),
    "grades in a string": f'{{"nonce": "{NONCE}", "grades": {json.dumps(f"[{A}]")}}}',
    "grades that are one grade": f'{{"nonce": "{NONCE}", "grades": {A}}}',
    "single quotes": WHOLE.replace('"', "'"),
    "quotes of print": WHOLE.replace('"', "“"),
    "escaped for HTML": WHOLE.replace('"', "&quot;"),
    "None for null": WHOLE.replace('"ok"', "None"),
    "two that differ": f"{envelope(grade('k1a', '1'))} {WHOLE}",
    "thoughts that differ": f"<think>{envelope(grade('k3c', '9'))}</think>{WHOLE}",
    "an array and a quoted grade that differ": f"It said {grade('k1a', '10')}. [{A}, {B}, {C}]",
    "a wrong nonce at the end": f'{{"grades": [{A}, {B}, {C}], "nonce": "old"}}',
    "a nonce of more letters": envelope(A, B, C, nonce=NONCE + " "),
    "a number for the nonce": WHOLE.replace(f'"{NONCE}"', "7"),
    "a list for the nonce": WHOLE.replace(f'"{NONCE}"', f'["{NONCE}"]'),
    "a nonce without quotes": WHOLE.replace(f'"{NONCE}"', NONCE),
    "the nonce twice": WHOLE.replace("{", f'{{"nonce": "{NONCE}", ', 1),
    "a nonce of its own before": f'{{"nonce": "old"}}\n[{A}, {B}, {C}]',
    "a wrong one and none": f"[{A}, {B}]{envelope(C, nonce='old')}",
    "grades once more, cut": WHOLE[:-1] + ', "grades":',
    "the nonce in a grade": WHOLE.replace('"score"', '"nonce": "old", "score"'),
    "spaces that JSON does not know": WHOLE.replace(": ", ":\u00a0"),
}


@pytest.mark.parametrize("reply", NOT_READ.values(), ids=NOT_READ.keys())
def test_what_is_not_said_is_not_read(reply: str | None) -> None:
    assert three(reply) == [None, None, None]


ONE_LOST = {
    "another case": A.replace("k1a", "K1A"),
    "a number for an id": A.replace('"k1a"', "1"),
    "a list for an id": A.replace('"k1a"', '["k1a"]'),
    "infinity": grade("k1a", "1e400"),
    "many digits": grade("k1a", "9" * 10_000),
    "many decimals": grade("k1a", "10." + "9" * 10_000),
    "true": grade("k1a", "true"),
    "null": grade("k1a", "null"),
    "a list": grade("k1a", "[7]"),
    "below": grade("k1a", "-1e-9"),
    "a percentage": grade("k1a", "70%"),
    "a fraction": grade("k1a", "7/10"),
    "words behind it": grade("k1a", "7 out of 10"),
    "a leading zero": grade("k1a", "07"),
    "no decimals": grade("k1a", "7."),
    "an underscore": grade("k1a", "0_7"),
    "no score": grade("k1a", "").replace('"score": ,', ""),
    "nothing for a score": grade("k1a", ""),
    "an error": grade("k1a", "7", ', "error": ""'),
    "an error that is no JSON": grade("k1a", "7", ', "error": oops'),
    "a key twice, equal": grade("k1a", "7", ', "score": 7'),
    "a key twice further in": grade("k1a", "7", ', "meta": [{"a": 1, "a": 2}]'),
    "the reason twice": grade("k1a", "7", ', "reason": ""'),
    "the id twice": grade("k1a", "7", ', "id": "k1a"'),
    "once more as a string": A + ", " + grade("k1a", '"7"'),
    "once more out of range": f"{A}, {grade('k1a', '70')}",
    "once more with an error": grade("k1a", "7", ', "error": true') + ", " + A,
    "once more, broken": f"{A}, {grade('k1a', '7,5')}",
    "a comma behind its last key": A[:-1] + ",}",
    "an escape that JSON does not know": A.replace("ok", r"\(x\)"),
    "half an escape": A.replace("ok", r"\u12"),
    "single quotes": A.replace('"', "'"),
    "no quotes at its keys": A.replace('"id"', "id"),
    "no closing quote": A.replace('k"}', "k}"),
    "no opening quote": A.replace('"ok', "ok"),
    "a quote too many": A.replace("ok", 'o"k'),
    "quotes in quotes": A.replace("ok", 'it said "no" twice'),
    "an escaped closing quote": A.replace('ok"', r"ok\""),
    "brackets in a broken string": A.replace("ok", '} "no" {'),
    "no closing brace": A[:-1],
    "no opening brace": A[1:],
    "no opening brace and a quoted grade": f'"score": 7, {QUOTED}}}',
    "no comma": A.replace(", ", " "),
    "no colon": A.replace(":", ""),
    "nested beyond sense": grade("k1a", "7", f', "x": {"[" * 100_000}{"]" * 100_000}'),
    "nested beyond sense, half": grade("k1a", "7", f', "x": {"[" * 300}{"]" * 300}'),
}


@pytest.mark.parametrize("lost", ONE_LOST.values(), ids=ONE_LOST.keys())
def test_what_is_wrong_with_one_is_wrong_with_that_one_alone(lost: str) -> None:
    # a quoted grade that nobody can tell from k2b's own costs k2b's too
    second = None if QUOTED in lost else 3
    assert three(envelope(lost, B, C)) == [None, second, 10]
    assert three(envelope(C, lost, B)) == [None, second, 10]
    assert three(envelope(B, C, lost)) == [None, second, 10]
    assert three(f"[{B}, {lost}, {C}]") == [None, second, 10]


INSIDE_ANOTHER = {
    "whole": envelope(grade("k1a", "7", f", {QUOTED}"), C),
    "no array": grade("k1a", "7", f", {QUOTED}") + C,
    "in a list": envelope(grade("k1a", "7", ', "seen": [{"id": "k2b", "score": 10}]'), C),
    "in a string": envelope(A.replace("ok", r"wrote {\"id\": \"k2b\", \"score\": 10}"), C),
}


@pytest.mark.parametrize("reply", INSIDE_ANOTHER.values(), ids=INSIDE_ANOTHER.keys())
def test_a_grade_inside_a_grade_is_none(reply: str) -> None:
    assert three(reply) == [7, None, 10]


def test_what_may_have_been_inside_a_grade_is_none() -> None:
    more = ', "a": {"b": "c", {"id": "k2b", "score": 10}]}'
    assert three(envelope(grade("k1a", "7", more), C))[1] is None


@pytest.mark.parametrize("cut", range(len(envelope(grade("k1a", "7", f", {QUOTED}")))))
def test_a_grade_inside_a_grade_that_is_cut_is_none(cut: int) -> None:
    assert three(envelope(grade("k1a", "7", f", {QUOTED}"))[:cut])[1] is None


@pytest.mark.parametrize(
    "more",
    [
        QUOTED,
        '"seen": [{"id": "k2b", "score": 10}]',
        '"a": {' + QUOTED + "}",
    ],
)
@pytest.mark.parametrize("array", [False, True])
def test_no_single_mistake_makes_a_grade_of_a_quoted_one(more: str, array: bool) -> None:
    quoting = grade("k1a", "7", f", {more}")
    reply = f"[{quoting}, {C}]" if array else envelope(quoting, C)
    begin = reply.index(quoting)
    for at in range(begin, begin + len(quoting)):
        for put in '{}[]",:\\ 0':
            assert three(reply[:at] + put + reply[at:])[1] is None
            assert three(reply[:at] + put + reply[at + 1 :])[1] is None
        assert three(reply[:at] + reply[at + 1 :])[1] is None


def test_without_the_nonce_what_stands_beside_it_does_not_count() -> None:
    assert three(f"[{A}]{envelope(B, C)}") == [None, 3, 10]
    assert three(f"{A}{envelope(B)}{C}") == [None, 3, None]
    assert three(A + grade("k2b", "3", f', "nonce": "{NONCE}"') + C) == [None, 3, None]
    assert three(envelope(A, B) + envelope(C, nonce="old")) == [7, 3, None]
    assert three(f"{A[:-1]}, " + '"nonce": "old"}' + f"{B}{C}") == [None, None, None]


def test_a_broken_array_that_begins_anew_takes_back_what_it_said() -> None:
    """Nobody knows whether what follows is a second try or a quotation."""
    reply = f"[{A}, {B[:14]}\nLet me begin again:\n[{grade('k1a', '5')}, {B}]"
    assert three(reply) == [None, None, None]


def test_a_score_may_be_zero_and_is_never_minus_zero() -> None:
    reading = read(envelope(grade("k1a", "-0.0"), grade("k2b", "0")), THREE, NONCE, "stop")
    assert [str(finding.parts[0].value) for finding in reading.findings.values()] == ["0.0", "0.0"]


@pytest.mark.parametrize(
    ("reply", "finish_reason", "why"),
    [
        (None, "content_filter", "withheld"),
        (None, "SAFETY", "withheld"),
        ("I think", "MAX_TOKENS", "truncated"),
        ("I think", "RECITATION", 'broken off: it ended with "RECITATION"'),
        ("", "stop", "empty"),
        ("I cannot do that.", "stop", "no grade for it"),
        ('{"nonce": ', "length", "truncated before"),
        (envelope(A[:-3]), "length", "its grade is truncated"),
        (envelope(A, nonce="old"), "stop", "another nonce"),
        (envelope(A, grade("k1a", "8")), "stop", "graded twice, as 7 and as 8"),
        (envelope(A) + envelope(grade("k1a", "8")), "stop", "several documents"),
        (envelope(grade("k1a", "11")), "stop", '"score" is not within 0 to 10: 11'),
        (envelope(grade("k1a", '"7"')), "stop", '"score" is not a finite number: "7"'),
        (envelope(grade("k1a", "{}")), "stop", "not a finite number: an object"),
        (envelope(grade("k1a", "[]")), "stop", "not a finite number: a list"),
        (envelope(grade("k1a", "true")), "stop", "not a finite number: true"),
        (envelope(grade("k1a", "null")), "stop", "not a finite number: null"),
        (envelope(grade("k1a", "7", ', "error": "too long"')), "stop", 'error: "too long"'),
        (envelope(grade("k1a", "7", ', "score": 8')), "stop", "key stands twice in its grade"),
        (envelope(A)[:-1] + ', "x": 1, "x": 2}', "stop", "twice in the judge's reply"),
        (envelope('{"id": "k1a"}'), "stop", 'has no "score"'),
        (envelope(grade("k1a", "07")), "stop", "is not JSON"),
    ],
)
def test_what_is_missing_says_why(reply: str | None, finish_reason: str, why: str) -> None:
    assert why in read(reply, {"k1a": SCALE}, NONCE, finish_reason).missing["k1a"]


def test_reasons_are_kept_short_and_clean() -> None:
    reasons = [r"a\u0000b\ud83d\ude00\ud800", "é" * 5000, "x" * 2_000_000]
    grades = [
        f'{{"id": "{id_}", "score": 1, "reason": "{reason}"}}'
        for id_, reason in zip(THREE, reasons, strict=True)
    ]
    reading = read(envelope(*grades), THREE, NONCE, "stop")
    first, second, third = (reading.findings[id_].parts[0].reason for id_ in THREE)
    assert first == "ab😀\ufffd"
    assert second == "é" * (REASON_BYTES // 2)
    assert third == "x" * REASON_BYTES


REQUIREMENTS = ReplyForm("requirements", 0, 1, (1, 2, 3))
CRITERIA = ReplyForm("criteria", 1, 5, (1, 2, 3))
PASS_FAIL = ReplyForm("pass-fail", 0, 1, (0,))


def parts(reply: str, form: ReplyForm) -> dict[int, float]:
    """Give the parts of the one id; where any is missing there must be a reason."""
    reading = read(reply, {"k1a": form}, NONCE, "stop")
    found = {
        number: part.value
        for finding in reading.findings.values()
        for number, part in finding.parts.items()
    }
    assert reading.findings.keys() == ({"k1a"} if found else set())
    assert ("k1a" in reading.missing) == (len(found) < len(form.numbers))
    return found


def requirements(*entries: str) -> str:
    return f'{{"id": "k1a", "requirements": [{", ".join(entries)}]}}'


R1, R2, R3 = (
    f'{{"requirement": {number}, "reason": "r{number}", "met": {met}}}'
    for number, met in ((1, "true"), (2, "false"), (3, "true"))
)


def test_requirements_are_read_by_number() -> None:
    reading = read(envelope(requirements(R3, R1, R2)), {"k1a": REQUIREMENTS}, NONCE, "stop")
    assert reading.findings["k1a"].parts == {
        1: PartFinding(1, "r1"),
        2: PartFinding(0, "r2"),
        3: PartFinding(1, "r3"),
    }
    assert reading.missing == {}


def test_numbers_that_were_not_asked_are_passed_over() -> None:
    form = ReplyForm("requirements", 0, 1, (2,))
    assert parts(envelope(requirements(R1, R2, R3)), form) == {2: 0}
    assert parts(envelope(requirements(R1, R3)), form) == {}


def test_what_a_judge_says_beside_its_parts_is_kept() -> None:
    reply = envelope(requirements(R1)[:-1] + ', "reason": "so far"}')
    assert read(reply, {"k1a": REQUIREMENTS}, NONCE, "stop").findings["k1a"].reason == "so far"


SECOND_LOST = {
    "absent": "",
    "no met": '{"requirement": 2, "reason": "r"}',
    "1 for true": '{"requirement": 2, "met": 1}',
    "a word": '{"requirement": 2, "met": "true"}',
    "null": '{"requirement": 2, "met": null}',
    "a string for the number": '{"requirement": "2", "met": true}',
    "half a number": '{"requirement": 2.5, "met": true}',
    "a number beyond all": '{"requirement": 1e999, "met": true}',
    "true for 1": '{"requirement": true, "met": false}, {"requirement": false, "met": true}',
    "no number": '{"met": true}',
    "by place": "true",
    "twice, different": '{"requirement": 2, "met": true}, {"requirement": 2, "met": false}',
    "twice, once a word": '{"requirement": 2, "met": true}, {"requirement": 2, "met": "true"}',
    "a key twice": '{"requirement": 2, "met": true, "met": true}',
    "a key twice further in": '{"requirement": 2, "met": true, "x": {"y": 1, "y": 1}}',
    "two numbers": '{"requirement": 2, "requirement": 2, "met": true}',
    "an error": '{"requirement": 2, "met": true, "error": "?"}',
    "no JSON": '{"requirement": 2, "met": yes}',
    "broken": '{"requirement": 2, met: true}',
    "a quote too many": '{"requirement": 2, "reason": "a"b", "met": true}',
    "no closing brace": '{"requirement": 2, "met": true',
    "a nonce": '{"requirement": 2, "met": true, "nonce": "old"}',
}


@pytest.mark.parametrize("lost", SECOND_LOST.values(), ids=SECOND_LOST.keys())
def test_what_is_wrong_with_one_requirement_costs_that_one(lost: str) -> None:
    entries = [R1, *([lost] if lost else []), R3]
    assert parts(envelope(requirements(*entries)), REQUIREMENTS) == {1: 1, 3: 1}


ALL_LOST = {
    "an error": requirements(R1, R2, R3)[:-1] + ', "error": "?"}',
    "a list twice": requirements(R1, R2)[:-1] + f', "requirements": [{R3}]}}',
    "a key twice": requirements(R1, R2)[:-1] + ', "reason": "", "reason": ""}',
    "a key twice further in": requirements(R1, R2)[:-1] + ', "x": {"y": 1, "y": 2}}',
    "no JSON": requirements(R1, R2)[:-1] + ', "x": y}',
    "no JSON further in": requirements(R1, R2)[:-1] + ', "x": {"y": y}}',
    "a map": '{"id": "k1a", "requirements": {"1": true, "2": false, "3": true}}',
    "flags": '{"id": "k1a", "requirements": [true, false, true]}',
    "a score": '{"id": "k1a", "score": 1}',
    "another list": requirements(R1, R2, R3).replace('"requirements"', '"criteria"'),
}


@pytest.mark.parametrize("lost", ALL_LOST.values(), ids=ALL_LOST.keys())
def test_what_is_wrong_with_a_grade_costs_all_its_requirements(lost: str) -> None:
    assert parts(envelope(lost), REQUIREMENTS) == {}


def test_requirements_of_several_grades_add_up() -> None:
    apart = [requirements(R1), requirements(R2, R3)]
    assert parts(envelope(*apart), REQUIREMENTS) == {1: 1, 2: 0, 3: 1}
    other = R1.replace("true", "false")
    assert parts(envelope(*apart, requirements(other)), REQUIREMENTS) == {2: 0, 3: 1}
    assert parts(envelope(*apart) + envelope(requirements(other)), REQUIREMENTS) == {}
    assert parts(envelope(apart[0]) + envelope(apart[1]), REQUIREMENTS) == {1: 1, 2: 0, 3: 1}


def test_a_grade_that_is_cut_keeps_its_complete_requirements() -> None:
    reply = envelope(requirements(R1, R2, R3))
    assert parts(reply[: reply.index(R3) + 5], REQUIREMENTS) == {1: 1, 2: 0}
    assert parts(reply[: reply.index(R2) + len(R2) - 1], REQUIREMENTS) == {1: 1}
    assert parts(envelope(requirements(R1, R2)[:-2] + "}", B), REQUIREMENTS) == {1: 1, 2: 0}


def test_criteria_are_scores_by_number() -> None:
    def criteria(*given: str) -> str:
        entries = [
            f'{{"criterion": {number}, "reason": "", "score": {score}}}'
            for number, score in enumerate(given, 1)
        ]
        return envelope(f'{{"id": "k1a", "criteria": [{", ".join(entries)}]}}')

    assert parts(criteria("1", "4.5", "5.0"), CRITERIA) == {1: 1, 2: 4.5, 3: 5}
    assert parts(criteria("0", "4", "6"), CRITERIA) == {2: 4}
    assert parts(criteria("true", '"4"', "NaN"), CRITERIA) == {}
    assert parts(criteria("1", "2"), CRITERIA) == {1: 1, 2: 2}
    why = read(criteria("1", "6"), {"k1a": CRITERIA}, NONCE, "stop").missing["k1a"]
    assert why == (
        'criterion 2: "score" is not within 1 to 5: 6; criterion 3: not in the judge\'s reply'
    )


@pytest.mark.parametrize(
    ("score", "value"),
    [("0", 0), ("1", 1), ("1.0", 1), ("0.5", None), ("2", None), ("true", None), ('"1"', None)],
)
def test_pass_fail_is_zero_or_one(score: str, value: float | None) -> None:
    assert parts(envelope(grade("k1a", score)), PASS_FAIL) == ({} if value is None else {0: value})


def test_forms_may_differ_within_a_request() -> None:
    forms = {"k1a": REQUIREMENTS, "k2b": ReplyForm("scale", 1, 3, (0,)), "k3c": PASS_FAIL}
    reading = read(envelope(requirements(R1, R2, R3), B, C), forms, NONCE, "stop")
    assert reading.findings.keys() == {"k1a", "k2b"}
    assert reading.missing == {"k3c": '"score" is not within 0 to 1: 10'}


def test_a_finding_is_stored_and_read_again() -> None:
    finding = Finding({2: PartFinding(0.5, "a"), 1: PartFinding(1, "b")}, "both")
    assert Finding.from_json(json.loads(json.dumps(finding.as_json()))) == finding
    for wrong in ("{}", '{"parts": [], "reason": null}', '{"parts": [{}], "reason": ""}'):
        with pytest.raises(ValueError, match="has a"):
            Finding.from_json(json.loads(wrong))


LONG = {
    "brackets": "[",
    "braces": "{",
    "keys": '{"a":',
    "arrays in objects": '{"a":[',
    "documents": '{"nonce":"n7f3a9","grades":[',
    "grades in grades": '[{"id":"k1a","grades":[',
    "quotes": '[{"',
    "empty keys": '{"":"',
    "escapes": '{"\\"{',
    "backslashes": '[{"\\',
    "words": "[{x ",
    "broken": '[{"a":1,{"b":[}]"',
    "closing": '{"a":[]]}}',
    "grades": A + ",",
    "ids": '[{"id":"k1a","id":"k2b",',
    "numbers": '[{"id":"k1a","requirements":[{"requirement":1,"requirement":2,',
    "strings": '"{\\"id\\": ',
    "digits": "[9999999999",
    "spaces": '{"a" :          ',
}


@pytest.mark.parametrize("unit", LONG.values(), ids=LONG.keys())
@pytest.mark.parametrize("begin", one_in(2, ['{"nonce":"n7f3a9","grades":[', ""]))
def test_time_is_in_proportion_to_the_length(begin: str, unit: str) -> None:
    """Sixteen times the text may take little more than sixteen times as long."""
    forms = {"k1a": SCALE, "k2b": REQUIREMENTS}

    def seconds(characters: int) -> float:
        reply = begin + unit * (characters // len(unit))
        began = time.process_time()
        read(reply, forms, NONCE, "stop")
        return time.process_time() - began

    assert seconds(80_000) < 64 * seconds(5_000) + 0.2


@pytest.mark.parametrize(
    "unit", one_in(3, ["[]", "{}", "[1,", '{"a":[]}', "[{x ", '{"a":1 x x x x x x x '])
)
def test_json_that_nobody_asked_for_is_looked_at_only_so_far(unit: str) -> None:
    reading = read(unit * 500_000, {"k1a": SCALE}, NONCE, "stop")
    assert reading.findings == {}
    assert reading.missing == {"k1a": "the judge's reply has far more JSON than was asked for"}


TEXT = st.text(alphabet='{}[]",:\\ \nk1a2b07.-et`', max_size=60) | st.text(max_size=20)
PIECES = st.lists(
    st.sampled_from([A, B, C, WHOLE, A[:-1], B[1:], '"', "{", "[", "]", "}", ",", ":", QUOTED])
    | st.sampled_from(['{"id": "k1a"', '"score": 7', '{"nonce": "old"}', '"grades": [', "\\", "x"])
    | TEXT,
    max_size=12,
).map("".join)


@given(PIECES | TEXT.map(json.dumps))
def test_any_text_is_read_and_grades_only_what_was_asked(text: str) -> None:
    forms = {"k1a": SCALE, "k2b": REQUIREMENTS, "k3c": PASS_FAIL}
    reading = read(text, forms, NONCE, None)
    assert reading.findings.keys() <= forms.keys()
    for id_, form in forms.items():
        found = reading.findings[id_].parts if id_ in reading.findings else {}
        assert found.keys() <= set(form.numbers)
        assert all(form.low <= part.value <= form.high for part in found.values())
        assert (id_ in reading.missing) == (len(found) < len(form.numbers))
        assert id_ not in reading.findings or found


@given(PIECES)
def test_no_id_gets_a_score_that_the_text_does_not_hold(text: str) -> None:
    for id_, score in scores(read(text, THREE, NONCE, None), THREE).items():
        said = {"k1a": 7, "k2b": 10 if "candidate" in text else 3, "k3c": 10}[id_]
        assert score in (None, said, 3 if id_ == "k2b" else said)


ASKED = ("ka2", "kb3", "kc4", "kd5")
NASTY = st.text(alphabet='{}[]",:\\kab234\n é😀', max_size=20) | st.sampled_from(
    [A, WHOLE, "```", '{"id": "kb3", "score": 1}', 'the "best" {of} [all]', "", ",", ":", "}"]
)
EXTRAS: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(["confidence", "candidate", "notes", "errors"]),
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | NASTY,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["id", "score", "grades", "x"]), inner, max_size=3)
            | st.fixed_dictionaries({"id": st.just(ASKED[0]), "score": st.integers(0, 10)})
        ),
        max_leaves=4,
    ),
    max_size=2,
)


@st.composite
def replies(draw: st.DrawFn) -> tuple[str, dict[str, float], list[tuple[str, int, int]]]:
    """Give a valid reply, the scores it gives, and where each grade stands in it.

    Grades may quote the grade of the first id.
    """
    others = draw(st.lists(st.sampled_from(ASKED[1:]), unique=True))
    ids = draw(st.permutations([ASKED[0], *others]))
    given: dict[str, float] = {}
    ascii_only, indent = draw(st.booleans()), draw(st.sampled_from([None, 2]))
    reply, where = "", []

    def written(value: Json) -> str:
        return json.dumps(value, ensure_ascii=ascii_only, indent=indent)

    for id_ in ids:
        given[id_] = draw(st.integers(0, 10) | st.floats(0, 10))
        one: JsonObject = {"id": id_, "score": given[id_], "reason": draw(NASTY), **draw(EXTRAS)}
        text = written({key: one[key] for key in draw(st.permutations(list(one)))})
        reply += ", " if reply else ""
        where.append((id_, len(reply), len(reply) + len(text)))
        reply += text
    nonce = written(NONCE)
    before, after = draw(
        st.sampled_from(
            [
                (f'{{"nonce": {nonce}, "grades": [', "]}"),
                ('{"grades": [', f'], "nonce": {nonce}}}'),
                ('{"x": {"grades": []}, "grades": [', "]}"),
                ("[", "]"),
            ]
        )
    )
    prose = draw(
        st.sampled_from(["", "```json\n", "Here you are: [see below]\n", '"Sure," {I} say: '])
    )
    moved = len(prose) + len(before)
    return (
        prose + before + reply + after,
        given,
        [(id_, begin + moved, end + moved) for id_, begin, end in where],
    )


FOUR = dict.fromkeys(ASKED, SCALE)


def four(reply: str) -> dict[str, float | None]:
    return scores(read(reply, FOUR, NONCE, "stop"), FOUR)


@given(replies(), st.sampled_from(["", "\n```", " That is all {of it}.", "\n\n[1] [2]"]))
def test_any_valid_reply_is_read_whole(
    made: tuple[str, dict[str, float], list[tuple[str, int, int]]], after: str
) -> None:
    reply, given_, _ = made
    assert four(reply + after) == {id_: given_.get(id_) for id_ in ASKED}
    assert four(json.dumps(reply)) == {id_: given_.get(id_) for id_ in ASKED}


@given(replies(), st.data())
def test_a_cut_reply_keeps_its_complete_grades(
    made: tuple[str, dict[str, float], list[tuple[str, int, int]]], data: st.DataObject
) -> None:
    reply, given_, where = made
    cut = data.draw(st.integers(0, len(reply)))
    complete = {id_ for id_, _, end in where if end <= cut}
    assert four(reply[:cut]) == {id_: given_[id_] if id_ in complete else None for id_ in ASKED}


@given(replies(), st.data())
def test_a_changed_character_moves_no_grade(
    made: tuple[str, dict[str, float], list[tuple[str, int, int]]], data: st.DataObject
) -> None:
    reply, given_, where = made
    at = data.draw(st.integers(0, len(reply) - 1))
    put = data.draw(st.sampled_from(["", *'{}[]",:\\ a10']))
    taken = data.draw(st.sampled_from([0, 1]))
    assume(put or taken)
    got = four(reply[:at] + put + reply[at + taken :])
    touched = {id_ for id_, begin, end in where if begin < at + taken and at < end}
    for id_ in ASKED:
        if id_ not in touched:
            assert got[id_] in (None, given_.get(id_))


def test_a_quoted_grade_that_damage_lets_out_counts_for_nobody() -> None:
    """What the first grade quotes comes to stand among the grades, the second grade outside."""
    quoting = '"confidence": [{"id": "ka2}, "score": 0}, {"id": "ka2", "score": 0}]'
    first = '{"id": "kb3", "score": 0, "reason": "", ' + quoting + "}"
    second = '{"id": "ka2", "score": 1, "reason": ""}'
    reply = f'{{"nonce": "{NONCE}", "grades": [{first}, {second}]}}'
    assert four(reply)["ka2"] is None


@given(replies(), st.data())
def test_a_changed_character_costs_no_more_than_it_touches(
    made: tuple[str, dict[str, float], list[tuple[str, int, int]]], data: st.DataObject
) -> None:
    """A letter for anything inside a grade that is none of JSON's marks.

    A grade that quotes another may so seem to begin it anew; that may cost the other one too. And
    where a string breaks, the brackets in it may seem to be the reply's own.
    """
    reply, given_, where = made
    spots = [
        (id_, begin, end, at)
        for id_, begin, end in where
        if not re.search(r"[{}\[\]]", "".join(re.findall(r'"(?:[^"\\]|\\.)*"', reply[begin:end])))
        for at in range(begin + 1, end - 1)
        if reply[at] not in '{}[]"\\:,' and reply[at - 1] != "\\"
    ]
    assume(spots)
    id_, begin, end, at = data.draw(st.sampled_from(spots))
    got = four(reply[:at] + "z" + reply[at + 1 :])
    for other in ASKED:
        if other != id_ and (got[other] is not None or f'"{other}"' not in reply[begin:end]):
            assert got[other] == given_.get(other)
