"""`tui-eval run`: make a run of each suite and see it to its end."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import click

from tui_eval.cli import streams
from tui_eval.cli.errors import CommandError, explain
from tui_eval.cli.named.named_suites import named_suites
from tui_eval.cli.options import (
    CONCURRENCY,
    PART,
    SHARED_FOLDER,
    WHOLE,
    address_option,
    executor_after,
    executor_option,
    grouped,
    max_cost_option,
    max_tokens_option,
    output_form,
    set_option,
    store_file,
    store_option,
    trust_option,
)
from tui_eval.cli.running.report_files import ReportFiles
from tui_eval.model.exit_code import ExitCode, worst
from tui_eval.model.runs.executor_choice import NamedExecutor
from tui_eval.model.runs.run_part import RunPart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui_eval.cli.running.suite_sequence import CheckedSuite
    from tui_eval.engine.settings import Settings
    from tui_eval.reports.comparison.baseline.launch_check import LaunchCheck
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
    part: Annotated[
        RunPart | None,
        click.option(
            "--part", type=PART, metavar="K/N", help="Only the Kth of N parts of the cases."
        ),
    ]
    board: Annotated[
        Path | None,
        click.option(
            "--board",
            metavar="DIR",
            type=SHARED_FOLDER,
            help="Say in this folder how far the run is; `watch --board DIR` shows all of them.",
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
    executor: Annotated[str | None, executor_option]
    address: Annotated[str | None, address_option]
    sets: Annotated[tuple[tuple[str, str], ...], set_option]
    no_judge: Annotated[
        bool,
        click.option(
            "--no-judge", is_flag=True, help="Run no judge: what judges decide is ungraded."
        ),
    ]
    fresh: Annotated[
        bool,
        click.option("--fresh", is_flag=True, help="Use no output and no grade of an earlier run."),
    ]
    baseline: Annotated[
        str | None,
        click.option(
            "--baseline",
            metavar="RUN|FILE",
            help="Compare with this run, or baseline file.  [default: the suite's baseline]",
        ),
    ]
    bulk: Annotated[
        bool,
        click.option(
            "--bulk", is_flag=True, help="Ask models through their providers' batch APIs."
        ),
    ]
    submit: Annotated[
        bool,
        click.option(
            "--submit", is_flag=True, help="Send what is asked in bulk, and do not wait for it."
        ),
    ]
    max_cost: Annotated[float | None, max_cost_option]
    max_tokens: Annotated[int | None, max_tokens_option]

    def load(self, path: Path, *, trusted: bool) -> "Suite":
        """Read a suite with the fields that are set.

        Raises:
            SuiteError: it has mistakes, or needs trust.
            CommandError: nobody is asked in bulk, and that is wanted.
        """
        from tui_eval.suites.loading.suite_file import load

        sets = self.sets
        if self.bulk:  # what a target says itself outranks it
            sets = (*sets, ("target_defaults.bulk", "true"))
        if self.epochs is not None:  # what else the suite says of epochs is checked against them
            sets = (*sets, ("run.epochs", str(self.epochs)))
        suite = load(path, sets=sets, trusted=trusted)
        chosen = [one for one in suite.targets if not self.targets or one.name in self.targets]
        judging = () if self.no_judge else suite.judges
        targets = any(one.asked_in_bulk(one.model_dump()) for one in chosen)
        judges = any(one.asked_in_bulk(one.model_dump()) for one in judging)
        if self.bulk and not targets:
            raise CommandError("--bulk: no target here is asked in bulk: only models are")
        if self.submit and not (targets or judges):
            raise CommandError("--submit: nobody here is asked in bulk: only models are")
        return suite

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
            part=self.part,
            executor=executor_after(NamedExecutor(self.executor, self.address), None),
            board=None if self.board is None else str(self.board.absolute()),
            concurrency=self.concurrency,
            no_judge=self.no_judge,
            fresh=self.fresh,
            submit=self.submit,
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

    def check(self, *, together: bool) -> None:
        """Refuse what cannot be.

        Args:
            together: Whether there may be several suites.

        Raises:
            UsageError: several exclude each other, or one is about a single run.
            Refused: there is no terminal for the app.
        """
        if sum((self.detach, self.as_json, self.events, self.watch)) > 1:
            raise click.UsageError("--detach, --json, --events and --watch exclude each other")
        if self.watch and together:
            raise click.UsageError("--watch opens the app on one run: name one suite")
        if self.watch:
            from tui_eval.cli.commands.app import need_terminal

            need_terminal()


@click.command()
@click.argument("suites", nargs=-1, required=True, metavar="SUITE…",
                type=click.Path(path_type=Path))  # fmt: skip
@grouped("launch", LaunchOptions)
@trust_option
@click.option("--name", "label", metavar="LABEL", help="A name for this run.")
@grouped("output", RunOutput)
@grouped("reports", ReportFiles)
@store_option
def run(
    suites: tuple[Path, ...],
    launch: LaunchOptions,
    trust: bool,
    label: str | None,
    output: RunOutput,
    reports: ReportFiles,
    store: Path | None,
) -> int:
    """Run suites in the foreground: progress, summary, exit code.

    Options for several things are repeated: --case a --case b. A run that leaves cases or targets
    out is marked as partial.

    A folder stands for the suites in it. Several suites get a run each, one after the other, once
    nothing speaks against any of them; all options hold for each. At the end there is one table,
    with the mean over the suites, and the worst exit code.
    """
    together = len(suites) > 1 or suites[0].is_dir()
    output.check(together=together)
    form = output_form(as_json=output.as_json, events=output.events)
    text = not (output.as_json or output.events)
    reports.check(together=together, text=text, stays=not (output.detach or output.watch))
    file = store_file(store)
    checked = _checked(suites, launch, file, trusted=trust, label=label)
    if checked is None:
        return ExitCode.NOT_STARTED
    from tui_eval.cli.running.suite_sequence import run_in_turn

    if output.detach:
        return worst([_leave_running(file, one.create(file)) for one in checked])
    if output.watch:
        (one,) = checked
        return _watch(file, one.create(file))
    return run_in_turn(file, checked, form, reports, together=together)


def _checked(
    paths: "Sequence[Path]", launch: LaunchOptions, store: Path, *, trusted: bool, label: str | None
) -> "list[CheckedSuite] | None":
    """Read all suites and look at what running them would take; None: a reason not to was told.

    Raises:
        StoreError: the store cannot be used.
    """
    from tui_eval.cli.running.suite_sequence import CheckedSuite
    from tui_eval.suites.loading.errors import SuiteError

    files, wrong = named_suites(paths)
    for _, error in wrong:
        explain(error)
    settings = launch.settings()
    checked: list[CheckedSuite] = []
    if launch.baseline is not None and len(files) > 1:
        raise click.UsageError("--baseline is about one suite: name one")
    for file in files:
        try:
            suite = launch.load(file, trusted=trusted)
            looked = _look_before(store, suite, settings, launch.baseline)
        except SuiteError as error:
            explain(error)
        except CommandError as error:
            which = f"{file}: " if len(files) > 1 else ""
            streams.tell_usage(CommandError(f"{which}{error.message}"))
        else:
            checked.append(CheckedSuite(file, suite, settings, label, looked.warnings, looked.base))
    return checked if len(checked) == len(files) and not wrong else None


def _look_before(
    store: Path, suite: "Suite", settings: "Settings", baseline: str | None
) -> "LaunchCheck":
    """Refuse what cannot be started.

    Raises:
        SuiteError: the data has mistakes, or templates need what no case has.
        CommandError: with all that is missing or was chosen and is not there.
    """
    from tui_eval.cli.named.runs import readable_if_there
    from tui_eval.reports.comparison.baseline.base_choice import BaseRefusedError
    from tui_eval.reports.comparison.baseline.launch_check import LaunchRefusedError, checked_launch

    try:
        with readable_if_there(store) as db:
            return checked_launch(db, suite, settings, baseline)
    except LaunchRefusedError as error:
        raise CommandError(str(error)) from None
    except BaseRefusedError as error:
        raise CommandError(f"--baseline: {error}") from None


def _leave_running(store: Path, run_id: int) -> int:
    """Start an engine of its own for a run; print the run's name once all its trials are there."""
    import time

    from tui_eval.cli.named.runs import readable
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
    from tui_eval.cli.named.runs import readable
    from tui_eval.engine.launch import create_run
    from tui_eval.store.read import run_queries

    with readable(store) as db:
        name = run_queries.run(db, run_id).name
    create_run.spawn(store, name)
    return open_on(store, name)
