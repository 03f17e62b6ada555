"""What the scorers of another tool said, as scorers of kind `recorded`."""

from dataclasses import dataclass, field

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.importers.experiments.result_row import GivenScore
from tui_eval.suites.importers.shape import ImportNotes, unique


@dataclass(slots=True)
class _Seen:
    """All that one scorer said of one target's outputs."""

    thresholds: set[float | None] = field(default_factory=set)
    judged: int = 0
    """How often it gave a verdict, or failed to."""
    by_threshold: bool = True
    """Whether each verdict it gave is whether the value reaches the threshold."""
    other: int = 0
    """Labels, and numbers that are not from 0 to 1."""
    count: int = 0


class GivenScores:
    """The scores of all outputs: what of them cases keep, and the scorers that read it."""

    def __init__(self, losses: ImportNotes) -> None:
        self._losses = losses
        self._seen: dict[tuple[str, str], _Seen] = {}

    def kept(self, slot: str, score: GivenScore) -> JsonObject:
        """Look at a score; return it as a case holds it: value, verdict, reason.

        Args:
            slot: What names the target in the cases.
            score: The score.
        """
        seen = self._seen.setdefault((slot, score.name), _Seen())
        seen.count += 1
        value: Json = float(score.value) if isinstance(score.value, bool) else score.value
        passed = score.value if isinstance(score.value, bool) else score.passed
        found: JsonObject = {"value": "ungraded" if score.value is None else score.value}
        if passed is not None:
            seen.thresholds.add(score.threshold)
            seen.by_threshold &= _at_least(value, score.threshold) is passed
        elif value in (0, 1):
            passed = value == 1
        if passed is not None or value is None:
            found["verdict"] = "ungraded" if passed is None else "pass" if passed else "fail"
            seen.judged += 1
        if value is not None and not (isinstance(value, int | float) and 0 <= value <= 1):
            seen.other += 1
        if score.reason:
            found["reason"] = score.reason
        return found

    def scorers(self, targets: dict[str, str]) -> list[Json]:
        """Return a scorer for each that can be one; note the others, and what decides nothing.

        Args:
            targets: The targets' names by their slots: a score is about a recorded output, and says
                nothing of another target's.
        """
        found: list[Json] = []
        names: list[str] = []
        for (slot, name), seen in self._seen.items():
            told = name if len(targets) == 1 else f"{name} ({targets[slot]})"
            fields = self._fields(told, seen)
            if fields is None:
                continue
            names.append(unique(told, names, "score"))
            at = f"given.{slot}[{_quoted(name)}]"
            scorer: JsonObject = {
                "kind": "recorded",
                "name": names[-1],
                "value": f"{{{{ {at}.{fields.pop('column')} }}}}",
                "reason": f"{{{{ {at}.reason | default('') }}}}",
                "targets": [targets[slot]],
                "when": f"{{{{ {_quoted(name)} in given.{slot} }}}}",
                **fields,
            }
            found.append(scorer)
        if found:
            self._losses.guess("scores of the file are kept as they were (`recorded`; in "
                               "cases under `given`), for the recorded outputs alone")  # fmt: skip
            if all(isinstance(one, dict) and one.get("required") is False for one in found):
                self._losses.note("no score of the file says pass or fail: every output passes, "
                                  "until one has a `threshold` and is `required`")  # fmt: skip
        return found

    def _fields(self, told: str, seen: _Seen) -> JsonObject | None:
        if seen.judged == seen.count:
            threshold = next(iter(seen.thresholds), None)
            if threshold is None or len(seen.thresholds) > 1 or not seen.by_threshold or seen.other:
                return {"column": "verdict"}
            return {"column": "value", "threshold": threshold}
        if seen.other:
            self._losses.note(f'"{told}" is a label, or a number that is not from 0 to 1: it '
                              "stands in the cases under `given`, and grades nothing")  # fmt: skip
            return None
        self._losses.note(f'"{told}" has values and no threshold: it is told and decides nothing '
                          "(required = false)")  # fmt: skip
        return {"column": "value", "required": False}


def _at_least(value: Json, threshold: float | None) -> bool | None:
    if threshold is None or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value >= threshold if 0 <= threshold <= 1 else None


def _quoted(name: str) -> str:
    """Return a name as a text of a template."""
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
