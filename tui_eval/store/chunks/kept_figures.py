"""KeptFigures of a run, counted chunk by chunk; what did not change is not counted again."""

import json
import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar, cast
from weakref import WeakKeyDictionary

from tui_eval.store.chunks import division as dividing
from tui_eval.store.chunks.chunks_file import ChunksFile, Stand
from tui_eval.store.chunks.division import Division, division
from tui_eval.store.location import figures_file
from tui_eval.store.opening.store_file import StoreFileConnection
from tui_eval.store.read import run_queries
from tui_eval.store.rows import RunRow
from tui_eval.store.text import dump

log = logging.getLogger(__name__)

KEPT_FROM: Final = 50_000
"""Trials from which on what was counted is kept in a file: below, counting takes no time."""
WORTH_WRITING: Final = 16
"""Chunks counted anew that are written while an engine works on the run."""
_RUNS: Final = 2
"""Runs of which a connection keeps what was counted."""

P = TypeVar("P")
W = TypeVar("W")


@dataclass(frozen=True, slots=True)
class KeptFigures(Generic[P, W]):
    """How something is counted: of a chunk, and of chunks put together."""

    name: str
    """Two that count differently have different names."""
    count: Callable[[sqlite3.Connection, int, range], P]
    """What the trials of some cases of a run come to."""
    merge: Callable[[Iterable[P]], W]
    """What chunks come to together; leaves them as they are, and goes through them once."""
    as_json: Callable[[P], Any] = lambda chunk: chunk
    """How the file keeps a chunk; without it, it is JSON."""
    of_json: Callable[[Any], P] = lambda kept: kept
    """Back to the last digit."""
    as_text: bool = False
    """Whether memory too has chunks as the file does: JSON of many small values takes a tenth of
    what they take, and is read each time that chunks are put together."""

    def held(self, chunk: P) -> P | str:
        """Return a chunk as memory has it."""
        return self.written(chunk) if self.as_text else chunk

    def of_held(self, held: P | str) -> P:
        """Return a chunk that `held` gave."""
        return self.read(cast("str", held)) if self.as_text else cast("P", held)

    def written(self, chunk: P) -> str:
        """Return a chunk as the file has it."""
        return dump(self.as_json(chunk))

    def read(self, text: str) -> P:
        """Return a chunk that `written` gave."""
        return self.of_json(json.loads(text))


@dataclass(slots=True)
class _Counted:
    """What is known of one kind of figures of a run."""

    division: Division
    change: int = -1
    """The store's newest change when the chunks were looked at last; -1: never."""
    chunks: list[Any] = field(default_factory=list)
    """As `KeptFigures.held` has them."""
    whole: Any = None
    """What they come to together."""
    unwritten: set[int] = field(default_factory=set)
    """Chunks that the file does not have as they are."""
    in_file: Stand | None = None
    """What the file had when it was looked into."""


_Known = dict[int, dict[str, _Counted]]
_of_connections: "WeakKeyDictionary[StoreFileConnection, _Known]" = WeakKeyDictionary()


def figures_of(db: sqlite3.Connection, run_id: int, figures: KeptFigures[P, W]) -> W:
    """Return what all trials of a run come to.

    Raises:
        UnknownRunError: there is no such run.
    """
    with in_one_moment(db):
        run = run_queries.run(db, run_id)
        divided = division(db, run, dividing.TRIALS) if run.staged else None
        if divided is None or divided.chunks <= 1:
            return figures.merge([figures.count(db, run_id, _ALL)])
        counted = _counted(db, run, figures, divided)
        # also where no change has a newer number: scores come before the trial changes
        _bring_up_to_date(db, run, figures, counted, run_queries.change(db))
        answer: W = counted.whole
    return answer


def forget(db: sqlite3.Connection, run_id: int, name: str) -> None:
    """Drop what a connection keeps of figures in memory; a large run's are in its file.

    Args:
        db: The connection.
        run_id: The run.
        name: The figures' name.
    """
    _known_of(db, run_id).pop(name, None)


_ALL: Final = range(1 << 62)


@contextmanager
def in_one_moment(db: sqlite3.Connection) -> Iterator[None]:
    """Read several things as of one moment, which may be that of a transaction there is."""
    if db.in_transaction:
        yield
        return
    db.execute("BEGIN")
    try:
        yield
    finally:
        db.execute("COMMIT")


