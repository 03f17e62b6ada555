"""What is asked of grades that people gave: theirs, and what scorers said of the same outputs."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from tui_eval.model.json import Json
from tui_eval.model.states import Verdict
from tui_eval.store.text import load, unpack_text

_SCORED = (
    "FROM trials t JOIN scores s ON s.trial = t.id WHERE t.run = ?1 AND t.state = 'done' "
    "AND t.output IS NOT NULL AND s.scorer = ?2 AND s.source <> 'human' AND s.superseded = 0 "
    "AND s.withdrawn_at IS NULL GROUP BY t.id"
)
"""The newest word of a scorer on each output, also where a person's outranks it; with `max(s.id)`
SQLite takes the other columns of that very row."""


@dataclass(frozen=True, slots=True)
class GivenGradeRow:
    """The last word of one person on one output by one scorer's question."""

    trial: int
    place: int
    seq: int
    """Of its case."""
    col: int
    output: int
    scorer: str
    person: str
    grade: Json
    """As given; None: the person cannot tell."""
    verdict: Verdict | None
    """None: the person cannot tell."""
    value: float | None
    note: str
    seed: int | None
    """By which the output was drawn; None: somebody chose it."""


@dataclass(frozen=True, slots=True)
class ScoredOutput:
    """What a scorer said of one trial's output, whatever a person said of it since."""

    trial: int
    place: int
    col: int
    output: int
    verdict: Verdict
    value: float | None


def given(db: sqlite3.Connection, run: int, scorer: str | None = None) -> list[GivenGradeRow]:
    """Return the grades that count: of each person the last for an output and scorer.

    Those of outputs that their trials no longer have are left out. Whoever graded an output first
    stands first.

    Args:
        db: The connection.
        run: The run.
        scorer: By whose question; None: all.
    """
    found: dict[tuple[int, str, str], GivenGradeRow] = {}
    for row in db.execute(
        "SELECT g.trial, t.place, t.seq, t.col, g.output, g.scorer, g.person, g.grade, g.verdict, "
        "g.value, g.note, g.seed FROM grades g JOIN trials t ON t.id = g.trial "
        "AND t.output = g.output WHERE g.run = ?1 AND (?2 IS NULL OR g.scorer = ?2) ORDER BY g.id",
        (run, scorer),
    ):
        trial, place, seq, col, output, name, person, grade, verdict, value, note, seed = row
        one = GivenGradeRow(
            trial,
            place,
            seq,
            col,
            output,
            name,
            unpack_text(person),
            load(grade),
            None if verdict is None else Verdict(verdict),
            value,
            unpack_text(note),
            seed,
        )
        found[trial, name, one.person] = one  # keeps the place of the person's first word
    return list(found.values())


def any_grades(db: sqlite3.Connection, run: int) -> bool:
    """Whether people graded anything of a run: by hand, to measure, or as gold before it."""
    row = db.execute(
        "SELECT EXISTS (SELECT 1 FROM grades WHERE run = ?1) "
        "OR EXISTS (SELECT 1 FROM trust WHERE run = ?1 AND kind = 'gold') "
        "OR EXISTS (SELECT 1 FROM scores s CROSS JOIN trials t ON t.id = s.trial "
        "WHERE s.source = 'human' AND s.current = 1 AND t.run = ?1)",
        (run,),
    ).fetchone()
    return bool(row[0])


def graded_scorers(db: sqlite3.Connection, run: int) -> list[str]:
    """Return the scorers by whose questions anybody has graded outputs of a run."""
    rows = db.execute("SELECT DISTINCT scorer FROM grades WHERE run = ? ORDER BY 1", (run,))
    return [row[0] for row in rows]


def scored(db: sqlite3.Connection, run: int, scorer: str) -> Iterator[ScoredOutput]:
    """Stream what a scorer said of a run's outputs."""
    for trial, place, col, output, verdict, value, _ in db.execute(
        f"SELECT t.id, t.place, t.col, t.output, s.verdict, s.value, max(s.id) {_SCORED}",
        (run, scorer),
    ):
        yield ScoredOutput(trial, place, col, output, Verdict(verdict), value)


def verdict_counts(db: sqlite3.Connection, run: int, scorer: str) -> dict[tuple[int, Verdict], int]:
    """Count what a scorer said of a run's outputs, by column and verdict."""
    rows = db.execute(
        "SELECT col, verdict, count(*) FROM (SELECT t.col AS col, s.verdict AS verdict, max(s.id) "
        f"{_SCORED}) GROUP BY 1, 2",
        (run, scorer),
    )
    return {(col, Verdict(verdict)): n for col, verdict, n in rows}


def verdicts_by_case(
    db: sqlite3.Connection, run: int, scorer: str
) -> Iterator[tuple[int, int, int, int]]:
    """Yield column, case, outputs that a scorer passed, and those that it passed or failed."""
    return db.execute(
        "SELECT col, seq, sum(verdict = 'pass'), count(*) FROM (SELECT t.col AS col, t.seq AS seq, "
        f"s.verdict AS verdict, max(s.id) {_SCORED}) WHERE verdict IN ('pass', 'fail') "
        "GROUP BY 1, 2",
        (run, scorer),
    )


def scored_trials(
    db: sqlite3.Connection, run: int, scorer: str, trials: str
) -> dict[int, ScoredOutput]:
    """Return what a scorer said of some trials, by their ids.

    Args:
        db: The connection.
        run: The run.
        scorer: The scorer.
        trials: Their ids, a JSON list.
    """
    rows = db.execute(
        "SELECT t.id, t.place, t.col, t.output, s.verdict, s.value, max(s.id) "
        + _SCORED.replace("GROUP BY", "AND t.id IN (SELECT value FROM json_each(?3)) GROUP BY"),
        (run, scorer, trials),
    )
    return {
        trial: ScoredOutput(trial, place, col, output, Verdict(verdict), value)
        for trial, place, col, output, verdict, value, _ in rows
    }


def verdicts_when_graded(db: sqlite3.Connection, run: int, scorer: str) -> dict[int, Verdict]:
    """Return what a scorer said of graded outputs when they were graded first, by their trials."""
    rows = db.execute(
        "SELECT g.trial, s.verdict, max(s.id) FROM (SELECT trial, output, min(at) AS at "
        "FROM grades WHERE run = ?1 AND scorer = ?2 GROUP BY trial, output) g "
        "JOIN trials t ON t.id = g.trial AND t.output = g.output "
        "JOIN scores s ON s.trial = g.trial AND s.scorer = ?2 AND s.source <> 'human' "
        "AND s.at <= g.at GROUP BY g.trial",
        (run, scorer),
    )
    return {trial: Verdict(verdict) for trial, verdict, _ in rows}


def by_hand(db: sqlite3.Connection, run: int) -> dict[int, int]:
    """Count the trials with a person's verdict that counts, by column; those without are not in it.

    Cheap: scores by hand have an index of their own.
    """
    rows = db.execute(
        "SELECT t.col, count(DISTINCT t.id) FROM scores s CROSS JOIN trials t ON t.id = s.trial "
        "WHERE s.source = 'human' AND s.current = 1 AND t.run = ? AND t.state = 'done' GROUP BY 1",
        (run,),
    )
    return dict(rows.fetchall())
