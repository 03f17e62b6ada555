"""What a program says of its own failure, as the same failures that endpoints have.

Agents pass on what their endpoint answered: a status, an error's name, or only a sentence. The
status decides as it does for an endpoint that is asked directly (`patience.of_status`).
"""

import re
from typing import Final

from tui_eval.model.outputs.output import Failure
from tui_eval.model.visible import visible_line
from tui_eval.providers.keys import redact
from tui_eval.providers.patience import EndpointIdentity, of_status

_LONGEST: Final = 300
_READ: Final = 20_000
"""Characters of an error that are looked at."""

# Error names of the agents and of the endpoints behind them, then their usual sentences.
_LIMITED: Final = r"rate.?limit|too many requests|resource_?exhausted|throttl"
_UNPAID: Final = r"insufficient_quota|billing|credit balance|insufficient (balance|credits)"
_REFUSED: Final = (
    r"authentication|unauthori[sz]ed|permission_error|permission_?denied|oauth"
    r"|(invalid|incorrect|missing|no|bad)[ _-]?(x-)?api[ _-]?key"
    r"|api[ _-]?key (is |was )?(not (valid|set|found)|missing|invalid)"
    r"|(not|please).{0,20}(log(ged)? ?in|/login)"
)
_DOWN: Final = r"overloaded|high demand|unavailable|server.?error|internal error|bad gateway"
_UNREACHED: Final = (
    r"stream disconnected|connection (error|refused|reset)|connect\w* (timed? ?out|timeout)"
    r"|econn|etimedout|fetch failed|network error|request timed out|api_?connection"
)
_WORDS: Final = ((429, _LIMITED), (402, _UNPAID), (401, _REFUSED), (503, _DOWN), (500, _UNREACHED))
_MEANING: Final = tuple((status, re.compile(words, re.IGNORECASE)) for status, words in _WORDS)
_STATUS: Final = re.compile(
    r"(?i:status|code|error|http)\W{0,4}(?:(?i:code)\W{0,3})?([45]\d\d)\b|\b([45]\d\d) [A-Z\"{]"
)


def own_failure(
    program: str,
    said: str,
    *,
    word: str | None = None,
    status: int | None = None,
    model: str | None = None,
) -> Failure:
    """Return what a program's own report of its failure means.

    429 and 5xx may pass and are retried; a refused key is everybody's. What nothing is known of is
    the trial's own, of the kind `agent`.

    Args:
        program: What messages call it.
        said: Its message.
        word: The name it gives the error; None: it gives none.
        status: The HTTP status it met; None: it names none, or in its message alone.
        model: The model it asked.
    """
    said, word = said[:_READ], (word or "")[:_READ]
    status = status or _by_word(word) or _status_in(said) or _by_word(said)
    if status is None or not 400 <= status < 600:
        what = said if not word or word in said else f"{word}: {said}"
        return Failure("agent", visible_line(redact(f"{program}: {what}"), _LONGEST))
    where = EndpointIdentity(host=f"{program}'s endpoint", model=model, key_env="its environment")
    return of_status(status, {}, said.encode("utf-8", "replace"), where)


def _status_in(said: str) -> int | None:
    found = _STATUS.search(said)
    return int(found.group(1) or found.group(2)) if found else None


def _by_word(said: str) -> int | None:
    return next((status for status, words in _MEANING if words.search(said)), None)
