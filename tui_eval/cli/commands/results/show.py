"""`tui-eval runs` and `tui-eval show`: what the store has."""

import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from tui_eval.cli import streams
from tui_eval.cli.named.suggest import refuse_unknown_cases
from tui_eval.cli.options import WHOLE, grouped, json_option, run_argument, store_file, store_option
from tui_eval.invocation import command_name
from tui_eval.model.visible import visible_line

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from tui_eval.model.json import Json, JsonObject
    from tui_eval.store.files import FileStore
    from tui_eval.store.rows import RunRow, TrialRow
    from tui_eval.store.search.views import TrialOutcome

_NONE = "there are no runs yet; `tui-eval run SUITE` makes one"


@click.command()
@click.option("--limit", type=WHOLE, metavar="N", help="Only the newest N.")
@json_option
@store_option
def runs(limit: int | None, as_json: bool, store: Path | None) -> None:
    """List runs, the newest first."""
    from tui_eval.cli.named.runs import readable
    from tui_eval.reports import json_output
    from tui_eval.reports.document import of_results
    from tui_eval.reports.results import results
    from tui_eval.reports.terminal.listing import listing
    from tui_eval.reports.terminal.tables import AnsiStyle
    from tui_eval.store.read import run_queries

    file = store_file(store)
    if not file.exists():
        if as_json:
            streams.say("[]")
        else:
            streams.tell(_NONE)
        return
    with readable(file) as db:
        rows = run_queries.runs(db, limit=limit or -1)
        if as_json:
            documents = [
                of_results(results(db, row.id, compared=False), groups=False) for row in rows
            ]
            streams.say(json_output.dumps(documents, indent=2))
        elif rows:
            now, ink = time.time(), AnsiStyle(streams.coloured())
            streams.say("\n".join(listing(db, rows, now, streams.width(), ink)))
        else:
            streams.tell(_NONE)


@dataclass(frozen=True, slots=True)
class _Shown:
    """What is shown of a run."""

    cases: Annotated[
        tuple[str, ...],
        click.option("--case", "cases", multiple=True, metavar="ID", help="This case in full."),
    ]
    failed: Annotated[
        bool, click.option("--failed", is_flag=True, help="Every trial that failed, and why.")
    ]
    errors: Annotated[
        bool, click.option("--errors", is_flag=True, help="Every trial that errored, and why.")
    ]
    ungraded: Annotated[
        bool,
        click.option("--ungraded", is_flag=True, help="Every trial that is ungraded, and why."),
    ]
    files: Annotated[
        bool,
        click.option(
            "--files", is_flag=True, help="With --case: what programs changed in their workspaces."
        ),
    ]
    target: Annotated[
        str | None,
        click.option("--target", metavar="NAME", help="With --files: only of this target."),
    ]
    epoch: Annotated[
        int | None,
        click.option(
            "--epoch", type=WHOLE, metavar="N", help="With --files: only of the Nth time."
        ),
    ]

    @property
    def which(self) -> "tuple[TrialOutcome, ...]":
        """How the trials stand that are listed; empty: none are."""
        from tui_eval.store.search.views import TrialOutcome

        chosen = {
            TrialOutcome.FAILED: self.failed,
            TrialOutcome.ERRORS: self.errors,
            TrialOutcome.UNGRADED: self.ungraded,
        }
        return tuple(outcome for outcome, wanted in chosen.items() if wanted)

    def check(self) -> None:
        """See that they go together.

        Raises:
            UsageError: they do not.
        """
        if self.cases and self.which:
            raise click.UsageError(f"--case and --{self.which[0]} exclude each other")
        if self.files and not self.cases:
            raise click.UsageError("--files needs --case ID: which one?")
        if not self.files and (self.target is not None or self.epoch is not None):
            raise click.UsageError("--target and --epoch say whose --files are shown")


@click.command()
@run_argument
@grouped("shown", _Shown)
@json_option
@store_option
def show(name: str, shown: _Shown, as_json: bool, store: Path | None) -> None:
    """Show a run's summary, what did not pass, or one case in full.

    With --json it is the run's document; --case, --failed, --errors and --ungraded add the trials
    they name to it, --files what programs changed.
    """
    from tui_eval.cli.named.runs import readable
    from tui_eval.store.files import FileStore
    from tui_eval.store.read import run_queries

    shown.check()
    with readable(store_file(store)) as db:
        run = run_queries.run_named(db, name)
        refuse_unknown_cases(db, run, shown.cases)
        if shown.files:
            left = _Left(db, run, FileStore.beside(store_file(store)), shown)
            streams.say(left.json() if as_json else "\n".join(left.lines()))
        elif as_json:
            from tui_eval.reports import json_output

            streams.say_pieces(json_output.pieces(_document(db, run, shown)))
        else:
            _print(db, run, shown)


