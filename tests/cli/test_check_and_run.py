"""What `check` says of a suite is what `run` does with it."""

import itertools
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.cli.conftest import Done, Place, document
from tests.sampling import one_in

CASES = """\
[[cases]]
id = "1"
q = { x = ["p", "r"], y = { z = 1 } }
a = "A"
n = 3
l = ["u", "v"]
e = []
{own}
[[cases]]
id = "2"
q = { x = ["s"] }
a = "B"
n = 4
l = ["w"]
e = []
"""
PROMPT = '[prompt]\nuser = "{{ a }}"\n'
TARGET = '[[targets]]\nkind = "simulated"\nanswers = ["{{ a }}"]\n'
SCORER = '[[scorers]]\nkind = "exact"\nexpected = "{{ a }}"\n'
JUDGE = '[judge]\nkind = "simulated"\n'
EXAMPLES = 'rows = [{ a = "Z", n = 1, q = { x = ["1"] } }]\n'

EXPRESSIONS = (
    "a", "q.x[0]", "q.x[1]", "q.x[5]", "q.x.0", "q.x.1", "q.y.z", "q.y.w", "q.nope", "nope",
    "nope.x", "e[0]", "e[0].b", "l[-1]", "n.x", "a.x", "a[7]", "q['x'][0]", "case.q.x[1]",
    "case.nope", "case", "n + 1", "a + 1", "n / 0", "nope | default('d')", "q.x[5] | default('d')",
    "nope is defined", "nope if n > 3 else a", "q.x | first", "e | first", "a | int", "output",
    "prompt", "messages", "examples", "fields", "fields.x", "workspace", "messages[0].content",
    "messages[3].content", "prompt | upper", "output | upper", "a.upper()", "none", "[]", "q",
    "true", "''", "loop", "q.x.append(1)", "[a, none]",
)  # fmt: skip

_IDS = re.compile(r"cases?: ([^()]*)\)$")

Parts = dict[str, str]


def prompt(text: str) -> Parts:
    return {"prompt": f"[prompt]\n{text}\n"}


def scorer(text: str, more: str = "") -> Parts:
    return {"scorer": f"[[scorers]]\n{text}\n{more}"}


PLACES: dict[str, Callable[[str], Parts]] = {
    "prompt.user": lambda one: prompt(f'user = "Q {one}"'),
    "prompt.system": lambda one: prompt(f'system = "{one}"\nuser = "Q"'),
    "examples.user": lambda one: prompt(
        f'user = "Q {{{{ a }}}}"\n[prompt.examples]\nuser = "{one}"\nassistant = "x"\n{EXAMPLES}'
    ),
    "examples.assistant": lambda one: prompt(
        f'user = "Q {{{{ a }}}}"\n[prompt.examples]\nassistant = "{one}"\n{EXAMPLES}'
    ),
    "beside examples": lambda one: prompt(
        f'user = "Q {one}"\n[prompt.examples]\nas = "text"\nuser = "u"\nassistant = "x"\n{EXAMPLES}'
    ),
    "answers": lambda one: {"target": TARGET.replace("{{ a }}", one)},
    "exact": lambda one: scorer(f'kind = "exact"\nexpected = "{one}"'),
    "a list": lambda one: scorer(f'kind = "includes"\nexpected = ["{one}", "x"]'),
    "when": lambda one: scorer(f'kind = "exact"\nexpected = "{{{{ a }}}}"\nwhen = "{one}"'),
    "guarded": lambda one: scorer(
        f'kind = "exact"\nexpected = "{one}"\nwhen = "{{{{ q.y is defined }}}}"'
    ),
    "numeric": lambda one: scorer(f'kind = "numeric"\nexpected = "{one}"'),
    "regex": lambda one: scorer(f'kind = "regex"\nexpected = "{one}"'),
    "choice": lambda one: scorer(f'kind = "choice"\nexpected = "{one}"\nchoices = ["A", "B"]'),
    "choices": lambda one: scorer(f'kind = "choice"\nexpected = "A"\nchoices = "{one}"'),
    "json": lambda one: scorer(f'kind = "json"\nexpected = "{one}"'),
    "rubric": lambda one: scorer(f'kind = "judge"\nrubric = "{one}"\nscale = "pass-fail"', JUDGE),
    "reference": lambda one: scorer(
        f'kind = "judge"\nrubric = "r"\nreference = "{one}"\nscale = "pass-fail"', JUDGE
    ),
    "a case's own": lambda one: {
        "own": f'scorers = [{{ kind = "exact", name = "own", expected = "{one}" }}]'
    },
    "a case's own number": lambda one: {
        "own": f'scorers = [{{ kind = "numeric", name = "own", expected = "{one}" }}]'
    },
}


def suite(parts: Parts, rows: str = CASES) -> str:
    whole = {"prompt": PROMPT, "target": TARGET, "scorer": SCORER, "own": "", **parts}
    cases = rows.replace("{own}", whole.pop("own"))
    return 'name = "s"\n' + "".join(whole.values()) + cases


