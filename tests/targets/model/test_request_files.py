"""Images and files on their way to an endpoint."""

import hashlib
import json
import subprocess
from base64 import b64encode
from pathlib import Path

import pytest

from tests.servers.fake_model import FakeModel
from tests.suites.writing import loaded
from tests.targets.making import COLUMN, answered, requested
from tui_eval.model.case import Case
from tui_eval.model.json import Json
from tui_eval.model.outputs.output import Failure
from tui_eval.suites.data.dataset import cases
from tui_eval.targets import Target, build
from tui_eval.targets.attempt.attempt_context import AttemptContext

PNG = b"\x89PNG\r\n\x1a\n" + b"pixels"
URL = f"data:image/png;base64,{b64encode(PNG).decode()}"
SUITE = """
[[cases]]
id = "a"
file = "it's a.png"
[prompt]
messages = [
  { role = "user", content = [
    { type = "text", text = "What is it?" },
    { type = "image", path = "img/{{ file }}", detail = "low" },
    { type = "file", path = "img/{{ file }}" },
  ] },
]
[[targets]]
name = "t"
base_url = "BASE"
model = "m"
api = "API"
"""
CHAT: Json = [
    {"type": "text", "text": "What is it?"},
    {"type": "image_url", "image_url": {"url": URL, "detail": "low"}},
    {"type": "file", "file": {"filename": "it's a.png", "file_data": URL}},
]
RESPONSES: Json = [
    {"type": "input_text", "text": "What is it?"},
    {"type": "input_image", "image_url": URL, "detail": "low"},
    {"type": "input_file", "filename": "it's a.png", "file_data": URL},
]


def target_of(folder: Path, base: str, api: str) -> Target:
    (folder / "img").mkdir(exist_ok=True)
    (folder / "img" / "it's a.png").write_bytes(PNG)
    suite = loaded(folder, SUITE.replace("BASE", base).replace("API", api))
    return build(suite)["t"]


def first(folder: Path) -> Case:
    text = SUITE.replace("API", "chat").replace("BASE", "http://127.0.0.1:9")
    return next(cases(loaded(folder, text)))


@pytest.mark.parametrize(("api", "expected"), [("chat", CHAT), ("responses", RESPONSES)])
async def test_bytes_are_in_what_leaves_and_their_digest_in_the_key(
    tmp_path: Path, api: str, expected: Json
) -> None:
    async with FakeModel() as server:
        target = target_of(tmp_path, server.base_url, api)
        request = requested(target, first(tmp_path))
        async with target:
            await answered(target, first(tmp_path))
    (call,) = server.calls
    (message,) = call.body["input" if api == "responses" else "messages"]
    assert message["content"] == expected
    text = json.dumps(request)
    assert "base64" not in text
    assert hashlib.sha256(PNG).hexdigest() in text


async def test_a_file_that_is_another_by_now_is_an_error_of_its_case(tmp_path: Path) -> None:
    async with FakeModel() as server:
        target = target_of(tmp_path, server.base_url, "chat")
        request = requested(target, first(tmp_path))
        (tmp_path / "img" / "it's a.png").write_bytes(PNG[:-1])
        async with target:
            got = await target.generate(request, AttemptContext(20))
        assert isinstance(got, Failure)
        assert (got.kind, got.retryable) == ("attachment", False)
        assert not server.calls
        (tmp_path / "img" / "it's a.png").unlink()
        missing = target.request(COLUMN, first(tmp_path))
    assert isinstance(missing, Failure)
    assert (missing.kind, missing.message) == ("attachment", 'no such file "img/it\'s a.png"')


@pytest.mark.parametrize(("api", "expected"), [("chat", CHAT), ("responses", RESPONSES)])
def test_the_command_reads_the_files_where_it_is_run(
    tmp_path: Path, api: str, expected: Json
) -> None:
    target = target_of(tmp_path, "http://127.0.0.1:9/v1", api)
    command = target.as_command(COLUMN, first(tmp_path))
    assert "base64 < 'img/it'\"'\"'s a.png'" in command
    printed = command.rpartition("| curl")[0]
    done = subprocess.run(["sh", "-c", printed], cwd=tmp_path, capture_output=True, check=True)
    body = json.loads(done.stdout)
    (message,) = body["input" if api == "responses" else "messages"]
    assert message["content"] == expected
