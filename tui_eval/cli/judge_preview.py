"""How `check` says what judges would be asked."""

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tui_eval.cli.errors import CommandError
from tui_eval.cli.named.runs import readable_if_there
from tui_eval.engine.preflight.judge_forecast import judge_requests
from tui_eval.providers.errors import UnavailableError

if TYPE_CHECKING:
    from pathlib import Path

    from tui_eval.engine.preflight.judge_forecast import JudgeForecast, JudgeRequest
    from tui_eval.model.json import Json, JsonObject
    from tui_eval.suites.spec import Suite


def as_json(forecasts: Iterable["JudgeForecast"]) -> list["Json"]:
    """Return what judges would be asked as it stands in the document."""
    return [
        {
            "scorer": one.scorer,
            "judge": one.judge,
            "model": one.model,
            "simulated": one.simulated,
            "trials": one.trials,
            "by_rule": one.by_rule,
            "known": one.known,
            "calls": one.calls,
            "gold_calls": one.gold_calls,
            "audit_calls": one.audit_calls,
            "batch_size": one.batch_size,
            "input_tokens": one.input_tokens,
            "output_tokens": one.output_tokens,
            "cost_usd": one.cost_usd,
            "basis": one.basis,
        }
        for one in forecasts
    ]


def lines(suite: "Suite", forecasts: Iterable["JudgeForecast"]) -> Iterator[str]:
    """Say it in lines, and which judges nobody asks."""
    asked = set()
    for one in forecasts:
        asked.add(one.judge)
        yield f"judge {one.judge} ({one.model}), scorer {one.scorer}: {one.words()}"
    for judge in suite.judges:
        if judge.name not in asked:
            yield f"judge {judge.name}: no scorer asks it"
        elif judge.gold is not None and not isinstance(judge.gold, str):
            yield f"judge {judge.name}: {len(judge.gold):,} outputs graded by a person come first"


def requests(suite: "Suite", store: "Path", case: str | None) -> list["JudgeRequest"]:
    """Return the requests to judges for a case.

    Args:
        suite: The suite.
        store: The store's file, for outputs it has.
        case: The case's id; None: the first one that is graded by a judge.

    Raises:
        Refused: no judge is asked about the case, or about any.
        SuiteError: the data has mistakes.
    """
    try:
        with readable_if_there(store) as db:
            found = list(judge_requests(db, suite, case))
    except UnavailableError as error:
        raise CommandError(str(error)) from error
    if not found:
        which = "any case" if case is None else f"case {case!r}, or it is not there"
        raise CommandError(f"{suite.name}: no judge is asked about {which}")
    return found


def request_as_json(one: "JudgeRequest") -> "JsonObject":
    """Return a request as it stands in the document."""
    return {
        "scorer": one.scorer,
        "judge": one.judge,
        "target": one.column,
        "case": one.case,
        "output_is_real": one.real,
        "request": one.body,
    }


def request_lines(one: "JudgeRequest") -> Iterator[str]:
    """Say what is asked, then the request itself."""
    stands = "" if one.real else "; a text stands for the output, which is not there yet"
    yield (
        f"  judge {one.judge} is asked for {one.scorer}: case {one.case}, target {one.column}"
        f"{stands}; ids and nonce are drawn anew each time"
    )
    yield from json.dumps(one.body, indent=2, ensure_ascii=False).splitlines()
