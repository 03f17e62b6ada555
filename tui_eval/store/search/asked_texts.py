"""The texts of a case that its prompts ask about, to be searched.

A rendered prompt is not kept: what differs in it from case to case are the case's fields.
"""

import json
import re
import sqlite3
from collections import OrderedDict
from collections.abc import Iterator
from typing import Final

from tui_eval.model.json import Json

_TEMPLATE: Final = re.compile(r"\{[{%](.*?)[%}]\}", re.DOTALL)
_NAME: Final = re.compile(r"[^\W\d]\w*")
_KEPT: Final = 256
"""Cases whose texts are kept: the trials of one case come near to each other."""


class AskedTexts:
    """The texts of the fields that a run's prompts name; of all fields where they name none."""

    def __init__(self, db: sqlite3.Connection, run: int) -> None:
        """Read which fields the prompts of a run name."""
        row = db.execute(
            "SELECT json_extract(spec, '$.prompts') FROM runs WHERE id = ?", (run,)
        ).fetchone()
        self._names = frozenset(_named(json.loads(row[0] or "null")) if row is not None else ())
        self._known: OrderedDict[str, str] = OrderedDict()

    def of(self, data: str) -> str:
        """Return the texts of a case, apart from each other; empty: it has none.

        Args:
            data: The case, as the store has it.
        """
        known = self._known.get(data)
        if known is not None:
            return known
        fields = json.loads(data).get("fields")
        fields = fields if isinstance(fields, dict) else {}
        asked = [value for name, value in fields.items() if name in self._names]
        text = "\n".join(_texts(asked or list(fields.values())))
        self._known[data] = text
        if len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return text


def _named(prompts: Json) -> Iterator[str]:
    """Yield the names that stand in the templates of prompts; some are no fields."""
    for text in _texts(prompts):
        for inside in _TEMPLATE.findall(text):
            yield from _NAME.findall(inside)


def _texts(value: Json) -> Iterator[str]:
    """Yield all texts and figures within a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif value is not None and not isinstance(value, bool):
        yield str(value)
