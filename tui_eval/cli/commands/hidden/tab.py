"""The hidden command behind a tab of `tui-eval serve`: the app, drawn into a pipe."""

import gc
import os
from pathlib import Path

import click

from tui_eval.cli.options import store_file, store_option
from tui_eval.model.exit_code import ExitCode

_DRIVER = {
    # read by Textual as it is imported, and no business of engines that the app starts
    "TEXTUAL_DRIVER": "tui_eval.ui.browser_driver:BrowserDriver",
    "TEXTUAL_COLOR_SYSTEM": "truecolor",
}


def _size(_: click.Context, option: click.Parameter, value: str) -> tuple[int, int]:
    width, cross, height = value.partition("x")
    if not (cross and width.isdecimal() and height.isdecimal()):
        raise click.BadParameter(f"{value!r} is no COLUMNSxROWS, such as 80x24", param=option)
    return int(width), int(height)


@click.command(hidden=True)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="PATH…")
@click.option("--size", callback=_size, default="80x24", help="Columns and rows of the tab.")
@click.option("--read-only", is_flag=True, help="Permit nothing that changes anything.")
@store_option
def tab(paths: tuple[Path, ...], size: tuple[int, int], read_only: bool, store: Path | None) -> int:
    """Run the app for a browser: `tui-eval serve` starts one for each tab."""
    file = store_file(store)
    gc.disable()  # as `tui-eval` does: on again once the first picture is painted
    os.environ.update(_DRIVER)
    from tui_eval.ui.app import TuiEvalApp
    from tui_eval.ui.keys.restrictions import Restrictions

    for name in _DRIVER:
        del os.environ[name]
    app = TuiEvalApp(file, paths, restrictions=Restrictions(read_only=read_only, in_browser=True))
    app.run(size=size)
    return ExitCode.NOT_STARTED if app.return_code else 0
