"""A server that gives the key back in every way, and every place where its words end up."""

import io
import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import Beside, Command, Done, Place
from tests.servers.fake_model import Call, FakeModel, Reply
from tui_eval.cli.commands.hidden import engine
from tui_eval.cli.logs import SafeFormatter
from tui_eval.model.json import Json, JsonObject
from tui_eval.providers.keys import keep_secret

KEY = "sk-test-SECRETKEY0001"
PART = KEY[:12]
"""As much of it as would help somebody."""


def answer(message: JsonObject, **more: Json) -> Reply:
    finish = more.pop("finish_reason", "stop")
    choice: JsonObject = {"index": 0, "message": message, "finish_reason": finish}
    body = json.dumps({"choices": [choice], "usage": {}, **more})
    return Reply("status", status=200, body=body)


def said(text: Json, **more: Json) -> Reply:
    return answer({"role": "assistant", "content": text}, **more)


def refused(body: str, status: int = 400, **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply("status", status=status, body=body, headers=named)


_ESCAPED = "".join(f"\\u{ord(letter):04x}" for letter in KEY)
ECHOES: dict[str, Reply] = {
    "text": said(f"your key is {KEY}, I think"),
    "thinking": said(f"<think>{KEY}</think>{KEY}"),
    "reasoning": answer({"role": "assistant", "content": "x", "reasoning_content": f"({KEY})"}),
    "parts": said([{"type": "text", "text": KEY[:9]}, {"type": "text", "text": KEY[9:]}]),
    "refusal": answer({"role": "assistant", "content": None, "refusal": KEY}),
    "escaped": replace(said("@"), body=(said("@").body or "").replace("@", _ESCAPED)),
    "tools": answer(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": KEY,
                    "type": "function",
                    "function": {"name": KEY, "arguments": json.dumps({KEY: KEY})},
                    KEY: [{"deep": KEY}],
                }
            ],
        }
    ),
    "finish": said("x", finish_reason=KEY),
    "model": said("x", model=KEY),
    "error": refused(json.dumps({"error": {"message": f"Incorrect key: {KEY}.", "code": KEY}})),
    "cut": refused(json.dumps({"error": {"message": "x" * 285 + KEY}})),
    "plain": refused("x" * 290 + KEY),
    "page": refused(f"<html><p>{KEY}</p></html>", status=404 + 18),
    "inside": Reply("status", status=200, body=json.dumps({"error": {"message": "y" * 290 + KEY}})),
    "headers": refused("no", X_Echo=KEY, Authorization=f"Bearer {KEY}"),
    "location": refused("", 307, Location=f"http://127.0.0.1:9/?key={KEY}"),
    "retry": refused("slow down", 429, Retry_After=KEY),
    "no-json": Reply("status", status=200, body=f"{KEY} is no JSON"),
}
_PASSING = ("retry", "inside", "no-json")
"""What is tried again: it ends well then."""


def script(call: Call) -> Reply | None:
    return None if call.prompt in _PASSING and call.attempt > 1 else ECHOES[call.prompt]


def write_suite(place: Place, base_url: str) -> None:
    listed = "\n".join(f'[[cases]]\nid = "{name}"' for name in ECHOES)
    (place.folder / "s.toml").write_text(
        'name = "echo"\n[prompt]\nuser = "{{ id }}"\n[[scorers]]\nkind = "includes"\n'
        'expected = "nothing of the kind"\n'
        f'[[targets]]\nname = "served"\nbase_url = "{base_url}"\nmodel = "fake-model"\n'
        f'api_key_env = "OPENAI_API_KEY"\n{listed}\n'
    )


def files_with(folder: Path, secret: str) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file() and secret.encode() in path.read_bytes():
            yield path


def clean(done: Done) -> Done:
    assert PART not in done.out + done.err
    return done


