"""The command line as bash has it: words, the one at the cursor, and how to write into it."""

from dataclasses import dataclass
from typing import Final, Literal

Quote = Literal["", "'", '"']
_PLAIN: Final = frozenset("_./:=@%+,-")
"""What stands for itself outside quotation marks, beside letters and digits."""
_ESCAPED_IN_DOUBLE: Final = frozenset('\\$`"')


@dataclass(frozen=True, slots=True)
class BashLine:
    """A command line up to the cursor."""

    words: tuple[str, ...]
    """Before the one at the cursor, unquoted; the program's own name is left out."""
    incomplete: str
    """What of the word at the cursor is there, unquoted."""
    quote: Quote
    """The quotation mark that is still open."""
    before: int
    """How many characters of the incomplete word bash leaves as they are: those up to its last
    `=` or `:`."""

    def written(self, word: str) -> str | None:
        """Return what is to stand in place of what bash replaces; None: it cannot be written.

        Args:
            word: The whole word, unquoted; it begins with what is left as it is.
        """
        rest = word[self.before :]
        if self.quote == "'":
            return None if "'" in rest else rest
        if self.quote == '"':
            if "!" in rest:  # an earlier command would be put there
                return None
            return "".join(f"\\{one}" if one in _ESCAPED_IN_DOUBLE else one for one in rest)
        return "".join(one if one.isalnum() or one in _PLAIN else f"\\{one}" for one in rest)


def bash_line(line: str, fragment: str) -> BashLine:
    """Take a command line apart.

    Args:
        line: The line up to the cursor.
        fragment: What bash would replace, as it stands there, without an open quotation mark.
    """
    words, incomplete, quote = _scanned(line)
    at = next((at for at, word in enumerate(words) if word.endswith("tui-eval")), 0)
    replaced = _scanned(f"{quote}{fragment}")[1]
    before = len(incomplete) - len(replaced) if incomplete.endswith(replaced) else 0
    return BashLine(tuple(words[at + 1 :]), incomplete, quote, before)


def _scanned(line: str) -> tuple[list[str], str, Quote]:
    """Return the words that are whole, the last one, and what is open in it."""
    words: list[str] = []
    word: list[str] = []
    begun = False
    quote: Quote = ""
    rest = iter(line)
    for one in rest:
        if quote == "" and one.isspace():
            if begun:
                words.append("".join(word))
            word, begun = [], False
            continue
        begun = True
        if one == quote:
            quote = ""
        elif quote == "" and one == "'":
            quote = "'"
        elif quote == "" and one == '"':
            quote = '"'
        elif one == "\\" and quote != "'":
            escaped = next(rest, "")
            kept = quote == '"' and escaped not in _ESCAPED_IN_DOUBLE
            word.append(f"\\{escaped}" if kept else escaped)
        else:
            word.append(one)
    return words, "".join(word), quote
