"""Functions among the targets and scorers of a suite that is given as a mapping."""

import functools
from collections.abc import Callable
from threading import Event
from typing import Any

import pytest

from tui_eval.api.given import GivenFunction, held, known_functions, name_of, with_names
from tui_eval.suites.loading.errors import SuiteError


def quote(product: str, amount: int = 1) -> str:
    return f"{amount} {product}"


async def right(output: str, case: dict[str, Any]) -> bool:
    return bool(output == case["q"])


class Bot:
    def __call__(self, case: dict[str, Any]) -> str:
        return str(case)


def test_functions_stand_by_name_and_digest() -> None:
    args = {"product": "{{ q }}"}
    scorers = [right, {"kind": "exact", "expected": "x"}, {"function": right, "name": "again"}]
    suite, functions = with_names({"target": {"function": quote, "args": args}, "scorers": scorers})
    digests = [one.code for one in functions]
    assert suite == {
        "name": "quote",
        "targets": [
            {
                "name": "quote",
                "args": args,
                "kind": "function",
                "function": "quote",
                "digest": digests[0],
            }
        ],
        "scorers": [
            {"name": "right", "kind": "function", "function": "right", "digest": digests[1]},
            {"kind": "exact", "expected": "x"},
            {"name": "again", "kind": "function", "function": "right", "digest": digests[1]},
        ],
    }
    assert known_functions([digests[0], "of another program"]) == {digests[0]: functions[0]}


def test_functions_that_differ_in_what_is_not_seen_are_each_called_for_themselves() -> None:
    one, two = Event(), Event()  # of another package, as clients are
    one.set()

    def ask(client: Event) -> Callable[[str], bool]:
        return lambda case: client.is_set()

    _, functions = with_names({"targets": [ask(one), ask(two)], "scorers": [right, right]})
    assert len({given.seen for given in functions}) == 2
    calls = {given.code: given.function for given in functions}
    assert len(calls) == 3
    assert [calls[given.code]("?") for given in functions[:2]] == [True, False]
    again = held([given.function for given in functions])
    assert [given.code for given in again] == [given.code for given in functions]


def test_a_function_is_known_as_long_as_somebody_has_it() -> None:
    first, second = GivenFunction(lambda case: "only here"), GivenFunction(lambda case: "only here")
    code = first.code
    assert second.code == code
    del first
    assert known_functions([code]) == {code: second}
    del second
    assert known_functions([code]) == {}


@pytest.mark.parametrize(
    ("suite", "mistake"),
    [
        ({"target": lambda: 1}, "target: lambda() does not take these: too many positional"),
        (
            {"targets": [{"function": quote, "args": {"q": 1}}]},
            "targets[0]: quote(product: str, amount: int = 1) -> str does not take these: missing",
        ),
        (
            {"target": quote, "scorers": [lambda answer: 1]},
            "scorers[0]: lambda(answer) takes none of case, output, messages, fields",
        ),
        ({"target": quote, "targets": []}, "target: stands beside targets; put it among those"),
    ],
)
def test_what_it_would_be_called_with_is_looked_at(suite: dict[str, Any], mistake: str) -> None:
    with pytest.raises(SuiteError) as found:
        with_names(suite)
    assert f"(mapping): {mistake}" in str(found.value)


def test_names_and_whether_a_call_is_awaited() -> None:
    functions = (quote, functools.partial(quote, amount=2), Bot(), lambda case: case, right)
    assert [name_of(one) for one in functions] == ["quote", "quote", "Bot", "lambda", "right"]
    assert [GivenFunction(one).is_async for one in functions] == [False] * 4 + [True]
