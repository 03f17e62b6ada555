"""Recorded outputs of replay targets, found by the id of their case."""

import json
import math
from array import array
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from pathlib import Path

from tui_eval.model.bounds import MOST_EPOCHS
from tui_eval.model.json import Json, JsonObject, dotted
from tui_eval.suites.data.files import Opener, open_regular
from tui_eval.suites.data.rows import DataProblems, read_rows
from tui_eval.suites.data.spool import Spool
from tui_eval.suites.loading.errors import Mistake
from tui_eval.suites.loading.source_map import named_from
from tui_eval.suites.spec import RecordingColumns


def id_digest(case_id: str) -> bytes:
    """Return 16 bytes by which many ids are compared."""
    return blake2b(case_id.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def recorded(columns: RecordingColumns, row: JsonObject) -> JsonObject | None:
    """Return the recorded output of a row: text, latency, finish reason, messages.

    Returns:
        What there is of these, as `Case.recorded` has it; None where the row holds no output.

    Raises:
        ValueError: for a value that cannot be one; the message names the column.
    """
    if not isinstance(columns.record, dict):
        return _said(columns, row if columns.record is None else _at(row, columns.record))
    found: JsonObject = {}
    for prompt, column in columns.record.items():
        said = _said(columns, _at(row, column))
        if said is not None:
            found[prompt] = said
    return {"prompts": found} if found else None


def record(columns: RecordingColumns, row: JsonObject, prompt: str | None, epoch: int) -> Json:
    """Return the raw value in a row that holds a target's answer to a prompt in an epoch."""
    path = columns.record.get(prompt or "") if isinstance(columns.record, dict) else columns.record
    found: Json = row if columns.record is None else _at(row, path)
    if isinstance(found, list):
        return found[epoch] if epoch < len(found) else None
    return found


def _said(columns: RecordingColumns, record: Json) -> JsonObject | None:
    """Return the recordings of all epochs; None: there is no output."""
    if not isinstance(record, list):
        return _entry(columns, record)
    epochs: list[Json] = [_entry(columns, one) for one in record]
    return None if all(one is None for one in epochs) else {"epochs": epochs}


def _entry(columns: RecordingColumns, row: Json) -> JsonObject | None:
    """Return the recording of one epoch; None: there is no output."""
    if row is None:
        return None
    if not isinstance(row, dict):
        message = "a recording must be a table, or a list with a table for each epoch"
        raise ValueError(message)  # noqa: TRY004 - the row's mistake, not the caller's
    output = _at(row, columns.output)
    if output is None:
        return None
    found: JsonObject = {
        "output": output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    }
    latency = _at(row, columns.latency_s)
    if latency is not None and latency != "":
        found["latency_s"] = _seconds(latency, columns.latency_s or "")
    finish = _at(row, columns.finish_reason)
    if finish is not None and finish != "":
        if not isinstance(finish, str):
            raise ValueError(f'column "{columns.finish_reason}" must hold a text')
        found["finish_reason"] = finish
    messages = _at(row, columns.messages)
    if messages is not None:
        if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
            raise ValueError(f'column "{columns.messages}" must hold a list of messages')
        found["messages"] = messages
    return found


def _at(row: JsonObject, column: str | None) -> Json:
    if column is None:
        return None
    try:
        return dotted(row, column)
    except KeyError:
        return None


def _seconds(value: Json, column: str) -> float:
    try:
        seconds = float(value) if isinstance(value, int | float | str) else math.nan
    except (ValueError, OverflowError):
        seconds = math.nan
    if isinstance(value, bool) or not 0 <= seconds < math.inf:
        raise ValueError(f'column "{column}" must hold a number of seconds ≥ 0')
    return seconds


def row_id(row: JsonObject, column: str) -> str | None:
    """Return the id in a column as a text; None where there is none.

    Raises:
        ValueError: where it is neither a text nor a whole number.
    """
    value = _at(row, column)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise ValueError(f'the id in column "{column}" must be a text or a whole number')
    return str(value)


def _key(case_id: str, epoch: int) -> bytes:
    return id_digest(f"{epoch} {case_id}")


class Recording:
    """The recordings of one replay target, from a file of its own; rows are kept on disk."""

    def __init__(
        self, columns: RecordingColumns, folder: Path | None, problems: DataProblems, opener: Opener
    ) -> None:
        self._rows = Spool()
        self._places: dict[bytes, int] = {}
        self._lines = array("Q")
        self._further: dict[bytes, int] = {}
        """Rows of a case after its first, where rows do not say which epoch they are."""
        self._numbered: bool | None = None
        """Whether rows say it; None: there is no row yet."""
        self._epochs: set[int] = set()
        """Those that rows are of, as rows count them."""
        path = Path(columns.path)
        name = named_from(folder, path)
        try:
            for line, row in read_rows(path, name, problems, opener):
                try:
                    self._add(columns, line, row)
                except ValueError as error:
                    problems.add(Mistake(name, line, "", str(error)))
        except BaseException:
            self.close()
            raise

    def _add(self, columns: RecordingColumns, line: int, row: JsonObject) -> None:
        case_id = row_id(row, columns.id)
        if case_id is None:
            raise ValueError(f'has no column "{columns.id}" to find its case by')
        found = recorded(columns, row)
        epoch = self._epoch(columns, case_id, row)
        key = _key(case_id, epoch)
        if key in self._places:
            first = self._lines[self._places[key]]
            raise ValueError(
                f'case "{case_id}" is recorded twice in epoch {epoch}, first in line {first}'
            )
        self._epochs.add(epoch)
        self._places[key] = self._rows.append(found)
        self._lines.append(line)

    def _epoch(self, columns: RecordingColumns, case_id: str, row: JsonObject) -> int:
        """Return which epoch of its case a row is, as it counts them; else the next, from 0."""
        column = columns.epoch or "epoch"
        value = _at(row, column)
        numbered = columns.epoch is not None or value is not None
        if self._numbered not in (None, numbered):
            raise ValueError(
                f'column "{column}" must say in all rows which epoch it is, or in none'
            )
        self._numbered = numbered
        if not numbered:
            return self._next(case_id)
        text = str(value).strip()
        if isinstance(value, bool) or not (text.isascii() and text.isdigit()):
            raise ValueError(f'column "{column}" must hold the number of an epoch, from 0 or 1')
        if int(text) > MOST_EPOCHS:
            raise ValueError(f'column "{column}" must hold at most {MOST_EPOCHS}')
        return int(text)

    def _next(self, case_id: str) -> int:
        if _key(case_id, 0) not in self._places:
            return 0
        key = id_digest(case_id)
        self._further[key] = self._further.get(key, 0) + 1
        return self._further[key]

    def of(self, case_id: str) -> JsonObject | None:
        """Return the recording of a case; None: there is none.

        Rows that are all of the first epoch are a recording without epochs. Where none is of
        epoch 0 they count from 1.
        """
        if not self._epochs:
            return None
        start = 0 if 0 in self._epochs else 1
        found: list[Json] = [
            self._row(case_id, epoch) for epoch in range(start, max(self._epochs) + 1)
        ]
        if len(found) == 1:
            return found[0] if isinstance(found[0], dict) else None
        return None if all(one is None for one in found) else {"epochs": found}

    def _row(self, case_id: str, epoch: int) -> Json:
        place = self._places.get(_key(case_id, epoch))
        return None if place is None else self._rows[place]

    def close(self) -> None:
        """Free the disk space."""
        self._rows.close()


class Recordings:
    """The recordings of all replay targets of a suite."""

    def __init__(
        self,
        recordings: Mapping[str, RecordingColumns],
        dataset: str | None,
        folder: Path | None,
        problems: DataProblems,
        opener: Opener = open_regular,
    ) -> None:
        """Read the recordings that are not the dataset itself.

        Args:
            recordings: Where they stand, by the name of the target.
            dataset: The dataset's path; a recording of the same path is in the case's own row.
            folder: The suite's own, from which messages name files; None: it has none.
            problems: Where bad rows are noted.
            opener: Opens their files; judges whether they may be read.

        Raises:
            SuiteError: when there are too many bad rows.
        """
        self._own: dict[str, RecordingColumns] = {}
        self._files: dict[str, Recording] = {}
        try:
            for name, columns in recordings.items():
                if columns.path == dataset:
                    self._own[name] = columns
                else:
                    self._files[name] = Recording(columns, folder, problems, opener)
        except BaseException:
            self.close()
            raise

    def of(self, case_id: str, row: JsonObject) -> dict[str, JsonObject]:
        """Return each target's recording of a case, by the target's name.

        Raises:
            ValueError: where the case's own row holds something that cannot be an output.
        """
        return dict(self._found(case_id, row))

    def _found(self, case_id: str, row: JsonObject) -> Iterator[tuple[str, JsonObject]]:
        for name, columns in self._own.items():
            own = recorded(columns, row)
            if own is not None:
                yield name, own
        for name, recording in self._files.items():
            found = recording.of(case_id)
            if found is not None:
                yield name, found

    def close(self) -> None:
        """Free the disk space."""
        for recording in self._files.values():
            recording.close()
