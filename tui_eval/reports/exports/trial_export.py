"""A run's trials as a file: JSON Lines for programs, CSV for spreadsheets.

Trials are streamed in dataset order, so that a run's size costs no memory.
"""

import csv
import io
import os
import re
import socket
import sqlite3
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

import psutil

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.visible import visible
from tui_eval.reports import jsontext
from tui_eval.reports.exports.trial_line import TrialLines
from tui_eval.reports.judging.opinions import spread
from tui_eval.store.read import attempt_queries, report_queries
from tui_eval.store.read.report_queries import TrialLine
from tui_eval.store.rows import RunRow
from tui_eval.suites.data.files import real_path


class Format(Protocol):
    """Gives a run's trials in pieces of text."""

    def __call__(self, db: sqlite3.Connection, run: RunRow, case: bool = True) -> Iterator[str]:
        """Return them; without `case` they tell nothing of their cases but ids and tags."""


# spreadsheets skip white space and quotes; some take the other separators for the cell's end
_FORMULA = re.compile(r"[\s\"';,|]*[=+\-@\t\r\n＝＋－＠]")
# what a terminal acts on, what moves the text beside it (bidirectional overrides), and no text
_NO_TEXT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def jsonl(db: sqlite3.Connection, run: RunRow, case: bool = True) -> Iterator[str]:
    """Yield one line of JSON for each trial, see `TrialLines`."""
    made = TrialLines(db, run.id, case=case)
    for line in report_queries.lines(db, run.id):
        yield jsontext.dumps(made.json(line)) + "\n"


def table(db: sqlite3.Connection, run: RunRow, case: bool = True) -> Iterator[str]:
    """Yield CSV (RFC 4180): a header, then one record for each trial.

    Each scorer has columns for its verdict, value and reason, one that asks a judge for the
    standard deviation of its repeats too; so has what programs left beside outputs, in runs that
    have any. Tags are separated by `; `. Text
    that a spreadsheet would take for a formula is defused, and control characters but tabs and line
    breaks are made visible, see `cell`; JSON Lines keep every character.
    """
    scorers = report_queries.scorer_names(db, run.id)
    judged = report_queries.judged_scorers(db, run.id)
    buffer = io.StringIO()
    writer = csv.writer(buffer)

    def record(values: Sequence[object]) -> str:
        writer.writerow([cell(value) if isinstance(value, str) else value for value in values])
        text = buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
        return text

    made = TrialLines(db, run.id, case=case)
    told = _ASKED if case else ()
    programs = attempt_queries.any_records(db, run.id)
    yield record(_header(scorers, judged, (*told, *(_LEFT if programs else ()))))
    for line in report_queries.lines(db, run.id):
        asked = made.asked(line)
        left = _left(line.record.as_json()) if programs else ()
        about = (*(asked[name] for name in told), *left)
        yield record(_cells(run.name, line, scorers, judged, about))


def predictions(db: sqlite3.Connection, run: RunRow, case: bool = True) -> Iterator[str]:
    """Yield one line of JSON for each output, as the harness of SWE-bench takes predictions.

    `model_name_or_path` is the column; from its second epoch on with `#2` and so on behind it, as
    the harness takes one prediction of an instance from a model. What has no output is left out:
    there it counts as not submitted.
    """
    for line in report_queries.lines(db, run.id):
        if line.text is None:
            continue
        model = line.column if line.epoch == 0 else f"{line.column}#{line.epoch + 1}"
        made: JsonObject = {
            "instance_id": line.case_id,
            "model_name_or_path": model,
            "model_patch": line.text,
        }
        yield jsontext.dumps(made) + "\n"


_ASKED = ("question", "expected")
_LEFT: Final = {
    "exit_code": ("exit", "code"),
    "exit_signal": ("exit", "signal"),
    "isolation": ("isolation",),
    "cpu_s": ("resources", "cpu_s"),
    "wall_s": ("resources", "wall_s"),
    "peak_rss_bytes": ("resources", "peak_rss_bytes"),
    "peak_processes": ("resources", "peak_processes"),
    "files_added": ("changes", "added"),
    "files_changed": ("changes", "changed"),
    "files_removed": ("changes", "removed"),
    "changed_bytes": ("changes", "bytes"),
    "steps": ("steps",),
    "tool_calls": ("tool_calls",),
}
"""Columns of what a program left, each with where an attempt's record has it."""


def _left(record: JsonObject) -> Iterator[Json]:
    for way in _LEFT.values():
        value: Json = record
        for name in way:
            value = value[name] if isinstance(value, dict) else None
        yield value


def _as_cell(value: Json) -> Json:
    return jsontext.dumps(value) if isinstance(value, list | dict) else value


