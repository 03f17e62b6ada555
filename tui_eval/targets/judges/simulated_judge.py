"""A simulated judge, for demos, tests and load: it compares words, and grades nothing really.

Its rule: words are runs of letters and digits, case aside, without the commonest ones. A rubric's
grade is the share of the words of the `reference` (where there is none: of the rubric) that the
output has, spread over the scale and rounded where the scale's ends are whole; pass and met are a
half of them or more. A requirement or criterion is graded by the words of its own text.
"""

import asyncio
import json
import re
import time
from collections.abc import Iterable, Sequence
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.suites.spec import SimulatedJudgeSpec
from tui_eval.targets import seeded_draws
from tui_eval.targets.base import Judge
from tui_eval.targets.build_context import BuildContext, fixed
from tui_eval.targets.simulated import SIMULATED

_RULE: Final = 1
"""Raised when the rule comes to grade differently, so that no old grade is reused."""
_HALF: Final = 0.5
_WORD: Final = re.compile(r"\w+")
_COMMON: Final = frozenset(
    _WORD.findall(
        "a an and are as at be by for from has have if in is it its no not of on or that the "
        "there this to was what which who with"
    )
)
_SCALE: Final = re.compile(r"a number from (\S+) \(worst\) to (\S+) \(best\)")
"""How the instructions name the scale that all items of a request share."""
_GARBAGE: Final = "I am only a simulated judge, and this is no reply that anybody can read."


class SimulatedJudge(Judge):
    """Replies as a judge would, by a rule, with faults where the suite wants them."""

    def __init__(self, spec: SimulatedJudgeSpec, context: BuildContext) -> None:
        """Make the judge."""
        super().__init__(spec, f"{SIMULATED}|{spec.name}")
        self.default_concurrency = fixed(spec.concurrency)
        self._spec = spec
        self._attempts: dict[float, int] = {}

    def identity(self) -> JsonObject:
        """Return its rule; faults change no grade that comes through."""
        return {"kind": self.kind, "rule": _RULE}

    def body(self, messages: Sequence[JsonObject], schema: JsonObject) -> JsonObject:
        """Return a request; the rule needs no form to hold it to."""
        said: list[Json] = [*messages]
        return {"messages": said, "model": self.model}

    async def ask(
        self, messages: Sequence[JsonObject], schema: JsonObject, *, timeout_s: float
    ) -> Output | Failure:
        """Wait as long as a call would take and reply, or give the fault that is due."""
        started = time.monotonic()
        asked = _asked(messages)
        lot = self._lot(asked)
        pause = seeded_draws.seconds(self._spec.latency_s, seeded_draws.draw(lot, "latency"))
        await asyncio.sleep(min(pause, timeout_s))
        if pause > timeout_s:
            return Failure("timeout", "simulated: no reply in time", retryable=True)
        shares = {str(fault): share for fault, share in self._spec.faults.items()}
        fault = seeded_draws.drawn_fault(shares, seeded_draws.draw(lot, "fault"))
        if fault == "rate_limit":
            return Failure("rate_limit", "simulated: too many requests", retryable=True, status=429)
        if fault == "server_error":
            return Failure("server_error", "simulated: it broke", retryable=True, status=500)
        text = _reply(asked, _scale(messages), fault, seeded_draws.draw(lot, "which"))
        return Output(
            text=text,
            finish_reason="length" if fault == "truncated" else "stop",
            model=SIMULATED,
            cost_usd=0.0,
            latency_s=time.monotonic() - started,
        )

    def _lot(self, asked: JsonObject) -> float:
        """Draw for a request by what it asks, not by its ids; asked again, it draws anew."""
        bodies = [{k: v for k, v in item.items() if k != "id"} for item in _items(asked)]
        lot = seeded_draws.draw(self._spec.seed, list[Json](bodies))
        if self._spec.faults:
            self._attempts[lot] = self._attempts.get(lot, 0) + 1
        return seeded_draws.draw(lot, self._attempts.get(lot, 1))


