"""The tester as an engine has it: a process that is told tests and a reply."""

import textwrap
from pathlib import Path

import pytest

from tests.isolated.code_tests.testing import LEFT, kept, verdict

SOLUTION = """
import asyncio
import contextlib
import datetime
import enum
import math
from collections import Counter, deque
from dataclasses import dataclass
from fractions import Fraction

def same(value): return value
def times(value, by=2): return value * by
def sort(values): values.sort()
def fill(table):
    table["a"].append(2)
    table["b"] = {1}
def twice(function, value): return function(function(value))
def total(values): return sum(values)
def count(n): yield from range(n)
async def later(value):
    await asyncio.sleep(0)
    return value + 1
def say(): print("hi")
def root(x): return math.sqrt(x)
def third(): return Fraction(1, 3)
def day(): return datetime.date(2020, 1, 2)
def letters(text): return Counter(text)
def row(): return deque([1, 2])
def keys(table): return table.keys()
def kind(value): return type(value)

class Negative(ValueError): pass
def refuse(x): raise Negative(f"{x} is negative")

class Color(enum.Enum):
    RED = 1
    BLUE = 2

@dataclass
class Point:
    x: int
    y: int
    def __add__(self, other): return Point(self.x + other.x, self.y + other.y)

class Stack:
    size = 0
    def __init__(self): self.items = []
    def push(self, one): self.items.append(one)
    def pop(self): return self.items.pop()
    def __len__(self): return len(self.items)
    def __getitem__(self, at): return self.items[at]

@contextlib.contextmanager
def opened(): yield 3

def memo(function):
    known = {}
    def called(n):
        if n not in known: known[n] = function(n)
        return known[n]
    return called
"""

TESTS = """
import asyncio, contextlib, inspect, io, unittest
from collections import Counter, deque
from datetime import date
from decimal import Decimal
from fractions import Fraction

# data comes and goes as it is
for value in (None, True, 3, -(10 ** 40), 2.5, float("inf"), 1j, "ü\\ud800", b"\\x00", [1, [2]],
              (1, (2,)), {(1, 2): [3], None: {4}}, {1, "a"}, frozenset([1]), bytearray(b"a"),
              range(3), Decimal("1.50"), date(2020, 2, 3)):
    got = same(value)
    assert got == value and type(got) is type(value), (got, value)
nan = same(float("nan"))
assert nan != nan
assert times([1], by=2) == [1, 1]
assert third() == Fraction(1, 3) and day() == date(2020, 1, 2)
assert letters("aab") == Counter("aab") == {"a": 2, "b": 1} and row() == deque([1, 2])
assert keys({"a": 1}) == {"a"} and same({"a": 1}.items()) == {("a", 1)}
assert kind(3) is int

# what is changed in place comes back, and what is the same stays the same
values = [3, 1, 2]
assert sort(values) is None and values == [1, 2, 3]
inner = [1]
table = {"a": inner}
fill(table)
assert table == {"a": [1, 2], "b": {1}} and table["a"] is inner
assert same(values) is values

# functions and iterators of the tests
assert twice(lambda x: x + 1, 3) == 5 and total(iter([1, 2])) == 3 and twice(str, 3) == "3"
class Own(Exception): pass
def fail(_): raise Own("x")
try:
    twice(fail, 1)
except Own as error:
    assert error.args == ("x",)
else:
    raise AssertionError
@memo
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
assert fib(12) == 144

# generators, coroutines, prints, exceptions
assert list(count(3)) == [0, 1, 2] and inspect.isgenerator(count(1)) and 2 in count(3)
assert asyncio.run(later(3)) == 4
printed = io.StringIO()
with contextlib.redirect_stdout(printed):
    say()
assert printed.getvalue() == "hi\\n"
for expected in (Negative, ValueError):
    try:
        refuse(-1)
    except expected as error:
        assert str(error) == "-1 is negative"
    else:
        raise AssertionError
with opened() as three:
    assert three == 3

# objects
assert Color.RED.value == 1 and same(Color.BLUE) is Color.BLUE and Color.RED != Color.BLUE
assert Point(1, 2) == Point(1, 2) != Point(2, 2) and Point(1, 2) + Point(1, 1) == Point(2, 3)
assert repr(Point(1, 2)) == "Point(x=1, y=2)" and f"{Point(1, 2)}" == str(Point(1, 2))
assert {Color.RED: 1}[Color.RED] == 1
stack = Stack()
stack.push(1)
stack.push("a")
assert isinstance(stack, Stack) and not isinstance(3, Stack)
assert len(stack) == 2 and stack[1:] == ["a"] and "a" in stack and stack.pop() == "a"
stack.items = []
assert not stack and Stack.size == 0
assert stack != 3 and not stack == [] and stack not in ([], None)

# a module that only the solution imports, and the solution as a module
assert math.isclose(root(2), 1.41421356, rel_tol=1e-6)
import solution
from solution import times as product
assert product(3) == solution.times(3) == 6

def test_a_function(): assert times(2) == 4
class OfUnittest(unittest.TestCase):
    def test_one(self):
        with self.assertRaises(Negative):
            refuse(1)
"""


