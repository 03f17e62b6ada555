"""What a judge's reply says: of which item, and nothing that it does not say."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.scoring.judge.documents import Array, Object, Value, documents
from tui_eval.scoring.judge.item import Form

REASON_BYTES: Final = 4096
"""The most bytes of UTF-8 that are kept of a reason."""

_LISTED: Final = {"requirements": ("requirement", "met"), "criteria": ("criterion", "score")}
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ABSENT: Final = "there is no grade for it in the judge's reply"


@dataclass(frozen=True, slots=True)
class Part:
    """What a judge said of one requirement or criterion, or of a rubric as a whole."""

    value: float
    """The score as given; of a requirement 1 for met and 0 for not."""
    reason: str
    """The judge's words, foreign text; at most `REASON_BYTES`."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of a question."""

    parts: Mapping[int, Part]
    """By number; 0 is the whole."""
    reason: str = ""
    """What the judge said beside its parts."""

    def as_json(self) -> JsonObject:
        """Give it as it is stored."""
        parts: list[Json] = [
            {"number": number, "value": part.value, "reason": part.reason}
            for number, part in sorted(self.parts.items())
        ]
        return {"parts": parts, "reason": self.reason}

    @classmethod
    def from_json(cls, stored: JsonObject) -> "Finding":
        """Read what `as_json` gave.

        Raises:
            ValueError: when it did not.
        """
        match stored:
            case {"parts": [*parts], "reason": str(reason)}:
                return cls(dict(_stored(part) for part in parts), reason)
        raise ValueError("a finding has a list of parts and a reason")


def _stored(part: Json) -> tuple[int, Part]:
    match part:
        case {"number": int(number), "value": int(value) | float(value), "reason": str(reason)}:
            return number, Part(float(value), reason)
    raise ValueError("a part has a number, a value and a reason")


@dataclass(frozen=True, slots=True)
class Reading:
    """What came of a reply."""

    findings: dict[str, Finding]
    """By id; a finding may lack some of what was asked."""
    missing: dict[str, str]
    """By id: why all or some of what was asked was not said; each id without a full finding."""
    suspicious: bool = False
    """Several outputs were given the same scores for the same reasons."""


@dataclass(frozen=True, slots=True)
class _Said:
    """What one grade says of one number."""

    value: float | None
    """None: nothing that can be counted."""
    reason: str
    """The judge's reason, or why it does not count."""


@dataclass(slots=True)
class _Source:
    """One document with grades: an object, an array, or all objects that stand alone."""

    nonce: str
    """`right`, `absent` or `wrong`."""
    grades: list[Object] = field(default_factory=list)
    void: str = ""
    """Why nothing in it counts."""


def read(
    reply: str | None, forms: Mapping[str, Form], nonce: str, finish_reason: str | None
) -> Reading:
    """Read a judge's reply; see above for what counts.

    Args:
        reply: What the judge wrote; None where it wrote nothing.
        forms: The ids asked in this request, and how a grade for each must look.
        nonce: What this request gave to be sent back.
        finish_reason: Why the judge stopped, as its server says.
    """
    sources = _sources(documents(_unwrapped(reply or "")), nonce)
    problem = _ABSENT
    if any(source.nonce == "right" for source in sources):
        sources = [source for source in sources if source.nonce == "right"]
    elif any(source.nonce == "wrong" for source in sources):
        sources, problem = [], "the judge's reply has the nonce of another request"
    elif not sources:
        problem = _nothing(reply, finish_reason)
    said: dict[str, dict[int, _Said]] = {}
    for source in sources:
        for id_, numbers in _of(source, forms, nonce).items():
            known = said.setdefault(id_, {})
            for number, one in numbers.items():
                before = known.get(number, one)
                if _differ(before, one):
                    return Reading({}, dict.fromkeys(forms, _DISAGREE))
                known[number] = _both(before, one)
    return _reading(forms, said, problem)


_DISAGREE: Final = "the judge's reply has several documents, and they disagree"


def _unwrapped(text: str) -> str:
    """Take a reply out of the JSON string that all of it is, once."""
    text = text.removeprefix("\ufeff").strip()
    if _STRING.fullmatch(text):
        try:
            return str(json.loads(text, strict=False))
        except ValueError:
            return text
    return text


def _nothing(reply: str | None, finish_reason: str | None) -> str:
    if finish_reason == "content_filter":
        return "the judge's reply was withheld by a content filter"
    if reply is None or not reply.strip():
        return "the judge's reply is empty"
    if finish_reason == "length":
        return "the judge's reply was cut off before its first grade"
    return "the judge's reply has no grades that can be read"


def _sources(found: Iterable[Object | Array], nonce: str) -> list[_Source]:
    sources: list[_Source] = []
    alone: dict[str, _Source] = {}
    for document in found:
        if isinstance(document, Array):
            grades = [item for item in document.items if isinstance(item, Object)]
            sources.append(_Source("absent", grades))
            continue
        state = _nonce(document, nonce)
        lists = document.all("grades")
        if lists:
            void = "a key stands twice in the judge's reply" if document.twice else ""
            sources.append(_Source(state, list(_objects(lists)), void))
        elif document.all("id") or state == "wrong":
            alone.setdefault(state, _Source(state)).grades.append(document)
    return [*sources, *alone.values()]


def _objects(lists: Iterable[Value]) -> Iterator[Object]:
    for value in lists:
        if isinstance(value, Array):
            yield from (item for item in value.items if isinstance(item, Object))


