"""Have the tester run tests, as an engine does: with a nonce, over a socket."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tui_eval.isolated.code_tests import tester

LEFT = "the tester said nothing"
ADDS = "def check(add):\n    assert add(2, 3) == 5\n"


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


@contextmanager
def kept(folder: Path) -> Iterator[Callable[[str], str]]:
    """Give a tester with folders of its own; call it with one reply after the other.

    It gives the verdict, or `ended` where there was no tester any more.
    """
    home, tmp, work = (folder / name for name in ("home", "tmp", "work"))
    for one in (home, tmp, work):
        one.mkdir()
    ours, theirs = socket.socketpair()
    with (
        ours,
        subprocess.Popen(
            [sys.executable, "-I", "-B", str(Path(tester.__file__))],
            stdin=theirs.fileno(),
            stdout=theirs.fileno(),
            stderr=subprocess.DEVNULL,
            cwd=work,
            env={"HOME": str(home), "TMPDIR": str(tmp)},
            start_new_session=True,
        ) as process,
    ):
        theirs.close()
        lines = ours.makefile("rb")

        def ask(reply: str) -> str:
            if lines.readline() != tester.READY:
                return "ended"
            asked = {"nonce": "n", "tests": ADDS, "reply": reply, "given": "", "timeout": 30}
            limits = {"entry_point": "add", "memory": 1 << 29, "in_process": False}
            ours.sendall(json.dumps({**asked, **limits}).encode() + b"\n")
            return str(json.loads(lines.readline())["verdict"])

        try:
            yield ask
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
