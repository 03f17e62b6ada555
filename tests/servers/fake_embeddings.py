"""Vectors as `/embeddings` gives them: how often each word stands in a text."""

import json
import zlib
from collections.abc import Sequence
from typing import Any

from tests.servers.fake_model import Call, Reply, Script

WORDS = 256


def vector(text: str) -> list[float]:
    """Count the words of a text, case aside; a text without any has a word of its own."""
    counts = [0.0] * WORDS
    for word in text.casefold().split() or [""]:
        counts[zlib.crc32(word.encode()) % WORDS] += 1.0
    return counts


def body(texts: Sequence[str]) -> dict[str, Any]:
    """Make the body of an answer about some texts."""
    data = [
        {"object": "embedding", "index": index, "embedding": vector(text)}
        for index, text in enumerate(texts)
    ]
    tokens = sum(len(text.split()) for text in texts)
    return {
        "object": "list",
        "model": "fake-vectors",
        "data": data[::-1],  # the order is not promised
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def embeddings(otherwise: Script | None = None) -> Script:
    """Answer requests for vectors, after `otherwise` has had its say of any request."""

    def script(call: Call) -> Reply | None:
        said = None if otherwise is None else otherwise(call)
        if said is not None or not call.path.endswith("/embeddings"):
            return said
        return Reply("status", body=json.dumps(body(call.body["input"])))

    return script
