"""The pages for developers: what they name exists, and what they tell to add is all it takes."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.test_docs import Block, page

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "docs" / "development"
REFERENCE = re.compile(r"`([a-z_]\w*(?:\.[a-z_]\w*)*):([A-Za-z_][\w.]*)`")


def references() -> Iterator[tuple[str, str, str]]:
    for file in sorted(PAGES.rglob("*.md")):
        for line in file.read_text("utf-8").splitlines():
            for module, name in REFERENCE.findall(line):
                if (module, name) != ("module", "function"):
                    yield str(file.relative_to(ROOT)), module, name


@cache
def names_in(module: str) -> frozenset[str]:
    """Return what a module defines at its top, and the methods of its classes."""
    path = ROOT / "tui_eval" / Path(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    found: set[str] = set()
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found.add(node.name)
            found |= {
                f"{node.name}.{inner.name}"
                for inner in node.body
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef)
            }
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return frozenset(found)


@pytest.mark.parametrize("reference", sorted(set(references())), ids=lambda one: ":".join(one))
def test_what_is_named_exists(reference: tuple[str, str, str]) -> None:
    _, module, name = reference
    assert name in names_in(module)


def test_each_life_is_told_by_functions() -> None:
    told = [file for file, _, _ in references()]
    for file in PAGES.glob("life-of-*.md"):
        assert told.count(str(file.relative_to(ROOT))) > 15, file.name


# --- architecture.md ---------------------------------------------------------------------------

ARCHITECTURE = ROOT / "docs" / "explanation" / "architecture.md"


def layers() -> list[set[str]]:
    """Return the layers as import-linter is told, top first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (contract,) = (
        one for one in settings["tool"]["importlinter"]["contracts"] if one["type"] == "layers"
    )
    return [
        {name.strip().removeprefix("tui_eval.") for name in layer.split("|")}
        for layer in contract["layers"]
    ]


def test_the_tree_shown_has_every_layer_from_top_to_bottom() -> None:
    (tree,) = (one.text for one in page(ARCHITECTURE).blocks if one.text.startswith("tui_eval/"))
    shown = re.findall(r"^[├└]── (\w+)", tree, re.MULTILINE)
    package = ROOT / "tui_eval"
    there = {path.name for path in package.iterdir() if (path / "__init__.py").exists()}
    assert {*shown} == there | {"format", "invocation", "resources"}
    order = layers()
    depths = [next(at for at, layer in enumerate(order) if name in layer) for name in shown]
    assert depths == sorted(depths)


def test_every_file_the_architecture_names_is_there() -> None:
    there = [
        path.relative_to(ROOT).as_posix()
        for folder in ("tui_eval", "tests", "docs")
        for path in (ROOT / folder).rglob("*.py")
    ]
    named = set(re.findall(r"`([\w/]+\.py)`", ARCHITECTURE.read_text("utf-8")))
    assert len(named) > 40
    assert not [one for one in named if not any(f"/{path}".endswith(f"/{one}") for path in there)]


def test_what_a_usual_run_leaves_out_is_run_by_make_faults() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8").replace("\\\n", " ")
    (run,) = re.findall(r"^FAULTS := \$\(addprefix tests/,(.*?)\)$", makefile, re.MULTILINE)
    tests = [ROOT / "tests" / path for path in run.split()]
    assert all(path.exists() for path in tests)
    files = ROOT.glob("tests/**/test_*.py")
    more = re.compile(r"\bmark\.whole\b|^from tests\.sampling import", re.MULTILINE)
    marked = [one for one in files if more.search(one.read_text("utf-8"))]
    assert len(marked) > 10
    assert not [one for one in marked if not any(one.is_relative_to(path) for path in tests)]


# --- adding.md ---------------------------------------------------------------------------------


def edits(section: str) -> list[Block]:
    found = page(PAGES / "adding.md").blocks
    return [block for block in found if block.section == section and block.language == "python"]


def apply(block: Block, package: Path) -> None:
    """Do to a copy of the package what a block says."""
    head, _, body = block.text.partition("\n")
    told = re.fullmatch(r"# tui_eval/(\S+), (?:(new)|(before|after): (.*))", head)
    assert told is not None, block.id
    file = package / told[1]
    if told[2]:
        assert not file.exists(), block.id
        file.write_text(body, "utf-8")
        return
    lines = file.read_text("utf-8").splitlines(keepends=True)
    (at,) = (at for at, line in enumerate(lines) if line.strip() == told[4])
    lines.insert(at + (told[3] == "after"), body)
    file.write_text("".join(lines), "utf-8")


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Copy what the program is made of."""
    for name in ("tui_eval", "styles", "sample_suites"):
        shutil.copytree(ROOT / name, tmp_path / name)  # byte code too: it holds for the copies
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def program(folder: Path, *words: str) -> str:
    """Run the copy."""
    given = {"TUI_EVAL_STORE": str(folder / "store.sqlite3"), "TUI_EVAL_CONFIG": str(folder)}
    done = subprocess.run(
        [sys.executable, "-m", "tui_eval", *words],
        cwd=folder,
        env={**os.environ, **given, "PYTHONPATH": str(folder)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


SUITE = """\
name = "backwards"

[[targets]]
name = "small"
kind = "simulated"
answers = "{{ answer }}"

[prompt]
user = "{{ answer }}?"

[[scorers]]
kind = "KIND"

[[cases]]
id = "same"
answer = "Anna"

[[cases]]
id = "other"
answer = "Otto!"
"""


def test_a_scorer_is_added_by_what_is_told(copied: Path) -> None:
    blocks = edits("A scorer")
    assert len(blocks) == 6
    for block in blocks:
        apply(block, copied / "tui_eval")
    suite = SUITE.replace('"KIND"', '"palindrome"\nignore_case = true')
    (copied / "suite.toml").write_text(suite)
    program(copied, "run", "suite.toml")
    lines = program(copied, "export", "last", "--format", "jsonl").splitlines()
    assert [json.loads(line)["verdict"] for line in lines] == ["pass", "fail"]
    schema = program(copied, "schema")
    assert '"palindrome"' in schema
    assert "capitals do not count" in schema


def test_an_export_is_added_by_what_is_told(copied: Path) -> None:
    blocks = edits("An export")
    assert len(blocks) == 3
    for block in blocks:
        apply(block, copied / "tui_eval")
    (copied / "suite.toml").write_text(SUITE.replace('"KIND"', '"finish"'))
    program(copied, "run", "suite.toml")
    assert program(copied, "export", "last", "--format", "ids") == "same\nother\n"


def test_a_target_is_added_by_what_is_told(copied: Path) -> None:
    blocks = edits("A target")
    assert len(blocks) == 6
    for block in blocks:
        apply(block, copied / "tui_eval")
    suite = SUITE.replace('"KIND"', '"exact"\nexpected = "?{{ answer | reverse | upper }}"')
    told = 'kind = "backwards"\nupper = true\n'
    suite = re.sub(r'kind = "simulated"\nanswers = .*\n', told, suite)
    (copied / "suite.toml").write_text(suite)
    events = map(json.loads, program(copied, "run", "suite.toml", "--events").splitlines())
    trials = {one["case_id"]: one for one in events if one["event"] == "trial"}
    said = {case: (one["output"], one["verdict"]) for case, one in trials.items()}
    assert said == {"same": ("?ANNA", "pass"), "other": ("?!OTTO", "pass")}
