"""Evaluators of pydantic-evals as scorers."""

from collections.abc import Callable, Sequence
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.importers.experiments.result_row import table, text
from tui_eval.suites.importers.judges import Judges
from tui_eval.suites.importers.models import by_slash
from tui_eval.suites.importers.reading import Document
from tui_eval.suites.importers.shape import ImportNotes, unique

_FIRST: Final = {
    "Equals": "value", "Contains": "value", "IsInstance": "type_name", "MaxDuration": "seconds",
    "LLMJudge": "rubric",
}  # fmt: skip
"""The argument that an evaluator written as `NAME: VALUE` is given."""
_OF_TABLES: Final = "EqualsExpected as JSON"
_EXPECTED: Final = "{{ expected }}"


class Evaluators:
    """Makes scorers of evaluators; what has no like is noted, with its place."""

    def __init__(self, judges: Judges, losses: ImportNotes, *, with_tables: bool) -> None:
        """Begin.

        Args:
            judges: Where judges are registered.
            losses: Where what has no like is noted.
            with_tables: Whether a case expects something that is no text.
        """
        self._judges = judges
        self._losses = losses
        self._with_tables = with_tables
        self._kinds: dict[str, Callable[[JsonObject, str], JsonObject | None]] = {
            "EqualsExpected": _equals_expected,
            _OF_TABLES: _equals_table,
            "Equals": _equals,
            "Contains": self._contains,
            "MaxDuration": self._duration,
            "LLMJudge": self._judged,
        }

    def scorers(
        self,
        given: Json,
        document: Document,
        path: tuple[str | int, ...],
        taken: Sequence[str] = (),
    ) -> list[JsonObject]:
        """Return the scorers of a list of evaluators.

        Args:
            given: The list: names, or tables with a name and its arguments.
            document: Where it stands.
            path: At which place.
            taken: Names that other scorers have.
        """
        found: list[JsonObject] = []
        listed = [_named(one) for one in given] if isinstance(given, list) else []
        numbered = [*enumerate(listed)]
        if self._with_tables:
            numbered += [(n, (_OF_TABLES, {})) for n, one in numbered if one[0] == "EqualsExpected"]
        for number, (name, arguments) in numbered:
            place = document.place(*path, number)
            made = self._kinds.get(name)
            scorer = None if made is None else made(arguments, place)
            if made is None:
                self._losses.note(f"the evaluator {name or 'without a name'} has no like here: it "
                                  "was left out", place)  # fmt: skip
            if scorer is not None:
                names = (*taken, *(str(one["name"]) for one in found))
                asked = text(arguments.get("evaluation_name"))
                found.append({**scorer, "name": unique(asked or name, names, "evaluator")})
        return found

    def _contains(self, given: JsonObject, place: str) -> JsonObject | None:
        value = given.get("value")
        if isinstance(value, dict | list) or value in (None, ""):
            self._losses.note("Contains looks for something that is no text: it was left out",
                              place)  # fmt: skip
            return None
        scorer: JsonObject = {"kind": "includes", "expected": _as_text(value)}
        return scorer if given.get("case_sensitive", True) else {**scorer, "ignore_case": True}

    def _duration(self, given: JsonObject, place: str) -> JsonObject | None:
        limit = given.get("seconds")
        if isinstance(limit, bool) or not isinstance(limit, int | float) or limit <= 0:
            self._losses.note("MaxDuration is given as no number of seconds: it was left out",
                              place)  # fmt: skip
            return None
        return {"kind": "latency", "max": float(limit)}

    def _judged(self, given: JsonObject, place: str) -> JsonObject | None:
        rubric = given.get("rubric")
        if not isinstance(rubric, str) or not rubric.strip():
            self._losses.note("LLMJudge has no rubric: it was left out", place)
            return None
        model = given.get("model")
        asked = by_slash(model.replace(":", "/", 1)) if isinstance(model, str) else None
        scorer: JsonObject = {
            "kind": "judge",
            "judge": self._judges.name(asked),
            "rubric": _literal(rubric),
            "scale": "pass-fail",
        }
        if given.get("include_expected_output"):
            scorer["reference"] = _EXPECTED
        if given.get("score"):
            self._losses.note("LLMJudge gives a score beside pass or fail; here it is pass or fail",
                              place)  # fmt: skip
        return scorer


def _equals_expected(_: JsonObject, __: str) -> JsonObject:
    plain = "expected is defined and expected is not mapping and expected is not sequence"
    when = f"{{{{ {plain} or expected is defined and expected is string }}}}"
    return {"kind": "exact", "expected": _EXPECTED, "when": when}


def _equals_table(_: JsonObject, __: str) -> JsonObject:
    """Return what grades where a case expects a table or a list: that is compared as JSON."""
    mapping = "expected is mapping or expected is sequence and expected is not string"
    when = f"{{{{ expected is defined and ({mapping}) }}}}"
    return {"kind": "json", "expected": _EXPECTED, "when": when}


def _equals(given: JsonObject, _: str) -> JsonObject:
    value = given.get("value")
    if isinstance(value, dict | list):
        return {"kind": "json", "expected": value}
    return {"kind": "exact", "expected": _as_text(value)}


def _named(one: Json) -> tuple[str, JsonObject]:
    """Return an evaluator's name and its arguments by name."""
    if isinstance(one, str):
        return one, {}
    if not isinstance(one, dict) or len(one) != 1:
        return "", {}
    ((name, given),) = one.items()
    if isinstance(given, dict):
        return name, table(given)
    first = _FIRST.get(name, "value")
    return name, {first: given[0] if isinstance(given, list) and len(given) == 1 else given}


def _as_text(value: Json) -> str:
    return _literal(value if isinstance(value, str) else "" if value is None else str(value))


def _literal(text: str) -> str:
    """Return a text that a template leaves as it is."""
    return f"{{% raw %}}{text}{{% endraw %}}" if "{{" in text or "{%" in text else text
