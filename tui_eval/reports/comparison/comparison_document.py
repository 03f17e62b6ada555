"""The JSON document of a comparison."""

from tui_eval.model.json import Json, JsonObject
from tui_eval.reports.comparison.comparison import ComparisonRow, Flip, RunComparison
from tui_eval.reports.comparison.side import Side
from tui_eval.reports.jsontext import bounds, rounded


def comparison_document(of: RunComparison) -> JsonObject:
    """Return what `compare --json` prints."""
    scorers: list[Json] = [*of.scorers_differ]
    return {
        "a": _side(of.a),
        "b": _side(of.b),
        "scorer": of.scorer,
        "margin": of.margin,
        "rows": [row_document(row) for row in of.rows],
        "groups": {name: [row_document(row) for row in rows] for name, rows in of.groups.items()},
        "flips": [_flip(flip) for flip in of.flips],
        "scorers_differ": scorers,
    }


def row_document(row: ComparisonRow) -> JsonObject:
    """Return one row, as a run's document has it too."""
    known = row.difference
    return {
        "a": row.a,
        "b": row.b,
        "n": row.n,
        "only_a": row.only_a,
        "only_b": row.only_b,
        "changed": row.changed,
        "left_out": {"a": row.left_out_a, "b": row.left_out_b},
        "shared": row.shared,
        "both": row.both,
        "worse": row.worse,
        "better": row.better,
        "neither": row.neither,
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
    return {"run": side.name, "baseline": side.is_baseline}


def _flip(flip: Flip) -> JsonObject:
    return {
        "case_id": flip.case_id,
        "row": flip.row,
        "from": _outcome(flip.a),
        "to": _outcome(flip.b),
    }


def _outcome(value: float) -> Json:
    """Return `pass`, `fail`, or the value of a case whose epochs differ."""
    return {1.0: "pass", 0.0: "fail"}.get(value, rounded(value))
