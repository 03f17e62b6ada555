"""Conversations of other tools as the cases of a suite."""

import json
import tomllib
from pathlib import Path

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.data.dataset import cases
from tui_eval.suites.importers.chat import Conversations, as_messages
from tui_eval.suites.importers.formats import read
from tui_eval.suites.importers.shape import ImportNotes
from tui_eval.suites.importers.writing import write
from tui_eval.suites.loading.suite_file import load
from tui_eval.suites.survey.template_check import survey
from tui_eval.suites.templates.renderer import Renderer, columns

CALL: JsonObject = {
    "id": "c1",
    "type": "function",
    "function": {"name": "look", "arguments": '{"of": "Oslo"}'},
}
TALK: list[Json] = [
    {"role": "system", "content": "Brief."},
    {"role": "user", "content": "Cold in Oslo?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "-3 °C"},
    {"role": "assistant", "content": "Yes."},
    {"role": "user", "content": "And tomorrow?"},
]


def taken(value: Json) -> tuple[list[JsonObject], list[str]]:
    losses = ImportNotes()
    return as_messages(value, losses, "line 1"), [str(one) for one in losses.listed()]


def test_calls_of_tools_and_their_results_are_carried_over() -> None:
    assert taken(TALK) == (TALK, [])


def test_calls_as_inspect_logs_have_them_become_those_of_the_chat_api() -> None:
    flat: Json = [
        {"role": "user", "content": "Cold?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c1", "function": "look", "arguments": {"of": "Oslo"}}],
        },
        {"role": "tool", "function": "look", "tool_call_id": "c1", "content": "-3 °C"},
    ]
    messages, lost = taken(flat)
    assert messages[1]["tool_calls"] == [CALL]
    assert messages[2] == {"role": "tool", "tool_call_id": "c1", "content": "-3 °C"}
    assert not lost


def test_pictures_in_the_log_are_carried_over_and_those_beside_it_are_listed() -> None:
    url = "data:image/png;base64,AAAA"
    messages, lost = taken(
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is it?"},
                    {"type": "image", "image": url},
                    {"type": "image", "image": "beside.png"},
                ],
            }
        ]
    )
    assert messages[0]["content"] == [
        {"type": "text", "text": "What is it?"},
        {"type": "image_url", "image_url": {"url": url}},
    ]
    assert lost == ["line 1: a part of a message of type image was left out"]


def test_what_is_no_conversation_is_listed() -> None:
    messages, lost = taken([{"role": "tool", "tool_call_id": "c9", "content": "x"}])
    assert not messages
    assert 'is no conversation (message 1: tool_call_id "c9" is no call before it)' in lost[0]


def test_conversations_of_any_form_are_sent_by_one_prompt() -> None:
    seen = Conversations(ImportNotes())
    seen.see([{"role": "user", "content": "One?"}])
    assert seen.prompt() == {"user": "{{ chat[0].content }}"}
    seen.see(taken(TALK)[0])
    assert seen.prompt() == {"messages": "{{ chat }}"}


def test_questions_in_a_row_are_turns(tmp_path: Path) -> None:
    rows: list[JsonObject] = [
        {
            "messages": [
                {"role": "system", "content": "Brief."},
                {"role": "user", "content": "One?"},
                {"role": "user", "content": "Two?"},
            ]
        },
        {"messages": [{"role": "user", "content": "Only?"}]},
    ]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    written = write(read("openai-evals", log, None), tmp_path / "suite.toml", log)
    assert any("asked turn by turn" in str(one) for one in written.lost)
    suite = load(written.suite)
    renderer, column = Renderer(suite), columns(suite)[0]
    first, second = cases(suite)
    assert [one["content"] for one in renderer.messages(column, first)] == ["Brief.", "One?"]
    assert renderer.turns(column, first) == ("Two?",)
    assert renderer.turns(column, second) == ()


def test_lines_of_chats_with_tools_become_a_suite_that_asks_them(tmp_path: Path) -> None:
    rows: list[JsonObject] = [
        {"messages": [*TALK, {"role": "assistant", "content": "No."}]},
        {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]},
    ]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    written = write(read("openai-evals", log, None), tmp_path / "suite.toml", log)
    rows = [json.loads(line) for line in written.dataset.read_text().splitlines()]
    assert [row["expected"] for row in rows] == ["No.", "Ho"]
    assert rows[0]["chat"] == TALK
    suite = load(written.suite)
    assert suite.prompts[0].messages == "{{ chat }}"
    assert not survey(suite).troubles


def test_a_chat_of_promptfoo_with_tools_and_pictures_is_a_prompt(tmp_path: Path) -> None:
    chat: list[Json] = [
        *TALK[:4],
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Like {{ place }}?"},
                {"type": "image_url", "image_url": {"url": "https://a/{{ place }}.png"}},
            ],
        },
    ]
    config = {
        "prompts": [json.dumps(chat), "{% for one in _conversation %}{{ one.input }}{% endfor %}"],
        "providers": ["openai:chat:gpt-5-mini"],
        "tests": [{"vars": {"place": "Rome"}, "assert": [{"type": "icontains", "value": "no"}]}],
    }
    file = tmp_path / "promptfooconfig.json"
    file.write_text(json.dumps(config))
    written = write(read("promptfoo", file, None), tmp_path / "suite.toml", file)
    prompts = tomllib.loads(written.suite.read_text())
    (prompt,) = prompts.get("prompts") or [prompts["prompt"]]
    assert prompt["messages"][2]["tool_calls"] == [CALL]
    assert prompt["messages"][3]["tool_call_id"] == "c1"
    assert prompt["messages"][4]["content"][1]["image_url"]["url"] == "https://a/{{ place }}.png"
    assert any("_conversation" in str(one) for one in written.lost)
    assert not survey(load(written.suite)).troubles
