"""Datasets of pydantic-evals (YAML or JSON), and its reports as JSON.

Read as pydantic-evals 2.62 writes them: `Dataset.to_file`, and an `EvaluationReport` dumped by
pydantic's `TypeAdapter`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.importers.experiments.experiment_suite import chosen, experiment_suite
from tui_eval.suites.importers.experiments.pydantic_evaluators import Evaluators
from tui_eval.suites.importers.experiments.result_row import (
    GivenScore,
    ResultRow,
    seconds,
    table,
    tables,
    text,
)
from tui_eval.suites.importers.judges import Judges
from tui_eval.suites.importers.reading import Document, read_document, refuse
from tui_eval.suites.importers.shape import Imported, ImportNotes
from tui_eval.suites.importers.tables import TableChoices

_OF_REPORT: Final = ("report_evaluator_failures", "analyses", "failures")


def read_pydantic_evals(path: Path, wanted: TableChoices) -> Imported:
    """Read a dataset or a report of pydantic-evals.

    Raises:
        SuiteError: it is neither.
    """
    document = read_document(path)
    whole = table(document.value)
    cases = whole.get("cases")
    if not isinstance(cases, list):
        refuse(str(path), "is no dataset of pydantic-evals: it has no list", field="cases")
    for number, case in enumerate(cases):
        if not isinstance(case, dict) or "inputs" not in case:
            line = document.lines.get(("cases", number))
            refuse(str(path), "must be a case with `inputs`", line=line, field=f"cases[{number}]")
    losses = ImportNotes()
    if any(name in whole for name in _OF_REPORT):
        return experiment_suite(path, _results(whole, wanted), losses, wanted)
    return _dataset(path, document, losses, wanted)


def _dataset(path: Path, document: Document, losses: ImportNotes, wanted: TableChoices) -> Imported:
    whole = table(document.value)
    judges = Judges(losses)
    expected = (case.get("expected_output") for case in tables(whole.get("cases")))
    with_tables = any(isinstance(one, dict | list) for one in expected)
    evaluators = Evaluators(judges, losses, with_tables=with_tables)
    if whole.get("report_evaluators"):
        losses.note("evaluators of the whole report are not carried over",
                    document.place("report_evaluators"))  # fmt: skip
    scorers = evaluators.scorers(whole.get("evaluators"), document, ("evaluators",))
    rows = _cases(document, evaluators, wanted, [str(one["name"]) for one in scorers])
    made = experiment_suite(path, rows, losses, wanted, list[Json](scorers))
    of_cases = made.suite

    def suite() -> JsonObject:
        found = of_cases()
        judges.put(found)
        name = text(whole.get("name"))
        return found if name is None else {"name": name, **found}

    made.suite = suite
    return made


def _cases(
    document: Document, evaluators: Evaluators, wanted: TableChoices, taken: list[str]
) -> Iterator[ResultRow]:
    for number, case in enumerate(tables(table(document.value).get("cases"))):
        path = ("cases", number)
        own = evaluators.scorers(case.get("evaluators"), document, (*path, "evaluators"), taken)
        yield ResultRow(
            where=document.place(*path),
            case_id=chosen(case, wanted.id, "name"),
            input=chosen(case, wanted.input, "inputs"),
            expected=chosen(case, wanted.expected, "expected_output"),
            scorers=tuple(own),
            columns={"metadata": case.get("metadata")},
        )


def _results(whole: JsonObject, wanted: TableChoices) -> Iterator[ResultRow]:
    target = text(whole.get("name")) or "recorded"
    for kind in ("cases", "failures"):
        for number, row in enumerate(tables(whole.get(kind))):
            yield ResultRow(
                where=f"{kind}[{number}]",
                # repeats are cases of their own, named after the one they repeat
                case_id=chosen(row, wanted.id, "source_case_name", "name"),
                input=chosen(row, wanted.input, "inputs"),
                expected=chosen(row, wanted.expected, "expected_output"),
                output=row.get("output"),
                target=target,
                error=text(row.get("error_message")),
                scores=tuple(_scores(row)),
                latency_s=seconds(row.get("task_duration")),
                columns={"metadata": row.get("metadata")},
            )


def _scores(row: JsonObject) -> Iterator[GivenScore]:
    for kind in ("assertions", "scores", "labels"):
        for name, given in table(row.get(kind)).items():
            of = table(given)
            yield GivenScore(name, of.get("value"), text(of.get("reason")))
    for failure in tables(row.get("evaluator_failures")):
        name = str(failure.get("name") or "evaluator")
        yield GivenScore(name, None, text(failure.get("error_message")))
