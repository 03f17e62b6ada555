"""Rates of a run counted chunk by chunk, see `store.chunks`."""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby, product
from operator import itemgetter
from typing import Any, Final

from tui_eval.model.json import Json, digest
from tui_eval.model.reduction import CaseRules
from tui_eval.model.states import TrialState, Verdict
from tui_eval.reports.rates.case_results import fate
from tui_eval.reports.rates.rate_sums import AskedCases, RateSums, ReducedSums
from tui_eval.statistics.estimates import ClusteredSample, Sample
from tui_eval.store.chunks.kept_figures import KeptFigures, figures_of
from tui_eval.store.read import suite_queries
from tui_eval.store.read.comparing import comparison_queries
from tui_eval.store.read.figures import chunk_queries

_FATES: Final = {
    (str(state), None if verdict is None else str(verdict)): fate(
        comparison_queries.ComparedTrial(state, verdict, None)
    )
    for state, verdict in product(TrialState, (*Verdict, None))
}


@dataclass(slots=True)
class SumsOfRun:
    """The sums that a run's rates are made of."""

    columns: dict[int, RateSums] = field(default_factory=dict)
    """By the column's index; those that have trials."""
    tags: dict[str, dict[int, RateSums]] = field(default_factory=dict)
    """For each tag, in the order they turn up, by the column's index."""


def new_sums(rules: CaseRules, clusters: str | None) -> RateSums:
    """Return sums of nothing.

    Args:
        rules: How epochs are reduced and what errors count as.
        clusters: The column of the dataset that says which cases belong together; None: none does.
    """
    sample = Sample if clusters is None else ClusteredSample
    return RateSums(
        rules.errors, [ReducedSums(how, sample(), sample()) for how in rules.reductions]
    )


def sums_of_run(db: sqlite3.Connection, run_id: int, rules: CaseRules) -> SumsOfRun:
    """Return the sums of a run; they are others' too, and must not be changed.

    Raises:
        UnknownRunError: there is no such run.
    """
    clusters = suite_queries.cluster_column(db, run_id)
    new = partial(new_sums, rules, clusters)
    key = digest([rules.errors, [how.name for how in rules.reductions], clusters]).hex()
    figures: KeptFigures[Any, SumsOfRun] = KeptFigures(
        f"rates {key[:16]}",
        partial(_count, new=new, clusters=clusters),
        partial(_merge, new=new),
        as_text=True,
    )
    return figures_of(db, run_id, figures)


def _count(
    db: sqlite3.Connection,
    run_id: int,
    cases: range,
    *,
    new: Callable[[], RateSums],
    clusters: str | None,
) -> Json:
    """Return the sums of some cases, as JSON."""
    found = SumsOfRun()
    asked, scored = _alike(db, run_id, cases, clusters)
    for (col, tags, alike), times in asked.items():
        for sums in _those_of(found, col, tags, new):
            sums.add(alike, times)
    for (col, tags, alike, scores), times in scored.items():
        for sums in _those_of(found, col, tags, new):
            sums.add_scores(alike, scores, times)
    return [
        [[col, sums.sums()] for col, sums in found.columns.items()],
        [
            [tag, col, sums.sums()]
            for tag, of_tag in found.tags.items()
            for col, sums in of_tag.items()
        ],
    ]


def _merge(parts: Iterable[Any], *, new: Callable[[], RateSums]) -> SumsOfRun:
    found = SumsOfRun()
    for columns, tags in parts:
        for col, sums in columns:
            found.columns.setdefault(col, new()).add_sums(sums)
        for tag, col, sums in tags:
            found.tags.setdefault(tag, {}).setdefault(col, new()).add_sums(sums)
    return found


def _those_of(
    found: SumsOfRun, col: int, tags: str | None, new: Callable[[], RateSums]
) -> Iterator[RateSums]:
    """Return the sums that a column's cases with these tags are in."""
    if col not in found.columns:
        found.columns[col] = new()
    yield found.columns[col]
    for tag in json.loads(tags) if tags else ():
        of_tag = found.tags.setdefault(tag, {})
        if col not in of_tag:
            of_tag[col] = new()
        yield of_tag[col]


_Alike = tuple[int, str | None, AskedCases]
_Scored = tuple[int, str | None, AskedCases, tuple[float, ...]]


def _alike(
    db: sqlite3.Connection, run_id: int, cases: range, clusters: str | None
) -> tuple[Counter[_Alike], Counter[_Scored]]:
    """Count cases by all that their rates depend on, in the order they turn up."""
    asked: Counter[tuple[Any, ...]] = Counter()
    scored: Counter[tuple[Any, ...]] = Counter()
    for (*case, epochs), times in _cases(db, run_id, cases, clusters).items():
        fates = tuple(_FATES[state, verdict] for state, verdict, _ in epochs)
        scores = tuple(
            score
            for word, (_, _, score) in zip(fates, epochs, strict=True)
            if score is not None and word in _GRADED
        )
        asked[*case, fates] += times
        if scores or "error" in fates:  # that may count as failed, and have scored 0
            scored[*case, fates, scores] += times
    return (
        Counter({_key(*alike): times for alike, times in asked.items()}),
        Counter({(*_key(*alike), scores): times for (*alike, scores), times in scored.items()}),
    )


def _cases(
    db: sqlite3.Connection, run_id: int, cases: range, clusters: str | None
) -> Counter[tuple[Any, ...]]:
    """Count cases by column, weight, tags, cluster, and by state, verdict and score of each epoch.

    Where each was asked once they are counted as rows of the store, and no row is looked at.
    """
    trials = chunk_queries.grades(db, run_id, cases, clusters)
    if chunk_queries.several_epochs(db, run_id, cases):
        of_cases = (list(epochs) for _, epochs in groupby(trials, itemgetter(0, 1)))
        return Counter((*of[0][1:5], tuple(one[5:] for one in of)) for of in of_cases)
    rows = Counter(map(itemgetter(slice(1, None)), trials))
    return Counter({(*row[:4], (row[4:],)): times for row, times in rows.items()})


_GRADED: Final = frozenset(("passed", "failed"))


def _key(
    col: int, weight: float, tags: str | None, cluster: str | None, fates: tuple[str, ...]
) -> _Alike:
    return col, tags, AskedCases(fates, weight, cluster)
