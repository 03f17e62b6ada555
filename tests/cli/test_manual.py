"""The manual page: all that `--help` says, as roff that its readers accept."""

import re
import shutil
import subprocess

import click
import pytest

from tests.cli.conftest import Command
from tui_eval.cli.main import cli
from tui_eval.cli.manual import manual_page


@pytest.fixture(scope="module")
def page() -> str:
    return manual_page(cli)


def test_every_command_is_in_it_with_its_options(page: str) -> None:
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        assert (f".SS tui\\-eval {name}\n" in page) is not command.hidden, name
    (run,) = re.findall(r"^\.SS tui\\-eval run$(.*?)^\.SS", page, re.MULTILINE | re.DOTALL)
    assert ".B \\-\\-max\\-cost USD\nPause and ask before more than this is spent.\n" in run
    assert ".SS tui\\-eval trust add\n" in page
    assert "130 interrupted" in page.replace("\n", " ")


def test_nothing_that_is_told_is_taken_for_a_request() -> None:
    @click.group(help="A program.\n\n.so /etc/passwd\n\n'quoted' \\fB and \\(co -x \"y\" `z`")
    def root() -> None:
        pass

    page = manual_page(root)
    assert "\n.so" not in page
    assert "\\&.so /etc/passwd" in page
    assert "\\(aqquoted\\(aq \\efB and \\e(co \\-x \\(dqy\\(dq \\(gaz\\(ga" in page


def test_its_date_is_that_of_the_build(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert re.match(
        r'\.TH TUI\\-EVAL 1 \d{4}-\d\d-\d\d "tui\\-eval [\d.]+" "User Commands"\n', page
    )
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert " 1970-01-02 " in manual_page(cli)


@pytest.mark.parametrize(
    "command", [("mandoc", "-Tlint", "-Wwarning"), ("groff", "-man", "-ww", "-z", "-Kutf8")]
)
def test_readers_of_manual_pages_accept_it(command: tuple[str, ...], page: str) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"there is no {command[0]}")
    read = subprocess.run(command, input=page, capture_output=True, text=True, timeout=30)
    assert (read.returncode, read.stdout + read.stderr) == (0, "")


def test_it_is_printed(tui_eval: Command) -> None:
    assert tui_eval("man").out.startswith(".TH TUI\\-EVAL 1 ")
