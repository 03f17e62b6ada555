"""JSON as a type, and its canonical form: the one thing every key is made of."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
JsonObject: TypeAlias = dict[str, "Json"]

_ENCODER = json.JSONEncoder(
    sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=True, check_circular=False
)
_INDEX = re.compile("[0-9]{1,9}")


def canonical(value: object) -> bytes:
    """Give the one byte string that stands for `value`: sorted keys, no spaces, ASCII only.

    Lone surrogates are escaped, so every Python string has a canonical form. Two that are a pair
    are the character they stand for, as in all JSON.
    """
    return _ENCODER.encode(value).encode("ascii")


def digest(value: object) -> bytes:
    """Give the SHA-256 (32 bytes) of the canonical form of `value`."""
    return hashlib.sha256(canonical(value)).digest()


def dotted(row: Mapping[str, Json], path: str) -> Json:
    """Follow a dotted path (`metadata.topic`, `messages.0.content`) into a row.

    Raises:
        KeyError: when a step is not there; the message is the path up to and with that step.
    """
    if path in row:
        return row[path]
    value: Json = dict(row)
    walked: list[str] = []
    for step in path.split("."):
        walked.append(step)
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and _INDEX.fullmatch(step) and int(step) < len(value):
            value = value[int(step)]
        else:
            raise KeyError(".".join(walked))
    return value
