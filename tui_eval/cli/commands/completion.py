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
    from tui_eval.cli.completion.bash_line import bash_line
    from tui_eval.cli.completion.candidates import candidates

    root = ctx.find_root().command
    if shell != "bash":
        *before, incomplete = words
        for one in candidates(root, before, incomplete):
            streams.say(f"{one.kind}\t{one.word}\t{one.told}")
        return
    if len(words) != 2:
        raise click.UsageError("bash gives its line up to the cursor, and what it would replace")
    line = bash_line(*words)
    for one in candidates(root, line.words, line.incomplete):
        written = line.written(one.word)
        if written is not None:
            streams.say(f"{one.kind}\t{written}\t{one.told}")
