"""The recipes there are, and the suites that are written by them."""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, nodes

from tui_eval.format import many
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.visible import visible_line
from tui_eval.suites.data.hub.hub_address import is_hub
from tui_eval.suites.loading.starter import SCHEMA_FILE

UNTRIED: Final = "not tried against published results"

NEEDS: Final[Mapping[str, str]] = {
    "judge": "a judge: a model of your choice",
    "sandbox": "an isolation for programs: see tui-eval doctor",
    "math": "tui-eval[math]",
    "instructions": "tui-eval[instructions]",
    "agent": "an agent",
    "repositories": "bare repositories of the projects",
    "hf": "tui-eval[hf]",
    "file": "a file of yours: --data",
}
"""What a recipe may need, in words."""

_HERE: Final = Path(__file__).parent
_WORD: Final = re.compile(r"%([a-z_]+)%")
_EXAMPLES: Final = re.compile(r"%examples%\n(.*?)%end%\n", re.DOTALL)
_PARSER: Final = Environment(autoescape=True)
_AS_PATHS: Final = ("id", "tags", "cluster")
"""Names that stand for columns themselves, not for expressions."""
_TARGET: Final = """
[[targets]]                        # who is evaluated: any model, app, agent or recording
base_url = "http://127.0.0.1:8080/v1"    # or provider = "openai", "anthropic", "ollama", ...
model = "my-model"
params = { temperature = 0 }
"""
_JUDGE: Final = """
[judge]                            # a stronger model than those it grades
base_url = "http://127.0.0.1:8080/v1"
model = "my-judge"
"""


class RecipeError(Exception):
    """A suite cannot be written by a recipe; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """What there is to know of a benchmark before its suite is written."""

    name: str
    title: str
    cases: int
    licence: str
    """The dataset's."""
    source: str
    """Where prompt and scorer come from."""
    columns: tuple[dict[str, str], ...]
    """The forms that its rows come in: for each name of the template an expression over a row."""
    needs: tuple[str, ...] = ()
    """Words of `NEEDS`."""
    data: str | None = None
    """The dataset of the Hub; None: a file has to be given."""
    examples: str | None = None
    """The dataset of the Hub that its examples are of; None: none, though a file may have them."""
    tried: str | None = None
    """What its verdicts were compared with; None: with nothing."""

    @property
    def needed(self) -> tuple[str, ...]:
        """All that it needs, where its data comes from among it, as words of `NEEDS`."""
        return ("file" if self.data is None else "hf", *self.needs)

    @property
    def takes_examples(self) -> bool:
        """Whether its suite can show examples."""
        return _EXAMPLES.search(self.template()) is not None

    def template(self) -> str:
        """Return the text of its suite, with names for what differs."""
        return (_HERE / "templates" / f"{self.name}.toml").read_text(encoding="utf-8")


@cache
def recipes() -> Mapping[str, Recipe]:
    """Return all recipes by name, in their order."""
    table: dict[str, Any] = tomllib.loads((_HERE / "table.toml").read_text(encoding="utf-8"))
    return {name: _recipe(name, facts) for name, facts in table.items()}


def _recipe(name: str, facts: Mapping[str, Any]) -> Recipe:
    lists = {key: tuple(value) for key, value in facts.items() if isinstance(value, list)}
    return Recipe(name, **{**facts, **lists})


