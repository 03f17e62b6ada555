"""Runs on a real store, driven in the test's own loop."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from tests.fresh_store import fresh_store
from tests.waiting import until
from tui_eval.engine.control.submit import ask
from tui_eval.engine.engine import Engine
from tui_eval.engine.launch.create_run import create
from tui_eval.engine.settings import Settings
from tui_eval.model.json import JsonObject
from tui_eval.store.connection import open_readable
from tui_eval.store.read import request_queries, run_counts, run_queries
from tui_eval.store.read.run_counts import Counts
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.requests import Verb
from tui_eval.store.rows import RequestRow, RunRow, TrialRow
from tui_eval.suites.spec import Suite

P = ParamSpec("P")
T = TypeVar("T")


def suite(base_url: str, n: int, **changes: Any) -> Suite:
    """Give a suite of n questions `q0`, `q1`, … whose answer is the question itself."""
    run = {"concurrency": 10, **changes.pop("run", {})}
    described = {
        "name": "echo",
        "cases": [{"id": f"c{i}", "q": f"q{i}"} for i in range(n)],
        "prompts": [{"user": "{{ q }}"}],
        "targets": [{"kind": "model", "name": "fake", "base_url": base_url, "model": "fake-model"}],
        "scorers": [{"kind": "exact", "expected": "{{ q }}"}],
        "run": run,
        **changes,
    }
    return Suite.model_validate(described)


class Harness:
    """A store and what tests want to know of it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        fresh_store(path)

    def create(self, suite: Suite, settings: Settings | None = None) -> int:
        return create(self.path, suite, settings or Settings())

    async def run(self, suite: Suite, settings: Settings | None = None) -> int:
        """Run a suite to its end."""
        run_id = self.create(suite, settings)
        await Engine(self.path, run_id).run()
        return run_id

    async def again(self, run_id: int, verb: Verb, **args: Any) -> RequestRow:
        """Ask something of a run nobody works on, and work on it until it settles."""
        request = ask(self.path, run_id, verb, args)
        await Engine(self.path, run_id).run()
        return self.request(request)

    @asynccontextmanager
    async def working(self, suite: Suite) -> AsyncIterator[tuple[int, Engine]]:
        """Give a run that is being worked on; wait for its end on the way out."""
        run_id = self.create(suite)
        engine = Engine(self.path, run_id)
        task = asyncio.create_task(engine.run())
        try:
            yield run_id, engine
        finally:
            await asyncio.wait_for(task, 30)

    async def asked(self, run_id: int, verb: Verb, **args: Any) -> RequestRow:
        """Ask something of a live run and wait for the answer."""
        request = await asyncio.to_thread(ask, self.path, run_id, verb, dict[str, Any](args))
        await until(lambda: self.request(request).outcome is not None)
        return self.request(request)

    def request(self, request_id: int) -> RequestRow:
        row = self._read(request_queries.request, request_id)
        assert row is not None
        return row

    def row(self, run_id: int) -> RunRow:
        return self._read(run_queries.run, run_id)

    def counts(self, run_id: int) -> Counts:
        return self._read(run_counts.board, run_id)[0]

    def trials(self, run_id: int) -> list[TrialRow]:
        return self._read(trial_rows.trials_from, run_id, 0, 100_000)

    def trial(self, run_id: int, case_id: str) -> TrialRow:
        return next(trial for trial in self.trials(run_id) if trial.case_id == case_id)

    def _read(
        self,
        question: Callable[Concatenate[sqlite3.Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        db = open_readable(self.path)
        try:
            return question(db, *args, **kwargs)
        finally:
            db.close()

    def write(self, statement: str, *args: object) -> None:
        """Change the store behind everybody's back."""
        db = sqlite3.connect(self.path)
        try:
            with db:
                db.execute(statement, args)
        finally:
            db.close()

    def sql(self, statement: str, *args: object) -> list[tuple[Any, ...]]:
        db = sqlite3.connect(self.path)
        try:
            return db.execute(statement, args).fetchall()
        finally:
            db.close()


RUBRIC: JsonObject = {
    "kind": "judge",
    "name": "good",
    "rubric": "Is it good?",
    "scale": [0, 10],
    "judge": ["j"],
}


def judged(target: str, judge: str, n: int, /, **changes: Any) -> Suite:
    """Give a suite of n cases whose outputs a judge grades."""
    described = {"kind": "model", "name": "j", "base_url": judge, "model": "fake-judge"}
    described |= changes.pop("judge", {})
    return suite(
        target,
        n,
        scorers=changes.pop("scorers", [RUBRIC]),
        judges=changes.pop("judges", [described]),
        **changes,
    )


def gold_rows(n: int, wrong: int) -> list[dict[str, Any]]:
    """Give gold that a judge by numbers agrees with, but for the first `wrong`."""
    rows = []
    for i in range(n):
        digit = i % 10
        rows.append(
            {"input": f"x{i}", "output": f"x{digit}", "grade": 9 - digit if i < wrong else digit}
        )
    return rows
