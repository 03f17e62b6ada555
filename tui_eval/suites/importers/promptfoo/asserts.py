"""Asserts of promptfoo as scorers."""

import json
from collections.abc import Collection
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.finish import canonical
from tui_eval.suites.importers.judges import Judges
from tui_eval.suites.importers.promptfoo.providers import Providers
from tui_eval.suites.importers.promptfoo.texts import Texts
from tui_eval.suites.importers.reading import (
    ReferencedFiles,
    first_mistake,
    read_document,
    read_text,
)
from tui_eval.suites.importers.shape import ImportNotes, unique
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.suites.scorers.scorer import check_pattern
from tui_eval.suites.scorers.structure import check_schema
from tui_eval.suites.templates.marks import is_template

_TEXT: Final[dict[str, JsonObject]] = {
    "equals": {"kind": "exact", "strip": False},
    "contains": {"kind": "includes"},
    "icontains": {"kind": "includes", "ignore_case": True},
    "contains-all": {"kind": "includes"},
    "contains-any": {"kind": "includes", "match": "any"},
    "icontains-all": {"kind": "includes", "ignore_case": True},
    "icontains-any": {"kind": "includes", "match": "any", "ignore_case": True},
    "starts-with": {"kind": "starts_with", "strip": False},
    "regex": {"kind": "regex"},
}
_CODE: Final = ("javascript", "python", "ruby", "webhook")
_CODE_FILES: Final = (".js", ".ts", ".mjs", ".cjs", ".py", ".rb")
_FACTUAL: Final = ("factuality", "model-graded-factuality")
_JUDGED: Final = ("llm-rubric", "model-graded-closedqa", "g-eval", "similar", *_FACTUAL)
_KNOWN: Final = frozenset((
    "type", "value", "threshold", "weight", "metric", "provider", "rubricPrompt", "transform",
))  # fmt: skip


