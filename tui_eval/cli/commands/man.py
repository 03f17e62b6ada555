"""`tui-eval man`: the manual page."""

import click

from tui_eval.cli import streams


@click.command()
@click.pass_context
def man(ctx: click.Context) -> None:
    """Print the manual page: `tui-eval man | man -l -` shows it.

    A wheel made by `make dist` has it, so that pipx and uv install it for `man tui-eval`.
    """
    from tui_eval.cli.manual import manual_page

    root = ctx.find_root().command
    assert isinstance(root, click.Group), "the program has commands"
    streams.say(manual_page(root))
