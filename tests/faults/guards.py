"""The application's guards, each to be taken away: a test that passes without them is none."""

import asyncio
import contextlib
import os
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tui_eval.engine import early_writer
from tui_eval.engine.control import verbs
from tui_eval.engine.dispatch import trial_pool, worker_pool
from tui_eval.engine.journey import journey, trial_in_flight
from tui_eval.engine.launch import generation_keys, plan
from tui_eval.model import visible
from tui_eval.providers import patience, waiting
from tui_eval.reports.exports import formats, whole_file
from tui_eval.store import lease, schema, writer
from tui_eval.store.read.judges import judge_queries
from tui_eval.store.write import run_writes, trial_verbs
from tui_eval.targets import disk_room
from tui_eval.targets.model import model_target

Patch = Callable[[Any, str, object], None]
"""Puts another value in the place of an attribute, as `setattr` does."""


def _resume_that_forgets(patch: Patch) -> None:
    kept = run_writes.recover

    def recover(tx: Any, run: int) -> int:
        tx.db.execute("UPDATE trials SET state = 'queued' WHERE run = ? AND state = 'done'", (run,))
        return kept(tx, run)

    patch(run_writes, "recover", recover)


def _trials_wait_for_no_room(patch: Patch) -> None:
    async def patiently(_: Any, write: Any) -> Any:
        return await write()

    patch(disk_room.DiskRoom, "patiently", patiently)


def _resume_of_all(patch: Patch) -> None:
    def to_reopen(db: Any, run: int, request: int, *, errored: bool = True) -> list[int]:
        return [row[0] for row in db.execute("SELECT id FROM trials WHERE run = ?", (run,))]

    def reopen(tx: Any, trials: Any, request: int) -> None:
        for trial in trials:
            trial_verbs.retry(tx, trial)

    patch(verbs, "to_reopen", to_reopen)
    patch(verbs, "reopen", reopen)


def _keys_by_position(patch: Patch) -> None:
    position = iter(range(1_000_000_000))
    patch(plan, "request_key", lambda *_: b"%032d" % (next(position) % 5))


def _keys_without_target(patch: Patch) -> None:
    patch(
        plan,
        "request_key",
        lambda identity, request: generation_keys.request_key(b"{}", request["messages"]),
    )


def _migration_in_pieces(patch: Patch) -> None:
    def migrate(db: sqlite3.Connection) -> None:
        while (done := schema.version(db)) < len(schema.MIGRATIONS):
            schema.MIGRATIONS[done](db)
            db.execute(f"PRAGMA user_version = {done + 1}")

    patch(schema, "migrate", migrate)


def _export_in_place(patch: Patch) -> None:
    def to_file(path: Path, pieces: Iterator[str]) -> None:
        with path.open("w", encoding="utf-8") as file:
            for piece in pieces:
                file.write(piece)
                file.flush()

    patch(whole_file, "to_file", to_file)


def _disk_full_is_final(patch: Patch) -> None:
    patch(writer, "_PASSING", frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}))
    patch(early_writer, "StoreFullError", type("NeverError", (Exception,), {}))  # at opening, too


def _locked_is_final(patch: Patch) -> None:
    patch(writer, "_PASSING", frozenset({sqlite3.SQLITE_FULL}))


def _no_lease(patch: Patch) -> None:
    patch(lease.Lease, "alive", lambda self, now=None: False)


def _dead_leases_live(patch: Patch) -> None:
    patch(lease.Lease, "alive", lambda self, now=None: self.pid is not None)


def _attempts_forgotten(patch: Patch) -> None:
    kept = trial_verbs.retry

    def retry(tx: Any, trial: int, *more: Any, **named: Any) -> bool:
        moved = kept(tx, trial, *more, **named)
        tx.db.execute("UPDATE trials SET attempts = 0, input_tokens = 0 WHERE id = ?", (trial,))
        return moved

    patch(trial_verbs, "retry", retry)


def _no_retries(patch: Patch) -> None:
    patch(patience.Patience, "pause_before_next", lambda *_: None)


def _retry_after_ignored(patch: Patch) -> None:
    patch(patience, "retry_after", lambda headers, now=None: None)


def _retry_after_unbounded(patch: Patch) -> None:
    patch(waiting, "LONGEST_WAIT_S", 1e9)


def _all_is_graded(patch: Patch) -> None:
    from tui_eval.engine.journey import trial_scoring

    patch(trial_scoring, "override", lambda *_: None)


