"""Which trials of another store have something that is not here yet.

The number of its last change does not say it alone: two copies of a store go on counting, each for
itself, and what was done in one of them has numbers that were taken from the other. So what a
trial has is compared with what it has here.
"""

import sqlite3
from typing import Final

from tui_eval.store.merge.facts import NEWER_MEASURE
from tui_eval.store.merge.sources import SourceRun
from tui_eval.store.merge.standing import LAST

_ANOTHER: Final = (
    "EXISTS (SELECT 1 FROM src.{0} x WHERE x.trial = s.id AND NOT EXISTS ("
    "SELECT 1 FROM main.{0} y WHERE y.trial = d.id AND {1}))"
)
_CHANGED: Final = " OR ".join(
    (
        "d.id IS NULL",
        _ANOTHER.format("attempts", "y.sent_at = x.sent_at"),
        _ANOTHER.format("scores", "y.scorer = x.scorer AND y.at = x.at AND y.source = x.source"),
        _ANOTHER.format("notes", "y.at = x.at AND y.text = x.text"),
        _ANOTHER.format("grades", "y.scorer = x.scorer AND y.person = x.person AND y.at = x.at"),
        (
            f"((o.at, o.digest) IS (p.at, p.digest) AND {LAST.format('s', 'src')} > "
            f"{LAST.format('d', 'main')})"
        ),
    )
)
_TRIALS: Final = (
    "SELECT s.id FROM src.trials s JOIN src.cases c ON c.run = s.run AND c.seq = s.seq "
    "LEFT JOIN main.cases e ON e.run = ?3 AND e.id = c.id "
    "LEFT JOIN main.trials d ON d.run = ?3 AND d.seq = e.seq AND d.col = s.col "
    "AND d.epoch = s.epoch "
    "LEFT JOIN src.outputs o ON o.id = s.output LEFT JOIN main.outputs p ON p.id = d.output "
    f"WHERE s.run = ?1 AND (s.change > ?2 OR {_CHANGED})"
)


_CALL: Final = "sent_at, scorer, judge, request"
_CALLS: Final = (
    f"SELECT count(*) FROM (SELECT {_CALL} FROM src.judge_calls WHERE run = ?1 "
    f"EXCEPT SELECT {_CALL} FROM main.judge_calls WHERE run = ?2)"
)
_MEASURES: Final = (
    f"SELECT count(*) FROM src.trust s WHERE s.run = ?1 AND {NEWER_MEASURE.format('?2')}"
)


def judging(db: sqlite3.Connection, source: SourceRun, target: int) -> int:
    """Return how many calls to judges, and measures of them, a run there has beyond the run here.

    A judge that was measured again has changed no trial.
    """
    return sum(
        int(db.execute(counted, (source.row.id, target)).fetchone()[0])
        for counted in (_CALLS, _MEASURES)
    )


def count(db: sqlite3.Connection, source: SourceRun, target: int, since: int) -> int:
    """Return how many trials of a run there have something that the run here has not.

    Args:
        db: A connection with the other store attached as `src`.
        source: The run there.
        target: The run here.
        since: The newest change there that was taken; 0: nothing was.
    """
    found = db.execute(f"SELECT count(*) FROM ({_TRIALS})", (source.row.id, since, target))
    return int(found.fetchone()[0])


def write_down(db: sqlite3.Connection, source: SourceRun, target: int | None, since: int) -> int:
    """Put those trials into the table `todo`; return how many they are.

    Args:
        db: A connection with the other store attached as `src`.
        source: The run there.
        target: The run here; None: there is none, and all of them are new.
        since: The newest change there that was taken; 0: nothing was.
    """
    db.execute("DELETE FROM temp.todo")
    if target is None:
        whole = "INSERT INTO temp.todo SELECT id FROM src.trials WHERE run = ?"
        return db.execute(whole, (source.row.id,)).rowcount
    some = f"INSERT INTO temp.todo {_TRIALS}"
    return db.execute(some, (source.row.id, since, target)).rowcount
