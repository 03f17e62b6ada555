"""Imports only point down, names have one meaning, and starting costs only what is used."""

import pkgutil
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

import tui_eval

HEADLESS = (
    "tui_eval.cli",
    "tui_eval.reports",
    "tui_eval.engine",
    "tui_eval.scoring",
    "tui_eval.targets",
    "tui_eval.suites",
    "tui_eval.providers",
    "tui_eval.store",
    "tui_eval.model",
)


def run_python(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=60, cwd=cwd
    )


def modules_of(packages: Sequence[str]) -> list[str]:
    """Give every module of the packages, without importing any."""
    found: list[str] = []
    root = Path(tui_eval.__file__).parent
    for package in packages:
        folder = root / package.removeprefix("tui_eval.")
        found.append(package)
        found += [module.name for module in pkgutil.iter_modules([str(folder)], f"{package}.")]
    return found


def test_imports_keep_every_contract() -> None:
    checked = run_python(
        "-c",
        "from importlinter.cli import lint_imports;"
        "raise SystemExit(lint_imports(no_cache=True, no_logo=True))",
        cwd=Path(__file__).parent.parent,
    )
    assert checked.returncode == 0, checked.stdout


def test_no_modules_import_each_other() -> None:
    graph = grimp.build_graph("tui_eval")  # what is imported inside functions, and for types, too
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    assert "tui_eval.ui.screens.run_screen" in imports["tui_eval.ui.app"]  # from inside a function
    TopologicalSorter(imports).prepare()  # raises where there is a circle


def test_nothing_without_a_screen_loads_textual() -> None:
    imports = "".join(f"import {name}\n" for name in modules_of(HEADLESS))
    loaded = run_python("-c", f"{imports}import sys\nprint('\\n'.join(sys.modules))")
    assert loaded.returncode == 0, loaded.stderr
    names = loaded.stdout.splitlines()
    assert "tui_eval.engine" in names
    assert not [name for name in names if name.split(".")[0] == "textual"]
    assert not [name for name in names if name.startswith("tui_eval.ui")]


@pytest.mark.parametrize("flag", ["--help", "--version"])
def test_help_loads_nothing_heavy(flag: str) -> None:
    helped = run_python("-X", "importtime", "-m", "tui_eval", flag)
    assert helped.returncode == 0, helped.stderr
    loaded = {line.rpartition("|")[2].strip() for line in helped.stderr.splitlines()}
    assert "click" in loaded
    assert not loaded & {
        "aiohttp", "aiosqlite", "genai_prices", "httpx", "httpx2", "jinja2", "jsonpath",
        "jsonschema", "openai", "psutil", "pydantic", "rapidfuzz", "regex", "rich", "textual",
        "xllamacpp",
    }  # fmt: skip


PACKAGE = Path(tui_eval.__file__).parent
MODULES = sorted(
    path.relative_to(PACKAGE)
    for path in PACKAGE.rglob("*.py")
    if path.name not in ("__init__.py", "__main__.py")
)


_PUBLIC_CLASS = re.compile(r"^class ([A-Za-z]\w*)", re.MULTILINE)


def test_no_two_public_classes_share_a_name() -> None:
    where: dict[str, list[str]] = defaultdict(list)
    for module in MODULES:
        for name in _PUBLIC_CLASS.findall((PACKAGE / module).read_text("utf-8")):
            where[name].append(str(module))
    assert len(where) > 300
    assert not {name: found for name, found in where.items() if len(found) > 1}


def test_no_two_modules_of_a_layer_share_a_basename() -> None:
    where: dict[tuple[str, str], list[str]] = defaultdict(list)
    for module in MODULES:
        where[module.parts[0], module.stem].append(str(module))
    assert not {key: found for key, found in where.items() if len(found) > 1}
