"""What tests of batch APIs ask, and how they take what comes."""

from datetime import UTC, datetime
from typing import Any

from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.providers.bulk.api import (
    BulkApi,
    BulkLine,
    BulkRequest,
    SoughtConsignment,
    StrayLine,
    custom_id,
    token_and_ordinal,
)


def asked(prompt: str, **more: Any) -> JsonObject:
    """Make the body of a call."""
    return {"model": "m", "messages": [{"role": "user", "content": prompt}], **more}


def requests_of(token: str, count: int, **more: Any) -> list[BulkRequest]:
    """Make the requests of a consignment: `question 0`, `question 1`, …"""
    return [BulkRequest(custom_id(token, n), asked(f"question {n}", **more)) for n in range(count)]


def sought(token: str, count: int, **more: Any) -> SoughtConsignment:
    """Look for a consignment that began to be sent just now."""
    now = datetime.now(UTC)
    return SoughtConsignment(token, count, **{"since": now, "until": now, **more})


async def taken(api: BulkApi, provider_id: str) -> list[BulkLine | StrayLine]:
    """Take all results."""
    return [line async for line in api.results(provider_id)]


async def replies(api: BulkApi, provider_id: str) -> dict[int, Output | Failure]:
    """Take the results that are somebody's, by ordinal."""
    found: dict[int, Output | Failure] = {}
    for line in await taken(api, provider_id):
        assert isinstance(line, BulkLine)
        known = token_and_ordinal(line.custom_id)
        assert known is not None
        assert known[1] not in found, "it came twice"
        found[known[1]] = line.reply
    return found


def texts(found: dict[int, Output | Failure]) -> dict[int, str | None]:
    """Return the texts of outputs."""
    return {n: got.text for n, got in found.items() if isinstance(got, Output)}


def failures(found: dict[int, Output | Failure]) -> dict[int, str]:
    """Return the kinds of failures."""
    return {n: got.kind for n, got in found.items() if isinstance(got, Failure)}
