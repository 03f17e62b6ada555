"""Scorers of structured text: `json` and `json_schema`."""

import json
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from tui_eval.model.json import Json, JsonObject, canonical
from tui_eval.model.score import Grade
from tui_eval.suites import loop_bounds, patterns
from tui_eval.suites.loop_bounds import NotAtOnceError
from tui_eval.texts import json_in_text
from tui_eval.texts.wording import plain, quoted

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

LIMIT_S = 2.0
"""Seconds of processor time one schema may take on one value: alternatives that nest multiply."""
_ends_at: ContextVar[float] = ContextVar("_ends_at", default=float("inf"))
_ERRORS_READ = 20
"""Of a value that breaks its schema in many places, the errors the reason is chosen from."""


def json_value(settings: JsonObject, text: str) -> Grade:
    """Pass where the text is JSON and, where one is given, the expected value."""
    try:
        value = _read(settings, text)
    except json_in_text.NotJsonError as error:
        return Grade.of(False, f"{error}: got {quoted(text)}")
    except json_in_text.UnreadableError as error:
        return Grade.ungraded(str(error))
    if "expected" not in settings:
        return Grade.of(True, "it is JSON")
    differs = difference(settings["expected"], value)
    return Grade.of(differs is None, differs or "it is the expected value")


def json_schema(settings: JsonObject, text: str) -> Grade:
    """Pass where the text is JSON that the schema allows."""
    try:
        value = _read(settings, text)
    except json_in_text.NotJsonError as error:
        return Grade.of(False, f"{error}: got {quoted(text)}")
    except json_in_text.UnreadableError as error:
        return Grade.ungraded(str(error))
    try:
        broken = _first_error(settings["schema"], value)
    except RecursionError:
        return Grade.ungraded("the JSON is nested too deeply to be validated")
    except (patterns.TooSlowError, patterns.PatternError, _TooSlowError, _UnresolvedError) as error:
        return Grade.ungraded(str(error))
    return Grade.of(broken is None, broken or "the schema allows it")


def _read(settings: JsonObject, text: str) -> Json:
    return json_in_text.extract(text) if settings["extract"] is True else json_in_text.parse(text)


# --- equality ---------------------------------------------------------------------------------


def difference(expected: Json, got: Json) -> str | None:
    """Say where two values first differ; None where they are equal.

    1 and 1.0 are equal, true and 1 are not; the order of an object's keys does not matter.
    """
    waiting: list[tuple[str, Json, Json]] = [("$", expected, got)]
    while waiting:
        path, wanted, found = waiting.pop()
        if isinstance(wanted, dict) and isinstance(found, dict):
            told = _keys_apart(path, wanted, found)
            waiting.extend((f"{path}.{key}", wanted[key], found[key]) for key in wanted if not told)
        elif isinstance(wanted, list) and isinstance(found, list):
            told = None
            if len(wanted) != len(found):
                told = f"at {plain(path)}: expected {len(wanted)} elements, got {len(found)}"
            pairs = enumerate(zip(wanted, found, strict=False))
            waiting.extend((f"{path}[{at}]", one, other) for at, (one, other) in pairs if not told)
        else:
            same = isinstance(wanted, bool) == isinstance(found, bool) and wanted == found
            told = (
                None
                if same
                else f"at {plain(path)}: expected {_shown(wanted)}, got {_shown(found)}"
            )
        if told:
            return told
    return None


def _keys_apart(path: str, wanted: JsonObject, found: JsonObject) -> str | None:
    for key in wanted:
        if key not in found:
            return f"at {plain(path)}: {quoted(key)} is missing"
    for key in found:
        if key not in wanted:
            return f"at {plain(path)}: {quoted(key)} is not expected"
    return None


def _shown(value: Json) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return f"an object of {len(value)}"
    return plain(json.dumps(value))


# --- schema -----------------------------------------------------------------------------------


class _UnresolvedError(Exception):
    """A schema refers to what is not in it; references are never fetched."""


class _TooSlowError(Exception):
    """A schema that takes longer than its limit on a value."""

    def __init__(self) -> None:
        super().__init__(f"the schema took longer than {LIMIT_S:g} s")


