"""Starting a run from Python."""

import asyncio
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal

import tomli_w

from tui_eval.api.errors import LaunchError
from tui_eval.api.run import Run
from tui_eval.api.store import store_of, up_to_date
from tui_eval.engine.launch import create_run
from tui_eval.engine.preflight.preflight import Depth, preflight
from tui_eval.engine.settings import Settings
from tui_eval.reports.comparison.base_choice import BaseRefusedError, checked_base
from tui_eval.store.connection import open_readable
from tui_eval.store.errors import UnknownRunError
from tui_eval.store.read import run_queries
from tui_eval.store.write.baseline_writes import BaseChoice
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.suites.loading.suite_file import load
from tui_eval.suites.spec import Suite

_LOOK_S: Final = 0.02


def start(
    suite: str | os.PathLike[str] | Mapping[str, Any],
    *,
    targets: Sequence[str] = (),
    cases: Sequence[str] = (),
    tags: Sequence[str] = (),
    limit: int | None = None,
    sample: int | None = None,
    only: Literal["failed", "errors", "ungraded"] | None = None,
    epochs: int | None = None,
    concurrency: int | Literal["auto"] | None = None,
    judge: bool = True,
    fresh: bool = False,
    max_cost_usd: float | None = None,
    max_tokens: int | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002  # as the command's --set
    baseline: str | None = None,
    name: str | None = None,
    store: str | os.PathLike[str] | None = None,
    trust: bool = False,
) -> Run:
    """Start a run in a process of its own, and return once all its trials are written down.

    Args:
        suite: The suite's file, or its content as a mapping of the same shape; paths in that are
            relative to the current folder.
        targets: Only these targets; empty: all.
        cases: Only these cases, by id.
        tags: Only cases with one of these tags.
        limit: Only the first so many cases.
        sample: Only so many cases, drawn by the dataset's seed.
        only: Only cases whose latest verdict is so.
        epochs: How often each case is asked, in place of what the suite says.
        concurrency: Calls in flight at each endpoint, in place of what the suite says.
        judge: Whether judges are asked; without, what they decide is ungraded.
        fresh: Whether no output and no grade of an earlier run is used.
        max_cost_usd: The run pauses before a call that could take more than so many dollars.
        max_tokens: Likewise in tokens.
        set: Fields of the suite by their path: `{"run.timeout": 30}`.
        baseline: The run or baseline file that this one is compared with; None: the suite's.
        name: A label that is shown beside the run's name.
        store: The store's file; None: the one that commands use.
        trust: Whether the suite may read outside its folder, run programs, and send keys to hosts
            that are not known.

    Raises:
        SuiteError: the suite or its data has mistakes.
        TrustError: it wants what it was not trusted with.
        LaunchError: a key, a model or what was chosen is not there.
        StoreError: the store cannot be used.
    """
    sets = [(path, _as_toml(value)) for path, value in (set or {}).items()]
    if epochs is not None:
        sets.append(("run.epochs", str(epochs)))
    settings = Settings(
        targets=tuple(targets),
        cases=tuple(cases),
        tags=tuple(tags),
        limit=limit,
        sample=sample,
        only=only,
        concurrency=concurrency,
        no_judge=not judge,
        fresh=fresh,
        max_cost_usd=max_cost_usd,
        max_tokens=max_tokens,
        changed_dataset=any(path.split(".")[0] in ("dataset", "cases") for path, _ in sets),
    )
    place = up_to_date(store_of(store))
    with _file(suite) as file:
        loaded = load(file, sets=tuple(sets), trusted=trust)
        base = _look_before(place, loaded, settings, baseline)
        path = None if isinstance(suite, Mapping) else str(file.absolute())
        run_id = create_run.create(place, loaded, settings, path=path, label=name, base=base)
        return _started(place, run_id)


def run(suite: str | os.PathLike[str] | Mapping[str, Any], **options: Any) -> Run:  # noqa: ANN401
    """Run a suite, and return once nothing is left to do; `start` says what it takes and raises.

    An interrupt stops the run, which can be resumed, and is raised.
    """
    started = start(suite, **options)
    try:
        return started.wait()
    except KeyboardInterrupt:
        started.stop()
        raise


async def arun(suite: str | os.PathLike[str] | Mapping[str, Any], **options: Any) -> Run:  # noqa: ANN401
    """Run a suite as `run` does, in a program that has a loop, which goes on meanwhile.

    Where the task is cancelled, the run is stopped and can be resumed.
    """
    started = await asyncio.to_thread(start, suite, **options)
    try:
        return await started.await_end()
    except asyncio.CancelledError:
        started.stop()
        raise


def _look_before(
    store: Path, suite: Suite, settings: Settings, baseline: str | None
) -> BaseChoice | None:
    """Refuse what cannot be started; return what the run is compared with.

    Raises:
        SuiteError: the data has mistakes.
        LaunchError: with all that is missing.
    """
    db = open_readable(store) if store.exists() else None
    try:
        found = preflight(db, suite, settings, Depth.READ)
        if found.mistakes:
            raise SuiteError(found.mistakes)
        if not found.may_start:
            raise LaunchError([*found.refused, *found.missing])
        if baseline is None:
            return None
        try:
            return checked_base(db, baseline, suite, settings).choice
        except BaseRefusedError as error:
            raise LaunchError([f"baseline: {error}"]) from None
    finally:
        if db is not None:
            db.close()


def _started(store: Path, run_id: int) -> Run:
    """Start the engine of a run that is written down, and wait until its trials are there."""
    db = open_readable(store)
    try:
        name = run_queries.run(db, run_id).name
        engine = create_run.spawn(store, name)
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
    return Run(store, run_id, engine)


def _as_toml(value: Any) -> str:  # noqa: ANN401  # any value that TOML has
    """Return a value as `--set` takes it."""
    return tomli_w.dumps({"value": value}).partition("=")[2].strip()


@contextmanager
def _file(suite: str | os.PathLike[str] | Mapping[str, Any]) -> Iterator[Path]:
    """Give a suite as a file: one that is given as a mapping is written beside, for a while."""
    if not isinstance(suite, Mapping):
        yield Path(suite)
        return
    # in the current folder, as its paths are relative to that
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=Path.cwd(), prefix=".tui-eval-", suffix=".toml"
    ) as file:
        file.write(tomli_w.dumps(suite))
        file.flush()
        yield Path(file.name)
