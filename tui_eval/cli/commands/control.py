"""Commands that ask something of a run: `resume`, `retry`, `rescore`, `cancel`, `undo`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui_eval.cli import streams
from tui_eval.cli.errors import CommandError
from tui_eval.cli.named.suggest import refuse_unknown, refuse_unknown_cases
from tui_eval.cli.options import (
    SET,
    ExecutorOptions,
    FollowOptions,
    grouped,
    json_option,
    max_cost_option,
    max_tokens_option,
    run_argument,
    store_file,
    store_option,
)
from tui_eval.cli.running.permission import as_taken_up, keep_settings, take_up
from tui_eval.cli.running.run_requests import answered, ask, request_row, worded
from tui_eval.invocation import command_name
from tui_eval.model.exit_code import ExitCode
from tui_eval.model.runs.executor_choice import LOCAL
from tui_eval.model.visible import visible_line

if TYPE_CHECKING:
    from tui_eval.cli.running.reporter import OutputForm
    from tui_eval.engine.control.verbs import UndoableRequest
    from tui_eval.model.json import Json, JsonObject
    from tui_eval.store.requests import Verb
    from tui_eval.store.rows import RequestRow, RunRow

case_option = click.option("--case", "cases", multiple=True, metavar="ID", help="Only this case.")


@click.command()
@run_argument
@max_cost_option
@max_tokens_option
@click.option(
    "--collect", is_flag=True, help="Take what was done of what is asked in bulk; do not wait."
)
@grouped("who", ExecutorOptions)
@grouped("how", FollowOptions)
def resume(
    name: str,
    max_cost: float | None,
    max_tokens: int | None,
    collect: bool,
    who: ExecutorOptions,
    how: FollowOptions,
) -> int:
    """Finish what is missing of a run.

    What is unsettled or errored runs again, what a judge left ungraded is judged again, what was
    cancelled stays. The run's frozen copy of its suite is used. With --collect a cancelled run
    stays cancelled: what providers have done of it is taken, for later runs to find.
    """
    from tui_eval.model.states import RunState
    from tui_eval.store.requests import Verb

    file, run = _run(how.store, name)
    if collect and run.state is RunState.CANCELLED:
        run = take_up(file, run, [Verb.RESUME], who.named, trusted=how.trust)
        _see_through(file, run, Verb.RESUME, {"collect": True}, how.form)
        _tell_awaited(file, run)
        return 0
    _refuse_cancelled(run)
    caps: dict[str, Json] = {"max_cost_usd": max_cost, "max_tokens": max_tokens}
    args: JsonObject = {name: cap for name, cap in caps.items() if cap is not None}
    if collect:
        args["collect"] = True
    run = take_up(file, run, [Verb.RESUME], who.named, trusted=how.trust)
    return _see_through(file, run, Verb.RESUME, args, how.form)


@click.command()
@run_argument
@click.option("--errors", is_flag=True, help="What errored; this is the default.")
@click.option("--failed", is_flag=True, help="What failed.")
@click.option("--cancelled", is_flag=True, help="What was cancelled.")
@case_option
@grouped("who", ExecutorOptions)
@grouped("how", FollowOptions)
def retry(
    name: str,
    errors: bool,
    failed: bool,
    cancelled: bool,
    cases: tuple[str, ...],
    who: ExecutorOptions,
    how: FollowOptions,
) -> int:
    """Ask again: what errored, failed or was cancelled, or the cases named.

    What was there is kept beside the new attempt. Of a run that was cancelled as a whole, what
    was cancelled is asked again too where nothing else is said.
    """
    from tui_eval.model.states import RunState
    from tui_eval.store.requests import Verb

    file, run = _run(how.store, name)
    which: list[Json] = [
        word
        for word, wanted in (("errors", errors), ("failed", failed), ("cancelled", cancelled))
        if wanted
    ]
    whole: list[Json] = ["errors", "cancelled"] if run.state is RunState.CANCELLED else ["errors"]
    args: JsonObject = {"which": which or ("all" if cases else whole)}
    args = _narrowed(file, run, args, cases)
    run = take_up(file, run, [Verb.RETRY], who.named, trusted=how.trust)
    _announce(file, run, Verb.RETRY, args)
    errored, failed_before = _errored_and_failed(file, run)
    code = _see_through(file, run, Verb.RETRY, args, how.form)
    if not which and not cases and run.state is not RunState.CANCELLED and not errored:
        streams.tell(f"nothing errored; --failed would take {failed_before:,}")
    return code


def _errored_and_failed(store: Path, run: "RunRow") -> tuple[int, int]:
    from tui_eval.cli.named.runs import readable
    from tui_eval.store.read.run_counts import board

    with readable(store) as db:
        counts = board(db, run.id)[0]
    return counts.error, counts.failed


@click.command()
@run_argument
@click.option("--scorer", "scorers", multiple=True, metavar="NAME", help="Only this scorer.")
@case_option
@click.option("--ungraded", is_flag=True, help="Only what is ungraded.")
@click.option(
    "--suite",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Take scorers and judges from this suite, edited since.",
)
@click.option("--set", "sets", **SET, help="Set a field of a judge or scorer: judge.timeout=600.")
@grouped("who", ExecutorOptions)
@grouped("how", FollowOptions)
def rescore(
    name: str,
    scorers: tuple[str, ...],
    cases: tuple[str, ...],
    ungraded: bool,
    suite: Path | None,
    sets: tuple[tuple[str, str], ...],
    who: ExecutorOptions,
    how: FollowOptions,
) -> int:
    """Score a run's outputs again; no target is asked.

    Judges are, where scorers have any: how often is said before. With --suite they are asked
    only what they have not said yet: a changed threshold or weight makes no API calls.
    --set changes judges and scorers of the run, or of the suite that is named. Scorers that run
    something do so on this machine, and at the workers of an executor where one is named.
    """
    from tui_eval.store.requests import Verb

    file, run = _run(how.store, name)
    _refuse_cancelled(run)
    before, run = run, as_taken_up(file, run, [], who.named, trusted=how.trust)
    args: JsonObject = {"which": "ungraded" if ungraded else "all"}
    if who.executor not in (None, LOCAL):
        args["at_workers"] = True
    if suite is not None or sets:
        from tui_eval.engine.control.changed_scorers import rescoring

        args |= rescoring(file, run, suite, sets=sets, trusted=how.trust)
    if scorers:
        _need_scorers(file, run, scorers, args.get("scorer_specs"))
        args["scorers"] = list(scorers)
    args = _narrowed(file, run, args, cases)
    keep_settings(file, before, run)
    _announce(file, run, Verb.RESCORE, args)
    return _see_through(file, run, Verb.RESCORE, args, how.form)


def _announce(store: Path, run: "RunRow", verb: "Verb", args: "JsonObject") -> None:
    """Say what a request asks of targets and judges, where it asks any or the store answers."""
    from tui_eval.cli.named.runs import readable
    from tui_eval.engine.preflight.request_forecast import request_forecast

    with readable(store) as db:
        taken = request_forecast(db, run.id, verb, args)
    if taken.calls or taken.judge_calls or taken.stored:
        streams.tell(f"{verb.called}: {taken.words()}")


@click.command()
@run_argument
@case_option
@json_option
@store_option
def cancel(name: str, cases: tuple[str, ...], as_json: bool, store: Path | None) -> int:
    """Cancel a run, or some of its cases; what they have produced stays."""
    from tui_eval.store.requests import Outcome, Verb

    file, run = _run(store, name)
    args = _narrowed(file, run, {"which": "all"}, cases) if cases else {}
    verb = Verb.CANCEL if cases else Verb.CANCEL_RUN
    answer = ask(file, run, verb, args, wait=False)
    if _needs_engine(file, run, answer):
        from tui_eval.cli.running.foreground import drive
        from tui_eval.cli.running.reporter import OutputForm

        streams.tell("what is under way in bulk is ended")
        drive(file, run.id, OutputForm.NOTHING, asked=True)
        answer = request_row(file, answer.id)
        _tell_awaited(file, run)
    else:
        answer = answered(file, run, answer)
    code = _tell(run, answer, as_json)
    if answer.outcome == Outcome.ACCEPTED:
        streams.tell(
            f"`{command_name()} undo {run.name}` takes it back; `retry` would ask and pay again"
        )
    return code


def _tell_awaited(store: Path, run: "RunRow") -> None:
    """Say what providers still have of a cancelled run."""
    from tui_eval.cli.named.runs import readable
    from tui_eval.store.read.consignment_queries import awaited_requests, awaited_words

    with readable(store) as db:
        awaited = awaited_requests(db, [run.id])
    if awaited:
        told = visible_line(awaited_words(awaited), 300)
        streams.tell(f"{told}: `tui-eval resume {run.name} --collect` takes what was done")


def _needs_engine(store: Path, run: "RunRow", request: "RequestRow") -> bool:
    from tui_eval.cli.named.runs import readable
    from tui_eval.engine.control import submit

    with readable(store) as db:
        return submit.needs_engine(db, run.id, request.id)


@click.command()
@run_argument
@grouped("how", FollowOptions)
def undo(name: str, how: FollowOptions) -> int:
    """Undo the last cancel, rescore or grade by hand of a run.

    Cancelled trials go on where they were left. Of what was scored again or graded by hand, what
    was graded before counts again; the history keeps both. Each further `undo` undoes what was done
    before that.
    """
    from tui_eval.store.requests import Verb

    file, run = _run(how.store, name)
    done = _last_done(file, run)
    args: JsonObject = {"request": done.id}
    if done.undone_by is Verb.WITHDRAW:
        answer = ask(file, run, Verb.WITHDRAW, args, wait=True)
        return _tell(run, answer, how.as_json)
    run = take_up(file, run, [Verb.UNCANCEL], trusted=how.trust)
    return _see_through(file, run, Verb.UNCANCEL, args, how.form)


def _last_done(store: Path, run: "RunRow") -> "UndoableRequest":
    """Find the last request whose work can be taken back, and has not been.

    Raises:
        Refused: there is none.
    """
    from tui_eval.cli.named.runs import readable
    from tui_eval.engine.control.verbs import last_done

    with readable(store) as db:
        found = last_done(db, run.id)
    if found is None:
        raise CommandError(
            f"in run {run.name} nothing was cancelled, scored again or graded by hand that is not "
            "undone"
        )
    return found


def _tell(run: "RunRow", answer: "RequestRow", as_json: bool) -> int:
    """Print how a request was answered; give the exit code."""
    from tui_eval.reports import json_output
    from tui_eval.store.requests import Outcome

    if as_json:
        said = {"run": run.name, "outcome": answer.outcome, "detail": answer.detail}
        streams.say(json_output.dumps(said))
    else:
        streams.say(f"{run.name}: {worded(answer)}")
    return ExitCode.NOT_STARTED if answer.outcome == Outcome.CLOSED else 0


def _run(store: Path | None, name: str) -> "tuple[Path, RunRow]":
    from tui_eval.cli.named.runs import bring_up_to_date, found

    file = store_file(store)
    bring_up_to_date(file)
    return file, found(file, name)


def _refuse_cancelled(run: "RunRow") -> None:
    from tui_eval.store.requests import why_cancelled

    if why := why_cancelled(run.state, run.name):
        raise CommandError(why)


def _narrowed(
    store: Path, run: "RunRow", args: "JsonObject", cases: tuple[str, ...]
) -> "JsonObject":
    """Narrow a request to cases, refusing those the run does not have."""
    if not cases:
        return args
    from tui_eval.cli.named.runs import readable

    with readable(store) as db:
        refuse_unknown_cases(db, run, cases)
    return {**args, "cases": list(cases)}


def _need_scorers(store: Path, run: "RunRow", wanted: tuple[str, ...], specs: "Json") -> None:
    """Refuse scorers that neither the run's suite, the edited one nor a score of the run has.

    Cases bring scorers of their own, which the run's scores name.
    """
    import json

    from tui_eval.cli.named.runs import readable
    from tui_eval.store.read import report_queries, suite_queries

    with readable(store) as db:
        scored = report_queries.scorer_names(db, run.id)
        if specs is None:
            specs = json.loads(suite_queries.spec(db, run.id))["scorers"]
    known = [str(spec["name"]) for spec in specs if isinstance(spec, dict)] if isinstance(
        specs, list
    ) else []  # fmt: skip
    refuse_unknown("scorer", wanted, [*known, *scored])


def _see_through(
    store: Path, run: "RunRow", verb: "Verb", args: "JsonObject", form: "OutputForm"
) -> int:
    """Ask, see the run to its end, and tell how the request went where it was not simply done."""
    from tui_eval.cli.running.foreground import drive

    request = ask(store, run, verb, args, wait=False)
    end = drive(store, run.id, form, asked=True)
    answer = request_row(store, request.id)
    streams.tell(f"{verb.called}: {worded(answer)}")
    return end.code
