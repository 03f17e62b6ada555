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
from contextlib import suppress  # noqa: E402
from typing import Any, Callable, Dict, List, Tuple  # noqa: E402

from tui_eval.isolated.code_tests.confinement import (  # noqa: E402
    bound,
    forbid_inspection,
    inherit_orphans,
)
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

_SHARED = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - looked at, not written to
_TOLD = 64
"""The exit code of tests that have said what came of them."""
READY = b'{"ready": true}\n'
"""What it says first, once the solution's process is there."""
_HIGH = 200
"""Above the descriptors that programs close one by one."""


def main() -> None:
    """Have tests run that the engine sends, one reply's after the other's, each in a process anew.

    This process runs none of them. It ends, and is started anew for what comes next, where one left
    anything: a process, a file, or no word of what came of it.
    """
    private = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    forbid_inspection()
    inherit_orphans()
    used = _used()
    while True:
        tests = os.fork()
        if tests == 0:
            _run_one(private)
        code = _exit_code(os.waitpid(tests, 0)[1])
        if code != _TOLD:
            os._exit(code)
        if not _nothing_left() or _used() != used:
            os._exit(0)


def _run_one(private: int) -> None:
    """Run the tests of one reply, and end this process."""
    apart = Solution.forked(leave=(private,))
    engine = MessageSocket(private)
    os.write(private, READY)
    asked = engine.receive()
    if asked is None:
        apart.end()
        os._exit(0)
    nonce, seconds = asked["nonce"], asked["timeout"]
    bound(asked["memory"])
    apart.memory = asked["memory"]

    def tell(told: Dict[str, Any]) -> None:
        """Say what came of it; end, whatever threads and handlers the tests have."""
        engine.send(told)
        apart.end()
        os._exit(_TOLD)

    _end_after(seconds, tell)
    result = _result(InProcessSolution() if asked["in_process"] else apart, asked)
    signal.setitimer(signal.ITIMER_REAL, 0)
    sys.stdout.flush()
    told = {"verdict": result.verdict, "reason": result.reason}
    if result.verdict == "pass":
        told["nonce"] = nonce
    tell(told)


def _exit_code(status: int) -> int:
    """Return the exit code of a process as a shell has it: 128 and a signal's number."""
    code = os.waitstatus_to_exitcode(status) if sys.version_info >= (3, 9) else _status(status)
    return code if code >= 0 else 128 - code


def _status(status: int) -> int:
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _nothing_left() -> bool:
    """Return whether no process is left of the tests, and no file."""
    own = [".", *filter(None, map(os.environ.get, ("HOME", "TMPDIR")))]
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return not any(os.listdir(folder) for folder in own)
    return False


def _used() -> List[Tuple[str, int, int]]:
    """Return how much there is in the folders that a sandbox may have for itself.

    Those that lie where everything else does are everybody's: nothing is said of them.
    """
    found = []
    for folder in _SHARED:
        with suppress(OSError):
            if os.stat(folder).st_dev != os.stat("/").st_dev and os.access(folder, os.W_OK):
                there = os.statvfs(folder)
                files, blocks = there.f_files - there.f_ffree, there.f_blocks - there.f_bfree
                found.append((folder, files, blocks))
    return found


def _result(solution: TestedSolution, asked: Dict[str, Any]) -> TestsResult:
    try:
        tests = TestsRun(asked["tests"], asked["given"], asked["entry_point"])
    except UnusableTestsError as error:
        return TestsResult("ungraded", str(error))
    return tests.result(solution, asked["reply"])


def _end_after(seconds: float, tell: Callable[[Dict[str, Any]], None]) -> None:
    """Have this process say where the tests are, and end, when their time is over."""

    def end(_: int, frame: types.FrameType | None) -> None:
        at = ""
        while frame is not None and not at:
            if frame.f_code.co_filename == TESTS:
                at = line_of(frame.f_lineno, linecache.getlines(TESTS))
            frame = frame.f_back
        beside = f", in the tests at {at}" if at else ", as it was loaded"
        reason = f"took longer than {seconds:g} s{beside}"
        tell({"verdict": "fail", "reason": reason})

    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)


if __name__ == "__main__":
    main()
