"""Guides are followed line by line: their files are written, their commands run, in their order."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tui_eval.isolated.calls import import_path

DOCS = Path(__file__).parent.parent / "docs"
GUIDES = [
    DOCS / name
    for name in ("evaluate-a-function.md", "evaluate-an-agent.md", "write-your-own-scorer.md")
]
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def steps(guide: Path) -> Iterator[tuple[str, str]]:
    """Give the language and text of each block."""
    yield from _BLOCK.findall(guide.read_text("utf-8"))


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_a_guide_can_be_followed(
    guide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", import_path())
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))  # a store and trust of its own
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    run, said = "", ""
    for language, text in steps(guide):
        if language == "sh":
            for line in text.splitlines():
                words = [run if word == "RUN" else word for word in shlex.split(line)]
                assert words[0] == "tui-eval"
                command = [sys.executable, "-m", "tui_eval", *words[1:]]
                done = subprocess.run(
                    command, cwd=tmp_path, capture_output=True, text=True, timeout=120
                )
                said = done.stdout + done.stderr
                assert done.returncode in (0, 1, 3), f"{line}: {said}"
                found = re.search(r"^run (\S+)$", said, re.MULTILINE)
                run = run if found is None else found[1]
        elif language:
            first, _, rest = text.partition("\n")
            file = tmp_path / first.removeprefix("# ")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(rest if language.startswith("json") else text, "utf-8")
        else:
            for line in text.splitlines():
                assert " ".join(line.split()) in " ".join(said.split()), said