async def test_a_key_that_is_echoed_is_found_nowhere(
    place: Place, tui_eval: Command, beside: Beside, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def told(*words: str) -> Done:
        return clean(await beside(*words))

    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    async with FakeModel(script=script, api_key=KEY) as server:
        write_suite(place, server.base_url)
        quick = ("--trust", "--set", "run.retries=1")
        first = await told("run", "s.toml", "--json", *quick)
        document = json.loads(first.out)
        assert document["counts"]["total"] == len(ECHOES)
        assert document["counts"]["error"] > 0
        await told("run", "s.toml", "--events", "--fresh", *quick)
        await told("run", "s.toml", "--fresh", *quick)
        # an engine has a log, and one at work here where a level is said
        monkeypatch.setenv("TUI_EVAL_LOG_LEVEL", "debug")
        await told("run", "s.toml", "--fresh", *quick)
        left = await told("run", "s.toml", "--fresh", "--detach", *quick)
        name = left.out.strip()
        await told("retry", name, "--errors")
    assert list(place.folder.glob("logs/*.log"))

    for words in (
        ["show", name],
        ["show", name, "--failed"],
        ["show", name, "--json", "--failed"],
        ["runs"],
        ["export", name, "--format", "jsonl"],
        ["export", name, "--format", "csv"],
        ["export", name, "--format", "csv", "-o", "out.csv"],
        *(["show", name, "--case", case] for case in ECHOES),
    ):
        clean(tui_eval(*words))
    shown = tui_eval("show", name, "--case", "text").out
    assert "your key is [OPENAI_API_KEY], I think" in shown
    assert list(files_with(place.folder, PART)) == []


async def test_the_key_of_a_refused_call_is_found_nowhere(
    place: Place, beside: Beside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    body = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}."}})
    async with FakeModel(script=lambda call: refused(body, 401)) as server:
        write_suite(place, server.base_url)
        done = clean(await beside("run", "s.toml", "--trust"))
    assert done.code == 3
    assert "Incorrect API key provided: [OPENAI_API_KEY]." in done.err
    assert list(files_with(place.folder, PART)) == []


def test_a_log_holds_no_key_and_nothing_a_terminal_acts_on() -> None:
    keep_secret(KEY, "MY_KEY")
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(SafeFormatter("%(levelname)s %(message)s"))
    log = logging.Logger("of this test")
    log.addHandler(handler)
    log.info("asked for %s", f"\x1b[2J{KEY}\nERROR forged")
    try:
        int(f"\x1b]0;owned\x07 {KEY}")
    except ValueError:
        log.exception("it broke")
    written = stream.getvalue()
    assert KEY not in written
    assert "\x1b" not in written
    assert written.startswith("INFO asked for ␛[2J[MY_KEY]⏎ERROR forged\nERROR it broke\nTraceback")


def test_what_nobody_caught_is_logged_without_the_key(caplog: pytest.LogCaptureFixture) -> None:
    keep_secret(KEY, "MY_KEY")

    class Stray:
        exc_value = ValueError(KEY)

    engine._log_stray(Stray())  # type: ignore[arg-type]
    (record,) = caplog.records
    assert KEY not in SafeFormatter().format(record)
    assert "ValueError: [MY_KEY]" in SafeFormatter().format(record)


async def test_a_key_that_is_a_word_is_graded_as_it_stands_and_warned_of(
    place: Place, beside: Beside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "lm-studio")
    async with FakeModel(
        script=lambda call: said("It runs in lm-studio."), api_key="lm-studio"
    ) as server:
        (place.folder / "s.toml").write_text(
            'name = "word"\n[prompt]\nuser = "{{ id }}"\n[[scorers]]\nkind = "includes"\n'
            'expected = "lm-studio"\n[[cases]]\nid = "a"\n'
            f'[[targets]]\nname = "served"\nbase_url = "{server.base_url}"\nmodel = "m"\n'
            'api_key_env = "OPENAI_API_KEY"\n'
        )
        word = "OPENAI_API_KEY holds an ordinary word"
        checked = await beside("check", "s.toml", "--trust", "--json")
        assert word in json.loads(checked.out)[0]["warnings"][-1]
        assert word in (await beside("check", "s.toml", "--trust")).out
        for _ in range(2):  # the second time from the store
            done = await beside("run", "s.toml", "--trust", "--json")
            assert f"note: {word}" in done.err
            assert json.loads(done.out)["counts"]["passed"] == 1
        assert server.requests == 1
        again = await beside("rescore", "last", "--json")
        assert json.loads(again.out)["counts"]["passed"] == 1
    assert "set, to an ordinary word" in (await beside("doctor")).out
    shown = await beside("show", "last", "--case", "a")
    assert "It runs in lm-studio." in shown.out
