"""`tui-eval grade`: outputs graded by people, in the app or from a file."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from tui_eval.cli import streams
from tui_eval.cli.errors import CommandError
from tui_eval.cli.named.suggest import refuse_unknown
from tui_eval.cli.options import (
    WHOLE,
    grouped,
    json_option,
    run_argument,
    store_file,
    store_option,
)
from tui_eval.invocation import command_name
from tui_eval.model.exit_code import ExitCode
from tui_eval.model.frozen import frozen
from tui_eval.model.visible import visible_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tui_eval.engine.control.hand_grades import HandGrade
    from tui_eval.model.json import JsonObject
    from tui_eval.store.rows import RequestRow, RunRow


@frozen
class GradeOptions:
    """What is graded, by whom, and what comes of it."""

    scorer: Annotated[
        str | None,
        click.option("--scorer", metavar="NAME", help="By this scorer's question."),
    ]
    n: Annotated[
        int,
        click.option(
            "--n", type=WHOLE, default="50", show_default=True, help="How many outputs are drawn."
        ),
    ]
    person: Annotated[
        str | None,
        click.option(
            "--as",
            "person",
            metavar="NAME",
            help="Who grades; remembered for the next time.  [default: as last, or the login name]",
        ),
    ]
    file: Annotated[
        Path | None,
        click.option(
            "--from",
            "file",
            type=click.Path(dir_okay=False, path_type=Path),
            metavar="FILE",
            help="Take grades from this file: JSON lines with case_id, target, epoch, grade.",
        ),
    ]
    apply: Annotated[
        bool,
        click.option(
            "--apply",
            is_flag=True,
            help="Make the grades verdicts of the run, which outrank judge and code.",
        ),
    ]


@click.command()
@run_argument
@grouped("options", GradeOptions)
@json_option
@store_option
def grade(name: str, options: GradeOptions, as_json: bool, store: Path | None) -> int:
    """Grade outputs of RUN yourself, to see how far its judge is right.

    Opens the app on outputs that are drawn by chance, half of what the judge passed and half of
    what it failed; whose they are and what the judge said is not shown. Or takes grades that were
    given elsewhere with --from; where a line of the file is wrong, nothing of it is taken. Grades
    measure, and change no verdict, unless --apply says so. `tui-eval agreement` tells what came
    of it.
    """
    from tui_eval.cli.grader_name import grader_name
    from tui_eval.cli.named.runs import bring_up_to_date, found

    file = store_file(store)
    bring_up_to_date(file)
    run = found(file, name)
    _refuse_unknown_scorer(file, run, options.scorer)
    person = grader_name(options.person)
    if options.file is not None:
        return _take(file, run, options, person, as_json)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise CommandError(
            "grading needs a terminal: the outputs are shown there one by one; grades that were "
            f"given elsewhere are taken with `{command_name()} grade {run.name} --from FILE`"
        )
    from tui_eval.cli.commands.app import open_on
    from tui_eval.ui.grade.grading_choice import GradingChoice

    choice = GradingChoice(options.scorer, options.n, person)
    code = open_on(file, run.name, choice)
    if options.apply and not code:
        return _apply(file, run, _graded_by(file, run, options.scorer, person))
    return code


def _take(store: Path, run: "RunRow", options: GradeOptions, person: str, as_json: bool) -> int:
    """Take the grades of a file, all or none."""
    from tui_eval.cli.named.runs import readable
    from tui_eval.engine.control import applied_grades
    from tui_eval.engine.control.grade_file import (
        GradeFileDefaults,
        GradeFileError,
        counts_by_person,
        read_grade_file,
    )
    from tui_eval.engine.control.output_questions import NoQuestionError
    from tui_eval.reports import json_output
    from tui_eval.store.write.people import grade_writes
    from tui_eval.store.writer import once

    assert options.file is not None, "it is asked for"
    defaults = GradeFileDefaults(person, options.scorer)
    try:
        with readable(store) as db:
            grades = read_grade_file(db, run.id, options.file, defaults)
        new = once(store, lambda tx: grade_writes.add(tx, run.id, [one.new for one in grades]))
    except (GradeFileError, NoQuestionError, grade_writes.OutputReplacedError) as error:
        raise CommandError(str(error)) from None
    answer = None
    if options.apply:
        answer = _asked(store, run, applied_grades.of_file(grades))
    if as_json:
        told: JsonObject = {
            "run": run.name,
            "grades": len(grades),
            "new": new,
            "people": dict(counts_by_person(grades)),
            "applied": None if answer is None else answer.detail,
        }
        streams.say(json_output.dumps(told, indent=2))
    else:
        _tell(run, counts_by_person(grades), new, len(grades))
        if answer is not None:
            _tell_applied(run, answer)
    return 0


def _tell(run: "RunRow", people: "Mapping[str, int]", new: int, n: int) -> None:
    from tui_eval.format import many

    whose = ", ".join(f"{count:,} by {visible_line(name, 40)}" for name, count in people.items())
    known = f", {n - new:,} known already" if n - new else ""
    streams.say(f"{run.name}: {many(new, 'grade')} taken{known} ({whose})")
    streams.tell(f"`{command_name()} agreement {run.name}` says how far the judge agrees")


def _graded_by(store: Path, run: "RunRow", scorer: str | None, person: str) -> "list[HandGrade]":
    """Return what a person has graded in a run, as verdicts."""
    from tui_eval.cli.named.runs import readable
    from tui_eval.engine.control import applied_grades

    with readable(store) as db:
        return applied_grades.of_person(db, run.id, person, scorer)


def _apply(store: Path, run: "RunRow", grades: "Sequence[HandGrade]") -> int:
    """Make grades verdicts, and say what came of it."""
    from tui_eval.store.requests import Outcome

    if not grades:
        streams.say(f"{run.name}: nothing was graded, so there is nothing to apply")
        return 0
    answer = _asked(store, run, grades)
    _tell_applied(run, answer)
    return ExitCode.NOT_STARTED if answer.outcome == Outcome.CLOSED else 0


def _asked(store: Path, run: "RunRow", grades: "Sequence[HandGrade]") -> "RequestRow":
    from tui_eval.cli.running.run_requests import ask
    from tui_eval.engine.control.hand_grades import request_args
    from tui_eval.store.requests import Verb

    return ask(store, run, Verb.GRADE, request_args(grades), wait=True)


def _tell_applied(run: "RunRow", answer: "RequestRow") -> None:
    from tui_eval.cli.running.run_requests import worded
    from tui_eval.store.requests import Outcome

    streams.say(f"{run.name}: verdicts by hand {worded(answer)}")
    if answer.outcome == Outcome.ACCEPTED:
        streams.tell(f"`{command_name()} undo {run.name}` takes them back")


def _refuse_unknown_scorer(store: Path, run: "RunRow", scorer: str | None) -> None:
    """Refuse a scorer that neither the run's suite nor a score of the run has."""
    import json

    from tui_eval.cli.named.runs import readable
    from tui_eval.store.read import report_queries, suite_queries

    if scorer is None:
        return
    with readable(store) as db:
        suite = json.loads(suite_queries.spec(db, run.id)).get("scorers", [])
        scored = report_queries.scorer_names(db, run.id)
    known = [str(one.get("name", one.get("kind"))) for one in suite]
    refuse_unknown(f"scorer of run {run.name}", [scorer], dict.fromkeys([*known, *scored]))