def _counted(
    db: sqlite3.Connection, run: RunRow, figures: KeptFigures[P, W], divided: Division
) -> _Counted:
    """Return what is known by now: with this connection, else in the file, else nothing."""
    known = _known_of(db, run.id)
    found = known.get(figures.name)
    if found is None or found.division != divided:  # half of it was deleted
        found = known[figures.name] = _in_file(db, run, figures, divided)
    return found


def _known_of(db: sqlite3.Connection, run_id: int) -> dict[str, _Counted]:
    if not isinstance(db, StoreFileConnection):
        return {}
    runs = _of_connections.setdefault(db, {})
    runs[run_id] = runs.pop(run_id, {})  # the last one used stands last
    while len(runs) > _RUNS:
        del runs[next(iter(runs))]
    return runs[run_id]


def _bring_up_to_date(
    db: sqlite3.Connection, run: RunRow, figures: KeptFigures[P, W], counted: _Counted, change: int
) -> None:
    divided = counted.division
    if counted.change < 0:
        stale = frozenset(range(divided.chunks))
        counted.chunks = [None] * divided.chunks
    else:
        stale = dividing.changed_since(db, run.id, divided, counted.change)
    for chunk in sorted(stale):
        counted.chunks[chunk] = figures.held(figures.count(db, run.id, divided.cases_of(chunk)))
    counted.change = change
    counted.unwritten |= stale
    if stale or counted.whole is None:
        counted.whole = figures.merge(map(figures.of_held, counted.chunks))
    if counted.unwritten and (not run.live or len(counted.unwritten) >= WORTH_WRITING):
        _write(db, run, figures, counted)


def _in_file(
    db: sqlite3.Connection, run: RunRow, figures: KeptFigures[P, W], divided: Division
) -> _Counted:
    nothing = _Counted(divided)
    if not is_kept(db, run):
        return nothing
    try:
        with closing(opened_file(db, run)) as file:
            stand = file.stand(figures.name)
            nothing.in_file = stand
            if (
                stand is None
                or stand.division != divided
                or stand.change > run_queries.change(db)  # the store was put back from a copy
                or not dividing.has_gone_on(db, run.id, stand.change, stand.mark)
            ):
                return nothing
            found = {
                chunk: content if figures.as_text else figures.read(content)
                for chunk, content in file.contents(figures.name)
            }
    except (sqlite3.Error, OSError) as error:
        log.info("figures of %s are counted anew: %s", run.name, error)
        return nothing
    if found.keys() != set(range(divided.chunks)):
        return nothing
    chunks = [found[chunk] for chunk in range(divided.chunks)]
    return _Counted(divided, stand.change, chunks, in_file=stand)


def _write(
    db: sqlite3.Connection, run: RunRow, figures: KeptFigures[P, W], counted: _Counted
) -> None:
    if not is_kept(db, run):
        return
    mark = dividing.history_mark(db, run.id, counted.change)
    stand = Stand(counted.change, counted.division, mark)
    chunks = (
        (chunk, held if figures.as_text else figures.written(held))
        for chunk in counted.unwritten
        for held in (counted.chunks[chunk],)
    )
    try:
        with closing(opened_file(db, run)) as file:
            taken = file.keep(figures.name, stand, chunks, counted.in_file)
            counted.in_file = file.stand(figures.name)
    except (sqlite3.Error, OSError) as error:
        log.info("figures of %s are not kept: %s", run.name, error)
        return
    # what another process has put there does not go with the chunks known here
    counted.unwritten = set() if taken else set(range(counted.division.chunks))


def is_kept(db: sqlite3.Connection, run: RunRow) -> bool:
    """Return whether a run is so large that a file keeps what is known of it."""
    return isinstance(db, StoreFileConnection) and run.total >= KEPT_FROM


def opened_file(db: sqlite3.Connection, run: RunRow) -> ChunksFile:
    """Open the file of a run that `is_kept`.

    Raises:
        sqlite3.Error: it cannot be made or read.
        OSError: likewise.
    """
    assert isinstance(db, StoreFileConnection)
    return ChunksFile(figures_file(db.path, run.name), run.created_at)
