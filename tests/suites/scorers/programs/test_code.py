"""What a code scorer may say, and what its settings become for a case."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tests.scoring.making import check, refused
from tui_eval.model.json import JsonObject
from tui_eval.suites.scorers import SCORERS
from tui_eval.suites.scorers.programs.code import LANGUAGES, CodeScorer

LEAST: JsonObject = {"kind": "code", "tests": "assert f(1)"}


def settings(**given: Any) -> JsonObject:
    """Return the settings of a check."""
    return check({**LEAST, **given}).settings


def test_it_is_one_of_the_kinds_that_run_something() -> None:
    assert SCORERS["code"] is CodeScorer
    assert CodeScorer.RUNS_PROGRAM


def test_tests_may_be_a_list() -> None:
    assert settings(tests=["assert f(1)", "assert f(2)"])["tests"] == "assert f(1)\nassert f(2)"
    assert settings()["tests"] == "assert f(1)"


def test_seconds_and_memory_have_defaults() -> None:
    assert (settings()["timeout"], settings()["memory"]) == (10.0, 1_000_000_000)
    assert settings(memory="2GB")["memory"] == 2_000_000_000


def test_a_known_language_brings_what_runs_it() -> None:
    assert settings(language="bash")["command"] == ["bash", "{file}"]
    assert settings(language="bash")["ending"] == LANGUAGES["bash"].ending
    own = settings(language="javascript", command=["deno", "run", "{file}"])
    assert own["command"] == ["deno", "run", "{file}"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"language": "cobol"}, "needs command and ending"),
        ({"language": "cobol", "command": ["x", "{file}"]}, "needs command and ending"),
        ({"command": ["x", "{file}"]}, "command is of other languages than python"),
        ({"language": "bash", "python": "python3"}, "python is of the language python alone"),
        ({"language": "bash", "in_process": True}, "in_process is of the language python alone"),
        ({"language": "bash", "command": ["x"]}, "{file} is in none of its arguments"),
        ({"language": "bash", "ending": "echo"}, "must print {nonce}"),
        ({"timeout": 0}, "must be a number of seconds above 0"),
        ({"memory": "much"}, "must be a number of bytes"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as raised:
        CodeScorer.model_validate({**LEAST, **given})
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tests": ""}, "tests is empty: anything would pass"),
        ({"tests": "{{ empty }}"}, "tests is empty: anything would pass"),
        ({"tests": "{{ number }}"}, "tests must be code"),
        ({"tests": "{{ nothing }}"}, "tests is null"),
        ({"entry_point": "{{ number }}"}, "entry_point must be the name of a function"),
        ({"given": "{{ number }}"}, "given must be code"),
        ({"timeout": "{{ empty }}"}, "timeout must be seconds"),
    ],
)
def test_what_cannot_be_used_is_an_error_of_the_case(given: JsonObject, message: str) -> None:
    fields: JsonObject = {"empty": " ", "number": 3, "nothing": None}
    assert message in refused({**LEAST, **given}, **fields)


def test_running_code_is_asked_for_with_what_runs_it(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("#!/bin/sh\n", encoding="utf-8")

    def asked(**given: object) -> list[str]:
        return [str(one) for one in CodeScorer.permissions({**LEAST, **given}, tmp_path)]

    [own] = asked()
    assert "run the code of outputs with tui-eval's Python" in own
    [named] = asked(python="python3.12")
    assert "run the code of outputs with python3.12" in named
    first, second, third = asked(
        language="x", command=["./run.sh", "{file}"], ending="{nonce}", isolation="none"
    )
    assert "run the code of outputs with ./run.sh {file}" in first
    assert "run what run.sh holds" in second
    assert "without isolation" in third


def test_what_runs_it_is_looked_for(tmp_path: Path) -> None:
    def missing(**given: Any) -> str | None:
        return CodeScorer.model_validate({**LEAST, **given}).missing_program(tmp_path)

    assert missing() is None
    assert missing(language="bash") is None
    assert missing(python="no-such-python") == (
        "there is no interpreter no-such-python: leave it out for tui-eval's own"
    )
    told = missing(language="x", command=["no-such-x", "{file}"], ending="{nonce}")
    assert told == "the program no-such-x is not there: install it"
