"""Trials as they are named on the command line."""

from typing import TYPE_CHECKING

from tui_eval.cli.errors import CommandError
from tui_eval.cli.named.suggest import refuse_unknown, refuse_unknown_cases

if TYPE_CHECKING:
    import sqlite3

    from tui_eval.store.rows import RunRow, TrialRow


def trials_of_case(
    db: "sqlite3.Connection", run: "RunRow", case_id: str, target: str | None, epoch: int | None
) -> "list[TrialRow]":
    """Return the trials of a case that are meant, in dataset order.

    Args:
        db: The connection.
        run: The run.
        case_id: The case.
        target: Only of this target, or target/prompt; None: of all.
        epoch: Only the how-manieth time it was asked, from 1; None: all of them.

    Raises:
        CommandError: the run has no such case, target or epoch.
    """
    from tui_eval.format import many
    from tui_eval.store.read import run_queries
    from tui_eval.store.read.trials import trial_rows

    refuse_unknown_cases(db, run, [case_id])
    trials = trial_rows.trials_of_cases(db, run.id, [case_id])
    if target is not None:
        columns = run_queries.columns(db, run.id)
        names = [name for column in columns for name in (column.target, column.name)]
        refuse_unknown(f"target of run {run.name}", [target], names)
        wanted = {column.index for column in columns if target in (column.target, column.name)}
        trials = [trial for trial in trials if trial.col in wanted]
    if epoch is not None:
        most = max(trial.epoch for trial in trials) + 1
        if epoch > most:
            asked = many(most, "time")
            raise CommandError(f"case {case_id!r} was asked {asked}: --epoch is at most {most}")
        trials = [trial for trial in trials if trial.epoch == epoch - 1]
    return trials
