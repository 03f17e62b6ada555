"""Files of other tools as suites, compared result by result with what was recorded."""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tui_eval.engine.journey.trial_scoring import TrialScoring
from tui_eval.engine.preflight.survey import surveyed
from tui_eval.isolated.calls import IsolatedCalls
from tui_eval.model.case import Case, Column
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.output import Failure
from tui_eval.model.score import Score, tally
from tui_eval.model.states import Verdict
from tui_eval.suites.data.dataset import cases
from tui_eval.suites.data.recordings import record
from tui_eval.suites.importers.formats import read
from tui_eval.suites.importers.recorded import VERDICT, VERDICTS
from tui_eval.suites.importers.tables import TableChoices
from tui_eval.suites.importers.writing import Difference, WrittenSuite, write
from tui_eval.suites.spec import Suite
from tui_eval.suites.templates.renderer import Renderer
from tui_eval.targets import Target, build
from tui_eval.targets.replay import recorded_output


def import_suite(
    format_name: str,
    source: Path,
    suite: Path,
    wanted: TableChoices | None = None,
    *,
    replacing: bool,
    between: Callable[[], None] = lambda: None,
) -> WrittenSuite:
    """Write the suite that a file of another tool makes, and compare it with what is recorded.

    Args:
        format_name: One of `importers.catalogue.FORMATS`.
        source: The file.
        suite: Where the suite goes.
        wanted: What the person said of a table's columns.
        replacing: Whether files that are there may be replaced.
        between: Called between cases; what it raises ends the import, and nothing is written.

    Raises:
        SuiteError: it cannot be read, or the suite not be written; nothing was.
        OSError: likewise.
    """
    found = read(format_name, source, wanted)
    found.cases = _looked_at(found.cases, between)

    def compare(made: Suite) -> Iterator[Difference | bool]:
        for one in compared(made):
            between()
            yield one

    return write(found, suite, source, replacing=replacing, survey=surveyed, compare=compare)


@dataclass(frozen=True, slots=True)
class RecordedResult:
    """What a case came to in one column of another tool's results."""

    case: Case
    column: str
    fates: tuple[str, ...]
    """Of each epoch: `passed`, `failed`, `ungraded` or `error`."""


def recorded_results(suite: Suite) -> Iterator[RecordedResult]:
    """Yield what was recorded came to: by the file's own verdicts, else by the suite's scorers.

    Args:
        suite: A suite that an import wrote.
    """
    with closing(IsolatedCalls()) as calls:
        renderer = Renderer(suite)
        scoring = TrialScoring(suite, renderer, calls)
        targets = build(suite)
        for case, column in _recorded_columns(suite, renderer):
            fates = []
            for epoch in range(suite.run.epochs):
                recording = suite.recordings[column.target]
                theirs = _verdicts(record(recording, case.fields, column.prompt, epoch)).get("")
                if theirs is None:
                    ours, wrong = _graded(scoring, targets[column.target], column, case, epoch)
                    found = "error" if wrong is not None else ours.get("", ("ungraded", ""))[0]
                else:
                    found = theirs
                fates.append(_FATES.get(found, found))
            yield RecordedResult(case, column.name, tuple(fates))


_FATES: Final = {"pass": "passed", "fail": "failed"}
"""Verdicts as fates of trials."""


def _recorded_columns(suite: Suite, renderer: Renderer) -> Iterator[tuple[Case, Column]]:
    columns = [column for column in renderer.columns if column.target in suite.recordings]
    for case in cases(suite):
        yield from ((case, column) for column in columns)


def _looked_at(rows: Iterator[JsonObject], between: Callable[[], None]) -> Iterator[JsonObject]:
    for row in rows:
        between()
        yield row


def compared(suite: Suite) -> Iterator[Difference | bool]:
    """Grade what was recorded by a suite's scorers, and compare with the verdicts beside it.

    Nobody is asked: where a judge decides, only what certainly fails is compared.

    Yields:
        For each verdict where it differs, else whether it could be compared.
    """
    with closing(IsolatedCalls()) as calls:
        renderer = Renderer(suite)
        yield from _compared(suite, renderer, TrialScoring(suite, renderer, calls))


def _compared(
    suite: Suite, renderer: Renderer, trial_scoring: TrialScoring
) -> Iterator[Difference | bool]:
    recordings, targets = suite.recordings, build(suite)
    for case, column in _recorded_columns(suite, renderer):
        target = targets[column.target]
        for epoch in range(suite.run.epochs):
            entry = record(recordings[column.target], case.fields, column.prompt, epoch)
            theirs = _verdicts(entry)
            if theirs:
                ours = _graded(trial_scoring, target, column, case, epoch)
                yield from _differences(theirs, ours, case, column, epoch)


def _verdicts(entry: Json) -> dict[str, str]:
    """Return the verdicts that stand in a recording, by scorer; the whole result's has no name."""
    if not isinstance(entry, dict):
        return {}
    single = entry.get(VERDICTS)
    found = (
        {str(name): str(one) for name, one in single.items()} if isinstance(single, dict) else {}
    )
    if entry.get(VERDICT) is not None:
        found[""] = str(entry[VERDICT])
    return found


def _graded(
    trial_scoring: TrialScoring, target: Target, column: Column, case: Case, epoch: int
) -> tuple[dict[str, tuple[str, str]], str | None]:
    """Return verdict and reason by scorer (the whole result's has no name), or what went wrong."""
    request = target.request(column, case, epoch)
    output = request if isinstance(request, Failure) else recorded_output(request)
    if isinstance(output, Failure):
        return {}, output.message
    outcome = trial_scoring.outcome(column, case, output, ())
    if isinstance(outcome, Failure):
        return {}, outcome.message
    found = {one.scorer: (str(one.grade.verdict), one.grade.reason) for one in outcome.scores}
    whole = tally(outcome.scores).verdict
    if outcome.decided or whole is Verdict.FAIL:
        found[""] = (str(whole), _why(outcome.scores, whole))
    return found, None


def _why(scores: tuple[Score, ...], verdict: Verdict) -> str:
    said = [one for one in scores if one.required and one.grade.verdict is verdict]
    if verdict is Verdict.PASS:
        return "every scorer passes" if said else "nothing is required"
    return f"{said[0].scorer}: {said[0].grade.reason}" if said else ""


def _differences(
    theirs: dict[str, str],
    ours: tuple[dict[str, tuple[str, str]], str | None],
    case: Case,
    column: Column,
    epoch: int,
) -> Iterator[Difference | bool]:
    graded, wrong = ours
    for scorer, there in theirs.items():
        here, reason = ("error", wrong) if wrong is not None else graded.get(scorer, (None, ""))
        if here is None or here == there:
            yield here is not None  # else a judge decides, or the scorer was not carried over
        else:
            yield Difference(case.id, column.name, epoch + 1, scorer, there, here, reason)
