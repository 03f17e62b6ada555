"""What a function's code is known by, and what it is not."""

import dataclasses
import functools
import re
from collections import deque
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tui_eval.api.code_digest import code_digest

PRICES = {"tea": 2}
TITLE = "Cups"


def made(source: str, name: str = "f", **known: Any) -> Callable[..., Any]:
    """Give a function of a module that is written anew."""
    space: dict[str, Any] = {"__name__": "shop", **known}
    exec(compile(source, "shop.py", "exec"), space)
    found: Callable[..., Any] = space[name]
    return found


SHOP = """
FACTOR = 2
TABLE = {"tea": [1, 2]}
def helper(x):
    return x * FACTOR
class Till:
    rate = 1
    def add(self, x):
        return helper(x) + self.rate
def f(case, more=1):
    return [Till().add(one) for one in TABLE["tea"]], {1, 2}, more
"""


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("FACTOR = 2", "FACTOR = 3"),
        ('"tea": [1, 2]', '"tea": [1, 3]'),
        ("x * FACTOR", "x + FACTOR"),
        ("more=1", "more=2"),
        ("rate = 1", "rate = 2"),
        ("+ self.rate", "- self.rate"),
        ("{1, 2}", "{1, 3}"),
    ],
)
def test_what_decides_what_it_does_is_seen(was: str, now: str) -> None:
    assert was in SHOP
    assert code_digest(made(SHOP)) != code_digest(made(SHOP.replace(was, now)))


def test_where_it_stands_and_what_it_is_called_is_not() -> None:
    moved = SHOP.replace("\nclass", "\n# what is added up\n\n\nclass").replace("def f(", "def g(")
    assert code_digest(made(SHOP)) == code_digest(made(moved, "g"))


def test_code_of_other_packages_is_known_by_its_name() -> None:
    source = "def f(x):\n    return outer(x)"
    outer = "def outer(x):\n    return {}"
    versions = []
    for returned in ("x", "x + 1"):
        other = made(outer.format(returned), "outer")
        other.__module__ = "installed.module"
        versions.append(code_digest(made(source, outer=other)))
    assert versions[0] == versions[1]


def test_closures_methods_and_partials() -> None:
    def closing(value: object) -> Callable[[], object]:
        return lambda: value

    class Bot:
        def __init__(self, prompt: str) -> None:
            self.prompt = prompt

        def ask(self, question: str) -> str:
            return self.prompt + question

        def __call__(self, question: str) -> str:
            return self.ask(question)

    for made_of in (
        closing,
        lambda value: Bot(str(value)).ask,
        lambda value: Bot(str(value)),
        lambda value: functools.partial(closing, value),
    ):
        assert code_digest(made_of(1)) == code_digest(made_of(1))
        assert code_digest(made_of(1)) != code_digest(made_of(2))


def test_what_is_held_in_slots_and_behind_a_cache_is_seen() -> None:
    @dataclasses.dataclass(frozen=True, slots=True)
    class Bot:
        prompt: str

        def __call__(self, question: str) -> str:
            return self.prompt + question

    one, two = (functools.cache(made(f"def f(x): return {n}")) for n in (1, 2))
    assert code_digest(Bot("a")) == code_digest(Bot("a"))
    assert code_digest(Bot("a")) != code_digest(Bot("b"))
    assert code_digest(one) != code_digest(two)


@pytest.mark.parametrize(
    ("was", "now"),
    [
        (re.compile("a"), re.compile("b")),
        (re.compile("a"), re.compile("a", re.IGNORECASE)),
        (re.compile("a" * 300), re.compile("a" * 299 + "b")),
        (Decimal("0.1"), Decimal("0.2")),
        (Path("a"), Path("b")),
        (date(2020, 1, 1), date(2020, 1, 2)),
        (deque([1]), deque([2])),
        (range(2), range(3)),
    ],
)
def test_values_of_the_standard_library_are_seen(was: object, now: object) -> None:
    source = "def f(x):\n    return KNOWN"
    assert code_digest(made(source, KNOWN=was)) != code_digest(made(source, KNOWN=now))


def test_a_set_of_objects_is_the_same_wherever_they_are() -> None:
    source = "class C: pass\ndef f(x):\n    return KNOWN"
    digests = set()
    for _ in range(2):
        one = made(source)
        one.__globals__["KNOWN"] = {one.__globals__["C"]()}
        digests.add(code_digest(one))
    assert len(digests) == 1


def test_what_names_itself_comes_to_an_end() -> None:
    again = made("table = {}\ndef f(x):\n    return f(x - 1) if x else table")
    again.__globals__["table"]["table"] = again.__globals__["table"]
    assert len(code_digest(again)) == 64
