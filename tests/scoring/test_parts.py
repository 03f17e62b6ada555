import contextlib

import pytest

from tests.scoring.making import check, scored
from tui_eval.isolated.calls import IsolatedCalls
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Output
from tui_eval.model.score import Grade
from tui_eval.model.states import Verdict
from tui_eval.scoring import deciding
from tui_eval.scoring.parts import MissingPartError, UnreadablePartError, part
from tui_eval.suites import loop_bounds, patterns

REPLY = Output(
    'Thinking.\n{"answer": "Paris", "tags": ["a", "b"], "n": 3, "none": null}\n',
    reasoning="It is the capital.",
    fields={"contexts": ["one", "two"], "trace": {"model": "m"}},
)
TURNS = Output(
    "second",
    messages=(
        {"role": "assistant", "content": "first"},
        {"role": "tool", "content": "a result"},
        {"role": "assistant", "content": None},
        {"role": "assistant", "content": "second"},
    ),
)


@pytest.mark.parametrize(
    ("of", "text"),
    [
        ("json:$.answer", "Paris"),
        ("json:$.tags[*]", '["a","b"]'),
        ("json:$.tags", '["a","b"]'),
        ("json:$.tags[-1]", "b"),
        ("json:$.n", "3"),
        ("json:$..tags[0:1]", '["a"]'),
        ("json:$.none", "null"),
        ("field:contexts", '["one","two"]'),
        ("field:contexts.1", "two"),
        ("field:trace.model", "m"),
        ("reasoning", "It is the capital."),
        ("turn:1", REPLY.text),
        ('regex:"(\\w+)":', "none"),
        ("regex:Th\\w+", "Thinking"),
        ("text", REPLY.text),
    ],
)
def test_of_takes_its_part_out_of_an_output(of: str, text: str) -> None:
    assert part(of, REPLY) == text


def test_the_last_line_is_the_last_with_text() -> None:
    assert part("last_line", Output("a\n  b \n\n \n")) == "b"
    assert part("last_line", Output("only")) == "only"


def test_turns_count_the_replies() -> None:
    assert part("turn:1", TURNS) == "first"
    assert part("turn:3", TURNS) == "second"


@pytest.mark.parametrize(
    ("of", "output", "said"),
    [
        ("json:$.city", REPLY, "the JSON has nothing at $.city"),
        ("json:$.city", Output("prose"), "nothing at $.city: there is no JSON in the text"),
        ("field:score", REPLY, "the output has no field score"),
        ("field:trace.name", REPLY, "the output has no field trace.name"),
        ("turn:2", REPLY, "there is no turn 2: the output has 1"),
        ("turn:4", TURNS, "there is no turn 4: the output has 3"),
        ("turn:2", TURNS, "turn 2 has no text"),
        ("reasoning", Output("x"), "the output has no reasoning"),
        ("last_line", Output(" \n"), "the output has no line with text"),
        ("regex:Answer: (.*)", Output("x"), "nothing in the output matches /Answer: (.*)/"),
        ("regex:a|(b)", Output("a"), "group 1 of /a|(b)/ took no part in the last match"),
        ("text", Output(None), "the output has no text"),
    ],
)
def test_a_part_that_is_not_there_is_a_fail_that_says_so_also_for_not(
    of: str, output: Output, said: str
) -> None:
    with pytest.raises(MissingPartError):
        part(of, output)
    asked: JsonObject = {"kind": "includes", "expected": "x", "of": of}
    for settings in (asked, {**asked, "not": True}):
        grade = scored(settings, output)
        assert (grade.verdict, grade.value, grade.reason) == (Verdict.FAIL, 0.0, said)


def test_a_part_that_cannot_be_taken_out_is_ungraded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "LIMIT_S", 0.01)
    for of, output in (
        ("json:$.a", Output("[" * 100_000)),
        ("json:$..a", Output("[" * 200 + "]" * 200)),
        (r"regex:(a|aa)+$", Output("a" * 60 + "!")),
    ):
        with pytest.raises(UnreadablePartError):
            part(of, output)
        asked: JsonObject = {"kind": "exact", "expected": "x", "of": of}
        assert scored(asked, output).verdict is Verdict.UNGRADED


def test_a_path_to_several_places_is_followed_where_a_limit_ends_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with loop_bounds.within(60):
        assert part("json:$.answer", REPLY) == "Paris"
        for path in ("$.tags[*]", "$..tags", "$[?@ == 3]"):
            with pytest.raises(loop_bounds.NotAtOnceError):
                part(f"json:{path}", REPLY)
    endless = Output("[" * 80 + "]" * 80)  # leads to 25 million places
    slow = check({"kind": "exact", "expected": "x", "of": "json:$..*..*..*..*..*"})
    monkeypatch.setattr(deciding, "LIMIT_S", 0.2)
    with contextlib.closing(IsolatedCalls()) as calls:
        found = deciding.decided(slow, endless, calls)
    assert isinstance(found, Grade)
    assert found.verdict is Verdict.UNGRADED
    assert found.reason == ("scoring it took longer than 0.2 s, with the path $..*..*..*..*..*")
