"""Imports stand at the top of a module; one in a function puts something off, or it is refused.

What is put off is what a start does not need: the words of `--help`, the first picture of the app.
So an import may stand in a function where its module is loaded by a start, and what it imports is
not; anywhere else it would save nothing. A few libraries are put off wherever they are used.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import tui_eval

PACKAGE = Path(tui_eval.__file__).parent

STARTS: dict[str, tuple[str, ...]] = {
    "`--help` and `--version` load click and nothing else": ("tui_eval.cli.main",),
    **{
        f"`tui-eval {path.stem} --help`, or a mistake on its command line, loads no more": (
            "tui_eval.cli.main",
            ".".join(("tui_eval", *path.relative_to(PACKAGE).with_suffix("").parts)),
        )
        for path in sorted((PACKAGE / "cli" / "commands").glob("**/[a-z]*.py"))
    },
    "the app paints the suites before it loads what their keys do": (
        "tui_eval.ui.app",
        "tui_eval.ui.screens.suites_screen",
    ),
    "the app paints a run, or the list of runs, likewise": (
        "tui_eval.ui.app",
        "tui_eval.ui.screens.runs_screen",
        "tui_eval.ui.screens.run_screen",
    ),
    "a comparison reads no suite where the scorers are frozen alike": (
        "tui_eval.cli.named.sides",
        "tui_eval.reports.comparison.comparison_document",
        "tui_eval.reports.terminal.comparison_text",
    ),
    "every session of pytest loads the plugin": ("tui_eval.pytest_plugin.hooks",),
    "tests of code start beside the engine": ("tui_eval.isolated.code_tests.tester",),
    "workers of plugins load these, and no suites": ("tui_eval.suites.plugins.plugin_calls",),
    "the process with Ray in it makes no attempts": ("tui_eval.engine.executors.ray.bridge",),
    "an engine whose targets ask no endpoint loads no client": ("tui_eval.engine.host",),
}
"""What is loaded at once when the program starts somewhere, and so is to be little."""

PUT_OFF = {
    "genai_prices": "all prices there are, for runs that cost something",
    "httpx": "a client, for `doctor` and the look whether an endpoint answers",
    "httpx2": "a client, for where it finds the system's certificates: for endpoints with TLS",
    "huggingface_hub": "there only with the extra `hf`",
    "jsonpath": "its grammar, for suites that have such paths",
    "jsonschema": "with referencing, for suites that have schemas",
    "markdown_it": "for outputs that are shown as Markdown",
    "openai": "a client, for batches of its API",
    "plotext": "for charts",
    "pyarrow": "there only with the extra `parquet`",
    "pygments": "its lexers, for outputs that are shown as code",
    "rapidfuzz": "for suites that compare texts by likeness",
    "referencing": "see jsonschema",
    "regex": "for suites that have patterns",
    "rich.syntax": "see pygments",
    "xllamacpp": "compiled, and there only with the extra `local`",
    "yaml": "for files of other tools",
}
"""Libraries that take long to load and that most starts do without: put off wherever they are."""

WITH_THEM = {"tui_eval.providers.bulk.openai_client"}
"""Modules that are put off themselves, with what they build upon."""


@dataclass(frozen=True)
class Found:
    """An import."""

    module: str
    """The one it stands in."""
    line: int
    function: str | None
    """None: it stands at the top."""
    names: tuple[str, ...]
    """What it loads: modules of ours, or the dotted names of others."""


def name_of(path: Path) -> str:
    parts = ("tui_eval", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def loaded_by(node: ast.Import | ast.ImportFrom) -> tuple[str, ...]:
    if isinstance(node, ast.Import):
        return tuple(alias.name for alias in node.names)
    assert node.module is not None
    inner = (f"{node.module}.{alias.name}" for alias in node.names)
    return tuple(dict.fromkeys(name if name in MODULES else node.module for name in inner))


@cache
def imports(module: str) -> tuple[Found, ...]:
    """Return all imports of a module but those for types."""

    def walk(node: ast.AST, function: str | None) -> Iterator[Found]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                continue
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.Import | ast.ImportFrom):
                yield Found(module, child.lineno, function, loaded_by(child))
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from walk(child, child.name)
            else:
                yield from walk(child, function)

    return tuple(walk(ast.parse(MODULES[module].read_text("utf-8")), None))


@cache
def loaded_at(start: tuple[str, ...]) -> frozenset[str]:
    """Return all that loading some modules loads: modules of ours, and names of others."""
    found: set[str] = set()
    ahead = [*start]
    while ahead:
        name = ahead.pop()
        if name in found:
            continue
        found.add(name)
        if name not in MODULES:
            continue
        ahead += [inner for one in imports(name) if one.function is None for inner in one.names]
        parent = name.rpartition(".")[0]
        if parent:
            ahead.append(parent)
    return frozenset(found)


def reasons(found: Found, name: str) -> list[str]:
    """Say why one thing is imported in a function; nothing: it might as well be at the top."""
    library = next(
        (one for one in PUT_OFF if name == one or name.startswith(f"{one}.")),
        None,
    )
    if library is not None:
        return [PUT_OFF[library]]
    return [
        why
        for why, start in STARTS.items()
        if found.module in loaded_at(start) and name not in loaded_at(start)
    ]


@cache
def in_functions() -> list[Found]:
    """Return the imports that stand in a function; not as this is loaded, by every worker."""
    return [found for module in MODULES for found in imports(module) if found.function is not None]


def test_every_import_in_a_function_puts_something_off() -> None:
    idle = [
        f"{found.module}:{found.line} {found.function} imports {name}"
        for found in in_functions()
        for name in found.names
        if not reasons(found, name)
    ]
    assert not idle, "\n".join(["to the top with these:", *idle])


def test_every_library_put_off_is_never_loaded_at_a_top() -> None:
    at_top = {
        f"{found.module}:{found.line}: {name}"
        for module in MODULES
        for found in imports(module)
        for name in found.names
        if found.function is None and name.partition(".")[0] in PUT_OFF
        if module not in WITH_THEM
    }
    assert not at_top
    loaded = {name for start in STARTS.values() for name in loaded_at(start)}
    assert not WITH_THEM & loaded


def test_every_library_put_off_is_used() -> None:
    used = {name for found in in_functions() for name in found.names}
    assert not [
        one for one in PUT_OFF if not any(f"{name}.".startswith(f"{one}.") for name in used)
    ]


@pytest.mark.parametrize("start", STARTS.values(), ids=lambda start: start[-1])
def test_a_start_is_there(start: tuple[str, ...]) -> None:
    assert set(start) <= set(MODULES)