class _Validator(Protocol):
    """What is used of jsonschema's validators."""

    def iter_errors(self, instance: Json) -> Iterator["ValidationError"]: ...

    def descend(
        self, instance: Json, schema: Json, path: str, schema_path: str
    ) -> Iterator["ValidationError"]: ...


_Keyword: TypeAlias = Callable[
    [_Validator, Any, Json, JsonObject], "Iterator[ValidationError] | None"  # of any keyword
]


def _first_error(schema: Json, value: Json) -> str | None:
    from jsonschema.exceptions import best_match
    from referencing.exceptions import Unresolvable

    left = loop_bounds.left()
    ends_at = _ends_at.set(time.thread_time() + (LIMIT_S if left is None else left))
    errors = islice(_validator(canonical(schema)).iter_errors(value), _ERRORS_READ)
    try:
        error = best_match(errors)
    except Unresolvable as unresolved:
        raise _UnresolvedError(
            f"the schema refers to {quoted(unresolved.ref)}, which is no part of it"
        ) from unresolved
    finally:
        _ends_at.reset(ends_at)
    if error is None:
        return None
    return f"at {plain(str(error.json_path))}: {plain(str(error.message), 120)}"


@lru_cache(maxsize=64)
def _validator(schema_text: bytes) -> "_Validator":
    # late: 60 ms that only suites with a schema pay
    from jsonschema import Draft202012Validator, validators
    from referencing import Registry

    schema = json.loads(schema_text)
    extend: Callable[..., Callable[..., _Validator]] = validators.extend
    draft = validators.validator_for(schema, default=Draft202012Validator)
    keywords = {
        **draft.VALIDATORS,
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "uniqueItems": _unique_items,
    }
    bounded = extend(draft, {name: _timed(keyword) for name, keyword in keywords.items()})
    # an empty registry: a reference never makes a request
    return bounded(schema, registry=Registry())


def _timed(keyword: _Keyword) -> _Keyword:
    """Return a keyword's check that ends once the schema has taken too long."""

    def check(
        validator: _Validator, value: Json, instance: Json, schema: JsonObject
    ) -> Iterator["ValidationError"] | None:
        if time.thread_time() > _ends_at.get():
            raise NotAtOnceError if loop_bounds.asked() else _TooSlowError
        return keyword(validator, value, instance, schema)

    return check


def _invalid(message: str) -> "ValidationError":
    from jsonschema.exceptions import ValidationError

    return ValidationError(message)


def _pattern(
    validator: "_Validator", pattern: str, instance: Json, schema: JsonObject
) -> Iterator["ValidationError"]:
    """Do what JSON Schema's `pattern` does, within a time limit."""
    if isinstance(instance, str) and not patterns.search(patterns.compiled(pattern), instance):
        yield _invalid(f"{quoted(instance)} does not match {pattern!r}")


def _pattern_properties(
    validator: "_Validator", properties: JsonObject, instance: Json, schema: JsonObject
) -> Iterator["ValidationError"]:
    """Do what JSON Schema's `patternProperties` does, within a time limit."""
    if not isinstance(instance, dict):
        return
    for pattern, subschema in properties.items():
        compiled = patterns.compiled(pattern)
        for key, value in instance.items():
            if patterns.search(compiled, key):
                yield from validator.descend(value, subschema, path=key, schema_path=pattern)


def _unique_items(
    validator: "_Validator", unique: Json, instance: Json, schema: JsonObject
) -> Iterator["ValidationError"]:
    """Do what JSON Schema's `uniqueItems` does, in time proportional to the list."""
    if unique is True and isinstance(instance, list):
        forms = [canonical(_whole_as_int(item)) for item in instance]
        if len(set(forms)) < len(forms):
            yield _invalid("it has elements that are equal")


def _whole_as_int(value: Json) -> Json:
    """Return 1.0 as 1, at every depth: JSON Schema calls them equal."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_whole_as_int(item) for item in value]
    if isinstance(value, dict):
        return {key: _whole_as_int(item) for key, item in value.items()}
    return value