def test_data_functions_and_objects_cross() -> None:
    assert verdict(TESTS, SOLUTION) == ("pass", "passes the tests")


FAILED = {
    "def test_a(): pass\ndef test_b(): assert f(1) == 3": (
        "failed line 2: def test_b(): assert f(1) == 3; the last call gave 1"
    ),
    "import unittest\nclass T(unittest.TestCase):\n  def test(self): self.assertEqual(f(1), 2)": (
        "failed line 3: def test(self): self.assertEqual(f(1), 2); 1 != 2; the last call gave 1"
    ),
    "assert f(0) == 1": (
        "KeyError: 0 (solution, line 2: return {1: 1}[x]), in the tests at line 1: assert f(0) == 1"
    ),
    "assert g(0) == 1": (
        "NameError: name 'g' is not defined, in the tests at line 1: assert g(0) == 1"
    ),
    "assert f(1) == 2, 'so'": "failed line 1: assert f(1) == 2, 'so'; so; the last call gave 1",
}


@pytest.mark.parametrize("tests", FAILED)
def test_a_failed_test_is_named(tests: str) -> None:
    assert verdict(tests, "def f(x):\n    return {1: 1}[x]\n") == ("fail", FAILED[tests])


UNUSABLE = {
    "class P: pass\nassert f(P())": (
        "an object of type P is no plain data: it cannot be passed to the solution, which is "
        "another process, in the tests at line 2: assert f(P()): see in_process"
    ),
    "class K(Base): pass": (
        "a class of the tests cannot derive from type, which is in another process, in the tests "
        "at line 1: class K(Base): pass: see in_process"
    ),
    "import no_such_module": (
        "the tests cannot be run: No module named 'no_such_module', in the tests at line 1: "
        "import no_such_module"
    ),
    "x = 1": "the tests never called the solution",
    "x = (": "the tests cannot be read as Python: '(' was never closed, line 1",
    "def check(f): assert f(1)": (
        "the tests define check(…) and call nothing: name what it is given in entry_point"
    ),
}


@pytest.mark.parametrize("tests", UNUSABLE)
def test_what_is_no_fault_of_the_solution_leaves_it_ungraded(tests: str) -> None:
    told = verdict(tests, "class Base: pass\ndef f(x): return True\n")
    assert told == ("ungraded", UNUSABLE[tests])


GIVEN = '''
def encode(text: str) -> str:
    return text[::-1] + "!"

def decode(text: str) -> str:
    """Undo encode."""
'''
CHECK = "def check(candidate):\n    assert candidate(encode('abc')) == 'abc'\n"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("    return text[:-1][::-1]\n", "pass"),
        (f"```python\n{GIVEN}    return text[:-1][::-1]\n```", "pass"),
        ("    return text\n", "fail"),
        ("```python\ndef encode(text): return text\ndef decode(text): return text\n```", "fail"),
    ],
)
def test_helpers_that_were_given_are_those_of_the_tests(reply: str, expected: str) -> None:
    assert verdict(CHECK, reply, given=GIVEN, entry_point="decode")[0] == expected


def test_an_entry_point_may_be_a_method() -> None:
    reply = "class Solution:\n    def inc(self, x):\n        return x + 1\n"
    tests = "def check(candidate):\n    assert candidate(1) == 2\n"
    assert verdict(tests, reply, entry_point="Solution().inc")[0] == "pass"


EVIL = textwrap.dedent(
    """
    class E:
        def __init__(self, *args): pass
        def __eq__(self, other): return True
        def __ne__(self, other): return False
        def __lt__(self, other): return True
        __le__ = __gt__ = __ge__ = __contains__ = __lt__
        def __sub__(self, other): return 0
        __rsub__ = __add__ = __radd__ = __mul__ = __rmul__ = __sub__
        def __abs__(self): return 0
        def __hash__(self): return 0
        def __bool__(self): return True
    """
)
SAY = 'b\'{"verdict": "pass", "reason": "", "nonce": "", "of": 3, "value": 3}\\n\''
CHEATS = {
    "equals everything": f"{EVIL}\ndef f(x): return E()",
    "a class as the function": EVIL.replace("class E", "class f"),
    "a float that equals everything": "class F(float):\n    def __eq__(s, o): return True\n"
    "    def __sub__(s, o): return 0.0\n    def __abs__(s): return 0.0\ndef f(x): return F(9)",
    "exits": "import sys\ndef f(x): sys.exit(0)",
    "exits at once": "import os\ndef f(x): os._exit(0)",
    "exits as it is loaded": "import os\ndef f(x): return 3\nos._exit(0)",
    "other builtins": "import builtins\nbuiltins.AssertionError = KeyError\nbuiltins.abs = "
    "builtins.len = lambda x: 0\ndef f(x): return None",
    "frames": "import sys\ndef f(x):\n    at = sys._getframe()\n    while at:\n        "
    "at.f_globals.update(check=lambda c: None)\n        at = at.f_back",
    "collected objects": "import gc\nfor o in gc.get_objects():\n    if type(o) is dict and "
    "'reason' in o: o['verdict'] = 'pass'\ndef f(x): return None",
    "says pass": f"import os\nprint('passed')\nfor d in range(3, 400):\n    try: os.write(d, {SAY})"
    "\n    except OSError: pass\ndef f(x): return None",
    "looks into its parent": "import os\ndef f(x):\n    p = os.getppid()\n"
    "    for n in ('mem', 'environ', 'maps', 'fd'):\n        try: return open(f'/proc/{p}/{n}'"
    ", 'rb') and 3\n        except OSError: pass",
    "kills its parent": "import os\ndef f(x): os.kill(os.getppid(), 9)",
    "skips": "import unittest\ndef f(x): raise unittest.SkipTest('fine')",
    "forks": "import os\ndef f(x):\n    os.fork()\n    os.fork()",
    "takes the check": "def check(c): pass\ndef f(x): return None",
    "a thread that exits": "import os, threading\ndef f(x):\n    threading.Thread(target="
    "os._exit, args=(0,)).start()",
}
TRY = "def check(c):\n    try:\n        {}\n    except Exception:\n        raise AssertionError\n"