def suite_text(
    recipe: Recipe, data: str | None = None, row: JsonObject | None = None,
    examples: str | None = None,
) -> str:  # fmt: skip
    """Return a suite's TOML.

    Args:
        recipe: The benchmark.
        data: The path that the suite is to say; None: the Hub's.
        row: The first row of that data, which says its form; None: it is the Hub's.
        examples: The path of a file with examples, in the same form; None: they are left out.

    Raises:
        RecipeError: the rows have other columns, or there is nothing to read them from.
    """
    path = data or recipe.data
    if path is None:
        raise RecipeError(f"{recipe.name} has no data that is read from the Hub: give --data FILE")
    if examples is not None and not recipe.takes_examples:
        raise RecipeError(f"{recipe.name} takes no examples: leave --examples out")
    form = recipe.columns[0] if row is None else form_of(recipe, row)
    words = {
        **form,
        "examples_path": _quoted(examples or f"{recipe.name}-examples.jsonl"),
        "judge": _JUDGE.rstrip("\n"),
    }

    def block(found: re.Match[str]) -> str:
        if examples is not None:
            return found[1]
        hub = f", or --examples {recipe.examples}" if recipe.examples else ""
        return f"# Examples: --examples FILE{hub}\n" + "".join(
            f"# {line}\n" for line in found[1].splitlines()
        )

    body = _EXAMPLES.sub(block, recipe.template())
    kept = [line for line in body.split("\n") if {*_WORD.findall(line)} <= {*words}]
    text = _WORD.sub(lambda found: words[found[1]], "\n".join(kept))
    target = "" if "[[targets]]" in text else _TARGET
    return f"{_head(recipe, path)}\n[dataset]\npath = {_quoted(path)}\n{text}{target}"


def form_of(recipe: Recipe, row: JsonObject, *, examples: bool = False) -> dict[str, str]:
    """Return the columns of a recipe in rows like one; of several forms the fullest.

    Args:
        recipe: The benchmark.
        row: A row.
        examples: Whether it has to have what examples need, too.

    Raises:
        RecipeError: a column is missing in each form.
    """
    text = recipe.template()
    used = {*_WORD.findall(text if examples else _EXAMPLES.sub("", text))}
    forms = [{name: form[name] for name in form if name in used} for form in recipe.columns]
    fit = [
        (whole, form)
        for whole, form in zip(recipe.columns, forms, strict=True)
        if not [*_missing(form, row)]
    ]
    if fit:
        return max(fit, key=lambda pair: len(pair[1]))[0]
    wanted = " or ".join(
        ", ".join(sorted({".".join(path) for path in _columns(form)})) for form in forms
    )
    there = visible_line(", ".join(list(row)[:20]), 300)
    raise RecipeError(
        f"{recipe.name} is written for the columns {wanted}; there are {there}: "
        "rename them, or write the suite without --data and change its templates"
    )


def _quoted(text: str) -> str:
    """Return a text as TOML has it, whose basic strings are those of JSON."""
    return json.dumps(text, ensure_ascii=False)


def _columns(form: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    """Yield the columns that a form reads, as steps into a row."""
    for name, written in form.items():
        if name in _AS_PATHS:
            yield tuple(written.split("."))
        else:
            yield from _read(_PARSER.parse(f"{{{{ {written} }}}}"))


def _read(node: nodes.Node) -> Iterator[tuple[str, ...]]:
    """Yield what an expression reads; of a method that it calls, what it is called on."""
    path = _path(node)
    if path is not None:
        yield path[1:] if path[0] == "case" else path
        return
    for child in node.iter_child_nodes():
        method = isinstance(node, nodes.Call) and child is node.node
        yield from _read(child.node if method and isinstance(child, nodes.Getattr) else child)


def _path(node: nodes.Node) -> tuple[str, ...] | None:
    if isinstance(node, nodes.Name):
        return (node.name,)
    if isinstance(node, nodes.Getattr):
        above, step = _path(node.node), node.attr
    elif isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const):
        above, step = _path(node.node), node.arg.value
    else:
        return None
    return None if above is None or not isinstance(step, str) else (*above, step)


def _missing(form: Mapping[str, str], row: JsonObject) -> Iterator[tuple[str, ...]]:
    for path in _columns(form):
        held: Json = row
        for step in path:
            if not isinstance(held, dict) or step not in held:
                yield path
                break
            held = held[step]


def _head(recipe: Recipe, path: str) -> str:
    tried = f"Tried against {recipe.tried}." if recipe.tried else f"{UNTRIED.capitalize()}."
    needs = "; ".join(
        NEEDS[one] for one in recipe.needed if one != "file" and (one != "hf" or is_hub(path))
    )
    return (
        f"#:schema ./{SCHEMA_FILE}\n"
        f"# {recipe.title}: {many(recipe.cases, 'case')}, licence: {recipe.licence}.\n"
        f"# Source: {recipe.source}.\n"
        f"# {f'Needs {needs}. ' if needs else ''}{tried}\n\n"
        f'name = "{recipe.name}"\n'
    )
