"""Pydantic's validation errors as this project words them."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from tui_eval.suites.loading.errors import did_you_mean
from tui_eval.suites.loading.toml_lines import Path
from tui_eval.suites.scorers import AS_WRITTEN, SCORERS, ScorerSpec
from tui_eval.suites.scorers.setting_error import SettingError
from tui_eval.suites.spec import JUDGES, RUBRIC_JUDGES, TARGETS, SuiteFile, UserSpec
from tui_eval.suites.spec.asked.asked_spec import MODEL_PARAMS

_UNIONS: Final[Mapping[str, Callable[[], tuple[str, ...]]]] = {
    "targets": lambda: TARGETS.names,
    "scorers": lambda: tuple(SCORERS),
    "judge": lambda: RUBRIC_JUDGES.names,
    "judges": lambda: RUBRIC_JUDGES.names,
}
"""Tables, and lists of tables, that are of a `kind`; pydantic puts the kind into its paths."""
_HOW_TO_WRITE: Final[Mapping[Path, str]] = {
    **{(name,): f"write [[{name}]], once for each" for name in ("targets", "scorers", "cases")},
    ("prompts",): "write [[prompts]], once for each, or [prompt] for the only one",
    ("prompt",): "write [prompt] for the only one, or [[prompts]] with names",
    ("judges",): "write [[judges]], once for each, or [judge] for the only one",
    ("judge",): "write [judge] for the only one, or [[judges]] with names",
}
"""For fields that people write with brackets too few or too many."""
_LONGEST: Final = 60


@dataclass(frozen=True, slots=True)
class ValidationIssue:
    """One thing that is wrong, with its path in the data."""

    path: Path
    message: str
    hint: str | None = None


def explain(error: ValidationError, data: object, prefix: Path = ()) -> list[ValidationIssue]:
    """Return what a validation error says, one entry for each mistake.

    Args:
        error: What pydantic found.
        data: What it validated.
        prefix: Where `data` stands.
    """
    findings: dict[tuple[Path, str], ValidationIssue] = {}
    of_types, below = set[tuple[Path, str]](), set[Path]()
    for detail in error.errors(include_url=False):
        missing = detail["type"] == "missing"
        path = _without_types(data, prefix, _without_kinds(prefix, detail["loc"]), missing=missing)
        finding = _finding(detail, path)
        if finding is None:
            continue
        findings.setdefault((finding.path, finding.message), finding)
        below |= {finding.path[:length] for length in range(len(finding.path))}
        if detail["type"].endswith("_type"):
            of_types.add((finding.path, finding.message))
        else:
            below.add(finding.path)
    # where one of the types that were tried has mistakes of another sort, it was the one meant
    return [
        finding
        for key, finding in findings.items()
        if key not in of_types or finding.path not in below
    ]


def _without_kinds(prefix: Path, loc: Sequence[str | int]) -> Path:
    path = list(prefix)
    for step in loc:
        if step in _kinds(tuple(path)):
            # the kind; a field of the same name comes one step later
            path.append(_Kind(str(step)))
        elif step != "[key]":
            path.append(step)
    return tuple(step for step in path if not isinstance(step, _Kind))


def _without_types(data: object, prefix: Path, path: Path, *, missing: bool) -> Path:
    """Return a path without the steps that pydantic adds for the types it tried.

    Args:
        data: What was validated.
        prefix: Where it stands.
        path: Of a mistake in it.
        missing: Whether the mistake is that nothing is there.
    """
    here: object = data
    kept: list[str | int] = [*prefix]
    for place, step in enumerate(path[len(prefix) :], len(prefix) + 1):
        if isinstance(here, Mapping):
            if step not in here and not (missing and place == len(path)):
                continue
            here = here.get(step)
        elif isinstance(here, list | tuple) and isinstance(step, int):
            here = here[step] if step < len(here) else None
        else:
            continue
        kept.append(step)
    return tuple(kept)


class _Kind(str):
    """A step that only tells the kind of an item."""

    __slots__ = ()


def _finding(detail: ErrorDetails, path: Path) -> ValidationIssue | None:
    kind, given = detail["type"], detail["input"]
    context: Mapping[str, object] = detail.get("ctx", {})
    match kind:
        case "extra_forbidden":
            return ValidationIssue(path, "unknown key", _where_it_belongs(detail, path))
        case "missing":
            return ValidationIssue(path, "is missing", _HOW_TO_WRITE.get(path))
        case "union_tag_invalid":
            kinds = _kinds(path)
            hint = f"there are {', '.join(kinds)}"
            tag = str(context.get("tag", ""))
            near = did_you_mean(tag, kinds)
            if near and near.startswith("did"):
                hint = f"{near} {hint}"
            return ValidationIssue((*path, "kind"), f'unknown kind "{tag}"', hint)
        case "union_tag_not_found":
            if not isinstance(given, Mapping):
                return ValidationIssue(path, f"must be a table, not {_found(given)}")
            return ValidationIssue(
                (*path, "kind"), "is missing", f"there are {', '.join(_kinds(path))}"
            )
        case "finite_number":
            return None  # `endless` finds all of these, also where pydantic does not look
        case "too_short" if isinstance(given, Sequence) and len(given) >= 1:
            return None  # its items are wrong, which is reported for each
        case "literal_error":
            return _literal(path, detail)
        case "value_error":
            error = context.get("error")
            if isinstance(error, SettingError):
                return ValidationIssue((*path, error.field), error.without_field)
            return ValidationIssue(path, str(error or detail["msg"]))
    message = f"{_wanted(kind, context, detail['msg'])}, not {_found(given)}"
    return ValidationIssue(path, message, _hint(kind, given, path, context))


def _where_it_belongs(detail: ErrorDetails, path: Path) -> str | None:
    """Return where an unknown key belongs: a parameter of a model, or one that is misspelt."""
    hint = None
    match detail["loc"]:
        case (
            ("targets", int(), _, "bulk")
            | ("judge", _, "bulk")
            | ("judges", int(), _, "bulk")
            | ("embedding", "bulk")
        ):
            return "only models are asked in bulk"
        case ("targets", int(), str(kind), str(name)) if name in MODEL_PARAMS:
            hint = TARGETS.of({"kind": kind}).hint_for_param(name)
        case ("embedding", str(name)) if name in MODEL_PARAMS:
            hint = JUDGES.of({"kind": "embedding"}).hint_for_param(name)
        case ("judge", str(kind), str(name)) | ("judges", int(), str(kind), str(name)) if (
            name in MODEL_PARAMS
        ):
            hint = JUDGES.of({"kind": kind}).hint_for_param(name)
        case ("user", str(name)) if name in MODEL_PARAMS:
            hint = UserSpec.hint_for_param(name)
    return hint or did_you_mean(str(path[-1]), _keys(detail, path))


def _hint(kind: str, given: object, path: Path, context: Mapping[str, object]) -> str | None:
    """Return a hint on how a nearly right value is written."""
    if kind in ("list_type", "tuple_type") and isinstance(given, Mapping):
        return _HOW_TO_WRITE.get(path)
    if kind in ("dict_type", "model_type", "model_attributes_type") and isinstance(given, list):
        table = ".".join(map(str, path))
        return _HOW_TO_WRITE.get(path, f"write [{table}]")
    if kind == "less_than_equal" and context["le"] == 1 and isinstance(given, int | float):
        return f"{given:g}% is {given / 100:g}" if 2 < given <= 100 else None
    return None


def _literal(path: Path, detail: ErrorDetails) -> ValidationIssue:
    allowed = _quoted(str(detail.get("ctx", {}).get("expected", "")))
    given = detail["input"]
    is_key = detail["loc"][-1] == "[key]"
    if is_key:
        return ValidationIssue(path, "unknown key", did_you_mean(str(given), allowed))
    names = ", ".join(f'"{name}"' for name in allowed)
    return ValidationIssue(path, f"must be one of {names}, not {_found(given)}")


def _quoted(expected: str) -> list[str]:
    """Return the words of pydantic's `'a', 'b' or 'c'`."""
    return expected.split("'")[1::2]


