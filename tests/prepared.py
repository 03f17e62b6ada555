"""Processes of the package's programs that begin with its modules imported.

Most of what `python -m tui_eval …` takes is the import of the package: half a second of CPU, a
hundred times over. Here a process imports it once, `python -m tests.prepared`, and each program
that a test starts is a copy of it, made as `fork` makes one but with the test's process as its
parent. So it is a process like any other to who started it: it has the folder, the environment,
the open files and the arguments it was given, is waited for and gets signals under its own id.

Started in the ordinary way is what differs in more: another interpreter, options or variables of
Python's own, something to do before it begins, what runs in a shell or a pseudo-terminal.
"""

import array
import atexit
import ctypes
import gc
import io
import os
import pickle
import pkgutil
import platform
import runpy
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NoReturn

ROOT: Final = Path(__file__).parents[1]
PROGRAMS: Final = {"tui_eval", "tests.faults.program", "tests.engine.worker"}
"""What is started so, by the name after `-m`."""
_IMPORTED: Final = ("tui_eval.cli", "tui_eval.engine", "tui_eval.reports")
"""Packages whose modules are imported, with all that these import."""
_CLONE: Final = {"x86_64": 56, "aarch64": 220}
"""The number of the system call, by machine."""
_CLONE_PARENT: Final = 0x8000
_LONGEST: Final = 1 << 17
"""Bytes of a request; one longer is started in the ordinary way."""
_PATIENCE_S: Final = 60.0
_STANDARD: Final = 3
_HIGH: Final = 512
"""From where on files wait for their numbers."""

ForkExec = Callable[..., int]


@dataclass(frozen=True)
class Request:
    """What a program is started with."""

    module: str
    arguments: tuple[str, ...]
    folder: str
    own_folder: bool
    """Whether modules are also imported from the folder: it goes without with `-P`."""
    environment: dict[str, str]
    files: tuple[int, ...]
    """The numbers that the files sent along have in the program."""
    session: bool
    group: int
    """Of processes: -1 for the one of who starts it."""
    processors: frozenset[int]


class Prepared:
    """The process that has imported the package, and what starts programs from it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()
        self._interpreter = sys.executable  # a test may name another one

    def start(self, request: Request, files: Sequence[int]) -> int:
        """Start a program; give its process id.

        Args:
            request: What it is started with.
            files: The open files it gets, in the order of the numbers in the request.
        """
        with self._lock:
            if self._socket is None:
                self._begin()
            assert self._socket is not None
            told = array.array("i", files).tobytes()
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, told)]
            self._socket.sendmsg([pickle.dumps(request)], rights)
            answer = self._socket.recv(64)
        assert answer, "the process with the imported package has ended"
        return int(answer)

    def _begin(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "tests.prepared", str(theirs.fileno())],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                process_group=0,  # of its own, in the session that the programs are to be in
            )
        ours.settimeout(_PATIENCE_S)
        self._socket = ours

    def end(self) -> None:
        """End the process; the programs it started go on."""
        if self._socket is not None:
            self._socket.close()
        if self._process is not None:
            self._process.wait()

    def fork_exec(self, ordinary: ForkExec) -> ForkExec:
        """Give what `subprocess` calls to start a program, by its arguments in their order."""

        def started(*given: Any) -> int:
            found = self._asked(given)
            return ordinary(*given) if found is None else self.start(*found)

        return started

    def _asked(self, given: Sequence[Any]) -> tuple[Request, list[int]] | None:
        """Give the request and the files of what is started, None if it goes the ordinary way."""
        words, _, close_files, kept, folder, variables = given[:6]
        failure, _, session, group, *who = given[13:21]
        words = [os.fsdecode(word) for word in words]
        safe = words[1:2] == ["-P"]
        words[1:2] = words[1:2] if not safe else []
        if (
            (words[0], *words[1:2]) != (self._interpreter, "-m")
            or words[2] not in PROGRAMS
            or not close_files
            or who != [None, None, None, -1]
            or given[21] is not None
            or os.getpid() != self._owner
        ):
            return None
        environment = dict(os.environ)
        if variables is not None:
            pairs = (os.fsdecode(pair).partition("=") for pair in variables)
            environment = {name: value for name, _, value in pairs}
        if not _usual(environment):
            return None
        standard = (given[6], given[9], given[11])
        files = [number if number >= 0 else place for place, number in enumerate(standard)]
        more = [number for number in kept if number != failure]
        request = Request(
            words[2],
            tuple(words[3:]),
            str(Path.cwd() / os.fsdecode(folder or ".")),
            not safe,
            environment,
            (*range(_STANDARD), *more),
            bool(session),
            group,
            frozenset(os.sched_getaffinity(0)),
        )
        if len(pickle.dumps(request)) > _LONGEST or not _finds_this_package(request):
            return None
        return request, [*files, *more]


def _finds_this_package(request: Request) -> bool:
    """Whether an interpreter would import the package from here, and not a copy of it."""
    folders = [request.folder] if request.own_folder else []
    folders += filter(None, request.environment.get("PYTHONPATH", "").split(os.pathsep))
    found = [Path(request.folder, place) for place in folders]
    others = [place for place in found if (place / "tui_eval").exists()]
    return Path(request.folder).is_dir() and all(place.resolve() == ROOT for place in others[:1])


def _usual(environment: dict[str, str]) -> bool:
    """Whether an interpreter started with these variables would be as the one of the tests."""
    harmless = {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"}
    own = {name for name in environment if name.startswith("PYTHON")} - harmless
    locales = [environment.get(name, "") for name in ("LC_ALL", "LC_CTYPE", "LANG")]
    language = next(filter(None, locales), "C.UTF-8")
    return not own and language.upper().endswith(("UTF-8", "UTF8"))


@contextmanager
def prepared_starts() -> Iterator[None]:
    """Start the package's programs so while this lasts, where the system has what it takes."""
    if sys.platform != "linux" or platform.machine() not in _CLONE:
        yield
        return
    prepared, ordinary = Prepared(), subprocess._fork_exec  # type: ignore[attr-defined]  # private
    subprocess._fork_exec = prepared.fork_exec(ordinary)  # type: ignore[attr-defined]  # private
    try:
        yield
    finally:
        subprocess._fork_exec = ordinary  # type: ignore[attr-defined]  # private
        prepared.end()


