"""What prompts with conversations and pictures send, and when it is sent again."""

from pathlib import Path
from typing import Any

from tests.engine.harness import Harness
from tests.servers.fake_model import FakeModel, always, refuse
from tests.suites.writing import loaded
from tui_eval.model.json import JsonObject
from tui_eval.store.requests import Verb
from tui_eval.suites.spec import Suite

PNG = b"\x89PNG\r\n\x1a\n"
ROWS: list[JsonObject] = [{"id": "a"}, {"id": "b"}, {"id": "gone"}]
TEXT = """
[dataset]
path = "rows.jsonl"
[prompt]
initial_session = "before.json"
turns = [
  [{ type = "text", text = "What is {{ id }}?" }, { type = "image", path = "{{ id }}.png" }],
  "Are you sure?",
]
[[targets]]
base_url = "BASE"
model = "m"
[[scorers]]
kind = "includes"
of = "turn:1"
expected = "{{ id }}"
"""
SESSION = '[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]'


def pictures(folder: Path, base: str, session: str = SESSION) -> Suite:
    text = TEXT.replace("BASE", base)
    return loaded(folder, text, rows_jsonl=ROWS, before_json=session)


def sent(body: dict[str, Any]) -> list[str]:
    """Return who says something in a request, with a sign for pictures."""
    return [
        message["role"] + ("+" if isinstance(message["content"], list) else "")
        for message in body["messages"]
    ]


async def test_pictures_and_sessions_are_sent_once(harness: Harness, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.png").write_bytes(PNG + name.encode())
    async with FakeModel() as server:
        run = await harness.run(pictures(tmp_path, server.base_url))
        assert sorted(sent(call.body) for call in server.calls) == [
            ["user", "assistant", "user+"],
            ["user", "assistant", "user+"],
            ["user", "assistant", "user+", "assistant", "user"],
            ["user", "assistant", "user+", "assistant", "user"],
        ]
        states = {trial.error_kind for trial in harness.trials(run)}
        assert states == {None, "attachment"}

        asked = len(server.calls)
        await harness.run(pictures(tmp_path, server.base_url))
        assert len(server.calls) == asked, "everything is in the store"

        (tmp_path / "b.png").write_bytes(PNG + b"another")
        await harness.run(pictures(tmp_path, server.base_url))
        assert len(server.calls) == asked + 2, "another picture is another question"

        await harness.run(pictures(tmp_path, server.base_url, SESSION.replace("Ho", "Hey")))
        assert len(server.calls) == asked + 6, "so is another session"


async def test_a_run_goes_on_with_the_pictures_it_was_launched_on(
    harness: Harness, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.png").write_bytes(PNG + name.encode())
    async with FakeModel(script=always(refuse(404))) as server:
        made = pictures(tmp_path, server.base_url)
        run = await harness.run(made)
        asked = server.requests
        assert asked > 0
        (tmp_path / "b.png").write_bytes(PNG + b"another")
        server.script = None
        await harness.again(run, Verb.RETRY, cases=["a", "b"])
        errors = {t.case_id: (t.error_kind, t.error_message or "") for t in harness.trials(run)}
        assert errors["a"] == (None, "")
        assert errors["b"][0] == "attachment"
        assert "has changed since the run began" in errors["b"][1]
        assert server.requests == asked + 2, "both turns of the other case"