class _Left:
    """What programs changed in their workspaces, of some trials of a run."""

    def __init__(
        self,
        db: "sqlite3.Connection",
        run: "RunRow",
        files: "FileStore",
        shown: _Shown,
    ) -> None:
        from tui_eval.cli.named.trials import trials_of_case

        self._db = db
        self._run = run
        self._files = files
        self._trials = [
            trial
            for case_id in dict.fromkeys(shown.cases)
            for trial in trials_of_case(db, run, case_id, shown.target, shown.epoch)
        ]

    def json(self) -> str:
        """Return the run's document with these trials, each with its files."""
        from tui_eval.reports import json_output
        from tui_eval.reports.document import document
        from tui_eval.reports.exports.trial_line import TrialLines
        from tui_eval.store.read import report_queries

        made = TrialLines(self._db, self._run.id)
        trials = {trial.id: trial for trial in self._trials}
        whole = document(self._db, self._run.id)
        whole["trials"] = [
            {**made.json(line), **self._as_json(trials[line.id])}
            for case_id in dict.fromkeys(trial.case_id for trial in self._trials)
            for line in report_queries.lines_of_case(self._db, self._run.id, case_id)
            if line.id in trials
        ]
        return json_output.dumps(whole, indent=2)

    def lines(self) -> "Iterator[str]":
        """Yield them for people."""
        from tui_eval.processes.workspace.bounds import WorkspaceError
        from tui_eval.reports.programs.left_files import changes_of, file_lines
        from tui_eval.reports.terminal.tables import AnsiStyle

        ink = AnsiStyle(streams.coloured())
        for trial in self._trials:
            name = f"{trial.case_id} · {self._column(trial)} · epoch {trial.epoch + 1}"
            yield ink.bold(visible_line(name))
            try:
                changes = changes_of(self._db, self._files, trial.id)
            except WorkspaceError as error:
                yield f"  {visible_line(str(error), 1000)}"
                continue
            if changes is None:
                yield "  it left no workspace"
                continue
            for line in file_lines(changes):
                yield f"  {line}"

    def _as_json(self, trial: "TrialRow") -> "JsonObject":
        from tui_eval.processes.workspace.bounds import WorkspaceError
        from tui_eval.reports.programs.left_files import changes_of, left_files

        try:
            changes = changes_of(self._db, self._files, trial.id)
        except WorkspaceError as error:
            return {"files": None, "files_incomplete": str(error)}
        if changes is None:
            return {"files": None, "files_incomplete": None}
        return {
            "files": [one.as_json() for one in left_files(changes)],
            "files_incomplete": changes.incomplete,
        }

    def _column(self, trial: "TrialRow") -> str:
        return self._names[trial.col]

    @cached_property
    def _names(self) -> dict[int, str]:
        from tui_eval.store.read import run_queries

        return {one.index: one.name for one in run_queries.columns(self._db, self._run.id)}


def _document(
    db: "sqlite3.Connection", run: "RunRow", shown: _Shown
) -> "dict[str, Json | Iterator[Json]]":
    """Return the run's document; trials are read as they are written: all may have failed."""
    from tui_eval.reports.document import document
    from tui_eval.reports.exports.trial_line import TrialLines
    from tui_eval.store.read import report_queries

    whole: dict[str, Json | Iterator[Json]] = {**document(db, run.id)}
    made = TrialLines(db, run.id)
    if shown.cases:
        whole["trials"] = (
            made.json(line)
            for case_id in dict.fromkeys(shown.cases)
            for line in report_queries.lines_of_case(db, run.id, case_id)
        )
    elif shown.which:
        whole["trials"] = map(made.json, report_queries.lines(db, run.id, shown.which))
    return whole


def _print(db: "sqlite3.Connection", run: "RunRow", shown: _Shown) -> None:
    from tui_eval.reports.results import results
    from tui_eval.reports.terminal.failures import failures
    from tui_eval.reports.terminal.summary import summary
    from tui_eval.reports.terminal.tables import AnsiStyle
    from tui_eval.reports.terminal.whole_case import case_in_full
    from tui_eval.store.opening.store_file import place_of

    ink = AnsiStyle(streams.coloured())
    if shown.which:
        found = False
        for line in failures(db, run.id, ink, shown.which):
            streams.say(line)
            found = True
        if not found:
            streams.tell(_none_stand_so(db, run, shown.which))
    elif not shown.cases:
        of = results(db, run.id)
        width, store = streams.width(), place_of(db)
        streams.say(summary(of, width=width, ink=ink, groups=True, store=store))
    for i, case_id in enumerate(dict.fromkeys(shown.cases)):
        if i:
            streams.say("")
        for line in case_in_full(db, run.id, case_id, time.time(), ink):
            streams.say(line)


def _none_stand_so(
    db: "sqlite3.Connection", run: "RunRow", which: "tuple[TrialOutcome, ...]"
) -> str:
    """Say that no trial stands so, and what did not pass all the same."""
    from tui_eval.format import many
    from tui_eval.store.read.run_counts import board
    from tui_eval.store.search.views import TrialOutcome

    said_of = {
        TrialOutcome.FAILED: "failed",
        TrialOutcome.ERRORS: "errored",
        TrialOutcome.UNGRADED: "is ungraded",
    }
    total = board(db, run.id)[0]
    others = [
        f"{number:,} {word}"
        for number, word in (
            (total.failed, "failed"),
            (total.error, "errored"),
            (total.ungraded, "ungraded"),
            (total.cancelled, "cancelled"),
            (total.total - total.settled, "open"),
        )
        if number
    ]
    said = f"nothing {' or '.join(said_of[one] for one in which)} of {many(total.total, 'trial')}"
    return f"{said}; {', '.join(others)}: `{command_name()} show {run.name}`" if others else said