FORMATS: dict[str, Format] = {"jsonl": jsonl, "csv": table, "swebench": predictions}
"""What a run can be exported as."""


def cell(text: str) -> str:
    """Make text safe for a cell of a spreadsheet.

    An apostrophe is put before text that would be run as a formula: whose first character, after
    white space, quotes and separators, is `=`, `+`, `-` or `@` (also in their full-width forms), or
    which begins with a tab or a line break. Control characters, bidirectional overrides and lone
    surrogates become visible stand-ins.
    """
    safe = _NO_TEXT.sub(lambda found: visible(found.group()), text)
    return f"'{safe}" if _FORMULA.match(safe) else safe


def to_file(path: Path, pieces: Iterator[str]) -> None:
    """Write a file whole or not at all: it is written beside its place and then put there.

    A symbolic link stays one; a device or a pipe is written to as it is.

    Raises:
        OSError: it cannot be written; what stood at `path` still does.
    """
    try:
        _write(path, pieces)
    except OSError as error:
        # a file beside it is nobody's business; what has no room names no file
        if isinstance(error, FileNotFoundError) and not path.parent.is_dir():
            raise FileNotFoundError(error.errno, "no such folder", str(path.parent)) from error
        raise OSError(error.errno, error.strerror, str(path)) from error


def _write(path: Path, pieces: Iterator[str]) -> None:
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8", newline="") as device:
            device.writelines(pieces)
        return
    path = real_path(path)
    _remove_left(path)
    with tempfile.NamedTemporaryFile(
        "w",
        encoding="utf-8",
        newline="",
        dir=path.parent,
        prefix=f".{path.name}.{_host()}-{os.getpid()}.",
        delete=False,
    ) as file:
        written = Path(file.name)
        try:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
            written.chmod(_mode(path))
            written.replace(path)
        except BaseException:
            written.unlink(missing_ok=True)
            raise


def _remove_left(path: Path) -> None:
    """Remove what processes left beside a file that were killed while they wrote it."""
    begun = re.compile(re.escape(f".{path.name}.{_host()}-") + r"(\d+)\.[^.]+")
    with suppress(OSError):  # where it cannot be seen or removed, it only takes room
        for beside in path.parent.iterdir():
            found = begun.fullmatch(beside.name)
            if found is not None and not psutil.pid_exists(int(found.group(1))):
                beside.unlink(missing_ok=True)


def _host() -> str:
    """Return a short name of this host: in a shared folder, processes of others live unseen."""
    return f"{zlib.crc32(socket.gethostname().encode()):08x}"


def _mode(path: Path) -> int:
    """Return who may do what: as with the file that is there, else as with any new one."""
    with suppress(FileNotFoundError):
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _header(scorers: Sequence[str], judged: frozenset[str], told: Sequence[str]) -> list[str]:
    fixed = [
        "run", "case_id", "target", "epoch", "state", "verdict", "score", "output",
        "finish_reason", "error_kind", "error_message", "attempts", "latency_s", "input_tokens",
        "output_tokens", "cost_usd", "cost_about_usd", "self_reported", "cached", "tags", "note",
        "messages",
    ]  # fmt: skip
    parts = (f"{name} {part}" for name in scorers for part in _parts(name in judged))
    return [*fixed, *told, *parts]


def _parts(judged: bool) -> tuple[str, ...]:
    """Return what a scorer's columns hold; a judge's repeats have a standard deviation."""
    return ("verdict", "value", "reason", "sd") if judged else ("verdict", "value", "reason")


def _cells(
    run: str,
    line: TrialLine,
    scorers: Sequence[str],
    judged: frozenset[str],
    told: Sequence[Json],
) -> list[object]:
    given = {score.scorer: score for score in line.scores}
    fixed: list[object] = [
        run,
        line.case_id,
        line.column,
        line.epoch,
        line.state.value,
        line.verdict.value if line.verdict else None,
        line.score,
        line.text,
        line.finish_reason,
        line.error_kind,
        line.error_message,
        line.attempts,
        jsontext.rounded(line.latency_s),
        line.usage.input,
        line.usage.output,
        line.cost_usd,
        line.about_usd,
        "true" if line.self_reported else "false",
        "true" if line.cached else "false",
        "; ".join(line.tags),
        line.note,
        _as_cell(list(line.messages) or None),
        *map(_as_cell, told),
    ]
    for name in scorers:
        score = given.get(name)
        fixed += [score.verdict.value, score.value, score.reason] if score else [None, None, None]
        if name in judged:
            fixed.append(jsontext.rounded(spread(score.raw)) if score else None)
    return fixed
