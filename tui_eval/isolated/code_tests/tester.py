"""The process of the tests: run by its path, by the interpreter that is to run them.

Standard input is a socket to the engine. The solution's process is forked before anything is read
from it, and said to be there. One line comes: the tests, the reply, a nonce. One line goes back:
what came of the tests; that they passed is said with the nonce, at their very end. What the tests
print, on whichever descriptor, goes to standard error.
"""

from __future__ import annotations

import os
import signal
import sys
import types

_FOLDER = os.path.dirname(os.path.abspath(__file__))
if "tui_eval" not in sys.modules:  # run by its path: nothing above its folder need be readable
    for _name in ("tui_eval", "tui_eval.isolated", "tui_eval.isolated.code_tests"):
        _package = sys.modules[_name] = types.ModuleType(_name)
        _package.__path__ = [_FOLDER]

import fcntl  # noqa: E402
import linecache  # noqa: E402
from typing import Any, Dict  # noqa: E402

from tui_eval.isolated.code_tests.confinement import bound, forbid_inspection  # noqa: E402
from tui_eval.isolated.code_tests.crossing import MessageSocket  # noqa: E402
from tui_eval.isolated.code_tests.solution_link import Solution  # noqa: E402
from tui_eval.isolated.code_tests.tested import InProcessSolution, TestedSolution  # noqa: E402
from tui_eval.isolated.code_tests.tests_run import (  # noqa: E402
    TESTS,
    TestsResult,
    TestsRun,
    UnusableTestsError,
    line_of,
)

READY = b'{"ready": true}\n'
"""What it says first, once the solution's process is there."""
_HIGH = 200
"""Above the descriptors that programs close one by one."""


def main() -> None:
    """Run the tests that the engine sends."""
    private = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    forbid_inspection()
    apart = Solution.forked(leave=(private,))
    engine = MessageSocket(private)
    os.write(private, READY)
    asked = engine.receive()
    if asked is None:
        return
    nonce, seconds = asked["nonce"], asked["timeout"]
    bound(asked["memory"])
    apart.memory = asked["memory"]
    _end_after(seconds, engine)
    result = _result(InProcessSolution() if asked["in_process"] else apart, asked)
    signal.setitimer(signal.ITIMER_REAL, 0)
    sys.stdout.flush()
    told = {"verdict": result.verdict, "reason": result.reason}
    if result.verdict == "pass":
        told["nonce"] = nonce
    _tell(engine, told)


def _tell(engine: MessageSocket, told: Dict[str, Any]) -> None:
    """Say what came of it; end once that is known, whatever threads and handlers the tests have."""
    engine.send(told)
    engine.receive()
    os._exit(0)


def _result(solution: TestedSolution, asked: Dict[str, Any]) -> TestsResult:
    try:
        tests = TestsRun(asked["tests"], asked["given"], asked["entry_point"])
    except UnusableTestsError as error:
        return TestsResult("ungraded", str(error))
    return tests.result(solution, asked["reply"])


def _end_after(seconds: float, engine: MessageSocket) -> None:
    """Have this process say where the tests are, and end, when their time is over."""

    def end(_: int, frame: types.FrameType | None) -> None:
        at = ""
        while frame is not None and not at:
            if frame.f_code.co_filename == TESTS:
                at = line_of(frame.f_lineno, linecache.getlines(TESTS))
            frame = frame.f_back
        beside = f", in the tests at {at}" if at else ", as it was loaded"
        reason = f"took longer than {seconds:g} s{beside}"
        _tell(engine, {"verdict": "fail", "reason": reason})

    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)


if __name__ == "__main__":
    main()
