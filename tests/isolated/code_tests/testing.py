"""Have the tester run tests, as an engine does: with a nonce, over a socket."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from tui_eval.isolated.code_tests import tester

LEFT = "the tester said nothing"


def verdict(
    tests: str,
    reply: str,
    *,
    given: str = "",
    entry_point: str = "",
    timeout: float = 30.0,
    memory: int = 1 << 29,
    in_process: bool = False,
) -> tuple[str, str]:
    """Return the verdict and the reason; a pass without the nonce is `forged`."""
    nonce = secrets.token_hex(16)
    asked = {
        "nonce": nonce,
        "tests": tests,
        "reply": reply,
        "given": given,
        "entry_point": entry_point,
        "timeout": timeout,
        "memory": memory,
        "in_process": in_process,
    }
    ours, theirs = socket.socketpair()
    script = str(Path(tester.__file__))
    with (
        ours,
        subprocess.Popen(
            [sys.executable, "-I", script],
            stdin=theirs.fileno(),
            stdout=theirs.fileno(),
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process,
    ):
        theirs.close()
        with suppress(BrokenPipeError):
            ours.sendall(json.dumps(asked).encode() + b"\n")
        said = b""
        with suppress(ConnectionResetError), ours.makefile("rb") as lines:
            assert lines.readline() == tester.READY
            said = lines.readline()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    if not said:
        return "fail", LEFT
    told = json.loads(said)
    if told["verdict"] == "pass" and told.get("nonce") != nonce:
        return "forged", str(told)
    return told["verdict"], told["reason"]