_WANTED: Final = {
    "string_type": "must be a text",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "model_attributes_type": "must be a table",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "string_too_short": "must not be empty",
    "too_short": "must not be empty",
}


def _wanted(kind: str, context: Mapping[str, object], otherwise: str) -> str:
    match kind:
        case "greater_than_equal":
            return f"must be at least {_number(context['ge'])}"
        case "greater_than":
            return f"must be above {_number(context['gt'])}"
        case "less_than_equal":
            return f"must be at most {_number(context['le'])}"
        case "less_than":
            return f"must be below {_number(context['lt'])}"
        case "string_too_long":
            return f"must have at most {context['max_length']} characters"
        case "string_pattern_mismatch":
            return "must be a name of letters, digits and underscores"
    return _WANTED.get(kind, otherwise[:1].lower() + otherwise[1:])


def _number(value: object) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _found(value: object) -> str:
    """Return the value that was found, shortened."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case str():
            return f'"{value if len(value) <= _LONGEST else value[: _LONGEST - 1] + "…"}"'
        case Mapping():
            return "a table"
        case Sequence():
            return "an empty list" if not value else "a list"
    return type(value).__name__


def _kinds(path: Path) -> tuple[str, ...]:
    """Return the kinds that what stands at a path may be of; none: it is of no kind."""
    match path:
        case ("judge",) | (*_, str(), int()):
            kinds = _UNIONS.get(str(path[0] if len(path) == 1 else path[-2]))
            return () if kinds is None else kinds()
    return ()


def _keys(detail: ErrorDetails, path: Path) -> list[str]:
    """Return the keys that are known where an unknown one stands."""
    loc = detail["loc"][:-1]
    is_scorer = path[:1] == ("scorers",) and loc[:1] != ("scorers",)
    schema = _scorer_schema() if is_scorer else _suite_schema()
    here: object = schema
    for step in loc:
        here = _inside(here, step, schema)
    properties = _plain(here, schema).get("properties", {})
    return sorted(properties) if isinstance(properties, Mapping) else []


def _inside(schema: object, step: str | int, root: Mapping[str, object]) -> object:
    """Return the part of a JSON Schema that one step of pydantic's path leads to."""
    here = _plain(schema, root)
    if isinstance(step, int):
        return here.get("items", {})
    discriminator = here.get("discriminator")
    if isinstance(discriminator, Mapping):
        return {"$ref": discriminator["mapping"].get(step, "")}
    properties = here.get("properties", {})
    if isinstance(properties, Mapping) and step in properties:
        return properties[step]
    return here.get("additionalProperties", {})


