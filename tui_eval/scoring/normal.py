"""One form for texts that differ only in how they are written."""

import re
import string
import unicodedata

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_ASCII_PUNCTUATION = {ord(mark): None for mark in string.punctuation}


def normalized(text: str) -> str:
    """Take away case, punctuation, the articles a, an, the and runs of white space.

    For ASCII text this is `normalize_answer` of the SQuAD v1.1 evaluation script (Rajpurkar et
    al. 2016, arXiv:1606.05250), but for a text of nothing but articles, which keeps them: the
    answer A is not the answer "the". Other scripts are brought to NFKC first and lose all that
    Unicode calls punctuation.
    """
    if text.isascii():
        text = text.lower().translate(_ASCII_PUNCTUATION)
    else:
        text = _without_punctuation(_folded(text))
    return " ".join(_ARTICLES.sub(" ", text).split()) or " ".join(text.split())


def _folded(text: str) -> str:
    # twice, as folding case can undo the normal form (Unicode 3.13, toNFKC_Casefold)
    for _ in range(2):
        text = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFKC", text)


def _without_punctuation(text: str) -> str:
    dropped = {
        ord(mark): None
        for mark in set(text)
        if mark in string.punctuation or unicodedata.category(mark).startswith("P")
    }
    return unicodedata.normalize("NFKC", text.translate(dropped))
