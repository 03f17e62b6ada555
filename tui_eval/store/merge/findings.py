"""What judges said of outputs, each with what it was copied from.

Many outputs are equal, and so thousands of findings may be copies of one, of which any may come
first. So each step goes from few rows to few: never from a key to all that have it.
"""

import sqlite3
from typing import Final

from tui_eval.store.merge.copying import OF_TRIALS, copy, match

_THERE: Final = OF_TRIALS.format("findings")


def findings(db: sqlite3.Connection) -> None:
    """Take what judges said of the trials of a portion."""
    match(
        db,
        "findings",
        f"SELECT s.id FROM {_THERE}",
        "(SELECT d.id FROM map_trials m JOIN main.findings d ON d.trial = m.dst "
        "AND d.scorer = s.scorer AND d.judge = s.judge AND d.purpose = s.purpose "
        "AND d.repeat = s.repeat AND d.numbers = s.numbers AND d.at = s.at "
        "WHERE m.src = s.trial AND NOT m.fresh)",
    )
    _find_origins(db)
    copy(
        db,
        "findings",
        f"{_THERE} CROSS JOIN map_findings f ON f.src = s.id AND f.fresh",
        {
            "id": "f.dst",
            "trial": "m.dst",
            "output": "(SELECT dst FROM map_outputs WHERE src = s.output)",
            "call": "(SELECT dst FROM map_calls WHERE src = s.call)",
            "origin": "coalesce((SELECT dst FROM map_findings WHERE src = s.origin), "
            "(SELECT dst FROM origins_here WHERE src = s.origin))",
            "superseded_by": "NULL",
        },
    )
    _give_origins(db)


def _find_origins(db: sqlite3.Connection) -> None:
    """Look up what findings were copied from that is of no trial of this merge, each once.

    It is of another run, or of a trial that is here and has not changed.
    """
    db.execute(
        "INSERT INTO temp.origins_here SELECT n.id, (SELECT min(d.id) FROM main.findings d "
        "WHERE d.score_key = o.score_key AND d.judge = o.judge AND d.repeat = o.repeat "
        "AND d.at = o.at AND d.origin IS NULL) FROM ("
        f"SELECT DISTINCT s.origin AS id FROM {_THERE} "
        "AND s.origin NOT IN (SELECT src FROM map_findings) "
        "AND s.origin NOT IN (SELECT src FROM origins_here)) n "
        "CROSS JOIN src.findings o ON o.id = n.id"
    )


def _give_origins(db: sqlite3.Connection) -> None:
    """Give findings that came before what they were copied from that, now that it is here."""
    db.execute(
        "INSERT OR IGNORE INTO temp.awaited_origins SELECT f.dst, s.origin "
        f"FROM {_THERE} AND s.origin IS NOT NULL CROSS JOIN map_findings f ON f.src = s.id "
        "CROSS JOIN main.findings d ON d.id = f.dst AND d.origin IS NULL"
    )
    of_portion = f"{_THERE} CROSS JOIN map_findings f ON f.src = s.id CROSS JOIN awaited_origins a"
    found = [
        row
        for which in ("a.dst = f.dst", "a.src = s.id")
        for row in db.execute(
            f"SELECT g.dst, a.dst FROM {of_portion} ON {which} "
            "CROSS JOIN map_findings g ON g.src = a.src"
        )
    ]
    db.executemany("UPDATE main.findings SET origin = ? WHERE id = ?", found)
    db.executemany("DELETE FROM temp.awaited_origins WHERE dst = ?", [(dst,) for _, dst in found])
