"""Trials, attempts and scores as data frames, of libraries that are not ours to install."""

import importlib
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any, Final, Literal, TypeAlias

from tui_eval.reports.exports.export_choice import ExportChoice, chosen_lines
from tui_eval.store.read.trials.trial_rows import attempts
from tui_eval.store.rows import RunRow

Backend: TypeAlias = Literal["pandas", "polars"]

_NESTED: Final = frozenset(("scores", "tokens", "error", "messages", "metadata", "exit",
                            "resources", "changes"))  # fmt: skip
_OF_TRIAL: Final = ("run", "case_id", "target", "epoch")
_OF_ATTEMPT: Final = ("number", "state", "sent_at", "queue_s", "wait_s", "call_s", "error_kind",
                      "error_message", "status", "retry_after_s", "input_tokens", "output_tokens",
                      "cost_usd", "partial", "printed")  # fmt: skip


def frame(rows: Iterable[dict[str, Any]], backend: Backend) -> Any:  # noqa: ANN401
    """Return rows as a data frame.

    Raises:
        ImportError: the library is not installed.
    """
    try:
        library = importlib.import_module(backend)
    except ImportError as error:
        other = "polars" if backend == "pandas" else "pandas"
        raise ImportError(
            f'a data frame needs {backend}: `pip install {backend}`, or say backend="{other}" '
            f"({error})"
        ) from error
    return library.DataFrame(list(rows))


def trial_rows(trials: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield a flat row for each trial; each scorer has a column for its value."""
    for trial in trials:
        error = trial["error"] or {"kind": None, "message": None}
        yield {
            **{name: value for name, value in trial.items() if name not in _NESTED},
            "error_kind": error["kind"],
            "error_message": error["message"],
            "input_tokens": trial["tokens"]["input"],
            "output_tokens": trial["tokens"]["output"],
            **{f"score {score['scorer']}": score["value"] for score in trial["scores"]},
        }


def score_rows(trials: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield a row for each score, with what names its trial."""
    for trial in trials:
        named = {name: trial[name] for name in _OF_TRIAL}
        for score in trial["scores"]:
            yield {**named, **{name: value for name, value in score.items() if name != "raw"}}


def attempt_rows(db: sqlite3.Connection, run: RunRow) -> Iterator[dict[str, Any]]:
    """Yield a row for each attempt of each trial, with what names its trial.

    Times are Unix seconds (`sent_at`) and seconds: in the queue for the endpoint (`queue_s`),
    between attempts (`wait_s`), of the call itself (`call_s`).
    """
    for line in chosen_lines(db, run, ExportChoice()):
        named = dict(zip(_OF_TRIAL, (run.name, line.case_id, line.column, line.epoch), strict=True))
        for attempt in attempts(db, line.id):
            told = asdict(attempt)
            yield {**named, **{name: told[name] for name in _OF_ATTEMPT}}