def _plain(schema: object, root: Mapping[str, object]) -> Mapping[str, object]:
    """Resolve references, and `X or null` to X."""
    while isinstance(schema, Mapping):
        if "$ref" in schema:
            name = str(schema["$ref"]).rpartition("/")[2]
            definitions = root.get("$defs", {})
            schema = definitions.get(name, {}) if isinstance(definitions, Mapping) else {}
        elif "anyOf" in schema:
            schema = next(_real(schema["anyOf"]), {})
        else:
            return schema
    return {}


def _real(choices: Iterable[object]) -> Iterator[object]:
    for choice in choices:
        if isinstance(choice, Mapping) and choice.get("type") != "null":
            yield choice


@cache
def _suite_schema() -> dict[str, object]:
    return SuiteFile.model_json_schema(by_alias=True)


@cache
def _scorer_schema() -> dict[str, object]:
    return TypeAdapter(tuple[ScorerSpec, ...]).json_schema(by_alias=True)


def validated(model: type[BaseModel], data: object) -> list[ValidationIssue]:
    """Return what is wrong with data for a model; empty: it is valid."""
    try:
        model.model_validate(data, context=AS_WRITTEN)
    except ValidationError as error:
        return [*explain(error, data), *endless(data)]
    return list(endless(data))


def endless(data: object, path: Path = ()) -> Iterator[ValidationIssue]:
    """Find `nan` and `inf`, which TOML has and JSON has not, at any depth."""
    if isinstance(data, float) and not math.isfinite(data):
        yield ValidationIssue(path, f"must be a number that ends, not {data}")
    elif isinstance(data, Mapping):
        for key, item in data.items():
            yield from endless(item, (*path, key))
    elif isinstance(data, list):
        for index, item in enumerate(data):
            yield from endless(item, (*path, index))
