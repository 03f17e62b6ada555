"""One transaction of a writer: the moment, the change number, and the moves of trials."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from tui_eval.model.states import TRIAL_MOVES, TrialState


class Tx:
    """What the facts of one transaction share."""

    def __init__(self, db: sqlite3.Connection, now: float, elapsed: float) -> None:
        """Begin.

        Args:
            db: The connection.
            now: Unix seconds.
            elapsed: Seconds that only go forward, as `store.clock` gives them.
        """
        self.db = db
        self.now = now
        """Unix seconds; the same for all facts of the transaction."""
        self.elapsed = elapsed
        """Seconds that only go forward: their differences are durations, in one process."""
        self._change: int | None = None

    @property
    def change(self) -> int:
        """The change number of this transaction, allocated inside it: newer is higher."""
        if self._change is None:
            self._change = int(
                self.db.execute(
                    "UPDATE meta SET value = value + 1 WHERE name = 'change' RETURNING value"
                ).fetchone()[0]
            )
        return self._change

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Undo what is done inside, and nothing else, where it raises."""
        before = self._change
        self.db.execute("SAVEPOINT apart")
        try:
            yield
        except BaseException:
            self._change = before  # undone too, where it was allocated inside
            if self.db.in_transaction:  # SQLite may have given the whole of it up
                self.db.execute("ROLLBACK TO apart")
                self.db.execute("RELEASE apart")
            raise
        self.db.execute("RELEASE apart")

    def move(
        self,
        trial: int,
        to: TrialState,
        of: tuple[TrialState, ...],
        columns: str = "",
        values: tuple[object, ...] = (),
        *,
        only: tuple[str, tuple[object, ...]] = ("", ()),
    ) -> bool:
        """Move a trial to state `to` if it is in one of the states `of`.

        A settled trial that is opened anew gets the number of its next opening: what was begun on
        an earlier one is not written any more (see `trial_moves.stands`). A trial that stays in
        its state keeps since when it is in it.

        Args:
            trial: The trial's id.
            to: The new state.
            of: The states this move is meant for; each must be a legal source of `to`, or all of
                them `to`.
            columns: Further assignments of the same UPDATE, as SQL (`output = ?, cached = 0`).
            values: Their parameters.
            only: What else must hold of the trial, as SQL, with its parameters; empty: nothing.

        Returns:
            False where the trial was in no such state: somebody was quicker. Nothing changed then.
        """
        stays = of == (to,) and not to.settled
        assert stays or all(to in TRIAL_MOVES[source] for source in of), (
            f"no legal move {of} → {to}"
        )
        extra = f", {columns}" if columns else ""
        if not to.settled and all(source.settled for source in of):
            extra += ", opening = opening + 1"
        if not stays:
            extra, values = f", since = ?{extra}", (self.now, *values)
        condition, bound = only
        cursor = self.db.execute(
            f"UPDATE trials SET state = ?, change = ?, waiting = NULL, waiting_until = NULL{extra} "
            f"WHERE id = ? AND state IN ({','.join('?' * len(of))})"
            f"{f' AND {condition}' if condition else ''}",
            (to, self.change, *values, trial, *of, *bound),
        )
        return cursor.rowcount == 1


Fact: TypeAlias = Callable[[Tx], None]
"""Something to be written down, in the transaction of whoever writes it."""
