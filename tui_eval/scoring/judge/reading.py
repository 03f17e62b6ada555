"""What a judge's reply says of each item, and nothing that it does not say.

**Never guess, for each id by itself.** A grade counts where the reply says, in JSON, this id and
one score that the scale has. Whatever is missing, unclear or said twice differently leaves what it
touches ungraded, to be asked again, and touches nothing else. Nothing is clamped, converted, taken
by position, filled in or picked out of prose.

Which JSON is a document (`documents` finds it, in prose, fences and broken text):

- An object with `grades` is one, as is an outermost array (its objects are the grades), and so
  are all outermost objects with an `id` together. What stands deeper is not looked at: a grade
  inside a grade or a wrapper is none. Only where an array broke off can new documents stand in
  it: objects with `grades`; and arrays, of which nobody knows whether they begin anew or quote, so
  that their grades count against others only.
- A reply that is one JSON string, whole or cut, is read as what that string holds; once.
- A `nonce` must be this request's to the letter. Documents that have it are read alone; where none
  has it and any has another one (`null`, a number, one that cannot be read), nothing is read;
  documents without one are read where there are only such.
- Of several documents each adds the ids that it grades. Where two give one number different scores,
  nothing of the reply counts. Where one has no valid grade for what the other grades, that id is
  ungraded, unless it merely broke off there.

Which grade counts:

- `id` is a string of the request, to the letter. Other ids, and none, are passed over.
- Not one with an `error` other than null, with a JSON key twice at any depth, with a nonce that is
  not this request's, that is cut off or anything but JSON. Raw control characters are let pass;
  keys that are not asked for, `reason` among them, may hold anything.
- `score` is a finite number within the scale, ends included; 7.0 and 70e-1 are 7, and -0 is 0. For
  pass-fail it is 0 or 1. `true` and `"7"` are no numbers.
- An id graded more than once in a document counts where every grade is valid and all are equal; the
  first reason is kept.
- An object with `grades` in which a key stands twice makes all its grades invalid.

`requirements` and `criteria` go by number as replies go by id: a number is a whole JSON number
(1.0 is 1) that was asked; `met` is true or false; an entry that is broken, has an `error` or a key
twice, or differs from another of the same number, costs that number. A grade that is cut off keeps
its complete entries; several grades for one id add up.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.finish import Ending, ending
from tui_eval.scoring.judge.documents import (
    Array,
    Flaws,
    MissingJson,
    Object,
    TooManyPiecesError,
    Value,
    documents,
)
from tui_eval.scoring.judge.item import ReplyForm
from tui_eval.texts.wording import quoted

REASON_BYTES: Final = 4096
"""The most bytes of UTF-8 that are kept of a reason."""

_LISTED: Final = {"requirements": ("requirement", "met"), "criteria": ("criterion", "score")}
_WRAPPED: Final = re.compile(  # a string that may be cut off, in the middle of an escape even
    r'("[^"\\]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\]*+)*+)(?:"|\\(?:u[0-9a-fA-F]{0,3})?)?'
)
_PIECES: Final = 200_000
"""Pieces of JSON that are looked at in any reply: they take less than a second."""
_PIECES_OF_ONE: Final = 1_000
"""How many more for each score that was asked."""
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class PartFinding:
    """What a judge said of one requirement or criterion, or of a rubric as a whole."""

    value: float
    """The score as given; of a requirement 1 for met and 0 for not."""
    reason: str
    """The judge's words, foreign text; at most `REASON_BYTES`."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of a question."""

    parts: Mapping[int, PartFinding]
    """By number; 0 is the whole."""
    reason: str = ""
    """What the judge said beside its parts."""

    def as_json(self) -> JsonObject:
        """Return it as it is stored."""
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


def _stored(part: Json) -> tuple[int, PartFinding]:
    match part:
        case {"number": int(number), "value": int(value) | float(value), "reason": str(reason)}:
            return number, PartFinding(float(value), reason)
    raise ValueError("a part has a number, a value and a reason")


@dataclass(frozen=True, slots=True)
class Reading:
    """What came of a reply."""

    findings: dict[str, Finding]
    """By id; a finding may lack some of what was asked."""
    missing: dict[str, str]
    """By id: why all or some of what was asked was not said; each id without a full finding."""


@dataclass(frozen=True, slots=True)
class _Said:
    """What one grade says of one number."""

    value: float | None
    """None: nothing that counts."""
    reason: str
    """The judge's reason, or why it does not count."""
    unread: bool = False
    """It does not count because it breaks off or is no JSON."""


_Numbers: TypeAlias = dict[int, _Said]


@dataclass(slots=True)
class _Source:
    """A document with grades."""

    nonce: Literal["right", "absent", "wrong"]
    grades: list[Object] = field(default_factory=list)
    void: str = ""
    """Why nothing in it counts."""
    broken: bool = False
    """Whether something in it is no JSON: what stands behind it may have been its own."""


