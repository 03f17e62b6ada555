"""What is to be typed next names the program as it was started."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tui_eval.invocation import command_name


@pytest.fixture
def script(tmp_path: Path) -> Path:
    place = tmp_path / "an environment" / "bin" / "tui-eval"
    place.parent.mkdir(parents=True)
    place.write_text("#!/bin/sh\n")
    place.chmod(0o755)
    return place


def test_it_is_the_name_where_the_shell_finds_it_by_that(script: Path, tmp_path: Path) -> None:
    assert command_name(str(script), str(script.parent)) == "tui-eval"
    links = tmp_path / "links"  # as pipx puts them on the path
    links.mkdir()
    (links / "tui-eval").symlink_to(script)
    assert command_name(str(script), str(links)) == "tui-eval"
    assert command_name(str(links / "tui-eval"), str(links)) == "tui-eval"


def test_it_is_the_script_as_it_was_named_elsewhere(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command_name(str(script), str(tmp_path)) == f"'{script}'"
    monkeypatch.chdir(script.parents[1])
    assert command_name("bin/tui-eval", str(tmp_path)) == "bin/tui-eval"
    other = tmp_path / "tui-eval"  # the shell finds one, and it is another
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    assert command_name("bin/tui-eval", str(tmp_path)) == "bin/tui-eval"


@pytest.mark.parametrize("started", ["", "-c", "/usr/bin/pytest", "/x/tui_eval/__main__.py"])
def test_it_is_the_name_where_another_program_runs_it(started: str, tmp_path: Path) -> None:
    assert command_name(started, str(tmp_path)) == "tui-eval"


def test_a_script_off_the_path_says_so_to_whoever_tries_it(tmp_path: Path) -> None:
    script = tmp_path / "tui-eval"
    script.write_text(f"#!{sys.executable}\nfrom tui_eval.__main__ import main\nmain()\n")
    script.chmod(0o755)
    started = subprocess.run(
        ["./tui-eval", "init", "first"],
        cwd=tmp_path,
        env={**os.environ, "PATH": os.defpath},
        capture_output=True,
        text=True,
        timeout=60,
    )
    suite = "first/suite.toml"
    assert f"try `./tui-eval check {suite}`, then `./tui-eval run {suite}`" in started.stderr
