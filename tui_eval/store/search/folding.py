"""What is alike in texts: for search whatever the case, in reasons all but the details."""

import re
from functools import lru_cache
from typing import Final

from tui_eval.model.json import digest
from tui_eval.store.text import unpack_text

_LONGEST = 200
_QUOTED = re.compile(r'"[^"\n]*"|“[^”\n]*”|`[^`\n]*`|(?<!\w)\'[^\'\n]*\'(?!\w)')
_NUMBER = re.compile(
    r"\b(?=[a-f]*\d)[0-9a-f]{8,}\b|[-+−]?\b\d[\d.,:_]*(?:e[-+]?\d+)?%?", re.IGNORECASE
)
_ALTERNATIVES = re.compile(r"“…”(?:(?:, | or | and )(?:“…”|#(?: more)?))+")
_OPTION = re.compile(
    r"\b(expected|got|between|or|and) (?:[A-Z]|\S{1,20} \(.*?\))"
    r"(?=, (?:got|found|ambiguous)|:| or | and |$)"
)
"""An option of a multiple choice as `choice` names it: its letter, or its label with its text."""
FOLDED_BY: Final = digest(
    [pattern.pattern for pattern in (_QUOTED, _NUMBER, _ALTERNATIVES, _OPTION)]
).hex()[:16]
"""Another one where reasons are folded otherwise: what is kept of folded ones is out of date."""


def fold(text: str) -> bytes:
    """Return the form in which texts are compared: whatever their case, whatever is in them."""
    return text.casefold().encode("utf-8", "surrogatepass")


@lru_cache(maxsize=4096)
def fold_reason(stored: str | bytes) -> str:
    """Return what a reason has in common with those like it.

    What it quotes, its numbers and options are left out, so that hundreds of reasons become one.

    Args:
        stored: The reason, as the store has it.
    """
    text = unpack_text(stored)[: 8 * _LONGEST]
    if not text.isascii():
        # a lone surrogate would be bytes again: nothing of it is left
        text = text.encode("utf-8", "replace").decode()
    return _folded_further(_QUOTED.sub("“…”", text))


@lru_cache(maxsize=4096)
def _folded_further(text: str) -> str:
    """Fold what is left of a reason without its quotations: reasons often differ in those alone."""
    text = " ".join(_NUMBER.sub("#", text).split())
    if "expected " in text:
        text = _OPTION.sub(r"\1 “…”", text)
    if "“…”" in text:
        text = _ALTERNATIVES.sub("“…”", text)
    return text.strip()[:_LONGEST]
