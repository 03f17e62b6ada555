"""KeptFigures over a run's trials that no rule of its suite decides; counted chunk by chunk."""

import base64
import json
import sqlite3
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple, TypeVar

from tui_eval.model.json import Json
from tui_eval.model.outputs.finish import Ending
from tui_eval.statistics.estimates import percentile
from tui_eval.statistics.sorted_parts import SortedParts
from tui_eval.store.chunks.kept_answers import answer_of, place_of_answer
from tui_eval.store.chunks.kept_figures import KeptFigures, figures_of, forget
from tui_eval.store.read.figures import chunk_queries

A = TypeVar("A")


class CallTimes(NamedTuple):
    """How long the calls of a column took (seconds)."""

    p50: float
    p95: float


def call_times(db: sqlite3.Connection, run_id: int) -> Mapping[int, CallTimes]:
    """Return, for each column, how long the calls took of outputs that are done with.

    Also of outputs that came from the cache: it is the call that made them which is measured.
    Columns without one are not in it.

    Raises:
        UnknownRunError: there is no such run, as for all of these.
    """

    def find() -> list[tuple[int, float | None, float | None]]:
        return [
            (col, percentile(times, 0.5), percentile(times, 0.95))
            for col, times in figures_of(db, run_id, _CALL_TIMES).items()
        ]

    found = _of_all_times(db, run_id, "call times: p50, p95", _CALL_TIMES.name, find)
    return {
        col: CallTimes(p50, p95) for col, p50, p95 in found if p50 is not None and p95 is not None
    }


def endings(db: sqlite3.Connection, run_id: int) -> Mapping[int, Counter[Ending]]:
    """Count, for each column that has any, how the outputs of its trials that are done ended."""
    return figures_of(db, run_id, _ENDINGS)


def copied_scores(db: sqlite3.Connection, run_id: int) -> int:
    """Count the scores that count and that judges or programs gave before, to another trial."""
    return figures_of(db, run_id, _COPIED)


def failing(db: sqlite3.Connection, run_id: int) -> list[tuple[str, int]]:
    """Count, for each required scorer, the failed trials it says fail of; the most first."""
    counts = figures_of(db, run_id, _FAILING)
    return sorted(counts.items(), key=lambda counted: (-counted[1], counted[0]))


def tags(db: sqlite3.Connection, run_id: int, most: int) -> list[tuple[str, int]]:
    """Count a run's trials by tag, the most first; no more than so many tags."""
    counts = figures_of(db, run_id, _TAGS)
    return sorted(counts.items(), key=lambda counted: (-counted[1], counted[0]))[:most]


def backing_off(db: sqlite3.Connection, run_id: int) -> int:
    """Count the running trials that wait for their next attempt."""
    return figures_of(db, run_id, _BACKING_OFF)


def _of_all_times(
    db: sqlite3.Connection, run_id: int, name: str, figures: str, find: Callable[[], A]
) -> A:
    """Return what follows from a time of every trial; of a large run, kept until one changes.

    Then the times themselves are not kept in memory: of ten million trials they take 80 MB.
    """
    found = answer_of(db, run_id, name, find)
    if place_of_answer(db, run_id, name) is not None:
        forget(db, run_id, figures)
    return found


_Times = dict[int, "array[float]"]


def _merge_times(parts: Iterable[_Times]) -> dict[int, SortedParts]:
    of_columns: dict[int, list[array[float]]] = {}
    for part in parts:
        for col, times in part.items():
            of_columns.setdefault(col, []).append(times)
    return {col: SortedParts(times) for col, times in sorted(of_columns.items())}


def _merge_endings(parts: Iterable[dict[int, Counter[Ending]]]) -> dict[int, Counter[Ending]]:
    found: dict[int, Counter[Ending]] = {}
    for part in parts:
        for col, counts in part.items():
            found.setdefault(col, Counter()).update(counts)
    return found


def _merge_counts(parts: Iterable[Counter[str]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for part in parts:
        found.update(part)
    return found


def _count_tags(db: sqlite3.Connection, run_id: int, cases: range) -> Counter[str]:
    counts: Counter[str] = Counter()
    for listed, n in chunk_queries.tags(db, run_id, cases):
        counts.update(dict.fromkeys(json.loads(listed), n))
    return counts


def _packed(values: "array[float]") -> str:
    return base64.b64encode(values.tobytes()).decode()


def _unpacked(kept: str) -> "array[float]":
    values = array("d")
    values.frombytes(base64.b64decode(kept))
    return values


def _times_as_json(part: _Times) -> Json:
    return {str(col): _packed(values) for col, values in part.items()}


def _times_of_json(kept: Mapping[str, str]) -> _Times:
    return {int(col): _unpacked(values) for col, values in kept.items()}


def _endings_as_json(part: Mapping[int, Counter[Ending]]) -> Json:
    return {str(col): {str(how): n for how, n in of.items()} for col, of in part.items()}


def _endings_of_json(kept: Mapping[str, Mapping[str, int]]) -> dict[int, Counter[Ending]]:
    return {
        int(col): Counter({Ending(how): n for how, n in of.items()}) for col, of in kept.items()
    }


def _counts_of_json(kept: Mapping[str, int]) -> Counter[str]:
    return Counter(kept)


_CALL_TIMES: Final = KeptFigures(
    "call times", chunk_queries.latencies, _merge_times, _times_as_json, _times_of_json
)
_ENDINGS: Final = KeptFigures(
    "endings", chunk_queries.endings, _merge_endings, _endings_as_json, _endings_of_json
)
_TAGS: Final[KeptFigures[Counter[str], Counter[str]]] = KeptFigures(
    "tags", _count_tags, _merge_counts, of_json=_counts_of_json
)
_FAILING: Final[KeptFigures[Counter[str], Counter[str]]] = KeptFigures(
    "failing", chunk_queries.failing, _merge_counts, of_json=_counts_of_json
)
_COPIED: Final[KeptFigures[int, int]] = KeptFigures(
    "copied scores", chunk_queries.copied_scores, sum
)
_BACKING_OFF: Final[KeptFigures[int, int]] = KeptFigures(
    "backing off", chunk_queries.backing_off, sum
)