def _nothing_is_fatal(patch: Patch) -> None:
    kept = journey.Journey._failed

    def failed(self: Any, flight: Any, attempt: int, failure: Any, *more: Any) -> Any:
        return kept(self, flight, attempt, replace(failure, fatal=False), *more)

    patch(journey.Journey, "_failed", failed)


def _no_deadline(patch: Patch) -> None:
    kept = model_target.ModelTarget.generate

    async def generate(self: model_target.ModelTarget, request: Any, attempt: Any) -> Any:
        return await kept(self, request, replace(attempt, timeout_s=3600))

    patch(model_target.ModelTarget, "generate", generate)


def _no_pause_for_all(patch: Patch) -> None:
    from tui_eval.engine.limits import limiter

    patch(limiter.Limiter, "_pause", lambda *_: None)


def _whatever_comes_is_an_answer(patch: Patch) -> None:
    from aiohttp.client_proto import ResponseHandler

    from tui_eval.providers.http import strict_connection

    def trusting(loop: asyncio.AbstractEventLoop, unasked: asyncio.Event) -> ResponseHandler:
        return ResponseHandler(loop)

    patch(strict_connection, "StrictResponseHandler", trusting)


def _calls_go_on(patch: Patch) -> None:
    def withdraw(self: trial_in_flight.TrialInFlight) -> None:
        self.withdrawn = True

    patch(trial_in_flight.TrialInFlight, "withdraw", withdraw)


def _retry_of_anything(patch: Patch) -> None:
    kept = trial_verbs.retry

    def retry(tx: Any, trial: int, request: int | None = None) -> bool:
        state = "UPDATE trials SET state = 'done' WHERE id = ? AND state IN ('queued', 'running')"
        tx.db.execute(state, (trial,))
        return kept(tx, trial, request)

    patch(trial_verbs, "retry", retry)


def _no_room_for_signals(patch: Patch) -> None:
    from tui_eval.cli.running import foreground

    patch(foreground, "_SIGNALS", ())


def _text_as_it_is(patch: Patch) -> None:
    import re

    nothing = re.compile(r"(?!)")
    patch(visible, "_UNSAFE", nothing)
    patch(visible, "_UNSAFE_LINE", nothing)


def _jumping_deadlines(patch: Patch) -> None:
    import time
    import types

    from tui_eval.engine.limits import call_permit, user_limit

    wall = types.SimpleNamespace(monotonic=lambda: time.time(), time=time.time)
    for module in (trial_pool, worker_pool, call_permit, user_limit):
        patch(module, "time", wall)


def _slots_are_kept(patch: Patch) -> None:
    from tui_eval.engine.limits.call_permit import CallPermit

    ended = CallPermit.end

    def kept(self: CallPermit) -> None:
        if sys.exc_info()[0] is None:  # not where it raises
            ended(self)

    patch(CallPermit, "end", kept)


def _grades_are_forgotten(patch: Patch) -> None:
    recover = run_writes.recover

    def forget(tx: Any, run: int) -> int:
        trial_verbs.unscore_open(tx, run)
        return recover(tx, run)

    patch(judge_queries, "kept", lambda *_: {})
    patch(run_writes, "recover", forget)


GUARDS: dict[str, Callable[[Patch], None]] = {
    "resume that remembers": _resume_that_forgets,
    "resume of what is missing": _resume_of_all,
    "keys by content": _keys_by_position,
    "the target in the key": _keys_without_target,
    "one transaction a migration": _migration_in_pieces,
    "whole files": _export_in_place,
    "waiting for room": _disk_full_is_final,
    "room for the files of trials": _trials_wait_for_no_room,
    "waiting for the lock": _locked_is_final,
    "the lease": _no_lease,
    "telling dead from alive": _dead_leases_live,
    "sums over attempts": _attempts_forgotten,
    "retries": _no_retries,
    "Retry-After": _retry_after_ignored,
    "a ceiling on Retry-After": _retry_after_unbounded,
    "no grade without an answer": _all_is_graded,
    "the early stop": _nothing_is_fatal,
    "the deadline": _no_deadline,
    "the pause for all": _no_pause_for_all,
    "dropping what nobody asked for": _whatever_comes_is_an_answer,
    "ending calls": _calls_go_on,
    "one retry at a time": _retry_of_anything,
    "handlers of signals": _no_room_for_signals,
    "the choke point": _text_as_it_is,
    "monotonic deadlines": _jumping_deadlines,
    "slots given back": _slots_are_kept,
    "grades that count": _grades_are_forgotten,
}


