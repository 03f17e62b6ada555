"""Parameters of models that a launch sets, beside or in place of those of the suite's targets."""

import tomllib
from collections.abc import Collection, Mapping

from pydantic import ValidationError

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.loading.overrides import toml_or_text
from tui_eval.suites.loading.sources import as_json
from tui_eval.suites.spec import Suite


class ParameterError(Exception):
    """Parameters cannot be read or set; the message says which and what is allowed."""


def parameters(text: str) -> JsonObject:
    """Read `temperature=0.2, stop=["END"]`: values as TOML, or plain words.

    Raises:
        ParameterError: some of it is no `name=value`.
    """
    if not text.strip():
        return {}
    try:
        return dict(_object(as_json(tomllib.loads(f"p = {{ {text} }}"))["p"]))
    except (tomllib.TOMLDecodeError, RecursionError):
        pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    found: JsonObject = {}
    for name, sign, value in pairs:
        if not (name.strip() and sign and value.strip()):
            raise ParameterError(f"parameters are written temperature=0.2, not “{text.strip()}”")
        found[name.strip()] = toml_or_text(value.strip())
    return found


def with_parameters(suite: Suite, targets: Collection[str], wanted: Mapping[str, Json]) -> Suite:
    """Return the suite with these parameters at the named targets; empty: at all.

    Raises:
        ParameterError: one of the targets takes no parameters, or not these.
    """
    if not wanted:
        return suite
    data = suite.model_dump(mode="json")
    for spec, table in zip(suite.targets, data["targets"], strict=True):
        if targets and spec.name not in targets:
            continue
        if "params" not in table:
            raise ParameterError(f"{spec.name} ({spec.kind}) takes no parameters: untick it")
        table["params"] = {**table["params"], **wanted}
    try:
        return Suite.model_validate(data)
    except ValidationError as error:
        raise ParameterError("; ".join(one["msg"] for one in error.errors())) from error


def _object(value: Json) -> JsonObject:
    if not isinstance(value, dict):
        raise TypeError("an inline table is an object")
    return value