def _asked(messages: Sequence[JsonObject]) -> JsonObject:
    """Find the one JSON object of the last user message, as any server has to.

    Raises:
        ValueError: there is none: whoever made the request did not keep to the wire format.
    """
    users = [message["content"] for message in messages if message.get("role") == "user"]
    text = str(users[-1]) if users else ""
    found = json.loads(text[text.find("{") : text.rfind("}") + 1])
    if not isinstance(found, dict):
        raise ValueError("the request holds no JSON object")  # noqa: TRY004 - foreign text
    return found


def _items(asked: JsonObject) -> list[JsonObject]:
    items = asked.get("items")
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _scale(messages: Sequence[JsonObject]) -> tuple[float, float] | None:
    """Return the scale that the instructions name; None: grades are 1 or 0."""
    for message in messages:
        found = _SCALE.search(str(message.get("content")))
        if message.get("role") == "system" and found is not None:
            return float(found[1]), float(found[2])
    return None


def _reply(
    asked: JsonObject, scale: tuple[float, float] | None, fault: str | None, which: float
) -> str:
    if fault == "garbage":
        return _GARBAGE
    grades = [_grade(item, scale) for item in _items(asked)]
    place = int(which * len(grades))
    if fault == "missing":
        del grades[place]
    elif fault == "out_of_range":
        _spoil(grades[place], scale)
    nonce = "n-simulated-wrong" if fault == "wrong_nonce" else asked.get("nonce")
    text = json.dumps({"nonce": nonce, "grades": grades}, ensure_ascii=False)
    return text[: len(text) // 2] if fault == "truncated" else text


def _grade(item: JsonObject, scale: tuple[float, float] | None) -> JsonObject:
    output = _words(item.get("output"))
    grade: JsonObject = {"id": item.get("id")}
    for plural, singular in (("requirements", "requirement"), ("criteria", "criterion")):
        listed = item.get(plural)
        if isinstance(listed, list):
            lines = [line for line in listed if isinstance(line, dict)]
            return {**grade, plural: [_line(line, singular, output, scale) for line in lines]}
    expected, what = item.get("reference"), "reference"
    if expected is None:
        expected, what = item.get("rubric"), "rubric"
    share, reason = _shared(_words(expected), output, what)
    return {**grade, "reason": reason, "score": _score(share, scale)}


def _line(
    line: JsonObject, singular: str, output: set[str], scale: tuple[float, float] | None
) -> JsonObject:
    share, reason = _shared(_words(line.get("text")), output, singular)
    graded: JsonObject = {singular: line.get(singular), "reason": reason}
    if singular == "requirement":
        return {**graded, "met": share >= _HALF}
    return {**graded, "score": _score(share, scale)}


def _score(share: float, scale: tuple[float, float] | None) -> float:
    if scale is None:
        return int(share >= _HALF)
    low, high = scale
    score = low + share * (high - low)
    return round(score) if low.is_integer() and high.is_integer() else score


def _spoil(grade: JsonObject, scale: tuple[float, float] | None) -> None:
    """Make a grade one that no scale has."""
    beyond = 2.0 if scale is None else scale[1] + 1
    for plural, name in (("requirements", "met"), ("criteria", "score")):
        listed = grade.get(plural)
        if isinstance(listed, list) and listed and isinstance(listed[0], dict):
            listed[0][name] = beyond
            return
    grade["score"] = beyond


def _shared(expected: set[str], output: set[str], what: str) -> tuple[float, str]:
    found = len(expected & output)
    share = found / len(expected) if expected else 0.0
    return share, f"simulated: the output has {found} of the {len(expected)} words of the {what}"


def _words(value: Json) -> set[str]:
    return {word for text in _texts(value) for word in _WORD.findall(text.casefold())} - _COMMON


def _texts(value: Json) -> Iterable[str]:
    """Yield every text in a value; numbers are texts here."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif value is not None:
        yield str(value)