@contextlib.contextmanager
def without(guard: str | None) -> Iterator[None]:
    """Take a guard away in this process and see the block fail; None: nothing is taken."""
    if guard is None:
        yield
        return
    with pytest.MonkeyPatch.context() as patch, pytest.raises(AssertionError):
        GUARDS[guard](patch.setattr)
        yield


@contextlib.contextmanager
def failing(guard: str | None) -> Iterator[None]:
    """See the block fail where a guard was taken from another process; None: see it pass."""
    if guard is None:
        yield
        return
    with pytest.raises(AssertionError):
        yield


def guarded(*guards: str, slow: bool = False) -> pytest.MarkDecorator:
    """Try a test as it is and, as its control, without each of these guards.

    Args:
        guards: Names from `GUARDS`; the test's `guard` is None or one of them.
        slow: Whether the controls belong to the whole list only.
    """
    marks = [pytest.mark.whole] if slow else []
    controls = [pytest.param(name, id=f"without {name}", marks=marks) for name in guards]
    return pytest.mark.parametrize("guard", [pytest.param(None, id="guarded"), *controls])


# --- moments to die at, in a process of its own --------------------------------------------------


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Countdown:
    """Dies at the last of so many ticks."""

    def __init__(self, n: int) -> None:
        self._left = n

    def tick(self) -> None:
        """Die at the last of so many."""
        self._left -= 1
        if self._left == 0:
            _die()


def _before_send(patch: Patch, count: Countdown) -> None:
    kept = model_target.ModelTarget.generate

    async def generate(self: model_target.ModelTarget, request: Any, attempt: Any) -> Any:
        count.tick()
        return await kept(self, request, attempt)

    patch(model_target.ModelTarget, "generate", generate)


def _after_reply(patch: Patch, count: Countdown) -> None:
    kept = model_target.ModelTarget.generate

    async def generate(self: model_target.ModelTarget, request: Any, attempt: Any) -> Any:
        reply = await kept(self, request, attempt)
        count.tick()
        return reply

    patch(model_target.ModelTarget, "generate", generate)


def _before_commit(patch: Patch, count: Countdown) -> None:
    kept = writer.commit

    def commit(db: Any, units: Sequence[Callable[[Any], object]], run: int, number: int) -> Any:
        def last(tx: Any) -> None:
            count.tick()

        return kept(db, [*units, last], run, number)[:-1]

    patch(writer, "commit", commit)


def _after_commit(patch: Patch, count: Countdown) -> None:
    kept = writer.commit

    def commit(*args: Any) -> Any:
        results = kept(*args)
        count.tick()
        return results

    patch(writer, "commit", commit)


def _before_staged(patch: Patch, count: Countdown) -> None:
    kept = run_writes.staged

    def staged(*given: Any, **named: Any) -> None:
        count.tick()
        kept(*given, **named)

    patch(run_writes, "staged", staged)


def _in_export(patch: Patch, count: Countdown) -> None:
    kept = formats.FORMATS["jsonl"]

    def pieces(*args: Any) -> Iterator[str | bytes]:
        for piece in kept(*args):
            yield piece
            count.tick()

    patch(formats, "FORMATS", {**formats.FORMATS, "jsonl": pieces})


def _in_first_schema(patch: Patch, count: Countdown) -> None:
    kept = schema.MIGRATIONS[0]

    def first_schema(db: sqlite3.Connection) -> None:
        db.set_trace_callback(lambda _: count.tick())
        kept(db)

    patch(schema, "MIGRATIONS", (first_schema,))


def _in_second_schema(patch: Patch, count: Countdown) -> None:
    def second_schema(db: sqlite3.Connection) -> None:
        for i in range(10):
            db.execute(f"CREATE TABLE more_{i} (a)")
            count.tick()

    patch(schema, "MIGRATIONS", (*schema.MIGRATIONS, second_schema))


MOMENTS: dict[str, Callable[[Patch, Countdown], None]] = {
    "before send": _before_send,
    "after reply": _after_reply,
    "before commit": _before_commit,
    "after commit": _after_commit,
    "before staged": _before_staged,
    "in an export": _in_export,
    "in the first schema": _in_first_schema,
    "in a migration": _in_second_schema,
}


def apply(guard: str | None, moment: str | None) -> None:
    """Take a guard from this process for good, and die at a moment (`before send:7`)."""
    if guard:
        GUARDS[guard](_put)
    if moment:
        name, n = moment.rsplit(":", 1)
        MOMENTS[name](_put, Countdown(int(n)))


def _put(of: Any, name: str, value: object) -> None:
    """Put a value in the place of one that is there: else there is no such guard any more."""
    getattr(of, name)
    setattr(of, name, value)
