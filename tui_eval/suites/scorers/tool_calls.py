"""The scorer of the tools that were called: `tool_calls`."""

import re
from typing import Annotated, ClassVar, Final, Literal

from pydantic import (
    Field,
    JsonValue,
    PlainValidator,
    StrictInt,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.scorers.scorer import PartsGiven, Scorer, check_pattern
from tui_eval.suites.scorers.setting_error import SettingError, named
from tui_eval.texts import json_in_text
from tui_eval.texts.wording import quoted

NEAR: Final = 1e-6
"""How far from a number another may be that is `near` it, as a share, where nothing is said."""
_DEEPEST: Final = 40
"""Lists and tables in each other that an expected argument may have."""
_MATCHERS: Final = ("value", "any_of", "regex", "near")
_MATCHER_FIELDS: Final = frozenset((*_MATCHERS, "tolerance", "relative", "optional"))
_BFCL_TYPES: Final[dict[str, str]] = {"integer": "integer", "float": "number", "boolean": "boolean"}
"""Types of arguments that its expected values do not already say."""


def _names(value: object) -> str | list[str]:
    if isinstance(value, str) and value:
        return value
    if isinstance(value, list) and value and all(isinstance(one, str) and one for one in value):
        return value
    raise ValueError("the name of a tool, or a list of names, is expected here")


Names = Annotated[
    str | list[str],
    PlainValidator(_names),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]


class ToolCallsScorer(Scorer):
    """The tools that are expected were called, with the arguments that are expected."""

    TEMPLATED: ClassVar[tuple[str, ...]] = ("expected", "forbidden", "functions")

    kind: Literal["tool_calls"]
    expected: JsonValue = Field(
        default=None,
        description="The calls that are expected: a list of { name, arguments, optional }, of "
        "names, or of calls as the chat API has them. An argument is a value, or one of "
        "{ any_of = […] }, { regex = … }, { near = …, tolerance = … }, { value = … }, each with "
        "optional = true where it may be left out. An empty list: no tool is to be called.",
    )
    match: Literal["strict", "unordered", "subset", "superset"] = Field(
        default="strict",
        description="strict: these calls in this order. unordered: these, in any order. subset: "
        "none but these. superset: these, and others too.",
    )
    order: Literal["strict", "in_order", "any"] | None = Field(
        default=None,
        description="strict: in this order with nothing between them; in_order: in this order; "
        "any. Default: strict where match is, else any.",
    )
    arguments: Literal["exact", "subset", "ignore"] = Field(
        default="exact",
        description="exact: a call has these arguments alone. subset: it has these, and may have "
        "others. ignore: names alone are compared.",
    )
    forbidden: Names | None = Field(
        default=None, description="Names of tools that may not be called at all."
    )
    max_calls: Annotated[StrictInt, Field(ge=0)] | None = Field(
        default=None, description="The most calls there may be, of whatever tools."
    )
    form: Literal["calls", "bfcl"] = Field(
        default="calls",
        description="bfcl: `expected` is as the Berkeley Function Calling Leaderboard has its "
        "answers: a table for each call, with the values that each argument may have.",
    )
    functions: JsonValue = Field(
        default=None,
        description="With form = bfcl: the descriptions of the functions, which say the "
        "arguments' types. Left out: types are compared as values are.",
    )

    @field_validator("of")
    @classmethod
    def _is_the_whole_or_a_turn(cls, of: str) -> str:
        if of != "text" and not of.startswith("turn:"):
            raise ValueError("calls have no parts but turns: leave it out, or name one as turn:1")
        return of

    @model_validator(mode="after")
    def _asks_something(self) -> "ToolCallsScorer":
        if self.expected is None and self.forbidden is None and self.max_calls is None:
            raise ValueError("nothing is asked: give expected, forbidden or max_calls")
        if self.functions is not None and self.form != "bfcl":
            raise ValueError('functions are looked at with form = "bfcl" alone')
        return self

    def own_settings(self) -> JsonObject:
        """Return its settings; what is not asked for is not among them."""
        settings = super().own_settings()
        for name in ("expected", "forbidden", "max_calls", "functions"):
            if settings[name] is None:
                del settings[name]
        return settings

    @classmethod
    def missing_part(cls, of: str, given: PartsGiven) -> tuple[str, str, str] | None:
        """Say so where no target tells which tools were called."""
        if given.tool_calls:
            return super().missing_part(of, given)
        what_to_do = "give a transcript, messages or tool_calls to the target, or leave this out"
        return "kind", "no target tells which tools it calls", what_to_do

    @classmethod
    def settle(cls, settings: JsonObject) -> JsonObject:
        """Return settings with `calls`: each expected one as `name`, `optional` and `arguments`.

        Arguments are in the form that `tui_eval.scoring.rules.arguments` compares with; null where
        they are not compared.
        """
        settled = dict(settings)
        match = settings["match"]
        settled["order"] = settings["order"] or ("strict" if match == "strict" else "any")
        forbidden = settings.get("forbidden")
        if forbidden is not None:
            try:
                names = _names(forbidden)
            except ValueError as error:
                raise SettingError(f"forbidden: {error}", "forbidden") from error
            settled["forbidden"] = [names] if isinstance(names, str) else list(names)
        functions = settled.pop("functions", None)
        if "expected" in settings:
            calls = _calls(settings["expected"])
            read = _bfcl_reader(functions) if settings["form"] == "bfcl" else _call
            ignored = settings["arguments"] == "ignore"
            settled["expected"] = [call for _, call in calls]
            settled["calls"] = [_without(read(call, f"[{at}]"), ignored) for at, call in calls]
        return settled


def _without(call: JsonObject, ignored: bool) -> JsonObject:
    return {**call, "arguments": None} if ignored else call


def _calls(expected: Json) -> list[tuple[int, Json]]:
    calls = _read(expected, "expected")
    if not isinstance(calls, list):
        raise SettingError(f"expected is {named(calls)} where a list of calls is meant")
    return list(enumerate(calls))


def _read(value: Json, place: str) -> Json:
    """Return a value; of a text, what it says as JSON, where it does."""
    if not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
        return value
    try:
        return json_in_text.parse(value)
    except ValueError as error:
        raise SettingError(f"{place} is a text that is no JSON: {error}") from error


def _call(call: Json, at: str) -> JsonObject:
    """Read an expected call as a suite writes it."""
    place = f"expected{at}"
    if isinstance(call, str):
        call = {"name": call}
    if not isinstance(call, dict):
        raise SettingError(f"{place} is {named(call)} where a call is meant: {{ name, arguments }}")
    function = call.get("function")
    if isinstance(function, dict):  # as the chat API has it
        call = {key: function[key] for key in ("name", "arguments") if key in function}
    unknown = sorted(call.keys() - {"name", "arguments", "optional"})
    if unknown:
        raise SettingError(
            f"{place} has {quoted(unknown[0])}: a call has name, arguments and optional"
        )
    name, optional = call.get("name"), call.get("optional", False)
    if not isinstance(name, str) or not name:
        raise SettingError(f"{place} has no name")
    if not isinstance(optional, bool):
        raise SettingError(f"{place}.optional is neither true nor false")
    arguments = _read(call.get("arguments"), f"{place}.arguments")
    if arguments is not None and not isinstance(arguments, dict):
        raise SettingError(f"{place}.arguments is {named(arguments)} where a table is meant")
    table = None if arguments is None else _table(arguments, f"{place}.arguments", 0)
    return {"name": name, "optional": optional, "arguments": table}


def _table(table: JsonObject, place: str, depth: int) -> JsonObject:
    return {
        "table": {
            key: _expected_value(value, f"{place}.{key}", depth) for key, value in table.items()
        },
        "optional": [key for key, value in table.items() if _may_be_left_out(value)],
    }


def _may_be_left_out(value: Json) -> bool:
    return _is_matcher(value) and isinstance(value, dict) and value.get("optional") is True


def _is_matcher(value: Json) -> bool:
    if not isinstance(value, dict) or not value or not value.keys() <= _MATCHER_FIELDS:
        return False
    return bool(value.keys() & {*_MATCHERS, "optional"})


def _expected_value(value: Json, place: str, depth: int) -> JsonObject:
    if depth > _DEEPEST:
        raise SettingError(f"{place} nests more than {_DEEPEST} lists and tables")
    if isinstance(value, list):
        items = enumerate(value)
        return {"list": [_expected_value(one, f"{place}[{at}]", depth + 1) for at, one in items]}
    if not isinstance(value, dict):
        return {"is": value}
    return _matcher(value, place, depth) if _is_matcher(value) else _table(value, place, depth + 1)


def _matcher(matcher: JsonObject, place: str, depth: int) -> JsonObject:
    if not isinstance(matcher.get("optional", False), bool):
        raise SettingError(f"{place}.optional is neither true nor false")
    given = [name for name in _MATCHERS if name in matcher]
    if len(given) > 1:
        raise SettingError(f"{place} has {given[0]} and {given[1]}: one of them decides")
    kind = given[0] if given else "optional"
    if kind != "near" and matcher.keys() & {"tolerance", "relative"}:
        raise SettingError(f"{place}: tolerance and relative stand beside near alone")
    value = matcher.get(kind)
    match kind:
        case "value":
            return {"is": value}
        case "any_of":
            if not isinstance(value, list) or not value:
                raise SettingError(f"{place}.any_of is {named(value)} where a list is meant")
            items = enumerate(value)
            return {
                "any_of": [_expected_value(one, f"{place}[{at}]", depth + 1) for at, one in items]
            }
        case "regex":
            return {"regex": _pattern(value, place)}
        case "near":
            return _near(matcher, place)
        case _:
            return {"anything": True}


def _pattern(value: Json, place: str) -> str:
    if not isinstance(value, str):
        raise SettingError(f"{place}.regex is {named(value)} where a pattern is meant")
    try:
        check_pattern(value)
    except ValueError as error:
        raise SettingError(f"{place}.regex: {error}") from error
    return value


def _near(matcher: JsonObject, place: str) -> JsonObject:
    numbers: dict[str, float] = {}
    for name in ("near", "tolerance", "relative"):
        value = matcher.get(name)
        if name not in matcher:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise SettingError(f"{place}.{name} is {named(value)} where a number is meant")
        if name != "near" and value < 0:
            raise SettingError(f"{place}.{name} is below 0")
        numbers[name] = float(value)
    relative = numbers.get("relative", 0.0 if "tolerance" in numbers else NEAR)
    within = max(numbers.get("tolerance", 0.0), relative * abs(numbers["near"]))
    return {"near": numbers["near"], "within": within}


# --- the form of the Berkeley Function Calling Leaderboard ---------------------------------------
# https://github.com/ShishirPatil/gorilla/tree/main/berkeley-function-call-leaderboard: of each
# argument the values it may have are listed, "" among them where it may be left out; texts are
# compared without regard to case, spaces and some punctuation; OpenAI allows no dot in a name.

_UNREAD: Final = re.compile(r"[ ,./\-_*^]")


def bfcl_text(text: str) -> str:
    """Return a text as that benchmark compares it."""
    return _UNREAD.sub("", text).lower().replace("'", '"')


def bfcl_name(name: str) -> str:
    """Return a function's name as that benchmark compares it."""
    return name.replace(".", "_")


class _BfclReader:
    """Reads expected calls in that form."""

    def __init__(self, types: dict[str, dict[str, str]]) -> None:
        self._types = types

    def __call__(self, call: Json, at: str) -> JsonObject:
        place = f"expected{at}"
        if not isinstance(call, dict) or len(call) != 1:
            raise SettingError(f"{place} is no table of one function's name and its arguments")
        [(name, arguments)] = call.items()
        if not isinstance(arguments, dict):
            raise SettingError(f"{place}.{name} is {named(arguments)} where a table is meant")
        types = self._types.get(bfcl_name(name), {})
        table = _bfcl_table(arguments, f"{place}.{name}", 0, types)
        return {"name": bfcl_name(name), "optional": False, "arguments": table}


def _bfcl_reader(functions: Json) -> _BfclReader:
    types: dict[str, dict[str, str]] = {}
    functions = _read(functions, "functions")
    for function in functions if isinstance(functions, list) else [functions]:
        if function is None:
            continue
        name = function.get("name") if isinstance(function, dict) else None
        if not isinstance(function, dict) or not isinstance(name, str):
            raise SettingError("functions holds what is no function with a name", "functions")
        parameters = function.get("parameters")
        properties = parameters.get("properties") if isinstance(parameters, dict) else None
        described = properties.items() if isinstance(properties, dict) else ()
        types[bfcl_name(name)] = {
            argument: _BFCL_TYPES[kind]
            for argument, about in described
            if isinstance(about, dict)
            and isinstance(kind := about.get("type"), str)
            and kind in _BFCL_TYPES
        }
    return _BfclReader(types)


def _bfcl_table(table: JsonObject, place: str, depth: int, types: dict[str, str]) -> JsonObject:
    expected: JsonObject = {}
    optional: list[Json] = []
    for key, values in table.items():
        if not isinstance(values, list):
            raise SettingError(f"{place}.{key} is {named(values)} where a list of values is meant")
        if "" in values:
            optional.append(key)
        alternatives = [_bfcl_value(one, f"{place}.{key}", depth + 1) for one in values]
        typed: JsonObject = {"type": types[key]} if key in types else {}
        expected[key] = {**typed, "any_of": [*alternatives]}
    return {"table": expected, "optional": optional}


def _bfcl_value(value: Json, place: str, depth: int) -> JsonObject:
    if depth > _DEEPEST:
        raise SettingError(f"{place} nests more than {_DEEPEST} lists and tables")
    if isinstance(value, str):
        return {"like": bfcl_text(value)}
    if isinstance(value, list):
        return {"list": [_bfcl_value(one, place, depth + 1) for one in value]}
    return _bfcl_table(value, place, depth + 1, {}) if isinstance(value, dict) else {"is": value}
