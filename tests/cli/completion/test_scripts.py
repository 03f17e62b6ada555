"""The scripts, in real shells: names are inserted as text, whatever they hold."""

import os
import shutil
import sys
from typing import Final

import ptyprocess
import pytest

from tests.cli.conftest import Command, Place
from tui_eval.cli.completion.scripts import SCRIPTS

SHELLS: Final = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}
SETUP: Final = {
    "bash": "",
    "zsh": "autoload -Uz compinit; compinit -u -D; ",
    "fish": "",
}


def test_there_is_a_script_for_each_shell(tui_eval: Command) -> None:
    for shell in SHELLS:
        assert tui_eval("completion", shell).out == SCRIPTS[shell]
    assert tui_eval("completion", "sh").code == 2


@pytest.mark.parametrize(
    "shell", ["bash", *(pytest.param(one, marks=pytest.mark.whole) for one in ("zsh", "fish"))]
)
def test_a_hostile_name_is_inserted_as_text(place: Place, tui_eval: Command, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    suite = place.folder / place.suite(n=1)
    suite.write_text(suite.read_text().replace("case-0", "x $(touch pwned) `touch pwned` '"))
    assert tui_eval("run", "s.toml").code in (0, 1)
    script = place.folder / "completion"
    script.write_text(SCRIPTS[shell])
    # what is completed is then the argument of a command that prints it
    program = place.folder / "tui-eval"
    program.write_text(
        f'#!/bin/sh\nif [ "$1" = complete ]; then exec {sys.executable} -m tui_eval "$@"; fi\n'
        'printf "<%s>\\n" "$@"\n'
    )
    program.chmod(0o755)
    path = f"{place.folder}:{os.environ['PATH']}"
    terminal = ptyprocess.PtyProcessUnicode.spawn(
        SHELLS[shell],
        cwd=str(place.folder),
        env={**place.environment, "PATH": path, "TERM": "dumb", "HOME": str(place.folder)},
        dimensions=(24, 200),
    )
    try:
        terminal.write(f"{SETUP[shell]}source {script}; echo rea''dy\r")
        heard = read_until(terminal, "ready")
        terminal.write("tui-eval show last --case x\t")
        heard += read_until(terminal, "pwned")
        terminal.write("; echo en''d\r")
        heard += read_until(terminal, "end")
    finally:
        terminal.close(force=True)
    assert "<x $(touch pwned) `touch pwned` '>" in heard
    assert not (place.folder / "pwned").exists()


def read_until(terminal: ptyprocess.PtyProcessUnicode, words: str) -> str:
    """Read what is said until words stand in it."""
    heard = ""
    while words not in heard:
        heard += terminal.read(4096)
    return heard


def test_no_script_evaluates_anything() -> None:
    for shell, script in SCRIPTS.items():
        lines = [line for line in script.splitlines() if not line.strip().startswith("#")]
        text = "\n".join(lines)
        assert "eval " not in text.replace("tui-eval ", ""), shell
