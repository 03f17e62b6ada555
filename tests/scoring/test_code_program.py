import pytest

from tests.scoring.making import check
from tui_eval.model.json import JsonObject
from tui_eval.scoring.code_program import NoCodeInTextError, code_program

GIVEN = "```js\nfunction add(a, b) {\n```"


def settings(**given: str) -> JsonObject:
    """Return the settings of a check of JavaScript."""
    return check(
        {
            "kind": "code",
            "language": "javascript",
            "tests": "assert(add(1, 2) === 3)",
            "ending": "say('{nonce}')",
            "entry_point": "add",
            **given,
        }
    ).settings


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("function add(a, b) { return a + b }", "function add(a, b) { return a + b }"),
        ("So:\n```js\nconst add = 1\n```\nor\n```js\nadd(1)\n```", "add(1)\n"),
        ("```js\nconst add = 1\n```\nThen:\n```js\nlog(1)\n```", "const add = 1\n"),
        ("  return a + b\n}", "function add(a, b) {\n  return a + b\n}"),
    ],
)
def test_a_program_is_the_code_the_tests_and_the_ending(reply: str, code: str) -> None:
    made = code_program(settings(given=GIVEN), reply, "n0")
    assert made.text == f"{code}\n\nassert(add(1, 2) === 3)\nsay('n0')\n"
    assert made.file == "solution.js"


def test_an_empty_block_is_no_code() -> None:
    with pytest.raises(NoCodeInTextError):
        code_program(settings(), "```js\n```\n", "n0")
