"""Trials and scores as data frames, of libraries that are not ours to install."""

import importlib
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, TypeAlias

Backend: TypeAlias = Literal["pandas", "polars"]

_NESTED: Final = frozenset(("scores", "tokens", "error", "messages", "metadata", "exit",
                            "resources", "changes"))  # fmt: skip
_OF_TRIAL: Final = ("run", "case_id", "target", "epoch")


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
