"""The fields of a scorer that asks a judge, each read by one validator."""

import math
from typing import Annotated, Final, TypeAlias

from pydantic import (
    JsonValue,
    PlainValidator,
    WithJsonSchema,
)

from tui_eval.model.bounds import MOST_WEIGHT
from tui_eval.model.json import JsonObject
from tui_eval.suites.templates.marks import is_template

MET_OR_NOT: Final = "pass-fail"
"""The scale of a rubric that is either met or not."""


ARITHMETIC: Final = frozenset(
    {"weight", "required", "not", "pass_at", "threshold", "vote", "ungraded_requirements"}
)
"""Fields that change what is made of a judge's answers, and nothing of what it is asked."""


def unweighted(criteria: JsonValue) -> JsonValue:
    """Return criteria without their weights, which no judge sees; anything else as it is."""
    if not isinstance(criteria, list):
        return criteria
    return [
        {name: value for name, value in criterion.items() if name != "weight"}
        if isinstance(criterion, dict)
        else criterion
        for criterion in criteria
    ]


def _scale(value: object) -> str | list[float]:
    if value == MET_OR_NOT:
        return MET_OR_NOT
    if isinstance(value, list | tuple) and len(value) == 2 and all(map(is_number, value)):
        low, high = value
        if low < high:
            return [float(low), float(high)]
        raise ValueError(f"goes from {low:g} to {high:g}: the lowest grade stands first")
    raise ValueError(f'must be the lowest and the highest grade, as in [1, 5], or "{MET_OR_NOT}"')


def is_number(value: object) -> bool:
    """Say whether a value is a number that ends, and no boolean."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


Scale: TypeAlias = Annotated[
    str | list[float],
    PlainValidator(_scale),
    WithJsonSchema(
        {
            "anyOf": [
                {"const": MET_OR_NOT},
                {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
            ]
        }
    ),
]
"""The lowest and the highest grade, or pass and fail. One validator: a mistake is reported once."""


def _requirements(value: object) -> str | list[str]:
    if isinstance(value, str) and is_template(value):
        return value
    if isinstance(value, list) and value and all(isinstance(it, str) and it for it in value):
        return value
    raise ValueError("must be a list of texts, or a template that gives one")


Requirements: TypeAlias = Annotated[
    str | list[str],
    PlainValidator(_requirements),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}, "minItems": 1},
            ]
        }
    ),
]
"""What has to be met."""


def _criteria(value: object) -> str | list[JsonObject]:
    if isinstance(value, str) and is_template(value):
        return value
    if not isinstance(value, list) or not value:
        raise ValueError(
            "must be a list of tables { name, text, weight }, or a template that gives one"
        )
    return settled_criteria(value)


def settled_criteria(given: list[JsonValue]) -> list[JsonObject]:
    """Return criteria in their one form: each a table of name, text and weight.

    Raises:
        ValueError: for one that is none, saying which and why.
    """
    settled: list[JsonObject] = []
    names: set[str] = set()
    for number, item in enumerate(given, 1):
        criterion = _criterion(number, item)
        name = str(criterion["name"])
        if name in names:
            raise ValueError(f'criterion {number} is called "{name}", as an earlier one is')
        names.add(name)
        settled.append(criterion)
    return settled


def _criterion(number: int, item: JsonValue) -> JsonObject:
    what = f"criterion {number}"
    if not isinstance(item, dict) or not item:
        raise ValueError(f"{what} must be a table {{ name, text, weight }}")
    unknown = sorted(item.keys() - {"name", "text", "weight"})
    if unknown:
        raise ValueError(f'{what} has the unknown key "{unknown[0]}"; there are name, text, weight')
    for key in ("name", "text"):
        text = item.get(key)
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"{what} needs a {key}, a text that is not empty")
    weight = item.get("weight", 1)
    if not isinstance(weight, int | float) or not is_number(weight) or weight <= 0:
        raise ValueError(f"{what} needs a weight above 0")
    if weight > MOST_WEIGHT:
        raise ValueError(f"{what} needs a weight of at most {MOST_WEIGHT:g}")
    return {"name": item["name"], "text": item["text"], "weight": weight}


Criteria: TypeAlias = Annotated[
    str | list[dict[str, JsonValue]],
    PlainValidator(_criteria),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                {
                    "type": "array",
                    "minItems": 1,
                    "items": {
                        "type": "object",
                        "properties": {
                            "name": {"type": "string"},
                            "text": {"type": "string"},
                            "weight": {"type": "number", "exclusiveMinimum": 0},
                        },
                        "required": ["name", "text"],
                        "additionalProperties": False,
                    },
                },
            ]
        }
    ),
]
"""What is graded, line by line."""


def _names(value: object) -> list[str]:
    names = [value] if isinstance(value, str) else value
    if isinstance(names, list) and names and all(isinstance(it, str) and it for it in names):
        if len(set(names)) < len(names):
            raise ValueError("names a judge twice")
        return names
    raise ValueError("must be the name of a judge, or a list of names")


Judges: TypeAlias = Annotated[
    list[str],
    PlainValidator(_names),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}, "minItems": 1},
            ]
        }
    ),
]
"""One judge or several, by name."""
