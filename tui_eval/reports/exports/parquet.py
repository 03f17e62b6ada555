"""A run's trials as a Parquet file, for data frames and databases.

It needs pyarrow, which the extra `parquet` installs.
"""

import json
import re
import sqlite3
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.attempt_record import NO_RECORD
from tui_eval.model.visible import visible
from tui_eval.reports.exports.export_choice import ExportChoice, chosen_lines
from tui_eval.reports.exports.trial_line import TrialLines
from tui_eval.reports.judging.opinions import spread
from tui_eval.store.read.report_queries import ScoreLine
from tui_eval.store.rows import RunRow

if TYPE_CHECKING:
    import pyarrow as pa

GROUP: Final = 100_000
"""Rows of a row group at most."""
GROUP_BYTES: Final = 32 << 20
"""Bytes after which a row group ends before: all of it is in memory, however long its texts are."""
_BATCH: Final = 1_000
"""Rows that are turned into columns together: as Python's objects they take most memory."""
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
INSTALL: Final = "it needs pyarrow: pip install 'tui-eval[parquet]'"


class MissingLibraryError(Exception):
    """What writes a format is not installed; the message says how it is."""


def parquet(db: sqlite3.Connection, run: RunRow, choice: ExportChoice) -> Iterator[bytes]:
    """Yield the file, a row group at a time.

    Raises:
        MissingLibraryError: pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingLibraryError(INSTALL) from error
    schema = _schema()
    written = _Written()
    rows = _rows(db, run, choice)
    with pq.ParquetWriter(pa.PythonFile(written, "w"), schema, compression="zstd") as writer:
        while group := list(_batches(schema, rows)):
            writer.write_table(pa.Table.from_batches(group, schema), row_group_size=GROUP)
            yield written.taken()
    yield written.taken()


class _Written:
    """A file to write to, whose content is taken as it comes."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def write(self, data: bytes | memoryview) -> int:
        piece = bytes(data)
        self._pieces.append(piece)
        self._size += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        """Do nothing: whoever takes the pieces writes them."""

    def close(self) -> None:
        """Do nothing: what is not taken yet stays."""

    def taken(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


def _schema() -> "pa.Schema":
    import pyarrow as pa

    text, number, whole = pa.string(), pa.float64(), pa.int64()
    score = {"scorer": text, "verdict": text, "value": number, "reason": text, "source": text,
             "required": pa.bool_(), "sd": number, "raw": text}  # fmt: skip
    return pa.schema(
        {
            **dict.fromkeys(("run", "case_id", "target"), text),
            "epoch": whole,
            **dict.fromkeys(("state", "verdict"), text),
            "score": number,
            **dict.fromkeys(("output", "finish_reason", "error_kind", "error_message"), text),
            "attempts": whole,
            "latency_s": number,
            **dict.fromkeys(("input_tokens", "output_tokens"), whole),
            **dict.fromkeys(("cost_usd", "cost_about_usd"), number),
            **dict.fromkeys(("self_reported", "cached"), pa.bool_()),
            "tags": pa.list_(text),
            **dict.fromkeys(("note", "messages", "record"), text),
            **dict.fromkeys(("question", "expected", "case"), text),
            "scores": pa.list_(pa.struct(score)),
        }
    )


def _batches(schema: "pa.Schema", rows: Iterator[JsonObject]) -> Iterator["pa.RecordBatch"]:
    """Yield the next row group in pieces."""
    import pyarrow as pa

    held = 0
    for _ in range(GROUP // _BATCH):
        some = list(islice(rows, _BATCH))
        if not some:
            return
        batch = pa.RecordBatch.from_pylist(some, schema)
        held += batch.nbytes
        yield batch
        if held >= GROUP_BYTES:
            return


def _rows(db: sqlite3.Connection, run: RunRow, choice: ExportChoice) -> Iterator[JsonObject]:
    made = TrialLines(db, run.id, case=choice.case)
    for line in chosen_lines(db, run, choice):
        asked = made.asked(line)
        row: JsonObject = {
            "run": run.name,
            "case_id": line.case_id,
            "target": line.column,
            "epoch": line.epoch,
            "state": line.state.value,
            "verdict": None if line.verdict is None else line.verdict.value,
            "score": line.score,
            "output": line.text,
            "finish_reason": line.finish_reason,
            "error_kind": line.error_kind,
            "error_message": line.error_message,
            "attempts": line.attempts,
            "latency_s": line.latency_s,
            "input_tokens": line.usage.input,
            "output_tokens": line.usage.output,
            "cost_usd": line.cost_usd,
            "cost_about_usd": line.about_usd,
            "self_reported": line.self_reported,
            "cached": line.cached,
            "tags": [*line.tags],
            "note": line.note,
            "messages": _as_json(list(line.messages)) if line.messages else None,
            "record": _as_json(line.record.as_json()) if line.record != NO_RECORD else None,
            "question": asked.get("question"),
            "expected": _expected(asked.get("expected")),
            "case": _as_json(asked["metadata"]) if asked else None,
            "scores": [_score(score) for score in line.scores],
        }
        yield {name: _utf8(value) for name, value in row.items()}


def _score(score: ScoreLine) -> JsonObject:
    told: JsonObject = {
        "scorer": score.scorer,
        "verdict": score.verdict.value,
        "value": score.value,
        "reason": score.reason,
        "source": score.source,
        "required": score.required,
        "sd": spread(score.raw),
        "raw": None if score.raw is None else _as_json(score.raw),
    }
    return {name: _utf8(value) for name, value in told.items()}


def _expected(value: Json) -> Json:
    return value if value is None or isinstance(value, str) else _as_json(value)


def _as_json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def _utf8(value: Json) -> Json:
    """Return text that UTF-8 can hold: lone surrogates are made visible; all else as it is."""
    if isinstance(value, list):
        return [_utf8(one) for one in value]
    if isinstance(value, str) and not value.isascii():
        return _SURROGATE.sub(lambda found: visible(found[0]), value)
    return value
