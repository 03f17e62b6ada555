"""The cases of two columns put together, by their ids."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from tui_eval.model.reduction import CaseRules
from tui_eval.reports.comparison.case_rows import teach_rows
from tui_eval.reports.comparison.flips import FlippedCases
from tui_eval.reports.comparison.side import RunSide, Side
from tui_eval.statistics.paired import PairTally, ValuePair
from tui_eval.store.read.comparing import paired_queries
from tui_eval.store.text import unpack_text

T = TypeVar("T")


class NothingToPairError(Exception):
    """Two sides have no columns that belong together; the message says what to do."""


class CasePairs:
    """The cases that both of two columns have a result of, summed up, and those that flipped."""

    def __init__(self) -> None:
        self.tally = PairTally()
        self.flipped = FlippedCases()

    def add(self, pair: ValuePair, n: int, place: int | None, case_id: str | None) -> None:
        """Add so many that are alike; one that flipped has its id and its place in A."""
        self.tally.add(pair, n)
        if pair.a != pair.b:
            assert place is not None, "what flipped is told by its place"
            assert case_id is not None, "and by its name"
            self.flipped.add(case_id, place, pair.a, pair.b)


@dataclass(frozen=True, slots=True)
class PairedColumns:
    """Two columns that are compared, and what of their cases is not."""

    a: str
    b: str
    only_a: int
    """Cases that only A's side has."""
    only_b: int
    changed: int
    """Cases of both whose rows differ: they are not compared."""
    left_out_a: int
    """Other cases of both that have no result in A."""
    left_out_b: int
    shared: int
    """Pairs of the very same outputs."""
    by_hand_a: int = 0
    """Pairs of whose verdict in A a person decides a part."""
    by_hand_b: int = 0


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two columns put together."""

    columns: PairedColumns
    pairs: CasePairs
    by_tag: Mapping[str, CasePairs]
    """Likewise those of each tag, as the cases have them in B."""


class ColumnNames(Protocol):
    """What has columns that may be paired."""

    @property
    def name(self) -> str:
        """What a person calls it."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Its columns, in their order."""


