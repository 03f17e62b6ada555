"""The cases of two columns put together, by their ids."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from tui_eval.reports.comparison.side import ComparedCase, Side


class NothingToPairError(Exception):
    """Two sides have no columns that belong together; the message says what to do."""


class CasePair(NamedTuple):
    """A case that both columns have a result of."""

    case_id: str
    a: ComparedCase
    b: ComparedCase
    av: float
    bv: float
    """What it came to in A, and in B."""


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


def paired_names(a: Side, b: Side, rows: Mapping[str, str]) -> list[tuple[str, str]]:
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


def paired(
    a: Side, b: Side, columns: tuple[str, str], scorer: str | None = None
) -> tuple[PairedColumns, list[CasePair]]:
    """Put the cases of two columns together.

    Args:
        a: The first side.
        b: The second.
        columns: One of each.
        scorer: By this scorer's verdicts; None: by the trials' own.

    Returns:
        What is not compared, and the pairs that are.
    """
    of_a, of_b = a.cases(columns[0], scorer), b.cases(columns[1], scorer)
    pairs: list[CasePair] = []
    both = changed = left_a = left_b = shared = 0
    for case_id, one in of_a.items():
        other = of_b.get(case_id)
        if other is None:
            continue
        both += 1
        if one.row != other.row and a.row_digest(case_id) != b.row_digest(case_id):
            changed += 1
            continue
        left_a += one.value is None
        left_b += other.value is None
        if one.value is not None and other.value is not None:
            shared += one.outputs == other.outputs and any(one.outputs)
            pairs.append(CasePair(case_id, one, other, one.value, other.value))
    only_a, only_b = len(of_a) - both, len(of_b) - both
    return PairedColumns(*columns, only_a, only_b, changed, left_a, left_b, shared), pairs
