"""Files of deepeval: datasets of goldens, and the test runs it keeps.

Read as deepeval 4.3 writes them: `EvaluationDataset.save_as` (JSON, JSON Lines, CSV), the files of
DEEPEVAL_RESULTS_FOLDER and `.deepeval/.latest_test_run.json` (test_run/test_run.py, api.py there).
"""

import json
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
    truth,
    unpacked,
)
from tui_eval.suites.importers.reading import read_json, refuse
from tui_eval.suites.importers.shape import Imported, ImportNotes
from tui_eval.suites.importers.tables import TableChoices

_OF_RESULT: Final = {
    "context": "context", "retrievalContext": "retrieval_context", "toolsCalled": "tools_called",
    "expectedTools": "expected_tools", "additionalMetadata": "metadata", "comments": "comments",
    "scenario": "scenario", "tags": "tags",
}  # fmt: skip
_OF_GOLDEN: Final = {
    "context": "context", "retrieval_context": "retrieval_context", "tools_called": "tools_called",
    "expected_tools": "expected_tools", "additional_metadata": "metadata", "comments": "comments",
    "source_file": "source_file", "user_description": "user_description",
    "custom_column_key_values": "custom", "expectations": "expectations", "tags": "tags",
}  # fmt: skip


def read_deepeval(path: Path, wanted: TableChoices) -> Imported:
    """Read a dataset or a test run of deepeval.

    Raises:
        SuiteError: it is neither.
    """
    losses = ImportNotes()
    if path.suffix.lower() == ".json":
        document = read_json(path)
        if isinstance(document, dict):
            run = table(document.get("testRunData")) or document
            return _test_run(path, run, losses, wanted)
    rows = _goldens(path, losses, wanted)
    return experiment_suite(path, rows, losses, wanted)


def _test_run(path: Path, run: JsonObject, losses: ImportNotes, wanted: TableChoices) -> Imported:
    if not isinstance(run.get("testCases"), list):
        refuse(str(path), "is no test run of deepeval: it has no list", field="testCases",
               hint="a dataset is a list of goldens")  # fmt: skip
    target = text(table(run.get("hyperparameters")).get("model")) or "recorded"
    losses.note("metrics themselves (their prompts and models) are not carried over: their scores, "
                "thresholds and verdicts are")  # fmt: skip
    for name in ("hyperparameters", "prompts"):
        if run.get(name):
            losses.note(f"{name} of the test run are not carried over")
    return experiment_suite(path, _results(run, target, losses, wanted), losses, wanted)


def _results(
    run: JsonObject, target: str, losses: ImportNotes, wanted: TableChoices
) -> Iterator[ResultRow]:
    for kind in ("testCases", "conversationalTestCases"):
        for number, row in enumerate(tables(run.get(kind))):
            where = f"{kind}[{number}]"
            asked, said, messages = _conversation(row)
            if row.get("trace"):
                losses.note("traces of test cases are not carried over", where)
            yield ResultRow(
                where=where,
                case_id=chosen(row, wanted.id, "name"),
                input=chosen(row, wanted.input, "input") if asked is None else asked,
                expected=chosen(row, wanted.expected, "expectedOutput", "expectedOutcome"),
                output=row.get("actualOutput") if asked is None else said,
                target=target,
                scores=tuple(map(_score, tables(row.get("metricsData")))),
                passed=truth(row.get("success")),
                latency_s=seconds(row.get("completionTime")),
                messages=messages,
                columns={ours: row[theirs] for theirs, ours in _OF_RESULT.items() if theirs in row},
            )


def _conversation(row: JsonObject) -> tuple[Json, Json, Json]:
    """Return of turns what was asked before the last answer, that answer, and all of them."""
    turns: list[Json] = [
        {"role": one.get("role"), "content": one.get("content")} for one in tables(row.get("turns"))
    ]
    if not turns:
        return None, None, None
    last = turns[-1]
    assert isinstance(last, dict)
    if last["role"] != "assistant" or len(turns) == 1:
        return turns, None, None
    return turns[:-1], last["content"], turns


def _score(given: JsonObject) -> GivenScore:
    error = text(given.get("error"))
    return GivenScore(
        name=str(given.get("name") or "metric"),
        value=None if error else given.get("score"),
        reason=error or text(given.get("reason")),
        passed=None if error else truth(given.get("success")),
        threshold=seconds(given.get("threshold")),
    )


def _goldens(path: Path, losses: ImportNotes, wanted: TableChoices) -> Iterator[ResultRow]:
    in_cells = path.suffix.lower() in (".csv", ".tsv")
    for where, raw in raw_rows(path, ("goldens",)):
        row = {name: unpacked(value) for name, value in raw.items()} if in_cells else raw
        if not {"input", "scenario"} & row.keys():
            refuse(str(path), "is no golden of deepeval: it has neither `input` nor `scenario`",
                   field=where)  # fmt: skip
        asked, said, messages = _conversation(row)
        scenario = text(row.get("scenario"))
        if scenario and asked is None:
            losses.note("a scenario without turns is asked as one text: a user that is simulated "
                        "(`[user]`) would play it", where)  # fmt: skip
        yield ResultRow(
            where=where,
            case_id=chosen(row, wanted.id, "name"),
            input=chosen(row, wanted.input, "input") or asked or scenario,
            expected=_plain(chosen(row, wanted.expected, "expected_output", "expected_outcome")),
            output=row.get("actual_output") or said,
            messages=messages,
            columns={ours: row[theirs] for theirs, ours in _OF_GOLDEN.items() if theirs in row}
            | ({"scenario": scenario} if asked is not None else {}),
        )


def _plain(value: Json) -> Json:
    """Return an expected answer; what a cell seemed to hold as a table is a text after all."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
