"""What is wrong with a program's table is told with line and field."""

from pathlib import Path

import pytest

from tui_eval.suites.loading.errors import SuiteError
from tui_eval.suites.loading.suite_file import load

HEAD = '[[cases]]\nq = "one"\n[prompt]\nuser = "{{ q }}"\n[[targets]]\nkind = "command"\n'
PROGRAM = 'command = ["echo"]'


def refused(folder: Path, *lines: str) -> list[str]:
    path = folder / "suite.toml"
    path.write_text(HEAD + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    with pytest.raises(SuiteError) as caught:
        load(path, trusted=True)
    return [str(mistake).partition("suite.toml, ")[2] for mistake in caught.value.mistakes]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([PROGRAM, 'agent = "codex"'], "line 7: targets[0].command: stands beside agent"),
        ([PROGRAM, 'model = "m"'], "line 8: targets[0].model: is for an agent"),
        ([PROGRAM, 'output = "last_message"'], "line 8: targets[0].output: needs a transcript"),
        ([PROGRAM, "limits = { turns = 3 }"], "line 8: targets[0].limits.turns: cannot be watched"),
        ([PROGRAM, 'isolation = "docker"'], "targets[0].image: is missing"),
        (
            [PROGRAM, 'protected = ["a"]'],
            "line 8: targets[0].protected: keeps changes out of a diff",
        ),
        (['agent = "codex"', 'protected = ["a"]'], 'diff; add output = "diff"'),
        (['agent = "aider"', 'protected = ["../a"]'], "must be a path inside the workspace"),
    ],
)
def test_what_does_not_go_together_is_told(tmp_path: Path, lines: list[str], said: str) -> None:
    [mistake] = refused(tmp_path, *lines)
    assert said in mistake
