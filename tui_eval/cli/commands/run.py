"""`tui-eval run`: make a run of a suite and see it to its end."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import click

from tui_eval.cli import streams
from tui_eval.cli.errors import CommandError
from tui_eval.cli.options import (
    CONCURRENCY,
    WHOLE,
    grouped,
    max_cost_option,
    max_tokens_option,
    output_form,
    set_option,
    store_file,
    store_option,
    trust_option,
)
from tui_eval.model.exit_code import ExitCode
from tui_eval.model.visible import visible_line

if TYPE_CHECKING:
    from tui_eval.engine.settings import Settings
    from tui_eval.suites.spec import Suite


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """What of a suite is run, and how."""

    targets: Annotated[
        tuple[str, ...],
        click.option(
            "--target", "targets", multiple=True, metavar="NAME", help="Only this target."
        ),
    ]
    cases: Annotated[
        tuple[str, ...],
        click.option("--case", "cases", multiple=True, metavar="ID", help="Only this case."),
    ]
    tags: Annotated[
        tuple[str, ...],
        click.option(
            "--tag", "tags", multiple=True, metavar="TAG", help="Only cases with this tag."
        ),
    ]
    limit: Annotated[
        int | None, click.option("--limit", type=WHOLE, metavar="N", help="Only the first N cases.")
    ]
    sample: Annotated[
        int | None, click.option("--sample", type=WHOLE, metavar="N", help="Only N cases, drawn.")
    ]
    only: Annotated[
        str | None,
        click.option(
            "--only",
            type=click.Choice(["failed", "errors", "ungraded"]),
            help="Only cases whose latest verdict is so.",
        ),
    ]
    epochs: Annotated[
        int | None, click.option("--epochs", type=WHOLE, metavar="N", help="Ask each case N times.")
    ]
    concurrency: Annotated[
        int | Literal["auto"] | None,
        click.option(
            "--concurrency",
            type=CONCURRENCY,
            metavar="N|auto",
            help="Calls in flight per endpoint.",
        ),
    ]
    sets: Annotated[tuple[tuple[str, str], ...], set_option]
    no_judge: Annotated[
        bool,
        click.option(
            "--no-judge", is_flag=True, help="Ask no judge: leave what judges decide ungraded."
        ),
    ]
    fresh: Annotated[
        bool,
        click.option("--fresh", is_flag=True, help="Use no output and no grade of an earlier run."),
    ]
    max_cost: Annotated[float | None, max_cost_option]
    max_tokens: Annotated[int | None, max_tokens_option]

    def load(self, path: Path, *, trusted: bool) -> "Suite":
        """Read a suite with the fields that are set.

        Raises:
            SuiteError: it has mistakes, or needs trust.
        """
        from tui_eval.suites.loading.suite_file import load

        sets = self.sets
        if self.epochs is not None:  # what else the suite says of epochs is checked against them
            sets = (*sets, ("run.epochs", str(self.epochs)))
        return load(path, sets=sets, trusted=trusted)

    def settings(self) -> "Settings":
        """Return what the run keeps of them; `epochs` are the suite's by now."""
        from tui_eval.engine.settings import Settings

        fields = {path.split(".")[0] for path, _ in self.sets}
        return Settings(
            targets=self.targets,
            cases=self.cases,
            tags=self.tags,
            limit=self.limit,
            sample=self.sample,
            only=self.only,
            concurrency=self.concurrency,
            no_judge=self.no_judge,
            fresh=self.fresh,
            max_cost_usd=self.max_cost,
            max_tokens=self.max_tokens,
            changed_dataset=not fields.isdisjoint(("dataset", "cases")),
        )


@dataclass(frozen=True, slots=True)
class RunOutput:
    """Who sees the run to its end, and what stdout gets."""

    detach: Annotated[
        bool,
        click.option("--detach", is_flag=True, help="Print the run's name and leave it running."),
    ]
    as_json: Annotated[
        bool,
        click.option("--json", "as_json", is_flag=True, help="Print one JSON document at the end."),
    ]
    events: Annotated[
        bool,
        click.option("--events", is_flag=True, help="Print a line of JSON for all that happens."),
    ]
    watch: Annotated[bool, click.option("--watch", is_flag=True, help="Open the app on the run.")]

    def check(self) -> None:
        """Refuse what cannot be.

        Raises:
            UsageError: several exclude each other.
            Refused: there is no terminal for the app.
        """
        if sum((self.detach, self.as_json, self.events, self.watch)) > 1:
            raise click.UsageError("--detach, --json, --events and --watch exclude each other")
        if self.watch:
            from tui_eval.cli.commands.app import need_terminal

            need_terminal()


