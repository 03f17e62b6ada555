"""An exporter: a line a trial, with its verdict in front."""

from collections.abc import Iterable, Iterator
from typing import Any


def export(run: dict[str, Any], trials: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield the file, a piece after the other."""
    yield f"# {run['run']} of {run['suite']}\n"
    for trial in trials:
        yield f"{trial['verdict'] or trial['state']} {trial['target']} {trial['case_id']}\n"
