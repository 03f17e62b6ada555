"""One call of a function in a process of its own, for whoever has no loop and waits for it.

It talks with `function_worker` as engines do.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tui_eval.isolated import function_worker
from tui_eval.model.json import Json, JsonObject

_PASSED_ON: Final = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "LD_LIBRARY_PATH")
_MOST: Final = function_worker.MOST_REPLY + 1_000_000
_CHUNK: Final = 1 << 16


class OneCallError(Exception):
    """A call gave nothing; the message says why."""


@dataclass(frozen=True, slots=True)
class OneCall:
    """What is called, and how."""

    module: str
    function: str
    path: Sequence[str]
    """Where modules are looked for, in place of what Python itself says."""
    folder: Path
    """The working folder."""
    timeout_s: float


def minimal_environment() -> dict[str, str]:
    """Return what a worker has of the environment unasked; there may be keys in the rest."""
    return {name: os.environ[name] for name in _PASSED_ON if name in os.environ}


def call_once(call: OneCall, kwargs: Mapping[str, Json]) -> Json:
    """Return what the function returns; what it prints is dropped.

    Raises:
        OneCallError: it raised, took too long, ended its process, or returned no JSON.
    """
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-u", "-B", str(function_worker.__file__)]
    with (
        ours,
        subprocess.Popen(  # noqa: S603 - our own program, arguments as a list
            command,
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=minimal_environment(),
            cwd=call.folder,
            start_new_session=True,
        ) as process,
    ):
        theirs.close()
        try:
            return _answer(_Talk(ours, time.monotonic() + call.timeout_s), call, kwargs)
        except TimeoutError:
            raise OneCallError(f"took longer than {call.timeout_s:g} s") from None
        except (OSError, EOFError):
            raise OneCallError("its process has ended in the call") from None
        finally:
            with suppress(ProcessLookupError):  # all that it started
                os.killpg(process.pid, signal.SIGKILL)


def _answer(talk: "_Talk", call: OneCall, kwargs: Mapping[str, Json]) -> Json:
    talk.send({
        "load": {
            "id": "0",
            "folder": str(call.folder),
            "path": [*call.path],
            "module": call.module,
            "function": call.function,
            "positional": 0,
            "keywords": [*kwargs],
            "offered": False,
        }
    })  # fmt: skip
    refused = talk.receive().get("refused")
    if isinstance(refused, dict):
        raise OneCallError(str(refused["message"]))
    talk.send({"call": "1", "args": [], "kwargs": dict(kwargs)})
    talk.receive()  # that it began
    reply = talk.receive()
    raised = reply.get("raised")
    if isinstance(raised, dict):
        raise OneCallError(str(raised["summary"]))
    if "unsuitable" in reply:
        raise OneCallError(str(reply["unsuitable"]))
    return reply.get("returned")


class _Talk:
    """Messages over a socket, up to a moment."""

    def __init__(self, over: socket.socket, until: float) -> None:
        self._over = over
        self._until = until
        self._rest = bytearray()

    def send(self, message: JsonObject) -> None:
        self._over.settimeout(max(0.001, self._until - time.monotonic()))
        self._over.sendall(json.dumps(message).encode("ascii") + b"\n")

    def receive(self) -> JsonObject:
        while b"\n" not in self._rest:
            left = self._until - time.monotonic()
            if left <= 0 or not select.select([self._over], [], [], left)[0]:
                raise TimeoutError
            data = self._over.recv(_CHUNK)
            if not data or len(self._rest) > _MOST:
                raise EOFError
            self._rest += data
        line, _, rest = self._rest.partition(b"\n")
        self._rest = bytearray(rest)
        message: JsonObject = json.loads(line)
        return message
