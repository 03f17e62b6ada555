"""What is told of a function before a launch, from its text alone, and what it needs trust for."""

from pathlib import Path

import pytest

from tui_eval.suites.function_source import code_digest, local_code
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.suites.loading.suite_file import load, look
from tui_eval.suites.trust.trust_store import TrustStore

SHOP = """
import helper
import json
from parts.inner import thing

raise SystemExit("it was run")

def quote(product, amount=1, *, currency="EUR"):
    return product

def needs(a, b, *, c):
    return a

def anything(*args, **kwargs):
    return args

@helper.wrap
def wrapped(a, b, c, d):
    return a

if helper.there:
    def maybe(a, b):
        return a
else:
    maybe = None

class Shop:
    def sell(self, product):
        return product

sold = Shop().sell
PRICE = 3
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "suite"
    (made / "parts").mkdir(parents=True)
    (made / "shop.py").write_text(SHOP, "utf-8")
    (made / "helper.py").write_text("import shop\nthere = True\n", "utf-8")
    (made / "unused.py").write_text("", "utf-8")
    (made / "parts" / "__init__.py").write_text("", "utf-8")
    (made / "parts" / "inner.py").write_text("thing = 1\n", "utf-8")
    return made


def written(folder: Path, *lines: str) -> Path:
    path = folder / "suite.toml"
    head = '[[cases]]\nq = "one"\n[[targets]]\nkind = "python"\n'
    path.write_text(head + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def mistakes(folder: Path, *lines: str) -> list[str]:
    try:
        load(written(folder, *lines), trusted=True)
    except SuiteError as error:
        return [str(mistake).partition("suite.toml, ")[2] for mistake in error.mistakes]
    return []


@pytest.mark.parametrize(
    "lines",
    [
        ['callable = "shop:quote"'],
        ['callable = "shop:quote"', 'args = ["{{ q }}", 2]'],
        ['callable = "shop:quote"', 'args = { product = "{{ q }}", currency = "USD" }'],
        ['callable = "shop:needs"', "args = { a = 1, b = 2, c = 3 }"],
        ['callable = "shop:anything"', "args = { whatever = 1 }"],
        ['callable = "shop:wrapped"'],
        ['callable = "shop:maybe"'],
        ['callable = "shop:sold"'],
        ['callable = "shop:Shop.sell"'],
        ['callable = "shop:thing"'],
        ['callable = "json:dumps"'],
        ['callable = "not_here:any"', 'python = "of/another/environment"'],
        ['callable = "shop:quote"', 'limits = { wall = 3, memory = "1GB", output = "1MB" }'],
    ],
    ids=" ".join,
)
def test_what_may_be_right_is_let_through(folder: Path, lines: list[str]) -> None:
    assert mistakes(folder, *lines) == []


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['callable = "shop"'], 'line 5: targets[0].callable: must be "module:function"'),
        (
            ['callable = "shpo:quote"'],
            'line 5: targets[0].callable: there is no module "shpo"; did you mean "shop"?',
        ),
        (
            ['callable = "parts.outer:thing"'],
            'line 5: targets[0].callable: there is no module "parts.outer" in parts',
        ),
        (
            ['callable = "shop:qoute"'],
            'line 5: targets[0].callable: shop.py has no function "qoute"; did you mean "quote"?',
        ),
        (
            ['callable = "shop:PRICE"'],
            "line 5: targets[0].callable: shop.py, line 32: PRICE is no function",
        ),
        (
            ['callable = "shop:needs"'],
            (
                "line 5: targets[0].callable: shop.py, line 11: needs(a, b, *, c) gets one value, "
                "the prompt or the case, and also needs b, c"
            ),
        ),
        (
            ['callable = "shop:quote"', "args = [1, 2, 3]"],
            (
                "line 6: targets[0].args: shop.py, line 8: "
                "quote(product, amount=1, *, currency='EUR') does not take 3 values"
            ),
        ),
        (
            ['callable = "shop:quote"', "args = { amount = 1, price = 2 }"],
            (
                "line 6: targets[0].args: shop.py, line 8: "
                "quote(product, amount=1, *, currency='EUR') takes no price"
            ),
        ),
        (
            ['callable = "shop:quote"', "limits = { cpu_s = 3 }"],
            (
                "line 6: targets[0].limits.cpu_s: cannot be watched for one call: its process "
                "makes many; there are wall, memory, processes"
            ),
        ),
        (
            ['callable = "shop:quote"', 'args = ["{{ nothing"]'],
            "line 6: targets[0].args: is no template: unexpected end of template",
        ),
    ],
    ids=lambda given: given if isinstance(given, str) else " ".join(given),
)
def test_what_cannot_be_called_is_told_with_file_and_line(
    folder: Path, lines: list[str], said: str
) -> None:
    (found,) = mistakes(folder, *lines)
    assert found.startswith(said)


def test_a_module_with_a_mistake_is_told(folder: Path) -> None:
    (folder / "shop.py").write_text("\ndef quote(:\n", "utf-8")
    (said,) = mistakes(folder, 'callable = "shop:quote"')
    assert said.startswith("line 5: targets[0].callable: shop.py, line 2: ")


def test_trust_is_asked_for_the_call_and_all_code_beside_the_suite(folder: Path) -> None:
    path = written(folder, 'callable = "shop:quote"', 'keys = ["SHOP_KEY"]')
    asked = [ask.permission.does for ask in look(path).refused]
    assert asked == [
        "call shop:quote with tui-eval's Python",
        "run the code in shop.py",
        "run the code in helper.py",
        "run the code in parts/**/*.py",
        "hand SHOP_KEY to shop:quote",
    ]


@pytest.mark.parametrize("file", ["shop.py", "helper.py", "parts/inner.py"])
def test_code_that_changed_is_asked_for_again(folder: Path, file: str) -> None:
    path = written(folder, 'callable = "shop:quote"')
    store = TrustStore()
    store.trust_suite(path, [ask.permission for ask in look(path).asks])
    assert not look(path).refused
    with (folder / file).open("a") as code:
        code.write("# more\n")
    (ask,) = look(path).refused
    assert "whose content has changed" in ask.words


def test_what_a_link_leads_to_outside_is_not_read_unasked(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text("def other(a): return a\n", "utf-8")
    (folder / "linked.py").symlink_to(outside)
    found = look(written(folder, 'callable = "linked:absent"'))
    assert any("outside the suite's folder" in ask.words for ask in found.refused)


def test_the_digest_is_that_of_all_code_it_is_made_of(folder: Path) -> None:
    def known() -> str | None:
        return code_digest(local_code("shop", folder), folder)

    before = known()
    (folder / "unused.py").write_text("changed = 1\n", "utf-8")
    assert known() == before
    (folder / "parts" / "inner.py").write_text("thing = 2\n", "utf-8")
    assert known() != before
    assert code_digest(local_code("json", folder), folder) is None
