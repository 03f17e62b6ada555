"""Sentences and words of a text, as far as rules tell them."""

import re
from itertools import pairwise
from typing import Final

_CLOSERS: Final = "\"'”’)]*_"
_OPENERS: Final = "\"'“‘([*_#-–—"
_ENDS: Final = ".!?…"
_ABBREVIATIONS: Final = frozenset(
    (
        *("mr", "mrs", "ms", "dr", "prof", "rev", "gen", "sen", "rep", "gov", "capt", "sgt", "st"),
        *("mt", "jr", "sr", "vs", "etc", "inc", "ltd", "co", "corp", "no", "vol", "pp", "fig"),
        *("al", "approx", "dept", "est", "e.g", "i.e", "cf", "a.m", "p.m", "u.s", "u.k", "u.n"),
        *("d.c", "ph.d", "b.a", "m.a"),
    )
)
"""Words whose dot ends no sentence by itself, in lower case and without it."""
_LONGEST_ITEM: Final = 2
"""Digits that the number of a list's item may have."""
_DEEPEST_ITEM: Final = 40
"""Characters that it may be indented by."""


def count_sentences(text: str) -> int:
    """Return how many sentences a text has.

    One ends with `.`, `!`, `?` or an ellipsis at the end of a word, but not with the dot of an
    abbreviation, an initial or the number of a list's item, nor before a small letter. The last
    need not be ended.
    """
    found = list(re.finditer(r"\S+", text))
    inner = sum(_ends(word, text, after[0]) for word, after in pairwise(found))
    return inner + bool(found)


def _ends(word: re.Match[str], text: str, following: str) -> bool:
    bare = word[0].rstrip(_CLOSERS)
    stem = bare.rstrip(_ENDS)
    mark = bare[len(stem) :]
    if not mark:
        return False
    if "!" in mark or "?" in mark:
        return True
    if following.lstrip(_OPENERS)[:1].islower():
        return False
    stem = stem.lstrip(_OPENERS)
    if mark != ".":
        return True
    if stem.isdigit() and len(stem) <= _LONGEST_ITEM and _begins_line(word, text):
        return False
    initial = len(stem) == 1 and stem.isupper() and stem != "I"
    return not initial and stem.casefold() not in _ABBREVIATIONS


def _begins_line(word: re.Match[str], text: str) -> bool:
    before = text[max(0, word.start() - _DEEPEST_ITEM) : word.start()].rstrip(" \t")
    return not before or before.endswith("\n")


def words(text: str) -> list[str]:
    """Return the words of a text: runs of letters, digits and `_`."""
    return re.findall(r"\w+", text)


def whole_words(text: str) -> list[str]:
    """Return the words of a text with the hyphens, dots and signs that stand inside them."""
    return re.findall(r"\w+(?:[-.&/]\w+)*", text)
