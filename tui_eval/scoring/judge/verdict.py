"""From what judges said of an output to its grade."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.score import Grade
from tui_eval.model.states import Verdict
from tui_eval.scoring.check import Check
from tui_eval.scoring.grading import negated
from tui_eval.scoring.judge.item import bounds
from tui_eval.scoring.judge.reading import Finding, PartFinding
from tui_eval.suites.scorers.judge.judge_settings import SIMILARITY


@dataclass(frozen=True, slots=True)
class JudgeOpinion:
    """What one judge said in one repeat."""

    judge: str
    repeat: int
    finding: Finding | None
    """None: nothing could be read."""
    problem: str | None
    """Why it is not whole; None: it is."""


@dataclass(frozen=True, slots=True)
class _Opinion:
    """One judge's repeats put together."""

    judge: str
    grade: Grade


def grade(check: Check, said: Sequence[JudgeOpinion]) -> Grade:
    """Put together what all judges said in all repeats.

    One judge: the mean of its repeats that are whole; ungraded where none is. A jury: by `vote`,
    the majority of its verdicts or the mean of its values; ungraded where a missing member could
    turn the majority, where it is split in halves, and for the mean wherever one is missing.

    Args:
        check: The judge's check, as rendered for the case.
        said: What each judge said in each repeat.
    """
    by_judge = sorted(said, key=lambda one: one.judge)
    opinions = [
        _Opinion(judge, _of_judge(check, sorted(repeats, key=lambda one: one.repeat)))
        for judge, repeats in groupby(by_judge, key=lambda one: one.judge)
    ]
    if not opinions:
        return Grade.ungraded("no judge was asked")
    return negated(check, opinions[0].grade if len(opinions) == 1 else _of_jury(check, opinions))


def _of_judge(check: Check, repeats: Sequence[JudgeOpinion]) -> Grade:
    graded = [_graded(check, one) for one in repeats]
    whole = [one for one in graded if one.value is not None]
    if not whole:
        return graded[0]
    if len(graded) == 1:
        return whole[0]
    values = [one.value for one in whole if one.value is not None]
    mean = statistics.fmean(values)
    passes = [one.verdict is Verdict.PASS for one in whole]
    verdict = _verdict(check, mean)
    if check.settings["form"] == "pass-fail" and 2 * sum(passes) == len(passes):
        return Grade.ungraded(f"its {len(passes)} repeats are split", _object(whole[0].raw))
    # the share of pairs of repeats that disagree
    pairs = len(passes) * (len(passes) - 1) / 2
    flips = sum(passes) * (len(passes) - sum(passes)) / pairs if pairs else 0.0
    raw: JsonObject = {
        **_object(whole[0].raw),
        "repeats": [_object(one.raw) for one in graded],
        "mean": mean,
        "sd": statistics.stdev(values) if len(values) > 1 else None,
        "flips": flips,
        "flaky": 0 < sum(passes) < len(passes),
    }
    if counted := sum(int(str(_object(one.raw).get("counted_unmet", 0))) for one in graded):
        raw["counted_unmet"] = counted
    passed = f"{sum(passes)} of {len(passes)} repeats pass"
    missing = len(graded) - len(whole)
    left_out = f", {missing} ungraded" if missing else ""
    return Grade(verdict, mean, f"{passed}{left_out}: {whole[0].reason}", raw)


def _graded(check: Check, said: JudgeOpinion) -> Grade:
    """Grade by one judge's one word.

    What it left out leaves the grade open only where it could turn the verdict. The value is then
    the mean of what it graded, which stands on the same side.
    """
    numbers = _numbers(check)
    parts: dict[int, PartFinding] = {} if said.finding is None else dict(said.finding.parts)
    raw = _raw(check, said, parts)
    missing = [number for number in numbers if number not in parts]
    why_missing = said.problem or "the judge did not grade it"
    if not parts:
        return Grade.ungraded(why_missing, raw)
    left_out = f"{_which(check, missing)} not graded" if missing else ""
    if missing and check.settings.get("ungraded_requirements") == "unmet":
        parts |= {number: PartFinding(0, f"not graded: {why_missing}") for number in missing}
        raw["counted_unmet"] = len(missing)
        left_out, missing = f"{left_out} and counted as not met", []
    certain = _certain(check, parts, missing)
    if certain is None:
        return Grade.ungraded(f"{left_out}: {why_missing}", raw)
    score = _mean(check, parts, [number for number in numbers if number in parts])
    raw["score"] = score
    assert said.finding is not None, "some of it was graded"
    reason = _reason(check, Finding(parts, said.finding.reason), score)
    return Grade(
        certain, _value(check, score), f"{reason} ({left_out})" if left_out else reason, raw
    )


def _certain(
    check: Check, parts: Mapping[int, PartFinding], missing: Sequence[int]
) -> Verdict | None:
    """Return the verdict that stands whatever is missing; None: it could turn it."""
    numbers = [*parts, *missing]
    least, most = (
        _verdict(
            check,
            _value(
                check,
                _mean(check, {**dict.fromkeys(missing, PartFinding(end, "")), **parts}, numbers),
            ),
        )
        for end in bounds(check.settings)
    )
    return least if least is most else None


def _value(check: Check, score: float) -> float:
    """Return a raw score as a value, 0 to 1."""
    low, high = bounds(check.settings)
    return (score - low) / (high - low)


def measured(check: Check, finding: Finding, numbers: Sequence[int]) -> tuple[float, bool]:
    """Return value (0..1) and verdict of a finding that has these numbers, of all or of some.

    Args:
        check: The judge's check; whether it is turned round is not looked at.
        finding: What one judge said once.
        numbers: The requirements or criteria asked; (0,) for a rubric.
    """
    value = _value(check, _mean(check, finding.parts, numbers))
    return value, _verdict(check, value) is Verdict.PASS