def read(
    reply: str | None, forms: Mapping[str, ReplyForm], nonce: str, finish_reason: str | None
) -> Reading:
    """Read a judge's reply.

    Takes any text, in time linear in its length. One that is mostly JSON that nobody asked for says
    nothing: only so much of it is looked at.

    Args:
        reply: What the judge wrote; None where it wrote nothing.
        forms: The ids asked in this request, and how a grade for each must look.
        nonce: What this request gave to be sent back.
        finish_reason: Why the judge stopped, as its server says.
    """
    asked = sum(len(form.numbers) for form in forms.values())
    try:
        found = documents(_unwrapped(reply or ""), _PIECES + _PIECES_OF_ONE * asked)
    except TooManyPiecesError:
        return Reading({}, dict.fromkeys(forms, _TOO_MANY))
    sources = _sources(found, nonce)
    absent = _absent(reply, finish_reason)
    beside: list[_Source] = []
    if any(source.nonce == "right" for source in sources):
        if any(source.nonce == "right" and source.broken for source in sources):
            beside = [source for source in sources if source.nonce == "absent"]
        sources = [source for source in sources if source.nonce == "right"]
    elif any(source.nonce == "wrong" for source in sources):
        return Reading({}, dict.fromkeys(forms, _FOREIGN))
    said: dict[str, _Numbers] = {}
    for source in sources:
        for id_, numbers in _of(source, forms, nonce).items():
            known = said.setdefault(id_, {})
            for number, one in numbers.items():
                before = known.get(number, one)
                if _differ(before, one):
                    return Reading({}, dict.fromkeys(forms, _DISAGREE))
                known[number] = (
                    one if before.unread else before if one.unread else _both(before, one)
                )
    _doubt(said, [_of(source, forms, nonce) for source in beside])
    return _reading(forms, said, _remarks(sources), absent)


def _doubt(said: dict[str, _Numbers], beside: Iterable[Mapping[str, _Numbers]]) -> None:
    """Take back what stands otherwise beside the document that counts, where that one is broken."""
    for others in beside:
        for id_, numbers in others.items():
            for number, other in numbers.items():
                one = said.get(id_, {}).get(number)
                if one is not None and _differ(one, other):
                    said[id_][number] = _Said(None, _BROKEN, unread=True)


_TOO_MANY: Final = "the judge's reply has far more JSON than was asked for"
_FOREIGN: Final = "the judge's reply has another nonce than the request"
_DISAGREE: Final = "the judge's reply has several documents, and they disagree"
_TWICE: Final = "a JSON key stands twice in its grade"
_TWICE_IN_ALL: Final = "a JSON key stands twice in the judge's reply"
_BROKEN: Final = "its grade is not JSON"
_CUT: Final = "its grade is truncated"


def _unwrapped(text: str) -> str:
    """Take a reply out of the JSON string that all of it is, once."""
    text = text.removeprefix("\ufeff").strip()
    wrapped = _WRAPPED.fullmatch(text)
    return str(json.loads(wrapped[1] + '"', strict=False)) if wrapped else text


def _absent(reply: str | None, finish_reason: str | None) -> str:
    how = ending(finish_reason)
    if how is Ending.FILTERED:
        return "the judge's reply was withheld by a content filter"
    if finish_reason and how in (Ending.UNKNOWN, Ending.BROKEN_OFF):
        return f"the judge's reply was broken off: it ended with {quoted(finish_reason)}"
    if reply is None or not reply.strip():
        return "the judge's reply is empty"
    if how is Ending.CUT:
        return "the judge's reply is truncated before its grade"
    return "the judge's reply has no grade for it"


def _sources(found: Iterable[Object | Array], nonce: str) -> list[_Source]:
    sources: list[_Source] = []
    alone: dict[str, _Source] = {}
    waiting = [*found]
    for document in waiting:  # grows while it is walked through
        if isinstance(document, Array):
            sources.append(_Source("absent", _objects([document])))
            waiting += _begun_anew(document)
            continue
        state = _nonce(document, nonce)
        lists = document.all("grades")
        if lists:
            void = _TWICE_IN_ALL if "twice" in document.flaws else ""
            sources.append(_Source(state, _objects(lists), void, "broken" in document.within))
            for value in lists:
                waiting += _begun_anew(value)
        elif document.all("id") or state == "wrong":
            alone.setdefault(state, _Source(state)).grades.append(document)
    return [*sources, *alone.values()]


def _begun_anew(value: Value) -> list[Object | Array]:
    """Return the documents that follow a broken array and came to stand in it."""
    begun: list[Object | Array] = []
    broken = [value]
    for array in broken:  # grows while it is walked through
        if isinstance(array, Array) and array.flaws:
            for item in array.items:
                if isinstance(item, Object) and item.all("grades"):
                    begun.append(item)
                elif isinstance(item, Array):
                    (begun if "doubtful" in item.flaws else broken).append(item)
    return begun


