"""Long texts of messages, kept once however many outputs have them.

In an output's messages a long text is cut to its beginning; `output_texts` says at which place, and
`long_texts` has all of it by digest. So a transcript can be listed without what its tools printed,
and what is repeated in it, or in other runs, is there once. Nothing in the messages marks a cut: no
text of a model can pretend to be one.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.store.text import dump, pack, unpack_text

INLINE: Final = 16_384
"""Characters of the longest text that stays in its message."""
PREVIEW: Final = 1_000
"""Characters of a longer one that stay."""


@dataclass(frozen=True, slots=True)
class LongText:
    """A text that was cut."""

    place: tuple[str | int, ...]
    """Where it is: the message's number, then keys and numbers below."""
    text: str

    @property
    def digest(self) -> bytes:
        """SHA-256 of its UTF-8."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).digest()


def cut(messages: Iterable[JsonObject]) -> tuple[list[Json], list[LongText]]:
    """Return messages with only the beginnings of their long texts, and those texts."""
    copy: list[Json] = list(messages)
    found: list[LongText] = []
    below: list[tuple[tuple[str | int, ...], Any]] = [((), copy)]
    while below:
        place, container = below.pop()
        for key, value in _items(container):
            if isinstance(value, str):
                if len(value) > INLINE:
                    found.append(LongText((*place, key), value))
                    container[key] = value[:PREVIEW]
            elif isinstance(value, dict | list):
                container[key] = value.copy()
                below.append(((*place, key), container[key]))
    return copy, found


def add(db: sqlite3.Connection, output: int, texts: Sequence[LongText]) -> None:
    """Keep the long texts of an output."""
    rows = [(text.digest, text) for text in texts]
    db.executemany(
        "INSERT OR IGNORE INTO long_texts VALUES (?, ?, ?)",
        [(digest, len(text.text), pack(text.text)) for digest, text in rows],
    )
    db.executemany(
        "INSERT INTO output_texts VALUES (?, ?, ?)",
        [(output, dump(text.place), digest) for digest, text in rows],
    )


def whole(db: sqlite3.Connection, output: int, messages: list[Any]) -> None:
    """Put the long texts of an output back into its messages."""
    for place, text in db.execute(
        "SELECT o.place, t.text FROM output_texts o JOIN long_texts t ON t.digest = o.digest "
        "WHERE o.output = ?",
        (output,),
    ):
        *way, last = json.loads(place)
        container: Any = messages
        for key in way:
            container = container[key]
        container[last] = unpack_text(text)


def forget(db: sqlite3.Connection, outputs: Sequence[int]) -> None:
    """Remove what outputs that are gone had, but for texts that others have, too."""
    chosen = json.dumps(list(outputs))
    db.execute(
        "DELETE FROM long_texts WHERE digest IN (SELECT digest FROM output_texts WHERE output IN "
        "(SELECT value FROM json_each(?1))) AND NOT EXISTS (SELECT 1 FROM output_texts o "
        "WHERE o.digest = long_texts.digest AND o.output NOT IN (SELECT value FROM json_each(?1)))",
        (chosen,),
    )
    db.execute(
        "DELETE FROM output_texts WHERE output IN (SELECT value FROM json_each(?1))", (chosen,)
    )


def _items(container: dict[str, Any] | list[Any]) -> Iterable[tuple[Any, Any]]:
    return list(container.items()) if isinstance(container, dict) else enumerate(container)
