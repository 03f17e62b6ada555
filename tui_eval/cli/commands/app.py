"""The app: on suites and folders, or on a run."""

import gc
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui_eval.cli.errors import FOLDER_GONE, CommandError, folder_is_there
from tui_eval.cli.options import store_file, store_option
from tui_eval.model.exit_code import ExitCode

if TYPE_CHECKING:
    from tui_eval.ui.grade.grading_choice import GradingChoice

_WITHOUT = "`tui-eval show RUN` prints, `run` needs no screen"


def need_terminal() -> None:
    """Refuse to open the app where there is no terminal.

    Raises:
        Refused: there is none.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise CommandError(f"the app needs a terminal; {_WITHOUT}")


@click.command(name="open", hidden=True)
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path), metavar="PATH…")
@store_option
@click.pass_context
def open_app(ctx: click.Context, paths: tuple[Path, ...], store: Path | None) -> int:
    """Open the app on suites or folders of suites."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        click.echo(ctx.find_root().get_help(), err=True)
        return ExitCode.NOT_STARTED
    return _open(store_file(store), paths, None)


@click.command()
@click.argument("name", metavar="RUN", required=False)
@click.option(
    "--board",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Show how far the runs of `run --board DIR` are, with their sum.",
)
@click.option("--json", "as_json", is_flag=True, help="With --board: print one JSON document.")
@store_option
def watch(name: str | None, board: Path | None, as_json: bool, store: Path | None) -> int:
    """Open the app on a run, live or finished; or show what runs of several machines have posted.

    A board is shown until all runs on it have ended, or once where there is no terminal.
    """
    from tui_eval.cli.named.runs import bring_up_to_date, found

    if (name is None) == (board is None):
        raise click.UsageError("name a run, or a folder with --board")
    if board is not None:
        from tui_eval.cli.board import show

        return show(board, as_json=as_json)
    if as_json:
        raise click.UsageError("--json is of --board; `tui-eval show RUN --json` tells of a run")
    assert name is not None
    need_terminal()
    file = store_file(store)
    bring_up_to_date(file)
    return open_on(file, found(file, name).name)


def open_on(store: Path, run_name: str, grading: "GradingChoice | None" = None) -> int:
    """Open the app on a run; give the exit code.

    Args:
        store: The store's file.
        run_name: The run.
        grading: What of it is to be graded at once; None: nothing.
    """
    return _open(store, (), run_name, grading)


def _open(
    store: Path,
    paths: Sequence[Path],
    run_name: str | None,
    grading: "GradingChoice | None" = None,
) -> int:
    if os.environ.get("TERM") == "dumb":
        raise CommandError(f"the app cannot draw on a terminal that says TERM=dumb; {_WITHOUT}")
    if not folder_is_there():
        raise CommandError(FOLDER_GONE)
    gc.disable()  # a start makes no garbage; on again once the first picture is painted
    from tui_eval.ui.app import TuiEvalApp

    app = TuiEvalApp(store, paths, run_name, grading)
    if "devtools" in app.features:  # `make dev`
        from textual.logging import TextualHandler

        from tui_eval.cli.logs import log_to

        log_to(TextualHandler(stderr=False))
    app.run()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # what is left are threads that end: no traceback
    return ExitCode.NOT_STARTED if app.return_code else 0