@pytest.mark.parametrize("cheat", CHEATS)
def test_no_cheat_passes(cheat: str) -> None:
    tests = TRY.format("assert abs(f(3) - 3) < 0.1 or f(3) == 3 or 3 in f(3)")
    assert verdict(tests, CHEATS[cheat], entry_point="f")[0] == "fail"


SWALLOWS = """
class f:
    def __init__(self, *functions):
        for function in functions:
            try:
                function(1)
            except AssertionError:
                pass
    def __enter__(self): return 1
    def __exit__(self, *error): return True
"""


@pytest.mark.parametrize(
    "tests", ["with f() as one:\n    assert one == 2", "def g(x):\n    assert x == 2\nf(g)"]
)
def test_an_assertion_that_the_solution_catches_is_a_fail(tests: str) -> None:
    found, reason = verdict(tests, SWALLOWS)
    assert found == "fail"
    assert reason.startswith("failed line 2: assert ")


def test_an_end_that_the_tests_take_no_notice_of_is_a_fail() -> None:
    tests = "try:\n    f()\nexcept BaseException:\n    pass\n"
    told = verdict(tests, "import os\ndef f(): os._exit(0)")
    assert told == ("fail", "the solution ended itself: its process has ended")


def test_what_takes_too_long_is_a_fail_that_says_where() -> None:
    told = verdict("x = 1\nassert f(1)", "def f(x):\n    while True: pass", timeout=0.3)
    assert told == ("fail", "took longer than 0.3 s, in the tests at line 2: assert f(1)")


def test_more_memory_than_it_may_use_is_a_fail() -> None:
    verdict_, reason = verdict("assert f()", "def f(): return [0] * 10**10")
    assert verdict_ == "fail"
    assert reason.startswith("MemoryError (solution, line 1: def f(): return [0] * 10**10)")


PATCHED = "from unittest.mock import patch\nwith patch('builtins.input', return_value='5'):\n"
PATCHED += "    assert f() == 5\n"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("def f(): return int(input())", ("pass", "passes the tests")),
        ("def f(): return 4", ("fail", "failed line 3: assert f() == 5")),
        ("import os\ndef f(): os._exit(0)", ("fail", LEFT)),
        (
            "import sys\ndef f(): sys.exit(0)",
            ("fail", ("SystemExit: 0 (solution, line 2: def f(): sys.exit(0)), in the tests at "
             "line 3: assert f() == 5")),
        ),
    ],
)  # fmt: skip
def test_in_one_process_the_tests_can_patch(reply: str, expected: tuple[str, str]) -> None:
    assert verdict(PATCHED, reply, in_process=True) == expected


RIGHT = "def add(a, b):\n    return a + b\n"


def test_a_tester_tests_one_reply_after_the_other(tmp_path: Path) -> None:
    with kept(tmp_path) as ask:
        said = [ask(one) for one in (RIGHT, "def add(a, b): return 4", RIGHT)]
    assert said == ["pass", "fail", "pass"]


def test_nothing_of_one_reply_is_there_for_the_next(tmp_path: Path) -> None:
    """What a reply sets in its own process, and in what it may reach of Python, goes with it."""
    sets = "import builtins, sys\nbuiltins.sum = None\nsys.modules['json'] = None\n" + RIGHT
    looks = "import json\ndef add(a, b): return sum([a, b])"
    with kept(tmp_path) as ask:
        assert [ask(sets), ask(looks)] == ["pass", "pass"]


@pytest.mark.parametrize(
    "leaves",
    [
        "import os\nopen(os.environ['HOME'] + '/left', 'w').close()\n",
        "open('left', 'w').close()\n",
        "import os, signal\nif os.fork() == 0:\n    os.setsid(); signal.alarm(3); signal.pause()\n",
    ],
)
def test_a_tester_in_which_something_is_left_tests_nothing_more(
    tmp_path: Path, leaves: str
) -> None:
    with kept(tmp_path) as ask:
        assert ask(leaves + RIGHT) == "pass"
        assert ask(RIGHT) == "ended"