def _copy() -> int:
    """Fork with this process's parent as the new one's; give 0 there, its id here."""
    api = ctypes.pythonapi
    number = _CLONE[platform.machine()]
    # not an ordinary foreign call: that lets go of the interpreter, which a fork must hold
    call = ctypes.PyDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    nothing = [ctypes.c_long(0)] * 4
    api.PyOS_BeforeFork()
    made = int(call(ctypes.c_long(number), ctypes.c_long(_CLONE_PARENT | signal.SIGCHLD), *nothing))
    if made == 0:
        api.PyOS_AfterFork_Child()
        return 0
    api.PyOS_AfterFork_Parent()
    if made < 0:
        raise OSError(ctypes.get_errno(), "no process can be made")
    return made


def _next_program(asked: socket.socket) -> tuple[Request, list[int]] | None:
    """Copy this process for each request: give it in the copy, None here once nobody asks."""
    while True:
        told, files, _, _ = socket.recv_fds(asked, _LONGEST, 64)
        if not told:
            return None
        if _copy() == 0:
            return pickle.loads(told), files
        for file in files:
            os.close(file)


def _become(request: Request, files: Sequence[int], asked: socket.socket) -> None:
    """Make this process what the program would find itself as; say so to who asked for it."""
    if request.session:
        os.setsid()
    else:
        group = request.group if request.group >= 0 else os.getpgid(os.getppid())
        os.setpgid(0, group)
    os.sched_setaffinity(0, request.processors)
    aside = [os.dup2(file, _HIGH + place) for place, file in enumerate(files)]
    os.dup2(asked.detach(), _HIGH + len(aside))
    asked = socket.socket(fileno=_HIGH + len(aside))
    os.closerange(0, _HIGH)
    for file, number in zip(aside, request.files, strict=True):
        os.dup2(file, number)
        os.close(file)
    os.chdir(request.folder)
    os.environ.clear()
    os.environ.update(request.environment)
    hurried = bool(request.environment.get("PYTHONUNBUFFERED"))
    errors = sys.stdout.errors
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        told = "backslashreplace" if name == "stderr" else errors
        stream = os.fdopen(number, mode, encoding="utf-8", errors=told, closefd=False)
        assert isinstance(stream, io.TextIOWrapper)
        at_once = name == "stderr" or stream.isatty()
        stream.reconfigure(line_buffering=at_once, write_through=hurried and name != "stdin")
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    found = [request.folder] if request.own_folder else []
    found += filter(None, request.environment.get("PYTHONPATH", "").split(os.pathsep))
    sys.path[:] = list(dict.fromkeys([*found, *sys.path]))
    sys.argv[1:] = request.arguments
    sys.dont_write_bytecode = bool(request.environment.get("PYTHONDONTWRITEBYTECODE"))
    with asked:
        asked.send(str(os.getpid()).encode())


def _leave(code: int) -> NoReturn:
    """End as an interpreter does, but for taking the imported modules apart."""
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads; private
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main() -> None:
    """Import the package, then start programs for who has the other end of the socket."""
    asked = socket.socket(fileno=int(sys.argv[1]))
    for name in _IMPORTED:
        for module in pkgutil.walk_packages(import_module(name).__path__, f"{name}."):
            try:
                import_module(module.name)
            except ModuleNotFoundError as missing:
                if missing.name is None or missing.name.partition(".")[0] == "tui_eval":
                    raise
                # of an extra that is not installed: who needs it imports it then, or says so
    gc.collect()
    gc.freeze()  # who looks for garbage writes to all there is: each copy would have its own
    found = _next_program(asked)
    if found is None:
        return
    _become(*found, asked)
    try:
        runpy.run_module(found[0].module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if not isinstance(end.code, int):
            raise
        _leave(end.code)
    _leave(0)


if __name__ == "__main__":
    main()
