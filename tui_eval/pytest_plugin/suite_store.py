"""The store of a project's tests, and the turns that processes take with a suite."""

import asyncio
import fcntl
import hashlib
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

import pytest

from tui_eval.suites.trust.needs_trust import NeedsTrust

_FOLDER: Final = ".tui-eval"
_NOTES: Final = "pytest"
"""The folder of the notes, beside the store."""
_LOOK_S: Final = 0.02


@dataclass(frozen=True, slots=True)
class SuiteStore:
    """Where the runs of a project's tests are kept, and what suites may do in them."""

    root: Path
    """Pytest's root folder, from which relative paths of suites and of the store count."""
    file: Path
    """The store."""
    trust: bool
    """Whether suites may do what they ask for."""

    @contextmanager
    def turn(self, suite: str) -> Iterator[IO[str]]:
        """Keep other processes from running a suite, and give a note that they share.

        So what a second one asks is in the store already, and asked nobody again.

        Args:
            suite: What names the suite.
        """
        with self._note(suite) as note:
            fcntl.flock(note, fcntl.LOCK_EX)
            yield note

    @asynccontextmanager
    async def await_turn(self, suite: str) -> AsyncIterator[None]:
        """Do what `turn` does; the loop goes on meanwhile."""
        with self._note(suite) as note:
            while not _taken(note):  # noqa: ASYNC110  # it is another process
                await asyncio.sleep(_LOOK_S)
            yield

    def _note(self, suite: str) -> IO[str]:
        folder = self.file.parent
        if not folder.exists():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if folder.name == _FOLDER:
                (folder / ".gitignore").write_text("*\n", encoding="utf-8")
        (folder / _NOTES).mkdir(mode=0o700, exist_ok=True)
        name = hashlib.sha256(suite.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        opened = os.open(folder / _NOTES / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return os.fdopen(opened, "r+", encoding="utf-8")


def suite_store(config: pytest.Config) -> SuiteStore:
    """Return the store that a session's options name."""
    root = config.rootpath
    named = config.option.tui_eval_store
    given = root / str(config.getini("tui_eval_store") or Path(_FOLDER) / "store.sqlite3")
    file = given if named is None else Path(named).absolute()
    trust = bool(config.option.tui_eval_trust or config.getini("tui_eval_trust"))
    return SuiteStore(root, file, trust)


def how_to_trust(error: NeedsTrust) -> str:
    """Say how a suite is let do what it asks for."""
    (file, *_) = {mistake.file for mistake in error.mistakes}
    return (
        "look at where it comes from, then run pytest with --tui-eval-trust, say "
        f"tui_eval_trust = true in pytest's configuration, or once `tui-eval trust add {file}`"
    )


def _taken(note: IO[str]) -> bool:
    try:
        fcntl.flock(note, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
