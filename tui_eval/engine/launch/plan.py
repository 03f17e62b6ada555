"""The trials a suite wants, each with its key: what staging writes and a preflight counts."""

import heapq
import sqlite3
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import NamedTuple, Protocol

from tui_eval.engine.journey.journey_parts import JourneyTarget
from tui_eval.engine.launch.generation_keys import generation_key, request_key
from tui_eval.engine.settings import Settings
from tui_eval.model.case import Case, Column
from tui_eval.model.json import JsonObject, canonical
from tui_eval.model.outputs.output import Failure
from tui_eval.store.read.many_rows import batched, question_marks
from tui_eval.store.search.views import STANDS
from tui_eval.store.text import unpack_text
from tui_eval.suites.data import seeded_sampling


class PlanTarget(JourneyTarget, Protocol):
    """What a plan needs of a target."""

    @property
    def by_epoch(self) -> bool:
        """Whether its requests differ from epoch to epoch."""

    def identity(self) -> JsonObject:
        """Return what the target is, as far as it changes answers."""

    def depends_on_more(self, request: JsonObject) -> bool:
        """Return whether a request follows from more than the suite, its data and `identity`."""


class PlannedTrial(NamedTuple):
    """One trial a run wants."""

    case: Case
    column: Column
    epoch: int
    key: bytes | None
    """None where its request cannot be rendered."""
    failure: Failure | None
    """Why it has no key."""

    @property
    def where(self) -> tuple[int, int]:
        """Case and column, which its epochs share."""
        return self.case.seq, self.column.index


def wanted(
    cases: Iterator[Case],
    columns: Sequence[Column],
    targets: Mapping[str, PlanTarget],
    epochs: int,
    depend_on_more: Callable[[], None] = lambda: None,
) -> Generator[list[PlannedTrial], None, None]:
    """Yield all trials in dataset order (case, column, epoch), in portions of bounded size.

    Args:
        cases: The cases, in order.
        columns: The columns by their index.
        targets: The targets by name.
        epochs: How often each is asked.
        depend_on_more: Told where a request follows from more than the suite and its data.
    """
    identities = {name: canonical(targets[name].identity()) for name in {c.target for c in columns}}

    def base(column: Column, case: Case, epoch: int) -> bytes | Failure:
        target = targets[column.target]
        request = target.request(column, case, epoch)
        if isinstance(request, Failure):
            depend_on_more()  # a file that is not there may be the next time
            return request
        if target.depends_on_more(request):
            depend_on_more()
        return request_key(identities[column.target], request)

    def bases(column: Column, case: Case) -> list[bytes | Failure]:
        different = epochs if targets[column.target].by_epoch else 1
        return [base(column, case, epoch) for epoch in range(different)]

    with closing(_Occurrences()) as seen:
        for portion in _portions(cases, len(columns) * epochs):
            asked = [(case, column, bases(column, case)) for case in portion for column in columns]
            keys = [key for _, _, found in asked for key in found if isinstance(key, bytes)]
            before = iter(seen.count(keys))
            yield [
                want
                for case, column, found in asked
                for want in _epochs(case, column, found, before, epochs)
            ]


def _epochs(
    case: Case,
    column: Column,
    bases: Sequence[bytes | Failure],
    before: Iterator[int],
    epochs: int,
) -> Iterator[PlannedTrial]:
    """Yield the trials of a case in a column; a single request is that of every epoch."""
    counted = [(base, 0 if isinstance(base, Failure) else next(before)) for base in bases]
    for epoch in range(epochs):
        base, occurrence = counted[epoch if len(counted) > 1 else 0]
        if isinstance(base, Failure):
            yield PlannedTrial(case, column, epoch, None, base)
        else:
            yield PlannedTrial(case, column, epoch, generation_key(base, epoch, occurrence), None)


def problems(
    wants: Iterable[PlannedTrial], problem: Callable[[Column, Case], Failure | None]
) -> dict[tuple[int, int], Failure | None]:
    """Give what is wrong with the scorers of some trials, by case and column; None: nothing is."""
    found: dict[tuple[int, int], Failure | None] = {}
    for want in wants:
        if (where := want.where) not in found:
            found[where] = problem(want.column, want.case)
    return found


_TRIALS = 1000
"""Trials of a portion at most, unless one case alone has more."""
_CHARACTERS = 4_000_000
"""Characters of a portion's cases, roughly, after which it is closed."""


def _portions(cases: Iterator[Case], trials_each: int) -> Iterator[list[Case]]:
    portion: list[Case] = []
    size = 0
    for case in cases:
        portion.append(case)
        size += _size(case)
        if len(portion) * trials_each >= _TRIALS or size >= _CHARACTERS:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


def _size(case: Case) -> int:
    size = sum(
        len(value if isinstance(value, str) else repr(value)) for value in case.fields.values()
    )
    return size + len(repr(case.recorded)) if case.recorded else size