def _mean(check: Check, parts: Mapping[int, PartFinding], numbers: Sequence[int]) -> float:
    """Return the weighted mean of raw scores."""
    weights = _weights(check)
    total = sum(weights[number] * parts[number].value for number in numbers)
    return total / sum(weights[number] for number in numbers)


def _verdict(check: Check, value: float) -> Verdict:
    return verdict_of_value(check.settings, value)


def verdict_of_value(settings: JsonObject, value: float) -> Verdict:
    """Return the verdict of a value, 0 to 1, by what decides (`judge_settings.deciding`)."""
    low, high = bounds(settings)
    pass_at, threshold = settings.get("pass_at"), settings.get("threshold")
    if isinstance(pass_at, int | float):
        passed = low + value * (high - low) >= pass_at - 1e-9
    else:
        least = threshold if isinstance(threshold, int | float) else 0.5
        passed = value >= least - 1e-9  # a mean of thirds may miss it by rounding
    return Verdict.PASS if passed else Verdict.FAIL


def _of_jury(check: Check, opinions: Sequence[_Opinion]) -> Grade:
    values = [one.grade.value for one in opinions if one.grade.value is not None]
    missing = len(opinions) - len(values)
    said = ", ".join(f"{one.judge} {_word(one.grade)}" for one in opinions)
    raw: JsonObject = {
        "form": check.settings["form"],
        "jury": [
            {
                "judge": one.judge,
                "verdict": one.grade.verdict,
                "value": one.grade.value,
                "reason": one.grade.reason,
                **_object(one.grade.raw),
            }
            for one in opinions
        ],
    }
    if check.settings["vote"] == "mean":
        if missing:
            return Grade.ungraded(f"{missing} of {len(opinions)} judges did not grade: {said}", raw)
        mean = statistics.fmean(values)
        return Grade(_verdict(check, mean), mean, said, raw)
    passes = sum(one.grade.verdict is Verdict.PASS for one in opinions)
    fails = len(values) - passes
    if passes * 2 > len(opinions) or fails * 2 > len(opinions):
        won = Verdict.PASS if passes > fails else Verdict.FAIL
        return Grade(won, statistics.fmean(values), said, raw)
    why = "the jury is split" if not missing else f"{missing} of {len(opinions)} did not grade"
    return Grade.ungraded(f"{why}: {said}", raw)


def _word(graded: Grade) -> str:
    words = {Verdict.PASS: "passes it", Verdict.FAIL: "fails it"}
    return words.get(graded.verdict, "did not grade it")


def _numbers(check: Check) -> tuple[int, ...]:
    listed = check.settings["requirements"] or check.settings["criteria"]
    return tuple(range(1, len(listed) + 1)) if isinstance(listed, list) else (0,)


def _weights(check: Check) -> dict[int, float]:
    criteria = check.settings["criteria"]
    if not isinstance(criteria, list):
        return dict.fromkeys(_numbers(check), 1.0)
    return {
        number: float(str(_object(criterion).get("weight", 1)))
        for number, criterion in enumerate(criteria, 1)
    }


def _which(check: Check, missing: Sequence[int]) -> str:
    name = "requirement" if check.settings["form"] == "requirements" else "criterion"
    if len(missing) == 1:
        return f"{name} {missing[0]} was"
    plural = "requirements" if name == "requirement" else "criteria"
    return f"{plural} {', '.join(map(str, missing))} were"


def _raw(check: Check, said: JudgeOpinion, known: Mapping[int, PartFinding]) -> JsonObject:
    """Return what a person may want to see of it."""
    texts = _texts(check)
    return {
        "form": check.settings["form"],
        "scale": check.settings["scale"],
        "judge": said.judge,
        "repeat": said.repeat,
        "score": None,
        "problem": said.problem,
        "parts": [
            {
                "number": number,
                "text": texts.get(number),
                "value": known[number].value if number in known else None,
                "reason": known[number].reason if number in known else said.problem,
            }
            for number in _numbers(check)
        ],
    }


def _texts(check: Check) -> dict[int, Json]:
    listed = check.settings["requirements"] or check.settings["criteria"]
    if not isinstance(listed, list):
        return {}
    return {
        number: (entry.get("name") or entry.get("text")) if isinstance(entry, dict) else entry
        for number, entry in enumerate(listed, 1)
    }


def _reason(check: Check, finding: Finding, score: float) -> str:
    form = check.settings["form"]
    parts = finding.parts
    if form == "requirements":
        unmet = [
            f"{number} is not: {part.reason}" for number, part in parts.items() if not part.value
        ]
        if not unmet:
            return f"all {len(parts)} requirements met"
        return "; ".join([f"{len(parts) - len(unmet)} of {len(parts)} met", *unmet])
    if form == "criteria":
        low, high = bounds(check.settings)
        worst = min(parts, key=lambda number: parts[number].value)
        return f"{score:.3g} (scale {low:g}–{high:g}); criterion {worst}: {parts[worst].reason}"
    reason = parts[0].reason or finding.reason
    if form == SIMILARITY:
        return reason
    if form == "pass-fail":
        return reason or ("met" if score else "not met")
    low, high = bounds(check.settings)
    shown = f"{score:g} (scale {low:g}–{high:g})"
    return f"{shown}: {reason}" if reason else shown


def _object(value: Json) -> JsonObject:
    return dict(value) if isinstance(value, dict) else {}
