"""Tests stand where what they test stands, so that either is found from the other."""

import ast
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import tui_eval

TESTS = Path(__file__).parent
PACKAGE = Path(tui_eval.__file__).parent
PACKAGES = {path.parent.relative_to(PACKAGE) for path in PACKAGE.rglob("__init__.py")}
PLACES = PACKAGES | {path.relative_to(PACKAGE).with_suffix("") for path in PACKAGE.rglob("*.py")}

ELSEWHERE = {"benchmarks", "faults", "sample_suites", "servers"}
"""Folders of tests of something else than one package: what is beside the package, the whole of it
under faults, and the tests' own servers."""
MEANS = {Path(means) for means in ("engine/engine", "engine/settings", "ui/app")}
"""Modules by which tests drive what they test."""

FOUND = sorted(
    path.relative_to(TESTS).with_suffix("")
    for path in TESTS.rglob("test_*.py")
    if path.relative_to(TESTS).parts[0] not in ELSEWHERE
    and not path.with_name(path.name.removeprefix("test_")).exists()  # tests of the tests' own
)


def test_the_test_modules_are_found() -> None:
    assert len(FOUND) > 150


def test_a_test_module_stands_where_what_it_tests_stands() -> None:
    """Beside or in what it is named after, else in the package whose behaviour it tests."""
    told = {str(module): misplaced(module, imports(module)) for module in FOUND}
    assert {module: why for module, why in told.items() if why} == {}


@pytest.mark.parametrize(
    ("module", "tested", "why"),
    [
        ("nowhere/test_suite_file", (), "there is no tui_eval/nowhere"),
        ("suites/test_suite_file", (), "it is named after what stands elsewhere"),
        ("suites/test_all", ("suites/data", "store/tx"), "it tests suites/data alone"),
        ("suites/test_all", ("suites/data", "suites/loading/errors"), ""),
        ("suites/loading/test_suite_file", (), ""),
    ],
)
def test_what_stands_elsewhere_is_told_why(module: str, tested: tuple[str, ...], why: str) -> None:
    assert misplaced(Path(module), map(Path, tested)) == why


def misplaced(module: Path, imported: Iterable[Path]) -> str:
    """Say why a test module belongs elsewhere; nothing where it does not.

    Where all that it imports of its area is in one package further in, it belongs there.
    """
    folder, name = module.parent, module.name.removeprefix("test_")
    if folder not in PACKAGES:
        return f"there is no tui_eval/{folder}"
    if folder / name in PLACES or name == folder.name or folder == Path():
        return ""
    area = folder.parts[0]
    namesakes = [
        str(place) for place in PLACES if place.parts[:1] == (area,) and place.name == name
    ]
    if namesakes:
        return "it is named after what stands elsewhere"
    if tested := {place for place in imported if place.parts[:1] == (area,)} - MEANS:
        common = Path(os.path.commonpath(tested))
        common = common if common in PACKAGES else common.parent
        if folder in common.parents:
            return f"it tests {common} alone"
    return ""


def imports(module: Path) -> Iterator[Path]:
    """Give the modules and packages of the package that a test module imports."""
    tree = ast.parse((TESTS / module).with_suffix(".py").read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tui_eval."):
            within = Path(*str(node.module).split(".")[1:])
            for alias in node.names:
                yield within / alias.name if within / alias.name in PLACES else within
