import pytest

from tui_eval.isolated.code_tests.python_code import NoCodeError, chosen, defined

GIVEN = 'from typing import List\n\n\ndef add(a: int, b: int) -> int:\n    """Add them."""\n'
WHOLE = "def add(a, b):\n    return a + b\n"


def run(reply: str, given: str = GIVEN, wanted: tuple[str, ...] = ("add",)) -> object:
    """Return what the code that is chosen gives for 2 and 3."""
    taken = chosen(reply, given, wanted)
    names: dict[str, object] = {}
    exec(taken.before, names)
    exec(taken.code, names)
    function = names["add"]
    assert callable(function)
    return function(2, 3)


@pytest.mark.parametrize(
    "reply",
    [
        WHOLE,
        f"```python\n{WHOLE}```",
        f"Sure! Here it is:\n\n```python\n{WHOLE}```\n\nIt adds them.",
        f"```\n{WHOLE}```",
        f"1. The code:\n   ```python\n   {WHOLE.replace(chr(10), chr(10) + '   ')}\n   ```\n",
        f"Here is the function:\n\n{WHOLE}\nIt adds the two numbers.",
        f"```python\n{WHOLE}",
        f"First try:\n```python\ndef add(a, b):\n    return 0\n```\nBetter:\n```python\n{WHOLE}```",
        f"```python\n{WHOLE}```\nUse it:\n```python\nprint(add(1, 2))\nx = add(4, 4)\n```",
        (
            "```python\ndef plus(a, b):\n    return a + b\n```\nand\n"
            "```python\ndef add(a, b):\n    return plus(a, b)\n```"
        ),
        f"```sh\npip install adder\n```\n```python\n{WHOLE}```",
        "```python\ndef add(a: List, b: List):\n    return a + b\n```",
    ],
)
def test_a_whole_function_is_found(reply: str) -> None:
    assert run(reply) == 5


@pytest.mark.parametrize(
    "reply",
    [
        "    return a + b\n",
        "return a + b",
        "\n    return a + b",
        "    total = a + b\n    return total\n",
        "total = a + b\n    return total\n",
        "total = a + b\nreturn total\n",
        "```python\n    return a + b\n```",
        "```python\nreturn a + b\n```",
        "    return a + b\n```\n",
        "    return a + b\n\n\nThis adds the two numbers, as it's asked.",
        "    return a + b\n\n\nprint(add(",
        "    return a + b\n\n\ndef other(x):\n    return x\n",
    ],
)
def test_a_reply_goes_on_with_what_was_given(reply: str) -> None:
    assert run(reply) == 5


def test_what_was_given_may_be_in_a_fence_amid_words() -> None:
    given = f"Complete this function:\n```python\n{GIVEN}```\nAnswer with the code."
    assert run("    return a + b\n", given) == 5
    assert run(WHOLE, given) == 5


def test_without_anything_given_the_code_stands_alone() -> None:
    assert run(f"Code:\n```python\n{WHOLE}```", "") == 5


def test_without_a_wanted_name_the_last_block_is_taken() -> None:
    assert run(f"```python\nx = 1\n```\n```python\n{WHOLE}```", "", ()) == 5


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", "the reply holds no code"),
        ("def add(a, b)\n    return 1", "SyntaxError: expected ':', line 1: def add(a, b)"),
        ("I cannot do that.", "SyntaxError: invalid syntax, line 1: I cannot do that."),
        ("```python\n```", "the reply holds no code"),
    ],
)
def test_what_holds_no_code_says_why(reply: str, why: str) -> None:
    with pytest.raises(NoCodeError) as raised:
        chosen(reply, "", ("add",))
    assert str(raised.value) == why


def test_a_refusal_is_no_continuation() -> None:
    with pytest.raises(NoCodeError):
        chosen("I'm sorry, but I can't.", GIVEN, ("add",))


def test_names_are_those_of_the_top_also_in_branches() -> None:
    code = "import a.b, c as d\ntry:\n    from e import f\nexcept ImportError:\n    f = None\n"
    code += "class G:\n    h = 1\nif G:\n    i = j = 2\nfor k in (): pass\n"
    assert defined(code) >= {"a", "d", "f", "G", "i", "j"}
    assert "h" not in defined(code)
    assert defined("no code at all") == set()