class Asserts:
    """Turns asserts into scorers; those that cannot be imported are noted."""

    def __init__(
        self,
        nearby: ReferencedFiles,
        texts: Texts,
        providers: Providers,
        judges: Judges,
        losses: ImportNotes,
    ) -> None:
        self._nearby = nearby
        self._texts = texts
        self._providers = providers
        self._judges = judges
        self._losses = losses
        self.grader: Json = None
        """The provider that judges where an assert names none."""

    def scorers(
        self, given: Json, where: str, taken: Collection[str] = (), grader: Json = None
    ) -> list[JsonObject]:
        """Return the scorers of a list of asserts.

        Args:
            given: The list.
            where: Where it stands.
            taken: Names that other scorers of the case have.
            grader: Who judges where an assert does not say; None: whom the file names.
        """
        found: list[JsonObject] = []
        for n, one in enumerate(given if isinstance(given, list) else []):
            place = f"{where}[{n}]"
            if not isinstance(one, dict):
                self._losses.note("is no assert: it was left out", place)
                continue
            if one.get("type") == "assert-set":
                self._add_set(found, one, place, taken, grader)
                continue
            scorer = self._scorer(one, place, grader)
            if scorer is not None:
                names = [*taken, *(str(other["name"]) for other in found)]
                name = str(one.get("metric") or one.get("type"))
                found.append({**scorer, "name": unique(name, names, "assert")})
        return found

    def _add_set(
        self, found: list[JsonObject], one: JsonObject, place: str, taken: Collection[str],
        grader: Json,
    ) -> None:  # fmt: skip
        if one.get("threshold") is not None:
            self._losses.note("an assert-set that passes from a share on has no like here: all of "
                              "it has to pass", place)  # fmt: skip
        for name in sorted(one.keys() - {"type", "assert", "threshold"}):
            self._losses.note(f"{name} of an assert-set is not carried over: its asserts stand by "
                              "themselves", place)  # fmt: skip
        names = [*taken, *(str(other["name"]) for other in found)]
        found += self.scorers(one.get("assert"), f"{place}.assert", names, grader)

    def _scorer(self, given: JsonObject, place: str, grader: Json) -> JsonObject | None:
        kind = str(given.get("type") or "")
        negated = kind.startswith("not-")
        plain = kind.removeprefix("not-")
        if given.get("transform"):
            self._losses.note("an assert with a transform was left out: no code is run", place)
            return None
        scorer = self._of_kind(plain, given, place, grader)
        if scorer is None:
            return None
        if negated:
            scorer["not"] = True
        weight = given.get("weight")
        if isinstance(weight, int | float) and not isinstance(weight, bool):
            if weight > 0:
                scorer["weight"] = float(weight)
            else:
                scorer["required"] = False
        for name in sorted(given.keys() - _KNOWN):
            self._losses.note(f"{name} of an assert is not carried over", place)
        return scorer

    def _of_kind(self, kind: str, given: JsonObject, place: str, grader: Json) -> JsonObject | None:
        if kind in _CODE:
            self._losses.note(f"assert {kind} was left out: no code is run", place)
            return None
        if kind == "latency" or kind == "cost":
            return self._figure(kind, given, place)
        value = self._value(given.get("value"), place)
        if value is _LEFT_OUT:
            return None
        if kind in ("is-json", "contains-json"):
            return self._json(kind == "contains-json", value, place)
        if kind == "finish-reason" and isinstance(value, str):
            return {"kind": "finish", "expected": canonical(value)}
        if kind in _TEXT:
            return self._text(kind, value, place)
        if kind in _JUDGED:
            return self._judged(kind, value, given, place, grader)
        self._losses.note(f"assert {kind or 'without a type'} has no like here: it was left out",
                          place)  # fmt: skip
        return None

    def _value(self, value: Json, place: str) -> Json:
        """Return what is expected, read from the file where it names one."""
        if not isinstance(value, str) or not value.startswith("file://"):
            return value
        name = value.removeprefix("file://")
        if name.split(":")[0].lower().endswith(_CODE_FILES):
            self._losses.note("an assert whose value is a program was left out: no code is run",
                              place)  # fmt: skip
            return _LEFT_OUT
        try:
            path = self._nearby.find(name)
            if path.suffix.lower() in (".json", ".yaml", ".yml"):
                return read_document(path).value
            return read_text(path)
        except (ValueError, SuiteError) as error:
            said = first_mistake(error) if isinstance(error, SuiteError) else str(error)
            self._losses.note(f"{said}: the assert was left out", place)
            return _LEFT_OUT

    def _text(self, kind: str, value: Json, place: str) -> JsonObject | None:
        several = kind.endswith(("-all", "-any"))
        if kind == "equals" and isinstance(value, dict | list):
            return {"kind": "json", "expected": value}
        if several and isinstance(value, str):
            value = [part.strip() for part in value.split(",")]
        expected = value if isinstance(value, list) else [value]
        if not expected or any(isinstance(one, dict | list) or one is None or one == ""
                               for one in expected):  # fmt: skip
            self._losses.note(f"assert {kind} expects nothing that is text: it was left out", place)
            return None
        texts = [_as_text(one) for one in expected]
        translated = self._texts.nested(list[Json](texts), place, f"what {kind} expects")
        if not isinstance(translated, list):
            return None
        if kind == "regex" and not self._is_pattern(translated, place):
            return None
        return {**_TEXT[kind], "expected": translated if several else translated[0]}

    def _is_pattern(self, patterns: list[Json], place: str) -> bool:
        try:
            for pattern in patterns:
                if not is_template(pattern):
                    check_pattern(str(pattern))
        except ValueError as error:
            self._losses.note(f"{error}: the assert was left out", place)
            return False
        return True

    def _json(self, extract: bool, schema: Json, place: str) -> JsonObject | None:
        if isinstance(schema, str) and schema.strip():
            try:
                schema = json.loads(schema)
            except (ValueError, RecursionError):
                self._losses.note("a schema that is no JSON was left out: any JSON passes", place)
                schema = None
        found: JsonObject = {"kind": "json"}
        if isinstance(schema, dict):
            try:
                check_schema(schema)
            except ValueError as error:
                self._losses.note(f"{error}: the assert was left out", place)
                return None
            found = {"kind": "json_schema", "schema": schema}
        if extract:
            found["extract"] = True
        return found

    def _figure(self, kind: str, given: JsonObject, place: str) -> JsonObject | None:
        limit = given.get("threshold")
        if isinstance(limit, bool) or not isinstance(limit, int | float) or limit <= 0:
            self._losses.note(f"assert {kind} without a threshold was left out", place)
            return None
        return {"kind": kind, "max": limit / 1000 if kind == "latency" else float(limit)}

    def _judged(
        self, kind: str, value: Json, given: JsonObject, place: str, grader: Json
    ) -> JsonObject | None:
        parts = [_as_text(one) for one in value] if isinstance(value, list) else [_as_text(value)]
        translated = self._texts.nested(list[Json](parts), place, f"what {kind} asks")
        if not translated or not isinstance(translated, list) or not all(translated):
            self._losses.note(f"assert {kind} asks nothing that is text: it was left out", place)
            return None
        if given.get("rubricPrompt"):
            self._losses.note("the prompt of a rubric is not carried over: judges are asked in a "
                              "form of their own", place)  # fmt: skip
        named = given.get("provider") or grader or self.grader
        asked = self._providers.connected(named, place) if isinstance(named, str | dict) else None
        scorer: JsonObject = {"kind": "judge", "judge": self._judges.name(asked)}
        first = translated[0]
        if kind in _FACTUAL or kind == "similar":
            if kind == "similar":
                self._losses.note("assert similar compares embeddings; here a judge says whether "
                                  "both mean the same", place)  # fmt: skip
            meaning = "means the same as" if kind == "similar" else "agrees in its facts with"
            return {**scorer, "rubric": f"The output {meaning} the reference answer.",
                    "scale": "pass-fail", "reference": first}  # fmt: skip
        if len(translated) > 1:
            return {**scorer, "requirements": translated}
        least = given.get("threshold", 0.7 if kind == "g-eval" else None)
        if isinstance(least, int | float) and not isinstance(least, bool) and 0 <= least <= 1:
            return {**scorer, "rubric": first, "scale": [0, 1], "threshold": float(least)}
        return {**scorer, "rubric": first, "scale": "pass-fail"}


_LEFT_OUT: Final[list[Json]] = []
"""Stands for a value that could not be had; known by being this very list."""


def _as_text(value: Json) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
