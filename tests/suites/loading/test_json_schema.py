import tomllib
from functools import cache
from pathlib import Path
from typing import Any, cast

import jsonschema
import pytest

from tests.suites.writing import SMALL
from tui_eval.model.json import Json, JsonObject
from tui_eval.resources import samples_dir
from tui_eval.suites.loading.json_schema import json_schema
from tui_eval.suites.loading.starter import SCHEMA_FILE, starter
from tui_eval.suites.scorers import SCORERS
from tui_eval.suites.spec import RUBRIC_JUDGES, TARGETS


@cache
def validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json_schema())


def validate(text: str) -> None:
    validator().validate(tomllib.loads(text))


def test_it_is_a_json_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())


@pytest.mark.parametrize("text", [SMALL, starter()["suite.toml"], 'include = ["x.toml"]\n'])
def test_it_takes_what_is_right(text: str) -> None:
    validate(text)


@pytest.mark.parametrize("suite", sorted(samples_dir().glob("*.toml")), ids=lambda one: one.stem)
def test_it_takes_every_sample(suite: Path) -> None:
    validate(suite.read_text("utf-8"))


@pytest.mark.parametrize(
    "text",
    [
        "colour = 1",
        "[run]\nconcurrency = 0",
        '[run]\nconcurrency = "many"',
        '[[targets]]\nmodle = "x"',
        '[[targets]]\nkind = "http"',
        '[[scorers]]\nkind = "magic"',
        '[judge]\nkind = "magic"',
        '[[judges]]\nkind = "simulated"\nmodel = "x"',
        '[judge]\nmodel = "x"\nbatch_size = 0',
        '[[scorers]]\nkind = "judge"\nrubric = "x"\nscale = 5',
        '[[scorers]]\nkind = "exact"',
        "[prompt.examples]\nas_ = 'text'\nassistant = 'x'",
    ],
)
def test_it_refuses_what_is_wrong(text: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        validate(text)


def test_the_first_suite_names_the_schema_beside_it() -> None:
    assert starter()["suite.toml"].startswith(f"#:schema ./{SCHEMA_FILE}\n")


def test_every_kind_is_in_it() -> None:
    properties = cast("dict[str, Any]", json_schema()["properties"])
    for field, kinds in (
        ("targets", TARGETS.names),
        ("scorers", SCORERS),
        ("judges", RUBRIC_JUDGES.names),
    ):
        items = properties[field]["items"]
        ours = items["anyOf"][0] if "anyOf" in items else items  # the others are plugins
        assert set(ours["discriminator"]["mapping"]) == set(kinds)


def fields(schema: Json, path: str = "") -> list[tuple[str, JsonObject]]:
    """Give every property in a schema, with its path."""
    found: list[tuple[str, JsonObject]] = []
    if isinstance(schema, dict):
        for name, item in schema.items():
            if name == "properties" and isinstance(item, dict):
                for field, one in item.items():
                    if isinstance(one, dict):
                        found.append((f"{path}.{field}", one))
            found += fields(item, f"{path}.{name}")
    return found


def test_every_field_is_described() -> None:
    silent = [
        path
        for path, field in fields(json_schema())
        if "description" not in field and not path.endswith(".kind")
    ]
    assert silent == []
