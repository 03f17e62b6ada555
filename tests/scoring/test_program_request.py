"""What a program sees that decides a check."""

from tui_eval.model.case import Case
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Output
from tui_eval.model.score import Grade
from tui_eval.scoring.check import Check, Subject
from tui_eval.scoring.program_request import program_request
from tui_eval.scoring.scorers import Scorers
from tui_eval.suites.scorers import SCORERS, ScorerSpec

ASKED: JsonObject = {"role": "user", "content": "q"}
CASE = Case(0, "c", {"q": "q", "want": [1]})


def made(output: Output, case: Case = CASE, **fields: object) -> Check:
    spec: ScorerSpec = SCORERS["command"].model_validate(  # type: ignore[assignment]
        {"kind": "command", "command": ["check", "{{ q }}"], **fields}
    )
    checks = Scorers([spec]).checks(Subject(case, "q", (ASKED,), output))
    assert isinstance(checks, list)
    return checks[0]


def test_a_program_sees_the_row_the_output_and_the_conversation() -> None:
    output = Output("a", fields={"f": 1})
    assert program_request(made(output), output, "/w") == {
        "case": {"q": "q", "want": [1]},
        "output": "a",
        "messages": [ASKED, {"role": "assistant", "content": "a"}],
        "fields": {"f": 1},
        "workspace": "/w",
    }


def test_an_output_without_text_is_seen_all_the_same() -> None:
    said: JsonObject = {"role": "assistant", "content": None, "tool_calls": []}
    output = Output(None, messages=(said,))
    seen = program_request(made(output), output)
    assert isinstance(seen, dict)
    assert seen["output"] is None
    assert seen["messages"] == [ASKED, said]


def test_a_part_is_seen_in_place_of_the_text_and_a_missing_one_is_a_fail() -> None:
    output = Output("first\nlast")
    seen = program_request(made(output, of="last_line"), output)
    assert isinstance(seen, dict)
    assert seen["output"] == "last"
    missing = program_request(made(output, of="regex:nothing"), output)
    assert isinstance(missing, Grade)
    assert missing.value == 0


def test_the_key_is_over_all_that_a_program_sees() -> None:
    output = Output("a")
    key = made(output).key(output)
    assert made(output).key(output) == key
    other = Case(0, "c", {"q": "q", "want": [2]})
    assert made(output, other).key(output) != key  # no template names it
    assert made(output).key(Output("b")) != key
    assert made(output, timeout=1.0).key(output) != key
