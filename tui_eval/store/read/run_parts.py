"""Which parts of a whole run a run has."""

import sqlite3
from dataclasses import dataclass
from typing import Final

from tui_eval.format import many, number

NO_PART: Final = 0
"""In place of a part's number: of a run that is being merged, or whose merge was broken off, only
the whole is known."""

_NAMED: Final = 20
"""Numbers of parts that are named."""


@dataclass(frozen=True, slots=True)
class RunParts:
    """What a run has of a whole that is run in parts."""

    numbers: tuple[int, ...]
    """The parts that it has, from 1, ascending."""
    of: int
    """Parts of the whole."""
    cases: int
    """Cases that it has."""
    of_cases: int
    """Cases of the whole."""

    @property
    def whole(self) -> bool:
        """Whether all cases are there: a part of few cases may have none."""
        return self.cases >= self.of_cases

    @property
    def missing(self) -> tuple[int, ...]:
        """The parts that it has not, as far as they may have cases."""
        there = frozenset(self.numbers)
        return () if self.whole else tuple(n for n in range(1, self.of + 1) if n not in there)

    @property
    def words(self) -> str:
        """How much of the whole is there: `partial: part 1, 2 of 3, 59 of 100 cases`."""
        return f"partial: part {_listed(self.numbers)} of {self.of}, {self._cases}"

    @property
    def forms(self) -> tuple[str, ...]:
        """The same with what is missing, then ever shorter."""
        missing = f"; missing: {_listed(self.missing)}" if self.missing else ""
        return f"{self.words}{missing}", self.words, f"partial: {self._cases}"

    @property
    def _cases(self) -> str:
        return f"{number(self.cases)} of {many(self.of_cases, 'case')}"


def _listed(parts: tuple[int, ...]) -> str:
    more = " …" if len(parts) > _NAMED else ""
    return ", ".join(map(str, parts[:_NAMED])) + more


def run_parts(db: sqlite3.Connection, run: int) -> RunParts | None:
    """Return what a run has of a whole; None: it is no part of anything.

    Where the same whole was divided in two ways, the parts of the finer division are told.
    """
    rows = db.execute(
        "SELECT of, part, cases FROM run_parts WHERE run = ?1 "
        "AND of = (SELECT max(of) FROM run_parts WHERE run = ?1) ORDER BY part",
        (run,),
    ).fetchall()
    if not rows:
        return None
    (cases,) = db.execute("SELECT count(*) FROM cases WHERE run = ?", (run,)).fetchone()
    of, _, of_cases = rows[0]
    return RunParts(tuple(part for _, part, _ in rows if part != NO_PART), of, cases, of_cases)
