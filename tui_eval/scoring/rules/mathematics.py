"""The rule of mathematical equality: `math`.

What is compared, and how an answer's last expression is found, is math-verify's
(https://github.com/huggingface/Math-Verify). It has no bound of its own: it is to be called where
it can be ended.
"""

import logging
from collections.abc import Callable
from typing import Any, Final

from tui_eval.model.json import JsonObject
from tui_eval.model.score import Grade
from tui_eval.scoring.settings import texts
from tui_eval.suites import loop_bounds
from tui_eval.texts.wording import one_of, plain, quoted

_LOOKED_AT: Final = 20_000
"""Characters at the end of an answer in which its last expression is looked for."""
_MARKS: Final = ("$", "\\boxed", "\\(", "\\[")
"""What shows that a text has its mathematics marked as such."""


def equal_mathematics(settings: JsonObject, answer: str) -> Grade:
    """Pass where the last expression of the answer equals an expected one."""
    loop_bounds.allow(1, 0)  # symbolic mathematics has no bound
    try:
        import math_verify  # late: an extra, and a second to load
    except ImportError:
        return Grade.ungraded("mathematics cannot be compared: install tui-eval[math]")
    logging.getLogger("math_verify").setLevel(logging.ERROR)
    expected = texts(settings["expected"])
    try:
        wanted = [_read(math_verify.parse, one) for one in expected]
        if not all(wanted):
            unread = expected[wanted.index([])]
            return Grade.ungraded(f"expected {quoted(unread)} is no mathematical expression")
        found = math_verify.parse(answer[-_LOOKED_AT:], parsing_timeout=None)
        if not found:
            return Grade.of(False, f"no mathematical expression in {quoted(answer)}")
        equal = any(math_verify.verify(one, found, timeout_seconds=None) for one in wanted)
    except Exception as error:  # noqa: BLE001 - of a library, whatever it met: told, not counted
        return Grade.ungraded(f"comparing failed: {type(error).__name__}: {plain(str(error))}")
    got = str(found[-1])
    return Grade.of(equal, f"expected {one_of(expected)}, got {quoted(got)}", got)


def _read(parse: Callable[..., list[Any]], text: str) -> list[Any]:
    """Return what an expected text means, which need not be marked as mathematics."""
    if not any(mark in text for mark in _MARKS):
        marked = parse(f"${text}$", parsing_timeout=None)
        if marked:
            return marked
    return parse(text, parsing_timeout=None)
