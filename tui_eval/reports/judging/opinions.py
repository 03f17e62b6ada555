"""What judges and programs said of one output, line by line, from what a score keeps (`raw`)."""

from collections.abc import Iterator
from dataclasses import dataclass

from tui_eval.format import decimal, percent
from tui_eval.model.json import Json, JsonObject


@dataclass(frozen=True, slots=True)
class OpinionLine:
    """One line; its texts may be foreign."""

    of: str
    """The requirement, criterion or part that is graded; else what is said, whole."""
    depth: int = 0
    met: bool | None = None
    """Whether it is of a requirement that is met, or not; None: of anything else."""
    grade: str = ""
    """`met`, `not met`, a number, `not graded`; empty: it is no grade of a part."""
    feedback: str = ""
    """Why the part has its grade, as the judge says."""
    number: str = ""
    """The part's number in its rubric; empty: it has none."""

    @property
    def text(self) -> str:
        """All of it in one line."""
        lead = f"{self.number} {self.grade}".strip()
        said = f"{lead}: {self.of}" if lead else self.of
        return f"{said} – {self.feedback}" if self.feedback else said


def spread(raw: Json) -> float | None:
    """Return the standard deviation (n - 1) of a judge's repeats; None: it gave one grade."""
    found = _object(raw).get("sd")
    return float(found) if isinstance(found, int | float) else None


def opinions(source: str, raw: Json) -> Iterator[OpinionLine]:
    """Return what was said: each of a jury, each repeat, requirement, criterion, a program's parts.

    Args:
        source: Who gave the score.
        raw: The score's, as `scoring.judge.verdict` or `scoring.program_reply` makes it; of
            anything else nothing is given.
    """
    said = _object(raw)
    if source != "judge":
        yield from _of_program(said)
        return
    jury = said.get("jury")
    if isinstance(jury, list):
        for member in map(_object, jury):
            value = member.get("value")
            grade = f" {decimal(float(str(value)))}" if value is not None else ""
            reason = member.get("reason") or ""
            yield OpinionLine(f"{member.get('judge')}: {member.get('verdict')}{grade}  {reason}")
            yield from _of_judge(member, 1)
    else:
        yield from _of_judge(said, 0)


def _of_program(said: JsonObject) -> Iterator[OpinionLine]:
    for name, value in _object(said.get("parts")).items():
        met = {0.0: False, 1.0: True}.get(value) if isinstance(value, float | int) else None
        grade = decimal(float(str(value))) if met is None else "met" if met else "not met"
        yield OpinionLine(name, met=met, grade=grade)


def _of_judge(said: JsonObject, depth: int) -> Iterator[OpinionLine]:
    repeats = said.get("repeats")
    if not isinstance(repeats, list):
        yield from _parts(said, depth)
        return
    yield OpinionLine(_summed(said, len(repeats)), depth)
    for number, repeat in enumerate(map(_object, repeats), 1):
        score = repeat.get("score")
        grade = f"score {score:.3g}" if isinstance(score, int | float) else "ungraded"
        why = _whole(repeat)
        yield OpinionLine(f"repeat {number}: {grade}{f'  {why}' if why else ''}", depth)
        yield from _parts(repeat, depth + 1)


def _summed(said: JsonObject, repeats: int) -> str:
    """Say how far repeats lie apart."""
    mean, sd, flips = (said.get(name) for name in ("mean", "sd", "flips"))
    parts = [f"{repeats} repeats"]
    parts += [f"mean {decimal(float(mean))}"] if isinstance(mean, int | float) else []
    parts += [f"sd {sd:.3f}"] if isinstance(sd, int | float) else []
    if isinstance(flips, int | float) and flips:
        parts.append(f"{percent(float(flips))} of pairs disagree")
    return ", ".join(parts)


def _parts(said: JsonObject, depth: int) -> Iterator[OpinionLine]:
    """Yield requirements or criteria with their feedback; of a rubric nothing."""
    parts = said.get("parts")
    for part in map(_object, parts if isinstance(parts, list) else []):
        number, value = part.get("number"), part.get("value")
        if not number:
            continue
        met = bool(value) if said.get("form") == "requirements" and value is not None else None
        if value is None:
            grade = "not graded"
        elif met is None:
            grade = f"{value:g}" if isinstance(value, int | float) else str(value)
        else:
            grade = "met" if met else "not met"
        feedback = str(part.get("reason") or "")
        yield OpinionLine(str(part.get("text")), depth, met, grade, feedback, str(number))


def _whole(said: JsonObject) -> str:
    """Return the reason of a grade that was given as a whole."""
    parts = said.get("parts")
    first = _object(parts[0]) if isinstance(parts, list) and parts else {}
    return str(first.get("reason") or "") if first.get("number") == 0 else ""


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}
