"""Why scores that count are missing, counted by reason."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tui_eval.store.text import unpack_text


@dataclass(frozen=True, slots=True)
class UngradedRow:
    """Why scorers gave no grade, and for how many trials."""

    scorers: Mapping[str, int]
    """Each with how many trials it left without."""
    reason: str
    n: int
    """Trials, whether one or several scorers left them without."""


@dataclass(frozen=True, slots=True)
class UngradedReasons:
    """The most frequent reasons, and how many there are: a large run may have a million."""

    rows: tuple[UngradedRow, ...] = ()
    """The most frequent first."""
    others: int = 0
    """Further reasons."""
    other_trials: int = 0
    """Trials of those; one that has several counts for each."""
    judged: bool = False
    """Whether a judge gave any score that is missing, whatever its reason."""


_MISSING: Final = (  # with the condition of the index, as it stands there
    "FROM trials t JOIN scores s ON s.trial = t.id WHERE t.run = ?1 AND t.verdict = 'ungraded' "
    "AND (t.verdict IN ('fail', 'ungraded') OR t.state = 'error') "
    "AND s.current = 1 AND s.verdict = 'ungraded'"
)


def ungraded_reasons(db: sqlite3.Connection, run_id: int, most: int) -> UngradedReasons:
    """Return why scores that count are missing; SQLite counts, so that reasons take no memory.

    Args:
        db: The connection.
        run_id: The run.
        most: Reasons that are told one by one.
    """
    found = db.execute(
        # one trial may lack several grades for one reason
        "SELECT reason, n, count(*) OVER (), sum(n) OVER (), max(judged) OVER () FROM ("
        "SELECT s.reason, count(DISTINCT t.id) AS n, max(s.source = 'judge') AS judged, "
        f"min(t.place) AS place, min(s.id) AS score {_MISSING} GROUP BY s.reason) "
        "ORDER BY n DESC, place, score LIMIT ?2",
        (run_id, most),
    ).fetchall()
    if not found:
        return UngradedReasons()
    scorers = _scorers(db, run_id, [row[0] for row in found])
    _, _, reasons, trials, judged = found[0]
    return UngradedReasons(
        tuple(UngradedRow(scorers[reason], unpack_text(reason), n) for reason, n, *_ in found),
        reasons - len(found),
        trials - sum(row[1] for row in found),
        bool(judged),
    )


def _scorers(
    db: sqlite3.Connection, run_id: int, reasons: list[str | bytes]
) -> dict[str | bytes, dict[str, int]]:
    """Count for some reasons the trials that each scorer left without, the most first."""
    marks = ",".join("?" * len(reasons))
    counted: dict[str | bytes, dict[str, int]] = {reason: {} for reason in reasons}
    for reason, scorer, n in db.execute(
        f"SELECT s.reason, s.scorer, count(*) {_MISSING} AND s.reason IN ({marks}) "
        "GROUP BY 1, 2 ORDER BY 3 DESC, min(s.id)",
        (run_id, *reasons),
    ):
        counted[reason][scorer] = n
    return counted
