"""Making a run, and starting an engine of its own for it."""

import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path

from tui_eval.engine.preflight.permission import permitted
from tui_eval.engine.settings import Settings, shared_out
from tui_eval.isolated.calls import import_path
from tui_eval.model.states import RunState
from tui_eval.store import lease, requests
from tui_eval.store.errors import StoreError, UnknownRunError
from tui_eval.store.location import log_file
from tui_eval.store.read import request_queries, run_queries
from tui_eval.store.requests import Outcome
from tui_eval.store.tx import Tx
from tui_eval.store.write import run_writes
from tui_eval.store.write.baseline_writes import BaseChoice
from tui_eval.store.writer import once
from tui_eval.suites.config import configuration
from tui_eval.suites.data.data_files import data_files
from tui_eval.suites.data.hub.hub_rows import pinned
from tui_eval.suites.spec import Suite
from tui_eval.suites.trust.trust_store import engine_environment

__all__ = ["create", "log_file", "spawn"]

log = logging.getLogger(__name__)


def create(
    store: Path,
    suite: Suite,
    settings: Settings,
    *,
    path: str | None = None,
    label: str | None = None,
    base: BaseChoice | None = None,
) -> int:
    """Write a run down, in state `pending`, with its frozen suite; quick whatever its size.

    What its data files are like is written down too, for its cases are copied later; a dataset of
    the Hub is pinned to the commit it is at now.

    Args:
        store: The store's file.
        suite: The suite as loaded.
        settings: What was chosen beside it.
        path: The file the suite came from, for showing.
        label: A name a person gave the run.
        base: What it is compared with; None: its suite's baseline, if there is one.

    Returns:
        The run's id.

    Raises:
        StoreError: the store cannot be used; there is no new run then.
        SuiteError: its dataset is on the Hub, which cannot be reached or no longer has it.
    """
    suite = pinned(suite)
    settings = permitted(suite, settings)  # who loaded the suite was allowed to
    settings = shared_out(settings, suite.run.model_dump(mode="json"))
    settings = replace(settings, usual_concurrency=configuration.read().concurrency)
    files = [one.as_json() for one in data_files(suite)]
    return once(
        store,
        lambda tx: run_writes.create(
            tx,
            run_writes.NewRun(
                suite=suite.name,
                path=path,
                label=label,
                spec=suite.model_dump_json(),
                settings=settings.as_json(),
                partial=settings.partial,
                data_files=files,
                base=base,
            ),
        ),
    )


def spawn(
    store: Path, run_name: str, caller: socket.socket | None = None
) -> "subprocess.Popen[bytes]":
    """Start an engine for a run as a process of its own.

    It has a session of its own, so that closing the terminal does not end it, no standard input,
    and a log file beside the store. While this process lives it is waited for, and where it ends
    without a word the run says so.

    Args:
        store: The store's file.
        run_name: The run.
        caller: The engine's end of a socket to this program, whose functions it calls; it may be
            closed here by then. None: it calls none.

    Returns:
        The process: `poll()` tells one that has ended from one that lives.
    """
    file = log_file(store, run_name)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handed = () if caller is None else (caller.fileno(),)
    # -P: nothing is imported from the folder one happens to be in
    words = [sys.executable, "-P", "-m", "tui_eval", "engine", run_name, "--store", str(store)]
    more = [word for one in handed for word in ("--caller", str(one))]
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as out:
        process = subprocess.Popen(  # noqa: S603 - our own program, arguments as a list
            [*words, *more],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            env=own_environment(),
            pass_fds=handed,
        )
    threading.Thread(
        target=_see_off,
        args=(process, store, run_name),
        name=f"waits for engine {process.pid}",
        daemon=True,
    ).start()
    return process


def _see_off(process: "subprocess.Popen[bytes]", store: Path, run_name: str) -> None:
    """Wait for an engine, so that no zombie is left, and write down an end it could not tell of."""
    code = process.wait()
    if code == 0 or not store.exists():
        return
    how = f"exit code {code}" if code > 0 else f"signal {-code}, {signal.strsignal(-code)}"
    why = f"its engine has ended ({how}); its log is {log_file(store, run_name)}"
    try:
        once(store, partial(_close, name=run_name, why=why))
    except UnknownRunError:
        return  # its data had mistakes: it was forgotten
    except StoreError as error:
        log.warning("run %s: %s, and it cannot be written down: %s", run_name, why, error)


def _close(tx: Tx, name: str, why: str) -> None:
    """Leave a run resumable, and nobody waiting, where no engine works on it any more."""
    run = run_queries.run_named(tx.db, name)
    if run.live:
        return
    for request in request_queries.requests(tx.db, run.id):
        requests.answer(tx, request.id, Outcome.CLOSED, why)
    if not run.state.settled:
        run_writes.recover(tx, run.id)
        run_writes.move(tx, run.id, RunState.INTERRUPTED, reason=why, stopped_by="engine")
        run_writes.end(tx, run.id)
        lease.release(tx, run.id)


def own_environment() -> dict[str, str]:
    """Return the environment in which a process of our own is this very program."""
    return {**os.environ, **engine_environment(), "PYTHONPATH": import_path()}
