"""The hidden command that works on a run in a process of its own; the app and `--detach` start it.

Its standard output and error are the run's log file.
"""

import asyncio
import logging
import signal
import sys
import threading
from contextlib import AsyncExitStack, closing, suppress
from functools import partial
from itertools import chain, repeat
from pathlib import Path

import click

from tui_eval.cli import streams
from tui_eval.cli.logs import log_to
from tui_eval.cli.named.runs import found
from tui_eval.cli.options import run_argument, store_file, store_option
from tui_eval.engine.departure import CALLER_GONE
from tui_eval.engine.host import Engine, RunBusyError, host
from tui_eval.model.exit_code import ExitCode
from tui_eval.reports.counting_ahead import count_ahead
from tui_eval.store.connection import open_readable
from tui_eval.store.errors import UnknownRunError
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.targets.caller.caller_connection import caller as caller_of

log = logging.getLogger(__name__)


@click.command(hidden=True)
@run_argument
@click.option("--caller", type=int, metavar="FD", help="A socket to a program with functions.")
@store_option
def engine(name: str, caller: int | None, store: Path | None) -> int:
    """Work on a run until it is settled; SIGTERM stops it, a lost terminal does not."""
    log_to(logging.StreamHandler())
    logging.captureWarnings(True)
    threading.excepthook = sys.unraisablehook = _log_stray
    file = store_file(store)
    return asyncio.run(_work(file, found(file, name).id, caller))


def _log_stray(stray: "threading.ExceptHookArgs | sys.UnraisableHookArgs") -> None:
    """Log what was raised where nobody could catch it."""
    log.error("unforeseen", exc_info=stray.exc_value)


def _count_ahead(store: Path, run_id: int) -> None:
    """Count a large run while nobody waits for it; whoever looks at it finds the figures kept."""
    with closing(open_readable(store)) as db, suppress(UnknownRunError):  # it may be deleted by now
        count_ahead(db, run_id)


async def _work(store: Path, run_id: int, socket: int | None) -> int:
    working = Engine(store, run_id)
    loop = asyncio.get_running_loop()
    stops = chain((working.stop,), repeat(working.abort))
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, lambda: next(stops)())
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        async with AsyncExitStack() as opened:
            if socket is not None:
                gone = partial(working.leave, CALLER_GONE)
                await opened.enter_async_context(caller_of(socket, gone))
            await host(store, run_id, working)
        _count_ahead(store, run_id)
    except RunBusyError:
        log.info("another engine works on the run")
    except SuiteError as error:
        streams.tell(str(error))  # as a person would read it, who is told what the log says
        return ExitCode.NOT_STARTED
    except Exception:
        log.exception("the run could not go on")
        return ExitCode.INCOMPLETE
    return 0