def _nonce(document: Object, nonce: str) -> str:
    given = document.all("nonce")
    if not given:
        return "absent"
    return "right" if all(value == nonce for value in given) else "wrong"


def _of(source: _Source, forms: Mapping[str, Form], nonce: str) -> dict[str, dict[int, _Said]]:
    """Give what a document says: by id and number, once each."""
    said: dict[str, dict[int, _Said]] = {}
    for grade in source.grades:
        for id_ in {value for value in grade.all("id") if isinstance(value, str)} & forms.keys():
            known = said.setdefault(id_, {})
            for number, one in _grade(grade, forms[id_], source.void, nonce):
                before = known.get(number, one)
                if _differ(before, one):
                    one = _Said(None, f"graded twice: {before.value:g} and {one.value:g}")
                known[number] = _both(before, one)
    return said


def _differ(one: _Said, other: _Said) -> bool:
    return one.value is not None and other.value is not None and one.value != other.value


def _both(one: _Said, other: _Said) -> _Said:
    """Put two sayings of the same together: what cannot be counted in one does not count."""
    return one if one.value is None else other if other.value is None else one


def _grade(grade: Object, form: Form, void: str, nonce: str) -> Iterator[tuple[int, _Said]]:
    listed = _LISTED.get(form.kind)
    problem = void or _flaw(grade, nonce, form.kind if listed else None)
    if problem:
        yield from ((number, _Said(None, problem)) for number in form.numbers)
    elif listed is None:
        yield 0, _value(grade, "score", form)
    else:
        for entry in _objects(grade.all(form.kind)):
            for number in {value for value in entry.all(listed[0]) if _whole(value)}:
                assert isinstance(number, float)
                if int(number) in form.numbers:
                    wrong = _flaw(entry, nonce, None)
                    said = _Said(None, wrong) if wrong else _value(entry, listed[1], form)
                    yield int(number), said


def _whole(value: Value) -> bool:
    return isinstance(value, float) and value.is_integer()


def _flaw(grade: Object, nonce: str, apart: str | None) -> str:
    """Say why a grade does not count, whatever it says; what stands under `apart` is not seen."""
    if _nonce(grade, nonce) == "wrong":
        return "its grade has the nonce of another request"
    if any(value is not None for value in grade.all("error")):
        return f"the judge reports an error: {_shown(grade.all('error')[0])}"
    if grade.twice:
        return "a key stands twice in its grade"
    inner = [value for name, value in grade.pairs if name != apart]
    while inner:
        value = inner.pop()
        if isinstance(value, Object):
            if value.twice:
                return "a key stands twice in its grade"
            inner += [value for _, value in value.pairs]
        elif isinstance(value, Array):
            inner += value.items
    return ""


def _value(grade: Object, key: str, form: Form) -> _Said:
    given = grade.all(key)
    if not given:
        return _Said(None, f'its grade has no "{key}"')
    value = given[0]
    reason = _reason(grade)
    if key == "met":
        if isinstance(value, bool):
            return _Said(float(value), reason)
        return _Said(None, f'"met" is neither true nor false: {_shown(value)}')
    if isinstance(value, bool) or not isinstance(value, float) or not math.isfinite(value):
        return _Said(None, f'"{key}" is not a number: {_shown(value)}')
    if not form.low <= value <= form.high:
        return _Said(None, f'"{key}" is not within {form.low:g} to {form.high:g}: {value:g}')
    if form.kind == "pass-fail" and value not in (0, 1):
        return _Said(None, f'"{key}" is neither 0 nor 1: {value:g}')
    return _Said(value + 0.0, reason)


def _shown(value: Value) -> str:
    match value:
        case Object():
            return "an object"
        case Array():
            return "a list"
        case str():
            return json.dumps(value[:80])
        case None:
            return "null"
        case bool():
            return str(value).lower()
    return f"{value:g}"


def _reason(grade: Object) -> str:
    given = next(iter(grade.all("reason")), None)
    if not isinstance(given, str):
        return ""
    text = _SURROGATE.sub("\ufffd", given[:REASON_BYTES].replace("\0", ""))
    return text.encode()[:REASON_BYTES].decode(errors="ignore")


def _reading(
    forms: Mapping[str, Form], said: Mapping[str, Mapping[int, _Said]], problem: str
) -> Reading:
    findings: dict[str, Finding] = {}
    missing: dict[str, str] = {}
    for id_, form in forms.items():
        known = said.get(id_, {})
        parts = {
            number: Part(one.value, one.reason)
            for number, one in known.items()
            if one.value is not None
        }
        if parts:
            findings[id_] = Finding(parts)
        if len(parts) < len(form.numbers):
            missing[id_] = _why(form, known, problem)
    return Reading(findings, missing, _suspicious(findings))


def _why(form: Form, known: Mapping[int, _Said], problem: str) -> str:
    if not known:
        return problem
    listed = _LISTED.get(form.kind)
    whys: dict[str, list[int]] = {}
    for number in form.numbers:
        one = known.get(number, _Said(None, "not in the judge's reply"))
        if one.value is None:
            whys.setdefault(one.reason, []).append(number)
    if listed is None or list(whys.values()) == [list(form.numbers)]:
        return next(iter(whys))
    return "; ".join(
        f"{listed[0]} {', '.join(map(str, numbers))}: {why}" for why, numbers in whys.items()
    )


def _suspicious(findings: Mapping[str, Finding]) -> bool:
    first, *others = findings.values() or [Finding({})]
    return (
        bool(others)
        and any(part.reason for part in first.parts.values())
        and all(other.parts == first.parts for other in others)
    )