def _objects(lists: Iterable[Value]) -> list[Object]:
    return [
        item
        for value in lists
        if isinstance(value, Array)
        for item in value.items
        if isinstance(item, Object)
    ]


def _nonce(stated: Object, nonce: str) -> Literal["right", "absent", "wrong"]:
    given = [value for value in stated.all("nonce") if value is not MissingJson.CUT]
    if not given:
        return "absent"
    return "right" if all(value == nonce for value in given) else "wrong"


def _of(source: _Source, forms: Mapping[str, ReplyForm], nonce: str) -> dict[str, _Numbers]:
    """Return what a document says: by id and number, once each."""
    said: dict[str, _Numbers] = {}
    for grade in source.grades:
        for id_ in {value for value in grade.all("id") if isinstance(value, str)} & forms.keys():
            known = said.setdefault(id_, {})
            for number, one in _grade(grade, forms[id_], source.void, nonce):
                known[number] = _both(known.get(number, one), one)
    return said


def _differ(one: _Said, other: _Said) -> bool:
    return one.value is not None and other.value is not None and one.value != other.value


def _both(one: _Said, other: _Said) -> _Said:
    """Put what one document says of a number in two places together."""
    if _differ(one, other):
        return _Said(None, f"graded twice, as {one.value:g} and as {other.value:g}")
    if one.value is not None and other.value is not None:
        return one
    void = one if one.value is None else other
    return _Said(None, void.reason, one.unread and other.unread)


def _grade(grade: Object, form: ReplyForm, void: str, nonce: str) -> Iterator[tuple[int, _Said]]:
    """Yield what a grade says, number by number."""
    listed = _LISTED.get(form.kind)
    if listed is None:
        yield 0, _refused(grade, grade.within, void, nonce) or _score(grade, "score", form)
        return
    flaws = grade.flaws.union(
        *(
            value.within
            for key, value in grade.pairs
            if key != form.kind and isinstance(value, Object | Array)
        )
    )
    refused = _refused(grade, flaws - {"cut"}, void, nonce)
    if refused:
        yield from ((number, refused) for number in form.numbers)
        return
    name, key = listed
    for entry in _objects(grade.all(form.kind)):
        for number in {value for value in entry.all(name) if isinstance(value, float)}:
            if number in form.numbers:
                said = _refused(entry, entry.within, "", nonce) or _score(entry, key, form)
                yield int(number), said


def _refused(grade: Object, flaws: Flaws, void: str, nonce: str) -> _Said | None:
    """Say why a grade does not count, whatever its score; None where it may."""
    errors = [value for value in grade.all("error") if value is not None]
    if void:
        return _Said(None, void)
    if errors:
        return _Said(None, f"the judge reports an error: {_shown(errors[0])}")
    if _nonce(grade, nonce) == "wrong":
        return _Said(None, "its grade has another nonce than the request")
    if "twice" in flaws:
        return _Said(None, _TWICE)
    if flaws:
        unread = "doubtful" not in flaws
        return _Said(None, _CUT if flaws == {"cut"} else _BROKEN, unread)
    return None


def _score(grade: Object, key: str, form: ReplyForm) -> _Said:
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
        return _Said(None, f'"{key}" is not a finite number: {_shown(value)}')
    if not form.low <= value <= form.high:
        return _Said(None, f'"{key}" is not within {form.low:g} to {form.high:g}: {value:g}')
    if form.kind == "pass-fail" and value not in (0, 1):
        return _Said(None, f'"{key}" is neither 0 nor 1: {value:g}')
    return _Said(value + 0.0, reason)


def _shown(value: Value) -> str:
    match value:
        case MissingJson():
            return "it cannot be read"
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


def _remarks(sources: Iterable[_Source]) -> dict[str, str]:
    """Return what grades say beside their parts, by id."""
    remarks: dict[str, str] = {}
    for source in sources:
        for grade in source.grades:
            for id_ in grade.all("id"):
                if isinstance(id_, str) and id_ not in remarks:
                    remarks[id_] = _reason(grade)
    return remarks


def _reading(
    forms: Mapping[str, ReplyForm],
    said: Mapping[str, _Numbers],
    remarks: Mapping[str, str],
    absent: str,
) -> Reading:
    findings: dict[str, Finding] = {}
    missing: dict[str, str] = {}
    for id_, form in forms.items():
        known = said.get(id_)
        parts = {
            number: PartFinding(one.value, one.reason)
            for number, one in (known or {}).items()
            if one.value is not None
        }
        if parts:
            listed = form.kind in _LISTED
            findings[id_] = Finding(parts, remarks[id_] if listed else "")
        if len(parts) < len(form.numbers):
            missing[id_] = absent if known is None else _why(form, known)
    return Reading(findings, missing)


def _why(form: ReplyForm, known: _Numbers) -> str:
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
