"""One trial as JSON: a line of an export, and an event each time it settles."""

from tui_eval.model.json import JsonObject
from tui_eval.reports.jsontext import rounded
from tui_eval.reports.opinions import spread
from tui_eval.store.figures import TrialLine


def trial_json(run: str, line: TrialLine) -> JsonObject:
    """Give a trial the way exports and events show it.

    `latency_s`, `tokens` and `finish_reason` are of the output, wherever it came from; `cost_usd`
    is what the trial cost in this run: 0 where its output came from the cache.

    Args:
        run: The run's name.
        line: The trial.
    """
    return {
        "run": run,
        "case_id": line.case_id,
        "target": line.column,
        "epoch": line.epoch,
        "state": line.state,
        "verdict": line.verdict,
        "score": line.score,
        "output": line.text,
        "finish_reason": line.finish_reason,
        "error": (
            None
            if line.error_kind is None
            else {"kind": line.error_kind, "message": line.error_message}
        ),
        "attempts": line.attempts,
        "latency_s": rounded(line.latency_s),
        "tokens": {"input": line.usage.input, "output": line.usage.output},
        "cost_usd": line.cost_usd,
        "cached": line.cached,
        "tags": list(line.tags),
        "note": line.note,
        "scores": [
            {
                "scorer": score.scorer,
                "value": score.value,
                "raw": score.raw,
                "sd": rounded(spread(score.raw)),
                "verdict": score.verdict,
                "reason": score.reason,
                "source": score.source,
            }
            for score in line.scores
        ],
    }
