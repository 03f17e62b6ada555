"""Suites that were checked, run one after the other: a run each, and one exit code."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tui_eval.cli import streams
from tui_eval.cli.errors import explain
from tui_eval.cli.named.runs import readable
from tui_eval.cli.running.foreground import drive
from tui_eval.cli.running.report_files import ReportFiles
from tui_eval.cli.running.reporter import OutputForm, Reporter
from tui_eval.engine.launch import create_run
from tui_eval.engine.settings import Settings
from tui_eval.invocation import command_name
from tui_eval.model.exit_code import ExitCode, worst
from tui_eval.model.visible import visible_line
from tui_eval.providers.errors import UnavailableError
from tui_eval.reports.suite_runs import SuiteRun
from tui_eval.store.read import run_queries
from tui_eval.store.read.run_counts import board
from tui_eval.store.write.baseline_writes import BaseChoice
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.suites.spec import Suite


@dataclass(frozen=True, slots=True)
class CheckedSuite:
    """A suite that may start, as it was read."""

    file: Path
    suite: Suite
    settings: Settings
    label: str | None
    warnings: tuple[str, ...]
    """What may not be meant so."""
    base: BaseChoice | None = None
    """What its run is compared with; None: its baseline, if there is one."""

    def create(self, store: Path) -> int:
        """Make its run, after telling what a person should know of it; return the run's id.

        Raises:
            StoreError: the store cannot be used; there is no new run then.
        """
        for warning in self.warnings:
            streams.tell(f"note: {warning}")
        for target in self.suite.targets:
            if not self.settings.targets or target.name in self.settings.targets:
                for words in target.runs():
                    streams.tell(f"{visible_line(target.name)} runs {visible_line(words)}")
        path = str(self.file.absolute())
        return create_run.create(
            store, self.suite, self.settings, path=path, label=self.label, base=self.base
        )


def run_in_turn(
    store: Path,
    suites: Sequence[CheckedSuite],
    form: OutputForm,
    reports: ReportFiles,
    *,
    together: bool,
) -> int:
    """Run suites one after the other and give the exit code: the worst there is.

    A suite that turns out not to be runnable leaves the others alone. Somebody who stops the
    command, or a store that cannot be used, leaves those that follow without a run.

    Args:
        store: The store's file.
        suites: The suites, at least one.
        form: What stdout gets.
        reports: What is written of each run as it ends.
        together: Whether what all came to is told at the end; otherwise there is one suite.
    """
    each = OutputForm.NOTHING if together and form is OutputForm.JSON else form
    runs: list[SuiteRun] = []
    for one in suites:
        if together:
            streams.tell(f"{len(runs) + 1} of {len(suites)}: {one.file}")
        made, halted = _run(store, one, each, reports, follows=bool(runs), together=together)
        runs.append(made)
        if halted is not None:
            left = suites[len(runs) :]
            if left:
                streams.tell(f"not begun: {', '.join(str(one.file) for one in left)}")
            runs += [SuiteRun(one.file, halted, reason="not begun") for one in left]
            break
    code = worst(run.code for run in runs)
    if together:
        telling = Reporter(form, store, follows=True)
        telling.finished_all(runs)
        if telling.unheard:
            code = code or ExitCode.INCOMPLETE
    return code


def _run(
    store: Path,
    one: CheckedSuite,
    form: OutputForm,
    reports: ReportFiles,
    *,
    follows: bool,
    together: bool,
) -> tuple[SuiteRun, int | None]:
    """Run a suite; say how it ended, and with which code those that follow end without a run."""
    try:
        run_id = one.create(store)
        end = drive(store, run_id, form, follows=follows)
        if one.settings.only is not None:
            _tell_if_nobody_was_asked(store, run_id, one.settings.only)
        code = end.code
        if end.results is not None and code != ExitCode.NOT_STARTED:
            whole = reports.write(store, end.results.run, together=together)
            code = code if whole else code or ExitCode.INCOMPLETE
    except (SuiteError, UnavailableError) as error:  # nothing of this one was started
        return SuiteRun(one.file, explain(error), reason=str(error)), None
    except Exception as error:  # noqa: BLE001 - what the others came to is told all the same
        code = explain(error)
        return SuiteRun(one.file, code, reason=str(error)), code
    reason = "the store could not be read" if end.results is None else None
    halted = ExitCode.INTERRUPTED if end.stopped else None
    return SuiteRun(one.file, code, end.results, reason), halted


def _tell_if_nobody_was_asked(store: Path, run_id: int, which: str) -> None:
    """Say so where a person who picked cases by their verdict got the outputs there were."""
    with readable(store) as db:
        counts, name = board(db, run_id)[0], run_queries.run(db, run_id).name
    if not counts.total or counts.cached < counts.total:
        return
    retry = f", `{command_name()} retry {name} --failed` too" if which == "failed" else ""
    streams.tell(f"nothing was asked: all outputs are in the store; --fresh asks again{retry}")
