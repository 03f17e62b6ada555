"""The blocks of code in a text, as Markdown fences them."""

from __future__ import annotations

import re
from typing import Iterator, Sequence

_FENCE = re.compile(r"[ \t]*(?:>[ \t]*)?(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^`\n]*\Z")


def fenced(text: str, tags: Sequence[str]) -> Iterator[str]:
    """Yield the blocks of a language, in their order.

    Where some are marked with one of the tags, it is these; else those that are not marked; else
    all. A fence that nothing closes ends with the text. What stands before a single fence is a
    block as well, where that fence only ends it: a model that goes on within a block has no other.

    Args:
        text: A reply.
        tags: The language's names in lower case.
    """
    blocks = list(_blocks(text))
    for chosen in (
        [block for tag, block in blocks if tag and tag in tags],
        [block for tag, block in blocks if not tag],
        [block for _, block in blocks],
    ):
        if chosen:
            yield from chosen
            return


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    lines = text.replace("\r\n", "\n").split("\n")
    opened: tuple[str, str, int] | None = None
    fences = 0
    for at, line in enumerate(lines):
        found = _FENCE.match(line)
        if found is None:
            continue
        marks, tag = found.group(1), found.group(2).lower()
        if opened is None:
            opened = (marks, tag, at)
            fences += 1
        elif marks.startswith(opened[0]) and not tag:
            yield opened[1], _joined(lines[opened[2] + 1 : at])
            opened = None
    if opened is None:
        return
    rest = _joined(lines[opened[2] + 1 :])
    if fences == 1 and not opened[1] and not rest.strip():
        yield "", _joined(lines[: opened[2]])
    elif rest.strip():
        yield opened[1], rest


def _joined(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
