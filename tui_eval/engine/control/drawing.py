"""Which outputs of a run people are asked to grade: drawn by chance, the same for everybody."""

import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import zip_longest
from typing import Final

from tui_eval.model.states import Verdict
from tui_eval.store.read import grade_queries
from tui_eval.store.read.grade_queries import GivenGradeRow, ScoredOutput

SEED: Final = 1
"""By which outputs are drawn; the same in every session, and shown there."""
DRAWN: Final = 50
"""Outputs that are drawn where nobody says how many."""
_AGAIN: Final = 5
"""One in so many of those drawn is graded by a second person too."""


@dataclass(frozen=True, slots=True)
class GradingSession:
    """What one person is to grade, in the order in which it is shown."""

    seed: int
    trials: Sequence[int]
    """All that is this person's: graded already first, in the order they were."""
    done: int
    """How many of them this person has graded, or could not."""
    drawn: int
    """How many outputs were drawn for everybody."""

    def graded(self, trial: int) -> "GradingSession":
        """Return it with one more graded; the same where it was graded before."""
        if trial in self.trials[: self.done]:
            return self
        left = [one for one in self.trials[self.done :] if one != trial]
        return replace(self, trials=[*self.trials[: self.done], trial, *left], done=self.done + 1)


def drawn(scored: Collection[ScoredOutput], n: int, seed: int) -> list[ScoredOutput]:
    """Draw outputs: half of what a scorer passed, half of what it failed, of each column alike.

    Which they are depends on the seed and their places in the run alone: more are those that were
    drawn before, and others. Where there are too few of a kind, all of it is drawn, and more of the
    others.

    Args:
        scored: What the scorer said of all outputs.
        n: How many to draw.
        seed: The seed.
    """
    halves = [
        _in_turns([one for one in scored if one.verdict is verdict], seed)
        for verdict in (Verdict.PASS, Verdict.FAIL)
    ]
    few = min(halves, key=len)
    many = halves[1] if few is halves[0] else halves[0]
    of_few = min(len(few), n // 2)
    chosen = [*few[:of_few], *many[: n - of_few]]
    return sorted(chosen, key=lambda one: _chance(seed, "order", one.place))


def _in_turns(scored: Sequence[ScoredOutput], seed: int) -> list[ScoredOutput]:
    """Return outputs in a random order, one of each column after the other."""
    by_column: dict[int, list[ScoredOutput]] = {}
    for one in sorted(scored, key=lambda one: _chance(seed, "draw", one.place)):
        by_column.setdefault(one.col, []).append(one)
    rounds = zip_longest(*(by_column[col] for col in sorted(by_column)))
    return [one for of_round in rounds for one in of_round if one is not None]


def _chance(seed: int, what: str, place: int) -> bytes:
    return sha256(f"{seed} {what} {place}".encode()).digest()


def grading_session(
    db: sqlite3.Connection, run: int, scorer: str, person: str, n: int, seed: int = SEED
) -> GradingSession:
    """Say what a person is to grade in a run.

    Of what is drawn each output is graded by whoever comes first, and one in five by a second
    person too.

    Args:
        db: The connection.
        run: The run.
        scorer: By whose question.
        person: The person.
        n: How many outputs are drawn in all.
        seed: The seed.
    """
    given = grade_queries.given(db, run, scorer)
    own = [row.trial for row in given if row.person == person]
    others = _others(given, person)
    chosen = drawn(list(grade_queries.scored(db, run, scorer)), n, seed)
    twice = _graded_twice(chosen, seed)
    open_ = [
        one.trial
        for one in chosen
        if one.trial not in own and others.get(one.trial, 0) < (2 if one.trial in twice else 1)
    ]
    there = {one.trial for one in chosen}
    mine = [trial for trial in own if trial in there]
    return GradingSession(seed, [*mine, *open_], len(mine), len(chosen))


def _others(given: Sequence[GivenGradeRow], person: str) -> dict[int, int]:
    """Count the other people who graded each trial."""
    found: dict[int, int] = {}
    for row in given:
        if row.person != person:
            found[row.trial] = found.get(row.trial, 0) + 1
    return found


def _graded_twice(chosen: Sequence[ScoredOutput], seed: int) -> set[int]:
    """Return which of the outputs drawn a second person grades too."""
    by_chance = sorted(chosen, key=lambda one: _chance(seed, "again", one.place))
    return {one.trial for one in by_chance[: -(-len(chosen) // _AGAIN)]}
