"""Names on the command line that must exist, refused with the nearest there is."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tui_eval.cli.errors import CommandError

if TYPE_CHECKING:
    import sqlite3

    from tui_eval.store.rows import RunRow


def refuse_unknown(noun: str, wanted: Sequence[str], known: Iterable[str]) -> None:
    """Refuse the first name that does not exist.

    Args:
        noun: What is named: `target`, `case`.
        wanted: The names given.
        known: All names there are, or those among them that may be meant.

    Raises:
        Refused: naming it, with the nearest there is, or what there is.
    """
    from tui_eval.suites.loading.errors import unknown_names

    for said in unknown_names(noun, wanted, known):
        raise CommandError(said)


def refuse_unknown_cases(db: "sqlite3.Connection", run: "RunRow", cases: Sequence[str]) -> None:
    """Refuse cases that a run does not have.

    Raises:
        Refused: naming the first.
    """
    from tui_eval.store.read.trials import trial_rows
    from tui_eval.suites.loading.errors import NEAR

    there = {trial.case_id for trial in trial_rows.trials_of_cases(db, run.id, cases)}
    missing = [case for case in cases if case not in there]
    if missing:
        known = (trial.case_id for trial in trial_rows.trials_from(db, run.id, 0, NEAR))
        refuse_unknown(f"case of run {run.name}", missing, known)
