"""What an engine and its process with Ray in it say to each other: a head in JSON, and bytes.

An engine says `start` (first), `share` and `give`; it is told `joined`, `unplaced`, `came`, `lost`,
`failed` and, now and then, `alive`. Neither side looks into the bytes of `give` and `came`: they
are handfuls.
"""

import asyncio
import json
import struct
from typing import Final

from tui_eval.model.json import JsonObject

_LENGTHS: Final = struct.Struct("<IQ")


def frame(head: JsonObject, body: bytes = b"") -> bytes:
    """Return a frame as it is sent."""
    told = json.dumps(head).encode("ascii")
    return _LENGTHS.pack(len(told), len(body)) + told + body


async def next_frame(reader: asyncio.StreamReader) -> tuple[dict[str, str], bytes] | None:
    """Return the next frame; None: the other side has gone.

    All values of a head are texts.
    """
    try:
        heads, bodies = _LENGTHS.unpack(await reader.readexactly(_LENGTHS.size))
        head: dict[str, str] = json.loads(await reader.readexactly(heads))
        return head, await reader.readexactly(bodies)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
