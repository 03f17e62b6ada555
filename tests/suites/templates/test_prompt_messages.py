"""Conversations as prompts: turns, columns, files, what was said before."""

import json
from pathlib import Path

import pytest

from tests.suites.writing import TARGET, loaded, told, write
from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.data.dataset import cases
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.suites.spec import Suite
from tui_eval.suites.survey.template_check import survey
from tui_eval.suites.templates.renderer import Renderer, columns
from tui_eval.suites.templates.template import TemplateError

CASE = '[[cases]]\nid = "fr"\ncountry = "France"\n'
CALL: JsonObject = {
    "id": "c1",
    "type": "function",
    "function": {"name": "look", "arguments": '{"of": "France"}'},
}
SESSION: list[JsonObject] = [
    {"role": "user", "content": "Hi {{ there }}"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "content": "found", "tool_call_id": "c1"},
    {"role": "assistant", "content": "Hello."},
]


def asked(suite: Suite) -> list[JsonObject]:
    return Renderer(suite).messages(columns(suite)[0], next(cases(suite)))


def turns(suite: Suite) -> tuple[Json, ...]:
    return Renderer(suite).turns(columns(suite)[0], next(cases(suite)))


def said(*messages: tuple[str, str]) -> list[JsonObject]:
    return [{"role": role, "content": content} for role, content in messages]


def test_the_first_turn_is_asked_and_the_others_follow_the_replies(tmp_path: Path) -> None:
    prompt = '[prompt]\nsystem = "Brief."\nturns = ["{{ country }}?", "And {{ id }}?", "Why?"]\n'
    suite = loaded(tmp_path, CASE + TARGET + prompt)
    assert asked(suite) == said(("system", "Brief."), ("user", "France?"))
    assert turns(suite) == ("And fr?", "Why?")
    again = Suite.model_validate_json(suite.model_dump_json())
    assert (asked(again), turns(again)) == (asked(suite), turns(suite))


def test_a_column_may_hold_the_turns(tmp_path: Path) -> None:
    rows: list[JsonObject] = [
        {"id": "a", "asks": ["One?", "Two?"]},
        {"id": "b", "asks": '["Only?"]'},
        {"id": "c", "asks": []},
        {"id": "d", "asks": [*said(("user", "One?"), ("user", "Two?"))]},
        {"id": "e", "asks": [*said(("user", "One?"), ("assistant", "Two."))]},
    ]
    prompt = '[dataset]\npath = "rows.jsonl"\n[prompt]\nturns = "{{ asks }}"\n'
    suite = loaded(tmp_path, prompt + TARGET, rows_jsonl=rows)
    renderer, column = Renderer(suite), columns(suite)[0]
    first, second, third, fourth, fifth = cases(suite)
    assert renderer.turns(column, fourth) == renderer.turns(column, first)
    with pytest.raises(TemplateError, match="turn 2: content must be a text"):
        renderer.messages(column, fifth)
    assert renderer.messages(column, first) == said(("user", "One?"))
    assert renderer.turns(column, first) == ("Two?",)
    assert renderer.messages(column, second) == said(("user", "Only?"))
    with pytest.raises(TemplateError, match=r"prompt\.turns: gives an empty list"):
        renderer.messages(column, third)


def test_a_column_may_hold_the_conversation_and_what_is_none_is_told_by_case(
    tmp_path: Path,
) -> None:
    rows: list[JsonObject] = [
        {"id": "a", "messages": [*SESSION, *said(("user", "Go on"))]},
        {"id": "b", "messages": [*said(("bot", "x"))]},
        {"id": "c", "messages": [SESSION[0], SESSION[2]]},
    ]
    prompt = '[dataset]\npath = "rows.jsonl"\n[prompt]\nmessages = "{{ messages }}"\n'
    suite = loaded(tmp_path, prompt + TARGET, rows_jsonl=rows)
    assert asked(suite) == rows[0]["messages"]
    found = survey(suite)
    assert [str(one) for one in found.troubles] == [
        (
            "prompt.messages: message 1: role must be one of system, developer, user, assistant, "
            'tool, not "bot" (1 case: b)'
        ),
        'prompt.messages: message 2: tool_call_id "c1" is no call before it (1 case: c)',
    ]
    assert not [one for one in found.warnings if "column" in one], "it can mean nothing else"


