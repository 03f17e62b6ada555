"""The JSON document of a comparison."""

from collections.abc import Iterator, Mapping

from tui_eval.model.json import Json, JsonObject
from tui_eval.reports.comparison.comparison import (
    ComparisonRow,
    RunComparison,
    outcome,
)
from tui_eval.reports.comparison.flips import Flip
from tui_eval.reports.comparison.side import Side
from tui_eval.reports.json_output import bounds, pieces, rounded


def comparison_document(of: RunComparison) -> JsonObject:
    """Return what `compare --json` prints."""
    flips: list[Json] = list(map(_flip, of.flips))
    return {**_head(of), "flips": flips, **_tail(of)}


def comparison_pieces(of: RunComparison) -> Iterator[str]:
    """Yield that document as text, piece by piece: of a large run millions of cases may flip."""
    flips: Mapping[str, object] = {"flips": map(_flip, of.flips)}
    return pieces({**_head(of), **flips, **_tail(of)})


def _head(of: RunComparison) -> JsonObject:
    return {
        "a": _side(of.a),
        "b": _side(of.b),
        "scorer": of.scorer,
        "margin": of.margin,
        "rows": [row_document(row) for row in of.rows],
        "groups": {name: [row_document(row) for row in rows] for name, rows in of.groups.items()},
    }


def _tail(of: RunComparison) -> JsonObject:
    return {"scorers_differ": [*of.scorers_differ], "why_no_groups": of.why_no_groups}


def row_document(row: ComparisonRow) -> JsonObject:
    """Return one row, as a run's document has it too."""
    columns, pairs, known = row.columns, row.pairs, row.difference
    return {
        "a": columns.a,
        "b": columns.b,
        "n": row.n,
        "only_a": columns.only_a,
        "only_b": columns.only_b,
        "changed": columns.changed,
        "left_out": {"a": columns.left_out_a, "b": columns.left_out_b},
        "shared": columns.shared,
        "by_hand": {"a": columns.by_hand_a, "b": columns.by_hand_b},
        "both": pairs.both,
        "worse": pairs.worse,
        "better": pairs.better,
        "neither": pairs.neither,
        "rate_a": rounded(row.rate_a),
        "rate_b": rounded(row.rate_b),
        "diff": None if known is None else rounded(known.diff),
        "diff_ci95": None if known is None else bounds(known.interval95),
        "p": None if known is None else known.p,
        "p_holm": row.p_holm,
        "mde": None if known is None else rounded(known.mde),
        "clusters": None if known is None else known.clusters,
        "method": None if known is None else known.method,
        "word": row.word,
    }


def _side(side: Side) -> JsonObject:
    return {"run": side.name, "baseline": side.is_baseline, "finished": side.finished}


def _flip(flip: Flip) -> JsonObject:
    return {
        "case_id": flip.case_id,
        "row": flip.row,
        "from": _outcome(flip.a),
        "to": _outcome(flip.b),
    }


def _outcome(value: float) -> Json:
    said = outcome(value)
    return said if isinstance(said, str) else rounded(said)
