"""Generation keys: which output a trial wants."""

import hashlib
from typing import Final

from tui_eval.model.json import JsonObject, canonical

_MOST_ALIKE: Final = 10_000
"""Equal requests of a run among which a trial's is looked for."""


def request_key(identity: bytes, request: JsonObject) -> bytes:
    """Return the key of a request to a target, before epoch and occurrence (32 bytes).

    It is the digest of the list of both.

    Args:
        identity: What the target is, as far as it changes answers: kind, URL, model, parameters;
            its canonical form, as it is the same for every request.
        request: The rendered request.
    """
    return hashlib.sha256(b"[%b,%b]" % (identity, canonical(request))).digest()


def generation_key(request: bytes, epoch: int, occurrence: int) -> bytes:
    """Return the key of one trial's output (32 bytes).

    Args:
        request: The key of its request.
        epoch: From 0.
        occurrence: How many equal requests of the same epoch came before it in the run, so that
            two equal prompts stay independent.
    """
    return hashlib.sha256(b"%b %d %d" % (request, epoch, occurrence)).digest()


def is_key_of(key: bytes, request: bytes, epoch: int) -> bool:
    """Return whether a trial's key is that of a request, whichever of its like it is.

    Args:
        key: The trial's.
        request: The key of the request.
        epoch: The trial's, from 0.
    """
    return any(key == generation_key(request, epoch, alike) for alike in range(_MOST_ALIKE))