_NEAR = 20_000
"""Requests that are counted in memory before they are put away."""


class _Occurrences:
    """Counts equal requests; most are put away in a file, lest memory grows with the run."""

    def __init__(self) -> None:
        self._near: dict[bytes, int] = {}
        """Those that came last, and how often they came so far."""
        self._far: sqlite3.Connection | None = None
        """All those that were put away; None: there was no need yet."""

    def count(self, keys: Sequence[bytes]) -> list[int]:
        """Return for each key how often it was counted before it, and count it."""
        near = self._near
        if self._far is not None:
            for few in batched([key for key in dict.fromkeys(keys) if key not in near]):
                asked = f"SELECT key, n FROM seen WHERE key IN ({question_marks(few)})"  # noqa: S608
                near.update(self._far.execute(asked, few))
        before = []
        for key in keys:
            n = near.get(key, 0)
            before.append(n)
            near[key] = n + 1
        if len(near) >= _NEAR:
            self._put_away()
        return before

    def _put_away(self) -> None:
        if self._far is None:
            self._far = sqlite3.connect("", isolation_level=None)
            self._far.execute("PRAGMA synchronous = OFF")
            self._far.execute("PRAGMA journal_mode = OFF")
            self._far.execute("CREATE TABLE seen (key BLOB PRIMARY KEY, n INTEGER) WITHOUT ROWID")
            self._far.execute("BEGIN")
        self._far.executemany("INSERT OR REPLACE INTO seen VALUES (?, ?)", self._near.items())
        self._near.clear()

    def close(self) -> None:
        """Drop the file."""
        if self._far is not None:
            self._far.close()


class ChosenCases:
    """The cases a launch chose, numbered anew from 0, to be gone through once."""

    def __init__(
        self, cases: Iterable[Case], settings: Settings, only: frozenset[str] | None, seed: int
    ) -> None:
        """Choose.

        Args:
            cases: All cases of the suite in order.
            settings: The launch's choices.
            only: The ids `settings.only` stands for; None: all.
            seed: What a sample is drawn with.
        """
        self._cases = cases
        self._settings = settings
        self._only = only
        self._seed = seed
        self.left_out = False
        """Whether any case was left out; known once all were gone through."""

    def __iter__(self) -> Iterator[Case]:
        """Yield them in order."""
        limit = self._settings.limit
        for seq, case in enumerate(self._sampled()):
            if limit is not None and seq >= limit:
                self.left_out = True
                return
            yield case if case.seq == seq else replace(case, seq=seq)

    def _sampled(self) -> Iterator[Case]:
        most = self._settings.sample
        if most is None:
            yield from self._picked()
            return
        # as the dataset's own sample: the same cases whatever their order, and whoever asks for it
        drawn = heapq.nsmallest(
            most + 1,
            self._picked(),
            key=lambda case: seeded_sampling.sort_key(self._seed, "sample", case.id),
        )
        self.left_out = self.left_out or len(drawn) > most
        yield from sorted(drawn[:most], key=lambda case: case.seq)

    def _picked(self) -> Iterator[Case]:
        ids, tags = frozenset(self._settings.cases), frozenset(self._settings.tags)
        for case in self._cases:
            if (
                (not ids or case.id in ids)
                and (not tags or not tags.isdisjoint(case.tags))
                and (self._only is None or case.id in self._only)
            ):
                yield case
            else:
                self.left_out = True


def cases_of_verdict(
    db: sqlite3.Connection | None, suite: str, settings: Settings, before: int | None = None
) -> frozenset[str] | None:
    """Return the cases that `Settings.only` stands for: whose latest trials in this store are so.

    Args:
        db: The connection; None: there is no store, and so no such case.
        suite: The suite's name.
        settings: The launch's choices.
        before: Only runs older than this one count; None: all.

    Returns:
        Their ids; None: the launch does not choose by verdict.
    """
    if settings.only is None:
        return None
    if db is None:
        return frozenset()
    condition = STANDS[settings.only]
    rows = db.execute(
        "SELECT c.id, max(CASE WHEN t.run = l.run THEN " + condition + " ELSE 0 END) FROM "  # noqa: S608
        "(SELECT c.id AS id, max(c.run) AS run FROM runs r JOIN trials t ON t.run = r.id "
        "AND t.state IN ('done', 'error') JOIN cases c ON c.run = t.run AND c.seq = t.seq "
        "WHERE r.suite = ?1 AND (?2 IS NULL OR r.id < ?2) "
        "AND json_extract(r.settings, '$.sweep') IS NULL GROUP BY c.id) l "
        "JOIN cases c ON c.run = l.run AND c.id = l.id "
        "JOIN trials t ON t.run = c.run AND t.seq = c.seq GROUP BY c.id",
        (suite, before),
    )
    return frozenset(unpack_text(row[0]) for row in rows if row[1])
