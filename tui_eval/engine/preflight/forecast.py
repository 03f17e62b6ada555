"""What the store has of the trials that a launch wants, and what must be asked."""

import sqlite3
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from tui_eval.engine.launch.plan import PlannedTrial, problems
from tui_eval.engine.preflight.stale_reasons import NOTHING, StaleReasons
from tui_eval.engine.session import Session
from tui_eval.format import many, number
from tui_eval.store.read.trials import reusable_outputs, trial_rows


@dataclass(frozen=True, slots=True)
class TrialCounts:
    """Trials, of a column or of all of them, by what the store has."""

    reusable: int = 0
    """Their outputs are in the store: no call."""
    again: int = 0
    """Their outputs are in the store and are asked for all the same: the cache is off."""
    stale: int = 0
    """The suite's last full run had the case, but its request was another."""
    new: int = 0
    broken: int = 0
    """Their requests or checks cannot be rendered: they end in error."""
    why_stale: Mapping[str, int] = field(default_factory=dict)
    """What changed since that run, with how many stale trials it made so."""

    @property
    def trials(self) -> int:
        """All of them."""
        return self.reusable + self.again + self.stale + self.new + self.broken

    @property
    def calls(self) -> int:
        """Requests that will be sent, further attempts aside."""
        return self.stale + self.new + self.again

    def __add__(self, other: "TrialCounts") -> "TrialCounts":
        return TrialCounts(
            self.reusable + other.reusable,
            self.again + other.again,
            self.stale + other.stale,
            self.new + other.new,
            self.broken + other.broken,
            Counter(self.why_stale) + Counter(other.why_stale),
        )


@dataclass(frozen=True, slots=True)
class LaunchForecast:
    """The trials of a launch, sorted by what the store has."""

    cases: int
    epochs: int
    columns: Mapping[str, TrialCounts]
    """By the column's name, in their order."""
    removed: int
    """Trials of the suite's last full run that are wanted no more; 0 for a partial launch."""

    @property
    def total(self) -> TrialCounts:
        """The trials of all columns."""
        return sum(self.columns.values(), TrialCounts())

    def kinds(self) -> str:
        """Say how many trials are of each kind: `6 reusable · 0 stale · 2 new`.

        With the cache off what is there is asked again, and nothing is reusable.
        """
        total = self.total
        kinds = [
            f"{number(total.again)} asked again"
            if total.again
            else f"{number(total.reusable)} reusable",
            f"{number(total.stale)} stale",
            f"{number(total.new)} new",
        ]
        rare = ((total.broken, "broken"), (self.removed, "removed"))
        return " · ".join([*kinds, *(f"{number(n)} {kind}" for n, kind in rare if n)])

    def cache_off(self) -> str:
        """Say what the cache being off costs; empty: it costs nothing, or is on."""
        again = self.total.again
        there = many(again, "output is there and", "outputs are there and")
        return f"{there} asked for again" if again else ""

    def why_stale(self) -> list[str]:
        """Say what made trials stale, one reason each: `prompt changed (5 trials)`."""
        return [
            f"{why}{'' if why == NOTHING else ' changed'} ({many(trials, 'trial')})"
            for why, trials in self.total.why_stale.items()
        ]


def launch_forecast(
    db: sqlite3.Connection | None, session: Session, only: frozenset[str] | None
) -> LaunchForecast:
    """Count what a launch would find; reads all of the data, writes nothing.

    Args:
        db: A connection to the store; None: there is no store yet.
        session: The suite's, with the launch's choices.
        only: The cases that `Settings.only` stands for; None: all.

    Raises:
        SuiteError: the data has mistakes.
        UnavailableError: a target's model file is not there, so its outputs are not known.
    """
    suite, settings = session.suite, session.settings
    before = None if db is None else _last_full_run(db, suite.name)
    changed = None if db is None or before is None else StaleReasons(db, before, suite)
    reuse = suite.run.cache and not settings.fresh
    counts: dict[str, Counter[str]] = {column.name: Counter() for column in session.columns}
    why_stale: dict[str, Counter[str]] = {column.name: Counter() for column in session.columns}
    cases = known = 0
    for portion in session.wanted(only):
        keys = [want.key for want in portion if want.key is not None]
        there = reusable_outputs.usable_keys(db, keys) if db is not None else set()
        had: set[trial_rows.TrialName] = set()
        if db is not None and before is not None:
            had = trial_rows.names_of_cases(db, before, [want.case.id for want in portion])
        wrong = problems((want for want in portion if want.key is not None), session.problem)
        for want in portion:
            was_there = _name(want) in had
            known += was_there
            kind = "new"
            if want.key is None or wrong[want.where] is not None:
                kind = "broken"
            elif want.key in there:
                kind = "reusable" if reuse else "again"
            elif was_there and changed is not None:
                kind = "stale"
                why_stale[want.column.name][changed.why(want)] += 1
            counts[want.column.name][kind] += 1
        cases = portion[-1].case.seq + 1
    return LaunchForecast(
        cases=cases,
        epochs=settings.epochs or suite.run.epochs,
        columns={
            name: TrialCounts(**found, why_stale=why_stale[name]) for name, found in counts.items()
        },
        removed=0 if settings.partial else _trials_of(db, before) - known,
    )


def _trials_of(db: sqlite3.Connection | None, run: int | None) -> int:
    if db is None or run is None:
        return 0
    return int(db.execute("SELECT total FROM runs WHERE id = ?", (run,)).fetchone()[0])


def _last_full_run(db: sqlite3.Connection, suite: str) -> int | None:
    row = db.execute(
        "SELECT id FROM runs WHERE suite = ? AND partial = 0 AND staged = 1 ORDER BY id "
        "DESC LIMIT 1",
        (suite,),
    ).fetchone()
    return None if row is None else int(row[0])


def _name(want: PlannedTrial) -> trial_rows.TrialName:
    return want.case.id, want.column.name, want.epoch