@click.command()
@click.argument("suite", type=click.Path(path_type=Path), metavar="SUITE")
@grouped("launch", LaunchOptions)
@trust_option
@click.option("--name", "label", metavar="LABEL", help="A name for this run.")
@grouped("output", RunOutput)
@store_option
def run(
    suite: Path,
    launch: LaunchOptions,
    trust: bool,
    label: str | None,
    output: RunOutput,
    store: Path | None,
) -> int:
    """Run a suite in the foreground: progress, summary, exit code.

    Options for several things are repeated: --case a --case b. A run that leaves cases or targets
    out is marked as partial.
    """
    output.check()
    from tui_eval.cli.runs import bring_up_to_date
    from tui_eval.engine.launch import create_run

    loaded, settings = launch.load(suite, trusted=trust), launch.settings()
    file = store_file(store)
    bring_up_to_date(file)
    _look_before(file, loaded, settings)
    run_id = create_run.create(file, loaded, settings, path=str(suite.absolute()), label=label)
    if output.detach:
        return _leave_running(file, run_id)
    if output.watch:
        return _watch(file, run_id)
    from tui_eval.cli.foreground import drive

    code = drive(file, run_id, output_form(as_json=output.as_json, events=output.events))
    if launch.only is not None:
        _tell_if_nobody_was_asked(file, run_id, launch.only)
    return code


def _tell_if_nobody_was_asked(store: Path, run_id: int, which: str) -> None:
    """Say so where a person who picked cases by their verdict got the outputs there were."""
    from tui_eval.cli.runs import readable
    from tui_eval.store.read import run_queries
    from tui_eval.store.read.run_counts import board

    with readable(store) as db:
        counts, name = board(db, run_id)[0], run_queries.run(db, run_id).name
    if not counts.total or counts.cached < counts.total:
        return
    retry = f", `tui-eval retry {name} --failed` too" if which == "failed" else ""
    streams.tell(f"nothing was asked: all outputs are in the store; --fresh asks again{retry}")


def _look_before(store: Path, suite: "Suite", settings: "Settings") -> None:
    """Refuse what cannot be started, and warn of what may not be meant so.

    Raises:
        SuiteError: the data has mistakes, or templates need what no case has.
        Refused: with all that is missing or was chosen and is not there.
    """
    from tui_eval.cli.runs import readable_if_there
    from tui_eval.engine.preflight.preflight import Depth, preflight
    from tui_eval.suites.loading.errors import SuiteError

    with readable_if_there(store) as db:
        found = preflight(db, suite, settings, Depth.READ)
    if found.mistakes:
        raise SuiteError(found.mistakes)
    if not found.may_start:
        raise CommandError("\n".join((*found.refused, *found.missing)))
    for warning in found.warnings:
        streams.tell(f"note: {warning}")
    for target in suite.targets:
        if not settings.targets or target.name in settings.targets:
            for words in target.runs():
                streams.tell(f"{visible_line(target.name)} runs {visible_line(words)}")


def _leave_running(store: Path, run_id: int) -> int:
    """Start an engine of its own for a run; print the run's name once all its trials are there."""
    import time

    from tui_eval.cli.runs import readable
    from tui_eval.engine.launch import create_run
    from tui_eval.store.errors import UnknownRunError
    from tui_eval.store.read import run_queries

    with readable(store) as db:
        name = run_queries.run(db, run_id).name
        log = create_run.log_file(store, name)
        engine = create_run.spawn(store, name)
        ended = False
        try:
            while not run_queries.run(db, run_id).staged:
                if ended:
                    streams.tell(f"error: the run's engine has ended; its log is {log}")
                    return ExitCode.INCOMPLETE
                time.sleep(0.05)
                ended = engine.poll() is not None
        except UnknownRunError:  # its data has mistakes: the engine has said so in its log
            streams.tell(log.read_text(encoding="utf-8", errors="replace"))
            return ExitCode.NOT_STARTED
    streams.say(name)
    return 0


def _watch(store: Path, run_id: int) -> int:
    from tui_eval.cli.commands.app import open_on
    from tui_eval.cli.runs import readable
    from tui_eval.engine.launch import create_run
    from tui_eval.store.read import run_queries

    with readable(store) as db:
        name = run_queries.run(db, run_id).name
    create_run.spawn(store, name)
    return open_on(store, name)
