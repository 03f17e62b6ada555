"""The manual page, in roff, out of what `--help` is made of."""

import inspect
import os
import textwrap
import time
from collections.abc import Iterator
from typing import Final

import click

from tui_eval import __version__

_PRINTED: Final = str.maketrans(
    {
        "\\": "\\e",
        "-": "\\-",
        '"': "\\(dq",
        "'": "\\(aq",
        "`": "\\(ga",
        "^": "\\(ha",
        "~": "\\(ti",
    }
)
"""What roff would take for more, or set as something else."""
_VARIABLES: Final = (
    ("TUI_EVAL_STORE", "The store's file, where no option names one."),
    ("TUI_EVAL_CONFIG", "The configuration's folder or file."),
    ("TUI_EVAL_LOG_LEVEL", "How much engines write into a run's log."),
    ("NO_COLOR", "Set to anything: no colours."),
)


def manual_page(root: click.Group) -> str:
    """Return the manual page of a program with all its commands."""
    ctx = click.Context(root, info_name="tui-eval", **root.context_settings)
    return "".join(f"{line}\n" for line in _page(root, ctx))


def _page(root: click.Group, ctx: click.Context) -> Iterator[str]:
    first, *rest = _paragraphs(root)
    yield f'.TH TUI\\-EVAL 1 {_date()} "tui\\-eval {__version__}" "User Commands"'
    yield ".SH NAME"
    yield f"tui\\-eval \\- {_roff(first.removeprefix('A ').rstrip('.'))}"
    yield ".SH SYNOPSIS"
    yield from _synopsis(root, ctx)
    yield ".SH DESCRIPTION"
    yield from _text(rest)
    yield from _parameters(root, ctx)
    yield ".SH COMMANDS"
    yield from _commands(root, ctx)
    yield ".SH EXIT STATUS"
    yield from _text([" ".join((root.epilog or "").split())])
    yield ".SH ENVIRONMENT"
    for name, told in _VARIABLES:
        yield from _term(name, told)


def _date() -> str:
    """Return the day of the build as builds say it, where they do; else today."""
    said = os.environ.get("SOURCE_DATE_EPOCH", "")
    at = float(said) if said.isdecimal() else time.time()
    return time.strftime("%Y-%m-%d", time.gmtime(at))


def _commands(group: click.Group, ctx: click.Context) -> Iterator[str]:
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        if command is None or command.hidden:
            continue
        own = click.Context(command, parent=ctx, info_name=name)
        yield f".SS {_roff(own.command_path)}"
        yield from _synopsis(command, own)
        yield ".PP"
        yield from _text(_paragraphs(command))
        yield from _parameters(command, own)
        if isinstance(command, click.Group):
            yield from _commands(command, own)


def _synopsis(command: click.Command, ctx: click.Context) -> Iterator[str]:
    yield f".B {_roff(ctx.command_path)}"
    yield _roff(" ".join(command.collect_usage_pieces(ctx)))


def _parameters(command: click.Command, ctx: click.Context) -> Iterator[str]:
    for param in command.get_params(ctx):
        record = param.get_help_record(ctx)
        if record is not None and record[1]:
            yield from _term(*record)


def _term(name: str, told: str) -> Iterator[str]:
    yield ".TP"
    yield ".B " + _roff(name).replace("\n", " ")
    yield _roff(" ".join(told.split())) or "\\&"


def _text(paragraphs: list[str]) -> Iterator[str]:
    for at, paragraph in enumerate(paragraphs):
        if at:
            yield ".PP"
        yield _roff(paragraph)


def _paragraphs(command: click.Command) -> list[str]:
    text = inspect.cleandoc(command.help or "").replace("\b", "")
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


def _roff(text: str) -> str:
    """Return text as roff prints it, in short lines; nothing in it is a request."""
    escaped = text.translate(_PRINTED)
    lines = textwrap.wrap(escaped, 68, break_long_words=False, break_on_hyphens=False)
    return "\n".join(f"\\&{line}" if line.startswith(".") else line for line in lines)
