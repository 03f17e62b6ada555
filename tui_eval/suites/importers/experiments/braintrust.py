"""Experiments and datasets of Braintrust: events of `/v1/experiment/ID/fetch`, of BTQL, exports.

The fields are those of the OpenAPI description (braintrustdata/braintrust-openapi,
`ExperimentEvent`): a row of the root span of each trace is a result.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tui_eval.model.json import JsonObject
from tui_eval.suites.importers.experiments.experiment_suite import chosen, experiment_suite
from tui_eval.suites.importers.experiments.result_row import (
    GivenScore,
    ResultRow,
    raw_rows,
    table,
    text,
    unpacked,
)
from tui_eval.suites.importers.reading import refuse
from tui_eval.suites.importers.shape import Imported, ImportNotes
from tui_eval.suites.importers.tables import TableChoices

_LISTS: Final = ("events", "data", "rows", "results")


def read_braintrust(path: Path, wanted: TableChoices) -> Imported:
    """Read an experiment or a dataset of Braintrust.

    Raises:
        SuiteError: it is neither.
    """
    losses = ImportNotes()
    return experiment_suite(path, _rows(path, losses, wanted), losses, wanted)


def _rows(path: Path, losses: ImportNotes, wanted: TableChoices) -> Iterator[ResultRow]:
    for where, raw in raw_rows(path, _LISTS):
        row = {name: unpacked(value) for name, value in raw.items()}
        if not {"input", "output", "span_id"} & row.keys():
            refuse(str(path), "is no event of Braintrust: it has neither `input` nor `output`",
                   field=where)  # fmt: skip
        if row.get("is_root") is False or row.get("span_parents"):
            losses.note("spans below a result are not carried over", where)
            continue
        error = row.get("error")
        yield ResultRow(
            where=where,
            case_id=chosen(row, wanted.id, "origin.id", "dataset_record_id", "id"),
            input=chosen(row, wanted.input, "input"),
            expected=chosen(row, wanted.expected, "expected"),
            output=row.get("output"),
            target=text(row.get("experiment_name")) or text(row.get("experiment")) or "recorded",
            error=None if not error else str(error),
            scores=tuple(_scores(row)),
            latency_s=_took(table(row.get("metrics"))),
            columns={"metadata": row.get("metadata"), "tags": row.get("tags")},
        )


def _scores(row: JsonObject) -> Iterator[GivenScore]:
    for name, value in table(row.get("scores")).items():
        yield GivenScore(name, value, None if value is not None else "no value in the file")


def _took(metrics: JsonObject) -> float | None:
    start, end = metrics.get("start"), metrics.get("end")
    if not isinstance(start, int | float) or not isinstance(end, int | float) or end < start:
        return None
    return end - start
