"""Lines of results, whichever dialect's: read within bounds, without keys, and never fatal."""

import json
from collections.abc import AsyncIterable, AsyncIterator, Callable
from typing import Final, TypeAlias

from tui_eval.model.json import Json, JsonObject, digest
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.model.visible import visible_line
from tui_eval.providers.answer_reading import READ_AT_ONCE, AnswerReader, redacted
from tui_eval.providers.bulk.api import BulkLine, StrayLine, id_within
from tui_eval.providers.bulk.line_stream import MOST_LINE, lines_of
from tui_eval.providers.keys import redact_json
from tui_eval.providers.patience import EndpointIdentity

_NAMES: Final = frozenset({"completed_at", "created", "created_at", "id", "system_fingerprint"})
_TOO_LONG: Final = f"it is longer than {MOST_LINE / 1e6:.0f} MB"

ReadReply: TypeAlias = Callable[[JsonObject, EndpointIdentity], tuple[Output | Failure, Json]]
"""A function of a module: gives what a line's row says, and what of it must be the same in another
line that says the same. Of the row no string is trusted."""


def without_names(body: Json) -> Json:
    """Return an answer without what its provider calls it, and when it was made.

    That differs between two lines that say the same.
    """
    if not isinstance(body, dict):
        return body
    return {name: value for name, value in body.items() if name not in _NAMES}


class ResultReader:
    """Reads the lines of results, those that are long in a process of its own."""

    def __init__(self, read: ReadReply, where: EndpointIdentity) -> None:
        """Make a reader; no process is started yet.

        Args:
            read: The dialect's.
            where: What advice names.
        """
        self._read = read
        self._where = where
        self._answers = AnswerReader()

    def close(self) -> None:
        """End its process."""
        self._answers.close()

    async def lines(
        self, parts: AsyncIterable[bytes], name: str, *, grows: bool = False
    ) -> AsyncIterator[BulkLine | StrayLine]:
        """Yield what each line of a file says.

        Args:
            parts: Of the file.
            name: What it is called, for a person.
            grows: Whether more may come behind its last line, which then counts only if whole.
        """
        shown = visible_line(name, 100)  # of a folder's file it may be anything
        async for line in lines_of(parts):
            where = f"{shown}, line {line.number}"
            if line.cut:
                if line.whole:
                    yield unread(line.content, where, _TOO_LONG, line.cut)
                elif not grows:
                    yield StrayLine(where, _TOO_LONG)  # another reading may have less, or its end
                continue
            got = await self._one(line.content, where)
            if isinstance(got, BulkLine) or line.whole or not grows:
                yield got

    async def _one(self, content: bytes, where: str) -> BulkLine | StrayLine:
        if len(content) <= READ_AT_ONCE:
            got = line_read(content, where, self._read, self._where)
        else:
            beside = await self._answers.beside(
                len(content), line_read, content, where, self._read, self._where
            )
            if isinstance(beside, Failure):
                return unread(content, where, beside.message, len(content))
            got = beside
        if isinstance(got, StrayLine):
            return got
        # a process of its own knows no keys, and parts that are joined may come to one
        return BulkLine(got.custom_id, redacted(got.reply), got.digest)


def unread(content: bytes, where: str, problem: str, size: int) -> BulkLine | StrayLine:
    """Return what a line is that has an answer nobody can read: a failure of whoever it is for.

    Its request was done and is paid: it is not asked again, unless a person wants that.

    Args:
        content: The line, or its beginning.
        where: Its file and number.
        problem: Why it cannot be read.
        size: Its bytes.
    """
    known = id_within(content)
    if known is None:
        return StrayLine(where, problem)
    told = f"the answer's line in the results cannot be read: {problem} ({where})"
    return BulkLine(known, Failure("bad_answer", told), digest([problem, size]))


def line_read(
    content: bytes, where: str, read: ReadReply, identity: EndpointIdentity
) -> BulkLine | StrayLine:
    """Return what a line says, or why nobody can say whose it is."""
    try:
        row = redact_json(json.loads(content))
        if not isinstance(row, dict):
            return StrayLine(where, "it is no JSON object")
        name = row.get("custom_id")
        if not isinstance(name, str) or not name:
            return StrayLine(where, "it has no custom_id")
        reply, said = read(row, identity)
        return BulkLine(name, reply, digest(said))
    except ValueError:
        return StrayLine(where, "it is no valid JSON")
    except RecursionError:
        return unread(content, where, "it is nested too deeply", len(content))
