"""What reports ask of a run's judges: what they were asked, what it took, how far to trust it."""

import json
import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final, TypeAlias

from tui_eval.model.judge_quality import Audit, GoldAgreement
from tui_eval.store.chunks.kept_figures import KeptFigures, figures_of
from tui_eval.store.read.consignment_queries import NEVER_DONE
from tui_eval.store.read.figures import chunk_queries
from tui_eval.store.read.figures.call_spending import unanswered_judge_call
from tui_eval.store.read.run_counts import abandoned
from tui_eval.store.text import unpack
from tui_eval.store.write.judges import measured_judges
from tui_eval.store.write.judges.consigned_calls import CONSIGNED, UNSENT


@dataclass(frozen=True, slots=True)
class JudgeRequests:
    """What one judge was asked for one purpose."""

    calls: int = 0
    """Requests that were sent for certain, whatever came of them."""
    items: int = 0
    """Outputs in them, each as often as it was sent."""
    asked_again: int = 0
    """Those of the requests by which repair asked for what a reply had left out."""
    failed: int = 0
    """Requests without a reply: refused, timed out, broken."""
    input_tokens: int = 0
    """Of the requests whose tokens were told."""
    output_tokens: int = 0
    """Likewise."""
    cost_usd: float | None = 0.0
    """None: some of it is unknown, as what requests cost that were not answered."""
    known_usd: float = 0.0
    """What is known to be spent."""
    about_usd: float | None = None
    """That, and estimates where no endpoint told; None: nothing is estimated."""
    unestimated: bool = False
    """Whether some of what is unknown is not in `about_usd` either."""
    lost: int = 0
    """Requests that may have been sent beside `calls`, as their engine ended meanwhile."""

    def __add__(self, other: "JudgeRequests") -> "JudgeRequests":
        """Return both together."""
        known = self.cost_usd is not None and other.cost_usd is not None
        estimated = self.about_usd is not None or other.about_usd is not None
        return JudgeRequests(
            self.calls + other.calls,
            self.items + other.items,
            self.asked_again + other.asked_again,
            self.failed + other.failed,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            (self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None,
            self.known_usd + other.known_usd,
            self._known_or_estimated + other._known_or_estimated if estimated else None,
            self.unestimated or other.unestimated,
            self.lost + other.lost,
        )

    @property
    def _known_or_estimated(self) -> float:
        return self.known_usd if self.about_usd is None else self.about_usd


@dataclass(frozen=True, slots=True)
class JudgeFigures:
    """One judge at work for one scorer in one run."""

    scorer: str
    judge: str
    model: str | None = None
    """The model as its endpoint named it last, else as the suite names it."""
    models: Mapping[str, int] = field(default_factory=dict)
    """Requests that were sent to each model, where that is known: a rescore may have brought
    another one."""
    simulated: bool = False
    """Whether its grades are simulated."""
    grading: JudgeRequests = JudgeRequests()
    """What its grades took."""
    auditing: JudgeRequests = JudgeRequests()
    """What grading some of them again alone took."""
    on_gold: JudgeRequests = JudgeRequests()
    """What grading the outputs that a person has graded took."""
    findings: int = 0
    """What it was to say of the outputs as they are now: with repeats and with requirements asked
    one by one there are several of one output."""
    ungraded: int = 0
    """Those of the findings that are not whole."""
    cached: int = 0
    """Those of the findings that were made for another trial, and not asked again."""
    repaired: int = 0
    """Those of the findings that are whole because what a reply left out was asked again."""
    flaky: int = 0
    """Outputs whose verdict was not the same in all repeats."""
    sd: float | None = None
    """The standard deviation of repeats (n - 1), pooled over outputs; None: none was repeated."""
    counted_unmet: int = 0
    """Requirements that were left ungraded and count as not met, as the suite says."""
    audit: Audit | None = None
    """What batching changes; None: it was not audited, or is not yet."""
    gold: GoldAgreement | None = None
    """How it agrees with a person about gold; None: there is no gold, or not yet."""

    @property
    def asked(self) -> JudgeRequests:
        """What it was asked in all, whatever for."""
        return self.grading + self.auditing + self.on_gold


_LOST: Final = f"(state = 'lost' OR (?2 AND state = 'sent' AND NOT EXISTS ({CONSIGNED})))"
"""Nobody knows whether it left: its engine ended meanwhile. ?2: whether that has only just gone;
what is at a provider in bulk stays there."""
_NEVER_DONE: Final = "(state = 'failed' AND ifnull(error_kind, '') IN ({}))".format(
    ", ".join(f"'{kind}'" for kind in (*NEVER_DONE, UNSENT))
)
"""It came to nothing in bulk: like an attempt of which that is so, it counts as no request."""
_NO_REQUEST: Final = f"({_LOST} OR {_NEVER_DONE})"


def judge_figures(db: sqlite3.Connection, run_id: int) -> list[JudgeFigures]:
    """Return a run's figures for each scorer and judge, by scorer and judge.

    Empty: no judge has been asked or has answered from the store. A few reads in a row: put them
    in a `report_queries.moment` where they are to agree.
    """
    found: dict[tuple[str, str], JudgeFigures] = {}
    described = _described(db, run_id)

    def of(scorer: str, judge: str) -> JudgeFigures:
        model, simulated = described.get(judge, (None, False))
        return found.get((scorer, judge)) or JudgeFigures(scorer, judge, model, simulated=simulated)

    for scorer, judge, purpose, model, asked in _calls(db, run_id):
        known = of(scorer, judge)
        known = replace(known, model=known.model if model is None else model)
        match purpose:
            case "audit":
                known = replace(known, auditing=asked)
            case "gold":
                known = replace(known, on_gold=asked)
            case _:
                known = replace(known, grading=asked)
        found[scorer, judge] = known
    for (scorer, judge), models in _models(db, run_id).items():
        found[scorer, judge] = replace(of(scorer, judge), models=models)
    for (scorer, judge), (n, ungraded, cached, repaired) in figures_of(
        db, run_id, _FINDINGS
    ).items():
        found[scorer, judge] = replace(
            of(scorer, judge), findings=n, ungraded=ungraded, cached=cached, repaired=repaired
        )
    for (scorer, judge), (flaky, variances, repeated, unmet) in figures_of(
        db, run_id, _SPREAD
    ).items():
        sd = math.sqrt(variances / repeated) if repeated else None
        found[scorer, judge] = replace(of(scorer, judge), flaky=flaky, sd=sd, counted_unmet=unmet)
    audits, golds = measured_judges.measured(db, run_id)
    for scorer, judge in [*audits, *golds]:
        measured = (scorer, judge)
        found[measured] = replace(
            of(scorer, judge), audit=audits.get(measured), gold=golds.get(measured)
        )
    return [found[key] for key in sorted(found)]


@dataclass(frozen=True, slots=True)
class JudgeUsage:
    """What a judge's requests for a scorer took, those whose tokens were told."""

    calls: int
    items: int
    input_tokens: int
    output_tokens: int


def last_usage(
    db: sqlite3.Connection, suite: str, scorer: str, judge: str, model: str
) -> JudgeUsage | None:
    """Return what a judge's grades took in the last run of a suite that tells; None: none does."""
    told = (
        "c.scorer = ?2 AND c.judge = ?3 AND c.state = 'answered' AND c.items > 0 "
        "AND c.input_tokens > 0 AND c.output_tokens IS NOT NULL"
    )
    row = db.execute(
        "SELECT count(*), sum(c.items), sum(c.input_tokens), sum(c.output_tokens) "
        f"FROM judge_calls c WHERE {told} AND c.purpose = 'grade' AND c.run = ("
        "SELECT max(c.run) FROM judge_calls c JOIN runs r ON r.id = c.run "
        "JOIN json_each(r.spec, '$.judges') j WHERE r.suite = ?1 "
        "AND json_extract(j.value, '$.name') = ?3 "
        "AND ifnull(json_extract(j.value, '$.model'), ?4) = ?4 "
        f"AND c.purpose = 'grade' AND {told})",
        (suite, scorer, judge, model),
    ).fetchone()
    return JudgeUsage(*row) if row[0] else None


def has_judges(db: sqlite3.Connection, run_id: int) -> bool:
    """Whether a run's suite has any judge: without one there are no figures to count."""
    row = db.execute(
        "SELECT json_array_length(spec, '$.judges') FROM runs WHERE id = ?", (run_id,)
    ).fetchone()
    return row is not None and bool(row[0])


def _described(db: sqlite3.Connection, run_id: int) -> dict[str, tuple[str | None, bool]]:
    """Return each judge's model as the frozen suite names it, and whether it is simulated."""
    row = db.execute(
        "SELECT json_extract(spec, '$.judges') FROM runs WHERE id = ?", (run_id,)
    ).fetchone()
    judges = json.loads(row[0]) if row is not None and row[0] is not None else []
    return {
        judge["name"]: (judge.get("model"), judge.get("kind") == "simulated") for judge in judges
    }


def _calls(
    db: sqlite3.Connection, run_id: int
) -> list[tuple[str, str, str, str | None, JudgeRequests]]:
    unpaid = f"sum({unanswered_judge_call('judge_calls')}) AND ifnull(max(cost_usd), 1) > 0"
    rows = db.execute(
        f"SELECT scorer, judge, purpose, model, sum(NOT {_NO_REQUEST}), "
        f"sum(iif({_NO_REQUEST}, 0, items)), sum(round <> 'first' AND NOT {_NO_REQUEST}), "
        f"sum(state = 'failed' AND NOT {_NEVER_DONE}), ifnull(sum(input_tokens), 0), "
        "ifnull(sum(output_tokens), 0), iif(sum(state = 'answered' AND cost_usd IS NULL) OR "
        f"({unpaid}), NULL, ifnull(sum(cost_usd), 0.0)), ifnull(sum(cost_usd), 0.0), "
        "iif(sum(cost_usd IS NULL AND about_usd IS NOT NULL), "
        "sum(coalesce(cost_usd, about_usd, 0.0)), NULL), "
        "sum(state = 'answered' AND coalesce(cost_usd, about_usd) IS NULL) "
        f"OR ({unpaid}), sum({_LOST}), max(id) "
        "FROM judge_calls WHERE run = ?1 GROUP BY scorer, judge, purpose",
        (run_id, abandoned(db, run_id)),
    )  # with max(id), SQLite takes the model of that very row
    return [
        (
            *row[:3],
            unpack(row[3]),
            replace(JudgeRequests(*row[4:13]), unestimated=bool(row[13]), lost=row[14]),
        )
        for row in rows
    ]


def _models(db: sqlite3.Connection, run_id: int) -> dict[tuple[str, str], dict[str, int]]:
    """Count the requests to each model by scorer and judge, in the order they turned up."""
    rows = db.execute(
        "SELECT scorer, judge, model, count(*) FROM judge_calls WHERE run = ?1 "
        f"AND model IS NOT NULL AND NOT {_NO_REQUEST} "
        "GROUP BY scorer, judge, model ORDER BY min(id)",
        (run_id, abandoned(db, run_id)),
    )
    found: dict[tuple[str, str], dict[str, int]] = {}
    for scorer, judge, model, n in rows:
        named = unpack(model)
        if named is not None:
            found.setdefault((scorer, judge), {})[named] = n
    return found


def _merge(parts: Iterable[Sequence[Sequence[Any]]]) -> dict[tuple[str, str], list[Any]]:
    """Add up rows that begin with scorer and judge."""
    found: dict[tuple[str, str], list[Any]] = {}
    for scorer, judge, *numbers in chain.from_iterable(parts):
        before = found.get((scorer, judge), [0] * len(numbers))
        found[scorer, judge] = [one + other for one, other in zip(before, numbers, strict=True)]
    return found


_Rows: TypeAlias = KeptFigures[Sequence[Sequence[Any]], dict[tuple[str, str], list[Any]]]
_FINDINGS: Final[_Rows] = KeptFigures("findings", chunk_queries.findings, _merge)
_SPREAD: Final[_Rows] = KeptFigures("spread of judges", chunk_queries.spread, _merge)