def test_calls_and_results_may_be_written_in_the_suite(tmp_path: Path) -> None:
    prompt = """[prompt]
messages = [
  { role = "user", content = "Look {{ country }} up." },
  { role = "assistant", tool_calls = [
    { id = "c1", function = { name = "look", arguments = '{"of": "{{ country }}"}' } },
  ] },
  { role = "tool", tool_call_id = "c1", content = "found" },
]
"""
    suite = loaded(tmp_path, CASE + TARGET + prompt)
    looked_up, called, result = asked(suite)
    assert looked_up["content"] == "Look France up."
    assert called["content"] is None
    calls = called["tool_calls"]
    assert isinstance(calls, list)
    assert calls[0] == {"id": "c1", "function": {"name": "look", "arguments": '{"of": "France"}'}}
    assert result == {"role": "tool", "content": "found", "tool_call_id": "c1"}


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        (
            'messages = [{ role = "user" }]',
            "line 2: prompt.messages[0]: has no content",
        ),
        (
            'messages = [{ role = "tool", content = "x" }]',
            "line 2: prompt.messages[0]: has no tool_call_id: which call is it the result of?",
        ),
        (
            'messages = [{ role = "tool", content = "x", tool_call_id = "c9" }]',
            (
                'line 2: prompt.messages[0].tool_call_id: "c9" is no call before it; '
                "give the id of the call"
            ),
        ),
        (
            'messages = "no column"',
            (
                "line 2: prompt.messages: is a text; give the list, or a column that holds it: "
                '"{{ messages }}"'
            ),
        ),
        ("turns = []", "line 2: prompt.turns: must not be empty, not an empty list"),
        (
            'turns = ["a"]\nuser = "b"',
            "line 2: prompt.turns: stands beside user; give one of the two",
        ),
        (
            'user = [{ type = "image" }]',
            "line 2: prompt.user: must be a text, not a list",
        ),
        (
            'turns = ["a", [{ type = "image" }]]',
            'line 2: prompt.turns[1]: part 1 of type "image" has no path',
        ),
        (
            'user = "a"\ninitial_session = [{ role = "tool", content = "x" }]',
            (
                "line 3: prompt.initial_session: message 1: has no tool_call_id: which call is it "
                "the result of?"
            ),
        ),
        (
            'user = "a"\ninitial_session = "gone.json"',
            'line 3: prompt.initial_session: no such file "gone.json"',
        ),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path: Path, prompt: str, expected: str) -> None:
    found = told(write(tmp_path, f"[prompt]\n{prompt}\n{CASE}{TARGET}"))
    assert [one.split(" (")[0] for one in found] == [f"suite.toml, {expected}"]


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_a_session_is_put_before_the_question_as_it_stands(tmp_path: Path, suffix: str) -> None:
    lines = [json.dumps(one) for one in SESSION]
    text = f"[{','.join(lines)}]" if suffix == "json" else "\n".join(lines)
    prompt = (
        f'[prompt]\nsystem = "Brief."\nuser = "{{{{ country }}}}?"\n'
        f'initial_session = "session.{suffix}"\n'
    )
    suite = loaded(tmp_path, CASE + TARGET + prompt, **{f"session_{suffix}": text})
    assert asked(suite) == [*said(("system", "Brief.")), *SESSION, *said(("user", "France?"))]
    assert suite.prompts[0].initial_session == tuple(SESSION), "the frozen suite needs no file"


def test_messages_of_a_file_are_templates(tmp_path: Path) -> None:
    held = said(("user", "{{ country }}?"))
    prompt = '[prompt]\nmessages_file = "said.json"\n'
    suite = loaded(tmp_path, CASE + TARGET + prompt, said_json=json.dumps({"messages": held}))
    assert asked(suite) == said(("user", "France?"))


def test_a_case_carries_or_names_a_session_of_its_own(tmp_path: Path) -> None:
    own = said(("user", "Own"), ("assistant", "Yes"))
    rows: list[JsonObject] = [
        {"id": "carries", "initial_session": [*own]},
        {"id": "names", "initial_session": "own.json"},
        {"id": "has none"},
        {"id": "wants none", "initial_session": []},
    ]
    prompt = (
        '[dataset]\npath = "rows.jsonl"\n[prompt]\nuser = "Now?"\n'
        'initial_session = [{ role = "user", content = "Hi" }, '
        '{ role = "assistant", content = "Ho" }]\n'
    )
    suite = loaded(tmp_path, prompt + TARGET, rows_jsonl=rows, own_json=json.dumps(own))
    usual = said(("user", "Hi"), ("assistant", "Ho"))
    renderer, column = Renderer(suite), columns(suite)[0]
    for case, before in zip(cases(suite), (own, own, usual, []), strict=True):
        frozen = type(case).from_json(case.seq, case.id, case.as_json())
        assert renderer.messages(column, frozen) == [*before, *said(("user", "Now?"))]


def test_a_session_of_a_case_that_is_none_is_told_with_its_line(tmp_path: Path) -> None:
    rows: list[JsonObject] = [
        {"id": "a", "initial_session": [*said(("bot", "x"))]},
        {"id": "b", "initial_session": "gone.json"},
        {"id": "c", "initial_session": "../../etc/passwd.json"},
    ]
    suite = loaded(
        tmp_path, '[dataset]\npath = "rows.jsonl"\n[prompt]\nuser = "x"\n' + TARGET, rows_jsonl=rows
    )
    with pytest.raises(Exception, match="bot") as wrong:
        list(cases(suite))
    lines = str(wrong.value).splitlines()
    assert [line.split(": ")[0] for line in lines] == [f"rows.jsonl, line {n}" for n in (1, 2, 3)]
    assert '"gone.json" cannot be read: No such file or directory' in lines[1]


