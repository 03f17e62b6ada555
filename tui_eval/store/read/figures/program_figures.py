"""What the programs of a run took, ran into and changed, summed up."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from tui_eval.model.outputs.attempt_record import ResourceFigures


@dataclass(frozen=True, slots=True)
class ProgramFigures:
    """Of all attempts of one run that ran a program; what came from the cache took nothing."""

    attempts: int
    cpu_s: float | None
    """All of them together; None: of no one is it known."""
    peak_rss_bytes: int | None
    """Of the largest; None: of no one is it known."""
    changed_files: int
    """Added, changed and removed, all together."""
    limits: Mapping[str, int]
    """How many outputs each limit has ended, the most frequent first."""
    isolation: Mapping[str, int]
    """How many ran on each level, the most frequent first."""


def program_figures(db: sqlite3.Connection, run: int) -> ProgramFigures | None:
    """Sum up what the programs of a run took; None: it ran none."""
    if db.execute("SELECT 1 FROM attempt_records LIMIT 1").fetchone() is None:
        return None
    attempts, cpu_s, peak, files = db.execute(
        "SELECT count(*), sum(r.cpu_s), max(r.peak_rss_bytes), "
        "ifnull(sum(r.added + r.changed + r.removed), 0) FROM trials t "
        "JOIN attempt_records r ON r.trial = t.id "
        "WHERE t.run = ? AND coalesce(r.exit_code, r.exit_signal, r.isolation) IS NOT NULL",
        (run,),
    ).fetchone()
    if not attempts:
        return None
    limits = db.execute(
        "SELECT substr(o.finish_reason, 7), count(*) FROM trials t "
        "JOIN outputs o ON o.id = t.output "
        "WHERE t.run = ? AND o.finish_reason GLOB 'limit:*' GROUP BY 1 ORDER BY 2 DESC, 1",
        (run,),
    )
    levels = db.execute(
        "SELECT r.isolation, count(*) FROM trials t JOIN attempt_records r ON r.trial = t.id "
        "WHERE t.run = ? AND r.isolation IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1",
        (run,),
    )
    return ProgramFigures(
        attempts, cpu_s, peak, files, dict(limits.fetchall()), dict(levels.fetchall())
    )


def resources_by_column(db: sqlite3.Connection, run: int) -> dict[int, ResourceFigures]:
    """Return what the programs of each column of a run took so far.

    The most of memory, processes, disk and output, and the sums of processor time and of time.
    """
    rows = db.execute(
        "SELECT t.col, sum(r.cpu_s), sum(r.wall_s), max(r.peak_rss_bytes), max(r.peak_processes), "
        "max(r.disk_bytes), max(r.output_bytes) FROM trials t "
        "JOIN attempt_records r ON r.trial = t.id WHERE t.run = ? GROUP BY t.col",
        (run,),
    )
    return {col: ResourceFigures(*figures) for col, *figures in rows}
