"""`tui-eval check`: whether suites are valid, and what running them would mean."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui_eval.cli import streams
from tui_eval.cli.errors import explain
from tui_eval.cli.named.named_suites import named_suites
from tui_eval.cli.options import json_option, set_option, store_file, store_option, trust_option
from tui_eval.model.visible import visible_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tui_eval.engine.preflight.column_forecast import ColumnForecast
    from tui_eval.engine.preflight.forecast import LaunchForecast
    from tui_eval.engine.preflight.preflight import Preflight
    from tui_eval.model.json import Json, JsonObject
    from tui_eval.reports.sample_size import SampleSize
    from tui_eval.suites.spec import Suite


@click.command()
@click.argument("suites", nargs=-1, required=True, metavar="SUITE…",
                type=click.Path(path_type=Path))  # fmt: skip
@set_option
@click.option("--show-judge", is_flag=True, help="Print the request to judges for a case.")
@click.option("--case", "case_id", metavar="ID", help="With --show-judge: for this case.")
@trust_option
@json_option
@store_option
def check(
    suites: tuple[Path, ...],
    sets: tuple[tuple[str, str], ...],
    show_judge: bool,
    case_id: str | None,
    trust: bool,
    as_json: bool,
    store: Path | None,
) -> int:
    """Validate suites and say what would run: no API calls.

    Says cases × targets × epochs, calls, tokens and cost expected, what judges would be asked, and
    how much the store already has. A folder stands for the suites in it.
    """
    if case_id is not None and not show_judge:
        raise click.UsageError("--case goes with --show-judge")
    from tui_eval.reports import json_output
    from tui_eval.suites.loading.errors import SuiteError
    from tui_eval.suites.trust.needs_trust import NeedsTrust

    file = store_file(store)
    code = 0
    documents: list[JsonObject] = []

    def refuse(path: Path, error: SuiteError) -> int:
        if isinstance(error, NeedsTrust):  # not read as a whole: nobody knows if it is valid
            wanted: list[Json] = list(error.permissions)
            documents.append({"file": str(path), "valid": None, "needs_trust": wanted})
        else:
            wrong: list[Json] = [str(mistake) for mistake in error.mistakes]
            documents.append({"file": str(path), "valid": False, "mistakes": wrong})
        return explain(error)

    files, wrong = named_suites(suites)
    for path, error in wrong:
        code = refuse(path, error)
    for path in files:
        try:
            found, permissions, sizes = _look_at(path, file, sets, trust)
        except SuiteError as error:
            code = refuse(path, error)
            continue
        documents.append(_as_json(path, found, permissions, sizes))
        for line in () if as_json else _lines(path, found, permissions, sizes):
            streams.say(visible_line(line))
        if show_judge:
            documents[-1]["judge_requests"] = _shown(found.suite, file, case_id, silent=as_json)
    if as_json:
        streams.say(json_output.dumps(documents, indent=2))
    return code


def _shown(suite: "Suite", store: Path, case: str | None, *, silent: bool) -> "list[Json]":
    """Show the requests to judges for a case; give them for the document."""
    from tui_eval.cli import judge_preview

    asked = judge_preview.requests(suite, store, case)
    for line in (
        [] if silent else (line for one in asked for line in judge_preview.request_lines(one))
    ):
        streams.say(visible_line(line))
    return [judge_preview.request_as_json(one) for one in asked]


def _look_at(
    path: Path, store: Path, sets: tuple[tuple[str, str], ...], trust: bool
) -> "tuple[Preflight, list[str], SampleSize | None]":
    """Read a suite and all its cases; give what it lacks trust for, and what its cases show, too.

    Raises:
        NeedsTrust: some of it lies outside its folder, and that is not trusted.
        SuiteError: it has mistakes.
    """
    from tui_eval.cli.named.runs import readable_if_there
    from tui_eval.engine.preflight.preflight import preflight
    from tui_eval.engine.settings import Settings
    from tui_eval.reports.sample_size import sample_size_before
    from tui_eval.suites.loading.errors import SuiteError
    from tui_eval.suites.loading.suite_file import look
    from tui_eval.suites.trust.needs_trust import NeedsTrust

    known = look(path, sets=sets, trusted=trust)
    if known.suite is None:
        raise NeedsTrust(str(path), known.refused)
    with readable_if_there(store) as db:
        found = preflight(db, known.suite, Settings())
        sizes = None
        if found.survey is not None and known.suite.scorers:
            sizes = sample_size_before(db, known.suite.name, found.survey.cases)
    if found.mistakes:
        raise SuiteError(found.mistakes)
    return found, [ask.words for ask in known.refused], sizes


def _as_json(
    path: Path, found: "Preflight", permissions: "Sequence[str]", sizes: "SampleSize | None"
) -> "JsonObject":
    from tui_eval.cli import judge_preview

    survey = found.survey
    assert survey is not None, "a suite with mistakes is refused"
    return {
        "file": str(path),
        "valid": True,
        "suite": found.suite.name,
        "dataset": found.suite.dataset.hub,
        "cases": survey.cases,
        "targets": [column.name for column in survey.columns],
        "epochs": survey.epochs,
        "trials": survey.trials,
        "sample_size": None if sizes is None else sizes.as_json(),
        **_counted_as_json(found.work, found.targets),
        "expected": {
            one.column: {
                "calls": one.calls,
                "input_tokens": one.input_tokens,
                "output_tokens": one.output_tokens,
                "output_tokens_at_most": one.at_most,
                "cost_usd": one.cost_usd,
            }
            for one in found.targets
        },
        "judges": judge_preview.as_json(found.judges),
        "troubles": [str(trouble) for trouble in survey.troubles],
        "baseline": found.baseline,
        "warnings": list(found.warnings),
        "not_ready": list(found.missing),
        "needs_trust": list(permissions),
    }


def _counted_as_json(
    work: "LaunchForecast | None", targets: "Sequence[ColumnForecast]"
) -> "JsonObject":
    if work is None:
        return dict.fromkeys(
            ("calls", "reusable", "again", "stale", "why_stale", "new", "broken", "removed")
        )
    total = work.total
    return {
        "calls": sum(one.calls for one in targets),
        "reusable": total.reusable,
        "again": total.again,
        "stale": total.stale,
        "why_stale": dict[str, "Json"](total.why_stale),
        "new": total.new,
        "broken": total.broken,
        "removed": work.removed,
    }


def _lines(
    path: Path, found: "Preflight", permissions: "Sequence[str]", sizes: "SampleSize | None"
) -> "Iterator[str]":
    from tui_eval.cli import judge_preview
    from tui_eval.engine.preflight.column_forecast import tokens_and_cost
    from tui_eval.format import many
    from tui_eval.reports.sample_size import sample_size_words

    survey = found.survey
    assert survey is not None, "a suite with mistakes is refused"
    yield f"{path}: {found.suite.name} is valid"
    if found.suite.dataset.hub is not None:
        yield f"  data: {found.suite.dataset.hub}"
    yield (
        f"  {many(survey.cases, 'case')} × {many(len(survey.columns), 'target')} × "
        f"{many(survey.epochs, 'epoch')} = {many(survey.trials, 'trial')}"
    )
    if sizes is not None:
        yield f"  {sample_size_words(sizes)}"
    if found.work is None:
        yield "  how many calls that makes is unknown until it is ready"
    else:
        asked = not all(one.asks_nobody for one in found.targets)
        noun, verb = ("call", "make") if asked else ("output", "get")
        calls = many(sum(one.calls for one in found.targets), noun)
        yield f"  {calls} to {verb}: {found.work.kinds()}"
        if cache_off := found.work.cache_off():
            yield f"  cache off: {cache_off}"
        for why in found.work.why_stale():
            yield f"  stale: {why}"
        for one in found.targets:
            yield f"  {one.column}: {tokens_and_cost([one])}"
        for line in judge_preview.lines(found.suite, found.judges):
            yield f"  {line}"
    if found.baseline is not None:
        yield f"  compared with {found.baseline}, its baseline"
    for trouble in survey.troubles:
        yield f"  error in some cases: {trouble}"
    for permission in permissions:
        yield f"  needs trust: wants to {permission}"
    for warning in (*found.warnings, *(f"not ready: {it}" for it in found.missing)):
        yield f"  {warning}"
