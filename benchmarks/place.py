"""A folder with a store in it, a run, an engine that works on it, and the app open on it."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from benchmarks import processes, suites
from benchmarks.terminal import Terminal
from tui_eval.engine.launch.create_run import create, spawn
from tui_eval.engine.settings import Settings
from tui_eval.store.connection import open_readable
from tui_eval.store.read import run_counts, run_queries
from tui_eval.store.read.run_counts import Counts
from tui_eval.store.rows import RunRow


class Place:
    """A folder with a store in it, a run, its engine and the app on it.

    Entered, it ends the engine on the way out, whatever happened.
    """

    def __init__(self, folder: Path, size: tuple[int, int] = (80, 24)) -> None:
        self.folder = folder
        self.store = folder / "store.sqlite3"
        self.size = size
        self.run = 0
        self.engine: subprocess.Popen[bytes] | None = None
        """The process that works on the run; None: none was started."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        if self.engine is not None and self.engine.poll() is None:
            self.engine.terminate()
            self.engine.wait()

    def start(self, base_url: str, cases: int, in_flight: int) -> str:
        """Make a run of so many cases and start its engine; give its name."""
        suite = suites.echo(self.folder, base_url, cases, in_flight)
        self.run = create(self.store, suite, Settings())
        name = self.row().name
        self.engine = spawn(self.store, name)
        return name

    @contextmanager
    def app(self, name: str, *, drawn: bool = True) -> Iterator[Terminal]:
        """Give the app, open on a run."""
        command = processes.program("watch", name, "--store", str(self.store))
        around = processes.surroundings(self.folder / "home", processes.OWN)
        terminal = Terminal(command, around, self.size, drawn=drawn)
        try:
            yield terminal
        finally:
            terminal.close()

    @contextmanager
    def floor(self) -> Iterator[Terminal]:
        """Give the least Textual app there is, in a terminal of the same size."""
        program = "from benchmarks.floor_app import FloorApp; FloorApp().run()"
        around = processes.surroundings(self.folder / "home", processes.OWN)
        terminal = Terminal([sys.executable, "-P", "-c", program], around, self.size)
        try:
            yield terminal
        finally:
            terminal.close()

    def row(self) -> RunRow:
        """Give the run as it stands."""
        db = open_readable(self.store)
        try:
            return run_queries.run(db, self.run)
        finally:
            db.close()

    def wait(self, seconds: float, terminal: Terminal | None = None) -> RunRow:
        """Wait until nobody works on the run any more."""
        deadline = time.monotonic() + seconds
        while not (row := self.row()).state.settled or row.live:
            if time.monotonic() > deadline:
                raise TimeoutError(f"run {row.name} is {row.state} after {seconds:g} s")
            terminal.rest(0.2) if terminal is not None else time.sleep(0.2)
        return row

    def counts(self) -> Counts:
        """Give how many of the run's trials stand where."""
        db = open_readable(self.store)
        try:
            return run_counts.board(db, self.run)[0]
        finally:
            db.close()
