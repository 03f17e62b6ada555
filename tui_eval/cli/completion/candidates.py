"""What could be typed next: click's own words, and the names that there are."""

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import click
from click.shell_completion import CompletionItem, ShellComplete

from tui_eval.cli.completion.named_values import Offers, offers_of

_WITH_VALUE = re.compile(r"--[a-z-]+=")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to go on."""

    kind: str
    """`plain`; `file` or `dir`: the shell is to offer those itself."""
    word: str
    """The whole word, unquoted; empty where the shell offers."""
    told: str = ""
    """What is said of it, in one line."""


def candidates(root: click.Command, words: Sequence[str], incomplete: str) -> list[Candidate]:
    """Return what could stand in place of an incomplete word.

    Nothing that a shell or a terminal could take for more than text is among it: a name with a
    control character is left out. Where the command line or the store has a mistake there is
    nothing: it is told when the command is run.

    Args:
        root: The program.
        words: The words before it, without the program's name.
        incomplete: What of the word is there.
    """
    value = _WITH_VALUE.match(incomplete)
    given = value[0] if value is not None else ""
    try:
        _offer_names(root, words)
        items = ShellComplete(root, {}, "tui-eval", "").get_completions([*words], incomplete)
    except (click.ClickException, sqlite3.Error, OSError, ValueError):
        return []
    found = [Candidate(item.type, f"{given}{item.value}", _line(item.help)) for item in items]
    return [one for one in found if one.word.isprintable()]


def _offer_names(root: click.Command, words: Sequence[str]) -> None:
    """Have the commands that are named offer names for their parameters."""
    command = root
    ctx = click.Context(root, resilient_parsing=True)
    given = [*words]
    for at, word in enumerate(words):
        if not isinstance(command, click.Group):
            break
        found = command.get_command(ctx, word)
        if found is not None:
            command, given = found, [*words[at + 1 :]]
    for param in command.params:
        inner = param.type.inner if isinstance(param.type, _Named) else param.type
        offers = offers_of(param)
        if offers is not None:
            # click reads nothing that follows an option without its value
            known = given[:-1] if given and given[-1] in param.opts else given
            param.type = _Named(inner, offers, known)


class _Named(click.ParamType[object]):
    """A type whose values have names that are looked up."""

    def __init__(self, inner: click.ParamType[object], offers: Offers, given: list[str]) -> None:
        """Make the type of a parameter.

        Args:
            inner: What it is without names.
            offers: Gives names.
            given: The words of the command that stand already.
        """
        self.name = inner.name
        self.inner = inner
        self._offers = offers
        self._given = given

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> object:
        """Read a value as without names."""
        return self.inner.convert(value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Offer names."""
        known = ctx.command.make_context(
            ctx.info_name, [*self._given], parent=ctx.parent, resilient_parsing=True
        )
        return self._offers(known, incomplete)


def _line(text: str | None) -> str:
    told = " ".join((text or "").split())
    return told if told.isprintable() else ""
