"""`aider`: what `aider --no-pretty --message …` prints: text for people.

After a few lines about itself come its replies; behind each it reports its tokens, and then what it
did with it. It exits with 0 whatever happened: that its endpoint failed, only the text says.
"""

import re
from typing import ClassVar, Final

from tui_eval.model.outputs.output import Usage
from tui_eval.targets.transcripts.reader import LinewiseReader

_FIRST: Final = re.compile(r"Aider v\d")
_ABOUT: Final = re.compile(
    r"(Main model|Weak model|Editor model|Model|Git repo|Repo-map|Multiline mode)[: ]"
    r"|https://aider\.chat/|Added .* to the chat\.?$"
)
_MODEL: Final = re.compile(r"(?:Main model|Model): (\S+)")
_TOKENS: Final = re.compile(r"Tokens: ([\d.]+[kM]?) sent\b")
_HIT: Final = re.compile(r"([\d.]+[kM]?) cache hit")
_RECEIVED: Final = re.compile(r"([\d.]+[kM]?) received")
_COST: Final = re.compile(r"\$(\d+(?:\.\d+)?) session")
_ERROR: Final = re.compile(r"litellm\.(\w+)")
_SCALE: Final = {"k": 1_000, "M": 1_000_000}


class AiderReader(LinewiseReader):
    """Reads replies, tokens, cost and errors from text."""

    FORMAT: ClassVar[str] = "aider"
    ASKED_BY: ClassVar[str] = "it needs --no-pretty --message, and no --quiet"

    def __init__(self) -> None:
        super().__init__()
        self._text: list[str] = []
        """The lines since the last report."""
        self._report: str | None = None
        """A report that goes on in the next line."""

    def _read(self, line: bytes) -> bool:
        self._take(line.decode("utf-8", "replace"))
        return True

    def _end(self) -> None:
        super()._end()
        self._take("")
        rest = "\n".join(self._text).strip("\n")
        error = _last_error(self._text)
        if error is not None:
            self._fail(error[1], word=error[0])
        elif rest and self.turn:
            self._told("system", rest)
        elif rest and self._is_own:
            self._say(rest)

    def _take(self, line: str) -> None:
        if not self._is_own:
            self._is_own = _FIRST.match(line) is not None
        elif self._report is not None:
            self._reported(f"{self._report} {line}")
        elif _TOKENS.match(line):
            # lines are folded at 80 columns: the cost, and even the tokens, may follow
            self._report = line
        elif not self.turn and not self._text and _ABOUT.match(line):
            model = _MODEL.match(line)
            self.model = model.group(1) if model else self.model
        elif line or self._text:
            self._text.append(line)

    def _reported(self, report: str) -> None:
        self._under_way = None
        self._say("\n".join(self._text).strip("\n"))
        self._text.clear()
        self._report = None
        sent, received, hit = (find.search(report) for find in (_TOKENS, _RECEIVED, _HIT))
        self._tokens.tell_next(
            Usage(input=_count(sent), output=_count(received), cached=_count(hit))
        )
        cost = _COST.search(report)
        if cost is not None:
            self.cost_usd = float(cost.group(1)[:30])


def _count(found: re.Match[str] | None) -> int | None:
    """Return a figure as it is shown: `345`, `3.4k`, `1.2M`."""
    if found is None:
        return None
    digits = found.group(1)[:30]
    scale = _SCALE.get(digits[-1], 1)
    try:
        return round(float(digits.rstrip("kM")) * scale)
    except ValueError:
        return None


def _last_error(lines: list[str]) -> tuple[str, str] | None:
    """Return the name and the words of the last error of its endpoint; None: there is none."""
    for at in range(len(lines) - 1, -1, -1):
        found = _ERROR.match(lines[at])
        if found is not None:
            paragraph = " ".join(lines[at:]).split("  ")[0]
            return found.group(1), paragraph
    return None
