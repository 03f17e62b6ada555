"""Experiments and datasets of Langfuse, as its API, its SDKs and its tables give them.

Items of `GET /api/public/experiment-items` (`ExperimentItem`, `ScoreV3`), results of the SDKs'
experiment runner (`item_results`, `itemResults`), items of datasets, and tables exported as JSON or
CSV; the fields are those of the API reference and of langfuse-python and langfuse-js.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.importers.experiments.experiment_suite import chosen, experiment_suite
from tui_eval.suites.importers.experiments.result_row import (
    GivenScore,
    ResultRow,
    raw_rows,
    seconds,
    table,
    tables,
    text,
    unpacked,
)
from tui_eval.suites.importers.reading import read_json, refuse
from tui_eval.suites.importers.shape import Imported, ImportNotes
from tui_eval.suites.importers.tables import TableChoices

_LISTS: Final = ("data", "item_results", "itemResults", "items", "datasetItems")
_KNOWN: Final = frozenset((
    "input", "output", "expectedOutput", "expected_output", "item", "experimentItemId",
))  # fmt: skip


def read_langfuse(path: Path, wanted: TableChoices) -> Imported:
    """Read an experiment or a dataset of Langfuse.

    Raises:
        SuiteError: it is neither.
    """
    losses = ImportNotes()
    named = None
    if path.suffix.lower() == ".json":
        document = table(read_json(path))
        named = text(document.get("run_name")) or text(document.get("runName"))
        if document.get("run_evaluations") or document.get("runEvaluations"):
            losses.note("scores of the whole run are not carried over")
    rows = _rows(path, losses, wanted, named or "recorded")
    return experiment_suite(path, rows, losses, wanted)


def _rows(path: Path, losses: ImportNotes, wanted: TableChoices, named: str) -> Iterator[ResultRow]:
    for where, raw in raw_rows(path, _LISTS):
        row = {name: unpacked(value) for name, value in raw.items()}
        if not _KNOWN & row.keys():
            refuse(str(path), "is no item of Langfuse: it has neither `input` nor `output`",
                   field=where, hint="ask the API with fields=io,scores")  # fmt: skip
        item = table(row.get("item"))
        asked = chosen(row, wanted.input, "input", "item.input")
        if row.get("level") == "ERROR":
            losses.note("its trace ended with an error", where)
        yield ResultRow(
            where=where,
            case_id=chosen(
                row,
                wanted.id,
                "experimentItemId",
                "datasetItemId",
                "dataset_item_id",
                "item.id",
                "id",
            ),
            input=asked,
            expected=chosen(
                row,
                wanted.expected,
                "expectedOutput",
                "expected_output",
                "item.expected_output",
                "item.expectedOutput",
            ),
            output=row.get("output"),
            target=text(row.get("experimentName")) or text(row.get("datasetRunName")) or named,
            error="error" if row.get("level") == "ERROR" else None,
            scores=tuple(_scores(row)),
            latency_s=seconds(row.get("latency")),
            columns={
                "metadata": row.get("experimentItemMetadata")
                or item.get("metadata")
                or row.get("metadata"),
                "tags": row.get("tags"),
            },
        )


def _scores(row: JsonObject) -> Iterator[GivenScore]:
    given = row.get("scores") or row.get("evaluations")
    if isinstance(given, dict):  # a table that was exported: the values by name
        for name, value in given.items():
            values = value if isinstance(value, list) else [value]
            yield from (GivenScore(name, _number(one)) for one in values[:1])
        return
    for one in tables(given):
        value = one.get("value")
        kind = one.get("dataType") or one.get("data_type")
        if kind == "BOOLEAN" and value in (0, 1, True, False):
            value = bool(value)
        elif kind in ("CATEGORICAL", "TEXT"):
            value = one.get("stringValue") or value
        yield GivenScore(str(one.get("name") or "score"), value, text(one.get("comment")))


def _number(value: Json) -> Json:
    """Return the number a cell holds, or the cell."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value
