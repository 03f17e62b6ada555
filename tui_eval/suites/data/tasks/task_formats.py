"""The formats of tasks: which files they are read from, and how each becomes a row."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tui_eval.model.json import JsonObject
from tui_eval.suites.data.files import Opener
from tui_eval.suites.data.rows import DataProblems, read_rows
from tui_eval.suites.data.tasks import harbor, swe_bench, terminal_bench
from tui_eval.suites.data.tasks.task_file import TaskError, TaskFile, TaskLeftOutError
from tui_eval.suites.loading.errors import Mistake

FOLDERS: Final[dict[str, tuple[str, Callable[[TaskFile], JsonObject]]]] = {
    "harbor": (harbor.FILE, harbor.harbor_row),
    "terminal-bench": (terminal_bench.FILE, terminal_bench.terminal_bench_row),
}
"""The formats with a folder a task: the file that makes it one, and what reads it."""

SCORERS: Final[dict[str, JsonObject]] = {
    "harbor": harbor.SCORER,
    "terminal-bench": terminal_bench.SCORER,
}
"""What tasks of a format bring to be graded by, where they run in their images."""


def task_files(path: Path, format_name: str | None) -> Path:
    """Return the file or glob of the data that a path stands for.

    A folder of tasks, or one task, stands for the files that make a folder a task of the format.
    """
    if format_name not in FOLDERS or not path.is_dir():
        return path
    name = FOLDERS[format_name][0]
    return path / name if (path / name).is_file() else path / "*" / name


@dataclass(frozen=True, slots=True)
class RowReader:
    """Reads the files of a dataset."""

    format_name: str | None
    """One of `[dataset] format`; None: plain rows."""
    repos: Path | None
    """The folder of bare repositories, for `swebench`."""
    folder: Path | None
    """The suite's own."""
    opener: Opener

    def rows(
        self, file: Path, name: str, problems: DataProblems
    ) -> Iterator[tuple[int | None, JsonObject]]:
        """Yield the rows of a file, each with its line; bad ones become problems.

        Args:
            file: The file.
            name: How messages name it.
            problems: Where bad rows are noted.

        Raises:
            SuiteError: when there are too many bad rows, or the file cannot be read at all.
        """
        if self.format_name in FOLDERS:
            read = FOLDERS[self.format_name][1]
            try:
                yield None, read(TaskFile(file, self.folder, self.opener))
            except TaskError as error:
                problems.add(Mistake(name, error.line, error.field, str(error)))
            except TaskLeftOutError as error:
                problems.left_out[name] = str(error)
            return
        for line, row in read_rows(file, name, problems, self.opener):
            for kept in self.read(name, line, row, problems):
                yield line, kept

    def read(
        self, name: str, line: int, row: JsonObject, problems: DataProblems
    ) -> Iterator[JsonObject]:
        """Yield what a plain row becomes; nothing where it is a bad one, which becomes a problem.

        Args:
            name: How messages name its file.
            line: Where it stands.
            row: The row.
            problems: Where it is noted.

        Raises:
            SuiteError: when there are too many bad rows.
        """
        if self.format_name is None:
            yield row
            return
        try:
            yield swe_bench.swe_bench_row(row, self.repos, self.folder)
        except TaskError as error:
            problems.add(Mistake(name, line, error.field, str(error)))