def paired_names(a: ColumnNames, b: ColumnNames, rows: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the columns that are compared with each other.

    Args:
        a: The first side.
        b: The second.
        rows: Columns of A with those of B that they are compared with; without any, columns of one
            name belong together, and where each side has but one, these.

    Raises:
        NothingToPairError: there are none, or a named one is not there.
    """
    for side, named in ((a, rows.keys()), (b, rows.values())):
        for name in named:
            if name not in side.columns:
                there = ", ".join(side.columns)
                raise NothingToPairError(f'{side.name} has no target "{name}"; it has {there}')
    if rows:
        return list(rows.items())
    if len(a.columns) == len(b.columns) == 1:
        return [(a.columns[0], b.columns[0])]
    same = [(name, name) for name in a.columns if name in b.columns]
    if not same:
        raise NothingToPairError(
            f"{a.name} has {', '.join(a.columns)} and {b.name} has {', '.join(b.columns)}: say "
            "which belong together, as in --row X=Y"
        )
    return same


_Met: TypeAlias = tuple[
    int | None,
    str | bytes | None,
    float | None,
    float | None,
    bool | int | None,
    bool | int,
    float | None,
    str | None,
    str | tuple[str, ...] | None,
]
"""What two columns have of a case, see `paired_queries.MetCase`; alike ones are equal."""
_COUNTED: Final = 4096
"""Cases that are counted together: most are alike, and those are looked at once."""


@dataclass(frozen=True, slots=True)
class _Meeting:
    """The cases that two columns both have, in the order of A."""

    cases: Iterator[_Met]
    value_a: Callable[[Any], float | None]
    """What a case comes to by what is told of it."""
    value_b: Callable[[Any], float | None]
    sizes: Callable[[], tuple[int, int]]
    """How many cases each column has; to be asked once all have come."""


def paired(
    a: Side,
    b: Side,
    columns: tuple[str, str],
    scorer: str | None = None,
    *,
    by_tag: bool = False,
) -> Pairing:
    """Put the cases of two columns together.

    Those of two runs are joined in the store, and none of them is held; of a file they are.

    Args:
        a: The first side.
        b: The second.
        columns: One of each.
        scorer: By this scorer's verdicts; None: by the trials' own.
        by_tag: Whether the pairs of each tag are summed up, too.
    """
    hands = a.by_hand(columns[0], scorer), b.by_hand(columns[1], scorer)
    met = _meeting(a, b, columns, scorer, named=any(hands), by_tag=by_tag)
    told: Counter[str] = Counter()
    pairs, of_tags = CasePairs(), defaultdict[str, CasePairs](CasePairs)
    while portion := Counter(islice(met.cases, _COUNTED)):
        for (place, packed, of_a, of_b, shared, same, weight, cluster, tags), n in portion.items():
            told["both"] += n
            if not same:
                told["changed"] += n
                continue
            was, now = met.value_a(of_a), met.value_b(of_b)
            if was is None or now is None:
                told["left_a"] += n * (was is None)
                told["left_b"] += n * (now is None)
                continue
            told["shared"] += n * bool(shared)
            case_id = None if packed is None else unpack_text(packed)
            told["hand_a"] += case_id in hands[0]
            told["hand_b"] += case_id in hands[1]
            pair = ValuePair(was, now, 1.0 if weight is None else float(weight), cluster)
            pairs.add(pair, n, place, case_id)
            for tag in _tags(tags):
                of_tags[tag].add(pair, n, place, case_id)
    of_a, of_b = met.sizes()
    return Pairing(
        PairedColumns(
            *columns,
            of_a - told["both"],
            of_b - told["both"],
            *(told[one] for one in ("changed", "left_a", "left_b", "shared", "hand_a", "hand_b")),
        ),
        pairs,
        of_tags,
    )


@lru_cache(maxsize=4096)
def _tags(told: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the tags of a case, each once, of their JSON or as they are."""
    if told is None:
        return ()
    return tuple(dict.fromkeys(json.loads(told) if isinstance(told, str) else told))


def _meeting(
    a: Side, b: Side, columns: tuple[str, str], scorer: str | None, *, named: bool, by_tag: bool
) -> _Meeting:
    if isinstance(a, RunSide) and isinstance(b, RunSide) and a.db is b.db:
        return _in_store(a, b, columns, scorer, named=named, by_tag=by_tag)
    here, there = _Counted(a.cases(columns[0], scorer)), dict(b.cases(columns[1], scorer))
    tags = b.tags() if by_tag else {}
    cases = (
        (
            place,
            case_id,
            case.value,
            other.value,
            case.outputs is not None and case.outputs == other.outputs,
            case.row == other.row or a.row_digest(case_id) == b.row_digest(case_id),
            other.weight,
            other.cluster,
            tags.get(case_id),
        )
        for place, (case_id, case) in enumerate(here)
        if (other := there.get(case_id)) is not None
    )
    return _Meeting(cases, _as_it_is, _as_it_is, lambda: (here.n, len(there)))


def _in_store(
    a: RunSide,
    b: RunSide,
    columns: tuple[str, str],
    scorer: str | None,
    *,
    named: bool,
    by_tag: bool,
) -> _Meeting:
    one, other = a.column(columns[0]), b.column(columns[1])
    cluster = b.cluster_column
    teach_rows(b.db, cluster)
    cases = paired_queries.met_cases(
        b.db,
        one,
        other,
        scorer=scorer,
        named=named or not _alike(a.rules, b.rules),
        tagged=by_tag,
        clustered=cluster is not None,
    )
    sizes = paired_queries.count
    return _Meeting(cases, a.value, b.value, lambda: (sizes(a.db, one), sizes(b.db, other)))


def _alike(one: CaseRules, other: CaseRules) -> bool:
    """Return whether the same fates come to the same by both: then only others can flip."""
    return (one.errors, one.reductions[0]) == (other.errors, other.reductions[0])


def _as_it_is(value: float | None) -> float | None:
    return value


class _Counted(Iterator[T]):
    """Counts what has come of an iterator."""

    def __init__(self, of: Iterator[T]) -> None:
        self._of = of
        self.n = 0

    def __next__(self) -> T:
        one = next(self._of)
        self.n += 1
        return one
