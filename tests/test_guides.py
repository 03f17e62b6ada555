"""Guides are followed line by line: their files are written, their commands run, in their order."""

import io
import json
import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from tui_eval.cli.main import run as run_command_line
from tui_eval.isolated.calls import import_path

DOCS = Path(__file__).parent.parent / "docs"
ELSEWHERE = {
    "benchmarks-you-have": "its suites are run by tests/test_benchmarks_page.py",
    "bulk": "its commands are run on a simulated provider by tests/cli/test_bulk.py",
    "ci": "it is followed by tests/test_ci_page.py",
    "http-apps": "its app is run by tests/cli/test_apps.py",
    "importing": "its imports are made by tests/suites/importers",
    "install": "it installs: wheels by tests/test_package.py, shells by tests/cli/completion",
    "pytest": "it is followed by tests/pytest_plugin/test_guide.py",
    "ray": "its clusters are started by tests/engine/executors/ray",
    "serve": "its servers are started by tests/web",
}
"""The pages of these folders that are not followed here, each with who tries what it shows."""
FOLDERS = ("tutorials", "how-to")
GUIDES = [
    *(
        page
        for folder in FOLDERS
        for page in sorted((DOCS / folder).glob("*.md"))
        if page.stem not in ELSEWHERE
    ),
    DOCS / "reference" / "python.md",
    DOCS / "explanation" / "statistics.md",
]
DATA = Path(os.environ.get("TUI_EVAL_DATA", DOCS.parents[1] / "shared" / "data"))
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def gsm8k(folder: Path) -> None:
    """Write what three systems said to the problems of GSM8K, a row each."""
    recorded = DATA / "gsm8k_labelled_solutions.jsonl"
    if not recorded.exists():
        pytest.skip(f"there is no {recorded}")
    rows: dict[str, dict[str, Any]] = {}
    for line in recorded.read_text("utf-8").splitlines():
        said = json.loads(line)
        case = said["id"].rpartition("-")[0].replace("-sol", "")
        row = rows.setdefault(case, {"id": case, "question": said["input"]})
        row["answer"] = said["target"]
        row["small" if said["metadata"]["model"] == "6b_finetuning" else "large"] = said["output"]
    for place, row in enumerate(rows.values()):
        row["routed"] = row["large" if place % 10 else "small"]
        drawn = ("small", "large") if place % 2 else ("large", "small")
        row["drawn"] = [{"output": row[system]} for system in drawn]
    told = "".join(f"{json.dumps(row)}\n" for row in rows.values())
    (folder / "answers.jsonl").write_text(told, "utf-8")


DATA_OF = {"which-is-better": gsm8k, "how-many-cases": gsm8k}
"""Who writes the data that a guide has, by its name."""


def steps(guide: Path) -> Iterator[tuple[str, str]]:
    """Give the language and text of each block."""
    yield from _BLOCK.findall(guide.read_text("utf-8"))


def ran(words: list[str]) -> tuple[int, str]:
    """Run a command; give its exit code and all that it said.

    Scripts and the commands of the project run in this process: most of what they take is a start.
    """
    assert words[0] in ("tui-eval", "python")
    if words[0] == "python" and words[1] == "-m":
        done = subprocess.run(
            [sys.executable, *words[1:]], capture_output=True, text=True, timeout=120
        )
        return done.returncode, done.stdout + done.stderr
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        if words[0] == "python":
            runpy.run_path(words[1], run_name="__main__")
            code = 0
        else:
            code = run_command_line(words[1:])
    return code, out.getvalue() + err.getvalue()


def test_pages_that_are_run_elsewhere_are_there() -> None:
    there = {page.stem for folder in FOLDERS for page in (DOCS / folder).glob("*.md")}
    assert set(ELSEWHERE) <= there
    named = re.findall(r"tests/[\w/.]+", " ".join(ELSEWHERE.values()))
    assert len(named) >= len(ELSEWHERE)
    assert not [one for one in named if not (DOCS.parent / one).exists()]


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_a_guide_can_be_followed(
    guide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", import_path())
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))  # a store and trust of its own
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    if (prepare := DATA_OF.get(guide.stem)) is not None:
        prepare(tmp_path)
    run, said = "", ""
    for language, text in steps(guide):
        if language == "sh":
            for line in text.splitlines():
                words = [re.sub(r"^RUN\b", run, word) for word in shlex.split(line)]
                code, said = ran(words)
                assert code in (0, 1, 3), f"{line}: {said}"
                found = re.search(r"^run (\S+)$", said, re.MULTILINE)
                run = run if found is None else found[1]
        elif language:
            first, _, rest = text.partition("\n")
            if not first.startswith("# "):
                continue  # a row of the data
            file = tmp_path / first.removeprefix("# ")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(rest if language.startswith("json") else text, "utf-8")
        else:
            for line in text.splitlines():
                assert " ".join(line.split()) in " ".join(said.split()), said
