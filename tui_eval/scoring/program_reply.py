"""How what a program says of an output becomes a grade.

A reply is a number from 0 to 1, or `{"value", "verdict", "reason", "parts": {name: value}}` with a
value, a verdict or both. What is none leaves the output ungraded: it is the grader that broke.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.score import Grade
from tui_eval.model.states import Verdict
from tui_eval.model.visible import visible_line
from tui_eval.scoring.check import Check
from tui_eval.scoring.grading import negated
from tui_eval.scoring.settings import number
from tui_eval.texts.wording import quoted

_VALUES: Final = {Verdict.PASS: 1.0, Verdict.FAIL: 0.0}
_MOST_PARTS: Final = 1_000
_REASON: Final = 1_000
_SUMMARY: Final = re.compile(r"^=+ short test summary info =+\s*$", re.MULTILINE)
_RESULT: Final = re.compile(r"^(?:(PASSED) (.+)|(FAILED|ERROR) (.+?)(?: - .*)?)$", re.MULTILINE)
_ODD: Final = "reward"
"""What harnesses call the value in files of rewards."""


class NoReplyError(Exception):
    """What a program said is no reply; the message says why."""


def reply_in(said: str) -> Json:
    """Return the reply in what a program printed: all of it, or the one line that is a reply.

    Raises:
        NoReplyError: there is none, or there are several: which one counts nobody knows.
    """
    whole = said.strip()
    if not whole:
        raise NoReplyError("it printed no reply")
    try:
        return _parsed(whole)
    except ValueError:
        pass
    found = [*_replies(whole)]
    if not found:
        last = whole.splitlines()[-1]
        raise NoReplyError(f"it printed no number and no JSON: its last line is {quoted(last)}")
    if len(found) > 1:
        raise NoReplyError(
            f"it printed {len(found)} replies: one is wanted, and all else on standard error"
        )
    return found[0]


def reply_of_pytest(said: str) -> JsonObject:
    """Return what the summary of tests says that pytest prints at its end (`-rA`): all or nothing.

    Raises:
        NoReplyError: there is none.
    """
    *_, summary = _SUMMARY.split(said)
    found: dict[str, bool] = {}
    for passed, name, _, broken in _RESULT.findall(summary):
        test = (name or broken).rstrip()
        # one may pass and break afterwards
        found[test] = found.get(test, True) and bool(passed)
    if summary is said or not found:
        raise NoReplyError("it printed no summary of tests, as pytest does with -rA")
    failed = [name for name, passed in found.items() if not passed]
    reason = f"{len(found) - len(failed)} of {len(found)} tests passed"
    parts: JsonObject = {name: float(passed) for name, passed in found.items()}
    return {
        "value": (len(found) - len(failed)) / len(found),
        "verdict": "fail" if failed else "pass",
        "reason": f"{reason}; not {', '.join(failed[:3])}" if failed else reason,
        "parts": parts if len(parts) <= _MOST_PARTS else None,
    }


def _replies(said: str) -> Iterator[Json]:
    for line in said.splitlines():
        try:
            value = _parsed(line.strip())
        except ValueError:
            continue
        if _is_number(value) or (
            isinstance(value, dict) and ("value" in value or "verdict" in value)
        ):
            yield value


def _parsed(text: str) -> Json:
    try:
        value: Json = json.loads(text)
    except RecursionError:
        raise ValueError("it nests too deeply") from None
    return value


def grade_of_reply(check: Check, reply: Json) -> Grade:
    """Return the grade that a program's reply stands for.

    Where it names no verdict, the value passes from the check's `threshold` on; without one, from
    1 on.

    Raises:
        NoReplyError: it is none; the message says what is wrong with it.
    """
    if not isinstance(reply, dict):
        value = _value(reply, "it")
        return negated(check, _graded(check, value, None, f"the value is {value:g}", {}))
    named = _with_value(reply)
    given = named.get("value")
    value_or_none = None if given is None else _value(given, "value")
    verdict = _verdict(named.get("verdict"))
    if value_or_none is None and verdict is None:
        keys = ", ".join(map(str, [*reply][:5])) or "nothing"
        raise NoReplyError(f"it names neither value nor verdict, but {visible_line(keys, 80)}")
    parts = _parts(named.get("parts"))
    reason = named.get("reason")
    if reason is not None and not isinstance(reason, str):
        raise NoReplyError("its reason is no text")
    if verdict is Verdict.UNGRADED:
        return Grade.ungraded(visible_line(reason or "it gives no reason", _REASON), _raw(parts))
    if value_or_none is None:
        assert verdict is not None, "one of the two is there"
        value_or_none = _VALUES[verdict]
    said = visible_line(reason, _REASON) if reason else f"the value is {value_or_none:g}"
    return negated(check, _graded(check, value_or_none, verdict, said, parts))


def _graded(
    check: Check, value: float, verdict: Verdict | None, reason: str, parts: JsonObject
) -> Grade:
    if verdict is None:
        least = number(check.settings.get("threshold"))
        verdict = Verdict.PASS if value >= (1.0 if least is None else least) else Verdict.FAIL
    return Grade(verdict, value, reason, _raw(parts))


def _raw(parts: JsonObject) -> Json:
    return {"parts": parts} if parts else None


def _with_value(reply: JsonObject) -> JsonObject:
    """Return a reply with its value named so; a file of rewards has them as it likes."""
    if "value" in reply or "verdict" in reply:
        return reply
    if not reply or not all(_is_number(one) for one in reply.values()):
        return reply
    if _ODD in reply:
        return {"value": reply[_ODD], "parts": {k: v for k, v in reply.items() if k != _ODD}}
    return {"value": next(iter(reply.values()))} if len(reply) == 1 else reply


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _value(value: Json, what: str) -> float:
    found = _figure(value, what)
    if not 0 <= found <= 1:
        raise NoReplyError(f"{what} is {visible_line(str(value), 40)}: it must be from 0 to 1")
    return found


def _figure(value: Json, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise NoReplyError(f"{what} is no number, but {_shown(value)}")
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise NoReplyError(f"{what} is {visible_line(str(value), 40)}, which is no figure")
    return found


def _verdict(verdict: Json) -> Verdict | None:
    if verdict is None:
        return None
    try:
        return Verdict(str(verdict) if isinstance(verdict, str) else "")
    except ValueError:
        known = ", ".join(Verdict)
        raise NoReplyError(f"its verdict is {_shown(verdict)}: it must be one of {known}") from None


def _parts(parts: Json) -> JsonObject:
    if parts is None:
        return {}
    if not isinstance(parts, dict) or len(parts) > _MOST_PARTS:
        raise NoReplyError("its parts are no table of values by name")
    return {name: _figure(value, f"part {visible_line(name, 60)}") for name, value in parts.items()}


def _shown(value: Json) -> str:
    return quoted(value if isinstance(value, str) else json.dumps(value))