def test_examples_stand_between_instructions_and_what_was_said_before(tmp_path: Path) -> None:
    prompt = """[prompt]
system = "Brief."
turns = ["{{ country }}?", "Sure?"]
initial_session = [
  { role = "system", content = "Kind." },
  { role = "user", content = "Hi" },
  { role = "assistant", content = "Ho" },
]
[prompt.examples]
rows = [{ country = "Peru", capital = "Lima" }, { country = "France", capital = "Paris" }]
assistant = "{{ capital }}"
"""
    suite = loaded(tmp_path, CASE + TARGET + prompt)
    opening = Renderer(suite).opening(columns(suite)[0], next(cases(suite)))
    assert opening.messages == said(
        ("system", "Brief."),
        ("system", "Kind."),
        ("user", "Peru?"),
        ("assistant", "Lima"),
        ("user", "Hi"),
        ("assistant", "Ho"),
        ("user", "France?"),
    )
    assert opening.conversation == opening.messages[4:]


def test_examples_of_conversations_in_a_column_say_how_they_are_asked(tmp_path: Path) -> None:
    prompt = (
        '[prompt]\nturns = "{{ asks }}"\nexamples = { rows = [{ q = "a" }], assistant = "b" }\n'
    )
    found = told(write(tmp_path, prompt + '[[cases]]\nasks = ["x"]\n' + TARGET))
    assert found == [
        (
            "suite.toml, line 3: prompt.examples.user: is missing: the prompt's own turns are in a "
            "column"
        )
    ]


def test_parts_are_rendered_and_the_question_is_their_text(tmp_path: Path) -> None:
    prompt = """[prompt]
messages = [
  { role = "user", content = [
    { type = "text", text = "{{ country }}?" },
    { type = "image", path = "img/{{ id }}.png" },
  ] },
]
examples = { rows = [{ q = "a" }], user = "{{ q }}", assistant = "b", as = "text" }
"""
    suite = loaded(tmp_path, CASE + TARGET + prompt)
    case, column = next(cases(suite)), columns(suite)[0]
    (message,) = Renderer(suite).messages(column, case)
    assert message["content"] == [
        {"type": "text", "text": "a\nb"},
        {"type": "text", "text": "France?"},
        {"type": "image", "path": "img/fr.png"},
    ]
    names = Renderer(suite).target_names(column, case)
    assert names["prompt"] == "a\nb\nFrance?\n[image img/fr.png]"


def test_who_is_asked_once_takes_no_turns(tmp_path: Path) -> None:
    once = (
        '[[targets]]\nname = "app"\nkind = "http"\nurl = "http://127.0.0.1:9/"\n'
        'body = { q = "x" }\n'
    )
    turns = '[prompt]\nturns = ["a", "b"]\n'
    found = told(write(tmp_path, CASE + TARGET + once + turns))
    assert found == [
        (
            "suite.toml, line 7: targets[1]: is asked once, and its prompt has turns; "
            "name the others in its prompts, or ask a model"
        )
    ]
    assert not told(write(tmp_path, CASE + TARGET + once + '[prompt]\nturns = ["a"]\n'))


def test_a_later_turn_can_be_scored_where_there_is_one(tmp_path: Path) -> None:
    scorer = '[[scorers]]\nkind = "exact"\nof = "turn:2"\nexpected = "x"\n'
    assert not told(write(tmp_path, CASE + TARGET + scorer + '[prompt]\nturns = ["a", "b"]\n'))
    found = told(write(tmp_path, CASE + TARGET + scorer + '[prompt]\nturns = ["a"]\n'))
    assert "no target gives more than one reply" in found[0]


def test_a_name_that_no_case_has_is_a_mistake_wherever_it_stands(tmp_path: Path) -> None:
    prompt = """[[prompts]]
name = "a"
turns = ["{{ one }}", [{ type = "image", path = "{{ two }}.png" }]]
initial_session = "{{ three }}"
[[prompts]]
name = "b"
messages = [
  { role = "user", content = "x" },
  { role = "assistant", tool_calls = [
    { id = "c", function = { name = "f", arguments = "{{ four }}" } },
  ] },
]
[[prompts]]
name = "c"
messages = "{{ five }}"
"""
    with pytest.raises(SuiteError) as wrong:
        survey(loaded(tmp_path, CASE + TARGET + prompt))
    assert [(one.field, one.message) for one in wrong.value.mistakes] == [
        ("prompts[0].initial_session", 'no case has "three"'),
        ("prompts[0].turns[0]", 'no case has "one"'),
        ("prompts[0].turns[1][0].path", 'no case has "two"'),
        ("prompts[1].messages[1].tool_calls[0].function.arguments", 'no case has "four"'),
        ("prompts[2].messages", 'no case has "five"'),
    ]