def _troubles(checked: Done) -> list[str]:
    (found,) = json.loads(checked.out)
    return [str(one) for one in found["troubles"]]


def agree(tui_eval: Callable[..., Done], place: Place, text: str) -> tuple[set[str], bool]:
    """See that check and run say the same of a suite; give the cases in error and if refused."""
    (place.folder / "s.toml").write_text(text)
    checked = tui_eval("check", "s.toml", "--json")
    ran = tui_eval("run", "s.toml", "--json", "--fresh")
    refused = checked.code == 2
    assert refused == (ran.code == 2), (text, checked, ran)
    if refused:
        told = [line for line in checked.err.splitlines() if "s.toml" in line]
        assert told == [line for line in ran.err.splitlines() if "s.toml" in line], text
        return set(), True
    troubled: set[str] = set()
    for trouble in _troubles(checked):
        found = _IDS.search(trouble)
        assert found is not None, trouble
        troubled |= {*found[1].split(", ")}
    run = document(ran)["run"]
    failed: set[str] = set()
    for line in tui_eval("export", run, "--format", "jsonl").out.splitlines():
        row: dict[str, Any] = json.loads(line)
        if row["error"] is not None:
            assert row["error"]["kind"] == "template", (text, row["error"])
            failed.add(row["case_id"])
    assert failed == troubled, (text, checked.out)
    return failed, False


_KNOWN_LATER = ("numeric", "choices", "a case's own number")
"""Places whose value must be a certain one: of an output nobody knows beforehand."""
_EACH = 8
COMBINATIONS = [
    (place, expression)
    for p, place in enumerate(PLACES)
    for e, expression in enumerate(EXPRESSIONS)
    if (p + e) % _EACH == 0 and not (place in _KNOWN_LATER and expression.startswith("output"))
]
"""A part of all combinations, in which every place and every expression comes up several times."""


@pytest.mark.parametrize(("of", "expression"), one_in(4, COMBINATIONS))
def test_check_and_run_say_the_same_of_a_template(
    tui_eval: Callable[..., Done], place: Place, of: str, expression: str
) -> None:
    agree(tui_eval, place, suite(PLACES[of](f"{{{{ {expression} }}}}")))


COLUMNS = ("prompt", "messages", "examples", "output", "fields", "workspace")


@pytest.mark.parametrize(
    ("of", "name"),
    one_in(5, itertools.product(("prompt.user", "answers", "exact", "a case's own"), COLUMNS)),
)
def test_a_column_of_a_reserved_name_is_told_and_reached_by_case(
    tui_eval: Callable[..., Done], place: Place, name: str, of: str
) -> None:
    rows = CASES.replace('a = "', f'{name} = "mine"\na = "')
    agree(tui_eval, place, suite(PLACES[of](f"{{{{ {name} }}}}"), rows))
    failed, refused = agree(tui_eval, place, suite(PLACES[of](f"{{{{ case.{name} }}}}"), rows))
    assert (failed, refused) == (set(), False)
    assert f"write case.{name}" in tui_eval("check", "s.toml").out


@pytest.mark.parametrize(
    ("of", "expression", "failed", "refused"),
    [
        ("exact", "q.x[1]", {"2"}, False),
        ("exact", "q.x[5]", {"1", "2"}, False),
        ("prompt.user", "q.nope", {"1", "2"}, False),
        ("prompt.user", "nope", set(), True),
        ("answers", "prompt", set(), False),
        ("exact", "fields.x", set(), True),
        ("examples.user", "nope", set(), True),
        ("a case's own", "nope", {"1"}, False),
        ("a case's own number", "a", {"1"}, False),
        ("numeric", "a", {"1", "2"}, False),
    ],
)
def test_what_both_say(
    tui_eval: Callable[..., Done],
    place: Place,
    of: str,
    expression: str,
    failed: set[str],
    refused: bool,
) -> None:
    said = agree(tui_eval, place, suite(PLACES[of](f"{{{{ {expression} }}}}")))
    assert said == (failed, refused)


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        (scorer('kind = "exact"\nexpected = "x"\nof = "field:a"'), "no target gives fields"),
        (scorer('kind = "exact"\nexpected = "x"\nof = "turn:2"'), "more than one reply"),
        ({"own": 'scorers = [{ kind = "json", name = "o", of = "field:a" }]'}, "gives fields"),
        (
            prompt("".join(f'[[prompt.messages]]\nrole = "user"\ncontent = "{n}"\n' for n in "ab")),
            '"user" follows "user"',
        ),
    ],
)
def test_what_no_run_could_do_is_refused_by_both(
    tui_eval: Callable[..., Done], place: Place, parts: Parts, told: str
) -> None:
    assert agree(tui_eval, place, suite(parts)) == (set(), True)
    assert told in tui_eval("check", "s.toml").err
