"""How large requests of consignments are, and may be."""

import secrets
from dataclasses import dataclass
from typing import Final

from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure
from tui_eval.providers.bulk.api import BulkApi, BulkRequest, custom_id
from tui_eval.targets.bulk_access import BulkAccess

_TOKEN_BYTES: Final = 12
_MEGABYTE: Final = 1_000_000
_DIGITS: Final = 9
"""Characters that a request's own ordinal may have more than the one its size is taken with."""


def new_token() -> str:
    """Return a random token for a consignment."""
    return secrets.token_hex(_TOKEN_BYTES)


def most_bytes(access: BulkAccess, api: BulkApi) -> int:
    """Return how many bytes a consignment may have."""
    return min(access.wanted.megabytes, api.limits.megabytes) * _MEGABYTE


@dataclass(frozen=True, slots=True)
class SizedBody:
    """What is posted for a request, and how large that is."""

    body: JsonObject
    size: int
    """The bytes that it adds to a consignment."""


async def sized(
    request: JsonObject, token: str, access: BulkAccess, api: BulkApi
) -> SizedBody | Failure:
    """Return what is posted for a request, or why it cannot be sent.

    Args:
        request: The request, as its target or judge made it.
        token: The consignment's.
        access: How requests go to the provider.
        api: The provider's.
    """
    body = await access.body(request)
    if isinstance(body, Failure):
        return body
    sent = api.encoded(BulkRequest(custom_id(token, 0), body))
    if isinstance(sent, Failure):
        return sent
    size = len(sent) + 1 + _DIGITS
    if size > most_bytes(access, api):
        why = f"the request has {size:,} bytes, more than a whole consignment may have"
        return Failure("bad_request", why)
    return SizedBody(body, size)
