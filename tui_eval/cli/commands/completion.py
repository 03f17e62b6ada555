"""`tui-eval completion`, and the hidden command that its scripts ask at each press."""

import click

from tui_eval.cli import streams
from tui_eval.cli.completion.scripts import SCRIPTS


@click.command()
@click.argument("shell", type=click.Choice([*SCRIPTS]))
def completion(shell: str) -> None:
    """Print the script that completes commands, options and names in SHELL.

    bash: `source <(tui-eval completion bash)` in ~/.bashrc; zsh: the same in ~/.zshrc, after
    compinit; fish: `tui-eval completion fish | source` in its configuration.
    """
    streams.say(SCRIPTS[shell])


@click.command(hidden=True)
@click.argument("shell", type=click.Choice([*SCRIPTS]))
@click.argument("words", nargs=-1, required=True)
@click.pass_context
def complete(ctx: click.Context, shell: str, words: tuple[str, ...]) -> None:
    """Say what could be typed: for bash after its line, else after words, the last incomplete."""
    from tui_eval.cli.completion.candidates import candidates, words_before

    cut = 0
    *before, incomplete = words
    if shell == "bash":
        if len(words) != 2:
            raise click.UsageError("bash gives its line, and what it completes of it")
        before, incomplete, cut = words_before(*words)
    for one in candidates(ctx.find_root().command, before, incomplete):
        streams.say(f"{one.kind}\t{one.word[cut:]}\t{one.told}")
