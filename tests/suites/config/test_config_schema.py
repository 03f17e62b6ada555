"""The schema of the configuration takes what the reader takes, and refuses what it refuses."""

import tomllib
from pathlib import Path

import jsonschema
import pytest

from tui_eval.suites.config import configuration
from tui_eval.suites.config.config_schema import config_schema

SCHEMA = config_schema(
    ["dark", "light"], {"run.retry": "Ask again", "runs": "All runs", "runs.open": ""}
)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def test_it_is_a_json_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_it_has_every_field_of_the_file() -> None:
    properties = SCHEMA["properties"]
    assert isinstance(properties, dict)
    assert set(properties) == set(configuration.FIELDS)


@pytest.mark.parametrize(
    "text",
    [
        "",
        'theme = "dark"\nstore = "~/x"\nconcurrency = "auto"\nlog_level = "debug"',
        "concurrency = 8",
        '[keys]\nMY_KEY = ["api.example.org", ".internal.example"]',
        '[keymap]\n"run.retry" = "f5"\nruns = ["x", "f6"]',
        '[keymap]\nrun.retry = "f5"\nruns.open = "o"',
    ],
)
def test_it_takes_what_is_right(text: str) -> None:
    assert not configuration.parse(Path("config.toml"), text).mistakes
    VALIDATOR.validate(tomllib.loads(text))


@pytest.mark.parametrize(
    "text",
    [
        'colour = "dark"',
        "theme = 1",
        'store = ""',
        "concurrency = 0",
        "concurrency = true",
        'log_level = "loud"',
        'keys = "x"',
        '[keys]\n"1x" = ["api.example.org"]',
        '[keys]\nMY_KEY = "api.example.org"',
        "[keymap]\nrun.retry = 5",
        "[keymap]\nrun.retry = []",
    ],
)
def test_it_refuses_what_is_wrong(text: str) -> None:
    assert configuration.parse(Path("config.toml"), text).mistakes
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(tomllib.loads(text))


@pytest.mark.parametrize("text", ['theme = "drak"', '[keymap]\n"run.rety" = "f5"'])
def test_it_knows_the_themes_and_actions_there_are(text: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(tomllib.loads(text))
