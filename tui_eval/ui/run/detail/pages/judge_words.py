"""What a judge was given of one output and what it replied, laid out from their JSON."""

import json
from collections.abc import Iterator

from tui_eval.format import many
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.states import Verdict
from tui_eval.ui.run.detail.verdicts import VERDICT_TONES
from tui_eval.ui.text.prose import LONGEST, Para, marked
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone

_LISTS = {"requirements": "requirement", "criteria": "criterion"}
"""Fields of items and grades that are lists, with what numbers their entries."""
_DEEPER = 2
_LONG = 1_000
"""Characters of a field that are shown: as it went it is there whole."""


def grade_in(reply: str | None, id_: Json) -> JsonObject | None:
    """Return what stands under an id in a reply that is as it was asked for; None: nothing."""
    found = None if reply is None else parsed(reply)
    grades = found.get("grades") if isinstance(found, dict) else None
    there = grades if isinstance(grades, list) else []
    return next((one for one in there if isinstance(one, dict) and one.get("id") == id_), None)


def grade_paras(grade: JsonObject, asked: JsonObject, glyphs: Glyphs) -> Iterator[Para]:
    """Yield a grade as a judge gave it: each requirement with its mark and feedback, or the score.

    Args:
        grade: What stands in the reply; foreign.
        asked: The item that was asked.
        glyphs: The shapes.
    """
    for name, value in grade.items():
        if name in _LISTS and isinstance(value, list):
            texts = _numbered(asked.get(name), _LISTS[name])
            for entry in value:
                yield from _entry(entry, _LISTS[name], texts, glyphs)
    for name in ("score", "met"):
        if name in grade:
            mark, tone = _mark(grade, glyphs)
            yield marked((f"{name} ", "dim"), (mark, tone))
    if grade.get("reason"):
        yield Para(str(grade["reason"]))
    others = {
        name: value
        for name, value in grade.items()
        if name not in ("id", "score", "met", "reason") and name not in _LISTS
    }
    for name, value in others.items():
        yield from _field(name, value)


def grade_brief(grade: JsonObject | None, glyphs: Glyphs) -> tuple[str, Tone]:
    """Return a grade in a few words: `2 of 3 met`, `score 4`, the mark of each criterion."""
    if grade is None:
        return "no grade in the reply", "ungraded"
    for name in _LISTS:
        entries = grade.get(name)
        if isinstance(entries, list):
            given = [one for one in entries if isinstance(one, dict)]
            marks = " ".join(_mark(one, glyphs)[0] for one in given)
            return marks, "plain"
    return f"score {_mark(grade, glyphs)[0]}", "plain"


def item_paras(asked: JsonObject) -> Iterator[Para]:
    """Yield what a judge was given of an output, a field after the other; foreign."""
    for name, value in asked.items():
        if name in _LISTS and isinstance(value, list):
            yield Para(name, "dim")
            for number, text in _numbered(value, _LISTS[name]).items():
                yield Para(text, indent=_DEEPER, label=number, label_tone="dim")
        elif name != "id":
            yield from _field(name, value)


def laid_out(text: str) -> str:
    """Lay the JSON of a text out in lines; what is none stays as it came."""
    found = parsed(text)
    if found is None:
        return text
    laid = json.dumps(found, ensure_ascii=False, indent=2)
    return f"{text[: text.find('{')]}{laid}{text[text.rfind('}') + 1 :]}"


def parsed(text: str) -> Json:
    """Read the JSON object of a text; None: there is none."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start or len(text) > LONGEST:
        return None
    try:
        found: Json = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        return None
    return found


def _field(name: str, value: Json) -> Iterator[Para]:
    yield Para(name, "dim")
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    yield Para(text if len(text) <= _LONG else f"{text[:_LONG]}…", indent=_DEEPER)
    if len(text) > _LONG:
        yield Para(many(len(text), "character"), "dim", indent=_DEEPER)


def _numbered(entries: Json, number: str) -> dict[str, str]:
    """Return the texts of requirements or criteria by their numbers."""
    listed = entries if isinstance(entries, list) else []
    return {
        str(one.get(number)): str(one.get("text", "")) for one in listed if isinstance(one, dict)
    }


def _entry(entry: Json, number: str, texts: dict[str, str], glyphs: Glyphs) -> Iterator[Para]:
    if not isinstance(entry, dict):
        yield Para(json.dumps(entry, ensure_ascii=False))
        return
    mark, tone = _mark(entry, glyphs)
    which = str(entry.get(number))
    yield Para(f"{which} {texts.get(which, '')}", label=mark, label_tone=tone)
    if entry.get("reason"):
        yield Para(str(entry["reason"]), "dim", indent=2 * _DEEPER)


def _mark(grade: JsonObject, glyphs: Glyphs) -> tuple[str, Tone]:
    """Return how something is graded: met or not as its shape, a score as its figure."""
    met = grade.get("met")
    if isinstance(met, bool):
        verdict = Verdict.PASS if met else Verdict.FAIL
        return glyphs.verdict(verdict), VERDICT_TONES[verdict]
    score = grade.get("score", met)
    figure = f"{score:g}" if isinstance(score, int | float) else json.dumps(score)
    return figure, "strong"
