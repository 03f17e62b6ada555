"""Starting a run from Python."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any, Final, Unpack

import tomli_w

from tui_eval.api.errors import LaunchError
from tui_eval.api.function_server import spawn
from tui_eval.api.given import MAPPING, GivenFunction, with_names
from tui_eval.api.options import ADDRESS_ALONE, RunOptions, SuiteLike
from tui_eval.api.run import Run
from tui_eval.api.store import store_of, up_to_date
from tui_eval.engine.launch import create_run
from tui_eval.engine.settings import Settings
from tui_eval.model.runs.executor_choice import ExecutorChoice, NamedExecutor
from tui_eval.model.runs.run_part import RunPart
from tui_eval.reports.comparison.baseline.base_choice import BaseRefusedError
from tui_eval.reports.comparison.baseline.launch_check import (
    LaunchCheck,
    LaunchRefusedError,
    checked_launch,
)
from tui_eval.store.connection import open_readable
from tui_eval.store.errors import UnknownRunError
from tui_eval.store.read import run_queries
from tui_eval.suites.loading.suite_file import load
from tui_eval.suites.spec import Suite

_LOOK_S: Final = 0.02


def start(suite: SuiteLike, **options: Unpack[RunOptions]) -> Run:
    """Start a run in a process of its own, and return once all its trials are written down.

    Args:
        suite: The suite's file, or a mapping of the same shape.
        **options: See `RunOptions`.

    Raises:
        SuiteError: the suite or its data has mistakes.
        TrustError: it wants what it was not trusted with.
        LaunchError: a key, a model or what was chosen is not there.
        StoreError: the store cannot be used.
    """
    return _start(suite, options, None)


def _start(suite: SuiteLike, options: RunOptions, loop: asyncio.AbstractEventLoop | None) -> Run:
    """Start a run; async functions are called on a loop, as long as it goes on."""
    store = up_to_date(store_of(options.get("store")))
    sets = _sets(options)
    settings = _settings(options, sets)
    given: dict[str, Any] | None = None
    functions: list[GivenFunction] = []
    if isinstance(suite, Mapping):
        given, functions = with_names(suite)
    file = Path(MAPPING) if isinstance(suite, Mapping) else Path(suite)
    loaded = load(file, sets=sets, trusted=options.get("trust", False), given=given)
    base = _looked_at(store, loaded, settings, options.get("baseline")).base
    path = str(file.absolute()) if given is None else None
    label = options.get("name")
    run_id = create_run.create(store, loaded, settings, path=path, label=label, base=base)
    return _started(store, run_id, functions, loop)


def run(suite: SuiteLike, **options: Unpack[RunOptions]) -> Run:
    """Run a suite, and return once nothing is left to do; `start` says what it takes and raises.

    An interrupt stops the run, which can be resumed, and is raised.
    """
    started = start(suite, **options)
    try:
        return started.wait()
    except KeyboardInterrupt:
        started.stop()
        raise


async def arun(suite: SuiteLike, **options: Unpack[RunOptions]) -> Run:
    """Run a suite as `run` does, in a program that has a loop, which goes on meanwhile.

    Async functions of the suite run on that loop. Where the task is cancelled, the run is stopped
    and can be resumed.
    """
    loop = asyncio.get_running_loop()
    started = await asyncio.to_thread(_start, suite, options, loop)
    try:
        return await started.await_end()
    except asyncio.CancelledError:
        started.stop()
        raise


def _sets(options: RunOptions) -> tuple[tuple[str, str], ...]:
    sets = [(path, _as_toml(value)) for path, value in (options.get("set") or {}).items()]
    epochs = options.get("epochs")
    if epochs is not None:
        sets.append(("run.epochs", str(epochs)))
    return tuple(sets)


def _settings(options: RunOptions, sets: Sequence[tuple[str, str]]) -> Settings:
    return Settings(
        targets=tuple(options.get("targets", ())),
        cases=tuple(options.get("cases", ())),
        tags=tuple(options.get("tags", ())),
        limit=options.get("limit"),
        sample=options.get("sample"),
        only=options.get("only"),
        part=None if (part := options.get("part")) is None else RunPart.parse(part),
        concurrency=options.get("concurrency"),
        executor=_executor(options),
        no_judge=not options.get("judge", True),
        fresh=options.get("fresh", False),
        max_cost_usd=options.get("max_cost_usd"),
        max_tokens=options.get("max_tokens"),
        changed_dataset=any(path.split(".")[0] in ("dataset", "cases") for path, _ in sets),
    )


def _executor(options: RunOptions) -> ExecutorChoice | None:
    try:
        return NamedExecutor(options.get("executor"), options.get("address")).in_place_of(None)
    except ValueError:
        raise LaunchError([ADDRESS_ALONE]) from None


def _looked_at(store: Path, suite: Suite, settings: Settings, baseline: str | None) -> LaunchCheck:
    """Refuse what cannot be started.

    Raises:
        SuiteError: the data has mistakes.
        LaunchError: with all that is missing.
    """
    reading = closing(open_readable(store)) if store.exists() else nullcontext(None)
    try:
        with reading as db:
            return checked_launch(db, suite, settings, baseline)
    except LaunchRefusedError as error:
        raise LaunchError(error.reasons) from None
    except BaseRefusedError as error:
        raise LaunchError([f"baseline: {error}"]) from None


def _started(
    store: Path,
    run_id: int,
    functions: Sequence[GivenFunction],
    loop: asyncio.AbstractEventLoop | None,
) -> Run:
    """Start the engine of a run that is written down, and wait until its trials are there."""
    db = open_readable(store)
    try:
        name = run_queries.run(db, run_id).name
        engine = spawn(store, name, functions, loop)
        while not run_queries.run(db, run_id).staged:
            if engine.poll() is not None and not run_queries.run(db, run_id).staged:
                why = f"the run's engine has ended; its log is {create_run.log_file(store, name)}"
                raise LaunchError([why])
            time.sleep(_LOOK_S)
    except UnknownRunError:  # its data has mistakes: the engine has said so in its log
        log = create_run.log_file(store, name).read_text(encoding="utf-8", errors="replace")
        raise LaunchError([log.strip()]) from None
    finally:
        db.close()
    return Run(store, run_id, engine, functions, loop)


def _as_toml(value: Any) -> str:  # noqa: ANN401  # any value that TOML has
    """Return a value as `--set` takes it."""
    return tomli_w.dumps({"value": value}).partition("=")[2].strip()
