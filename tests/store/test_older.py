"""Stores that earlier versions made open: they tell what they told, and go on from there."""

import json
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from tests.engine.harness import Harness
from tests.servers.fake_judge import answers, by_number
from tests.servers.fake_model import FakeModel
from tests.store.older.kept import HERE, restore, told
from tui_eval.engine.control.submit import ask
from tui_eval.engine.control.verbs import last_done
from tui_eval.engine.engine import Engine
from tui_eval.model.runs.endpoint_event import EndpointEventKind
from tui_eval.model.states import TrialState, Verdict
from tui_eval.store import schema
from tui_eval.store.connection import open_readable, open_writable
from tui_eval.store.read import request_queries, run_queries
from tui_eval.store.requests import Verb

VERSIONS = sorted(int(path.name.split(".")[0].split("-")[1]) for path in HERE.glob("*.sql.gz"))

pytestmark = pytest.mark.parametrize("version", VERSIONS)


@asynccontextmanager
async def opened(version: int, path: Path) -> AsyncIterator[tuple[Harness, FakeModel]]:
    """Give a kept store, brought up to date, with a server in place of the one it knew."""
    async with FakeModel(answers(by_number)) as server:
        restore(version, path, server.base_url)
        open_writable(path).close()
        yield Harness(path), server


def run_of(harness: Harness, suite: str) -> int:
    return int(harness.sql("SELECT id FROM runs WHERE suite = ?", suite)[0][0])


def undone(harness: Harness, run: int) -> tuple[Verb, int]:
    """Give the verb that takes back what was done last to a run, and the request it is about."""
    done = harness._read(last_done, run)
    assert done is not None
    return done.undone_by, done.id


def counting(harness: Harness, run: int) -> dict[tuple[str, str], int]:
    """Count the scores that count, by scorer and verdict."""
    rows = harness.sql(
        "SELECT s.scorer, s.verdict FROM scores s JOIN trials t ON t.id = s.trial "
        "WHERE t.run = ? AND s.current = 1",
        run,
    )
    return dict(Counter((scorer, verdict) for scorer, verdict in rows))


def differing(before: Any, now: Any, where: str = "") -> list[str]:
    """Name what is no longer as it was told before; what is told beside it does not matter."""
    if isinstance(before, dict) and isinstance(now, dict):
        return [
            found
            for name, value in before.items()
            for found in differing(value, now.get(name, "gone"), f"{where}.{name}")
        ]
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        pairs = zip(before, now, strict=True)
        return [
            found for i, (a, b) in enumerate(pairs) for found in differing(a, b, f"{where}[{i}]")
        ]
    return [] if before == now else [f"{where}: {before!r} → {now!r}"]


def test_an_older_store_tells_what_it_told(version: int, tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    restore(version, path)
    open_writable(path).close()
    with closing(open_readable(path)) as db:
        now = json.loads(json.dumps(told(db)))
    before = json.loads((HERE / f"schema-{version}.json").read_text(encoding="utf-8"))
    assert before.keys() == now.keys()
    assert differing(before, now) == []


def test_what_is_no_longer_told_alike_is_named(version: int) -> None:
    before = json.loads((HERE / f"schema-{version}.json").read_text(encoding="utf-8"))
    now = json.loads(json.dumps(before))
    now["judged"]["document"]["counts"]["passed"] += 1
    now["judged"]["history"][0]["scores"].pop()
    del now["overlapping"]["document"]["exit_code"]
    assert [found.split(":")[0] for found in differing(before, now)] == [
        ".judged.document.counts.passed",
        ".judged.history[0].scores",
        ".overlapping.document.exit_code",
    ]


def test_a_copy_is_kept_as_it_was(version: int, tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    restore(version, path)
    said: list[str] = []
    open_writable(path, said.append).close()
    copy = path.with_name(f"{path.name}.schema-{version}")
    if version == len(schema.MIGRATIONS):
        assert not copy.exists()
        return
    assert copy.name in said[0]
    with closing(sqlite3.connect(copy)) as db:
        assert schema.version(db) == version
        assert db.execute("SELECT count(*) FROM runs").fetchone() == (5,)


def test_what_was_said_of_endpoints_is_said_so_still(version: int, tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    restore(version, path)
    with closing(sqlite3.connect(path)) as db:
        names = [row[1] for row in db.execute("PRAGMA table_info(limits)")]
        if "reason" not in names:
            pytest.skip("it had kinds already")
        made = [
            "calls take 1.2 s, 0.5 s when there were fewer",
            "calls time out",
            "fewer calls are no faster",
            "rate limited (429)",
            "a clean round",
            "set by a person",
            "judge 'j' stopped: no more of it",
            "nothing remains of its tokens: paused for 0.25 s",
        ]
        db.executemany(
            "INSERT INTO limits (run, endpoint, concurrency, reason, at) VALUES (1, 'e', 1, ?, 0)",
            [(reason,) for reason in made],
        )
        db.commit()
        query = "SELECT endpoint, concurrency, reason, at FROM limits ORDER BY id"
        before = db.execute(query).fetchall()
    open_writable(path).close()
    with closing(open_readable(path)) as db:
        rows = db.execute(f"SELECT {run_queries.LIMIT} FROM limits ORDER BY id").fetchall()
    limits = [run_queries.limit_of(row) for row in rows]
    now = [(one.endpoint, one.concurrency, one.event.words, one.at) for one in limits]
    assert now == before
    assert {one.event.kind for one in limits} == set(EndpointEventKind) - {
        EndpointEventKind.SWEEP_LEVEL,
        EndpointEventKind.ROOM,
        EndpointEventKind.UNMEASURED,
        EndpointEventKind.WORKERS,
        EndpointEventKind.PLACING,
        EndpointEventKind.PLACED,
        EndpointEventKind.WORKER_LOST,
        EndpointEventKind.WITHOUT,
        EndpointEventKind.LOW_MEMORY,
        EndpointEventKind.MEMORY_PRESSURE,
        EndpointEventKind.LOW_DISK,
        EndpointEventKind.BUSY_PROCESSORS,
        EndpointEventKind.ALONE,
        EndpointEventKind.OVERLOADED,
        EndpointEventKind.AS_OVERLOADED,
    }, "programs were admitted by number then, and no 503 was a refusal"


async def test_the_last_rescore_is_undone(version: int, tmp_path: Path) -> None:
    async with opened(version, tmp_path / "store.sqlite3") as (harness, server):
        run = run_of(harness, "judged")
        verb, request = undone(harness, run)
        assert counting(harness, run) == {("exact", "fail"): 10}
        answer = harness.request(ask(harness.path, run, verb, {"request": request}))
        assert (answer.outcome, answer.detail) == ("accepted", "10 trials")
        assert counting(harness, run) == {("exact", "pass"): 10, ("good", "fail"): 10}
        assert harness.counts(run).done == 10
        assert server.requests == 0


async def test_rescores_that_others_followed_are_told_apart(version: int, tmp_path: Path) -> None:
    async with opened(version, tmp_path / "store.sqlite3") as (harness, _):
        run = run_of(harness, "overlapping")
        first = harness.sql("SELECT min(id) FROM requests WHERE run = ?", run)[0][0]
        answer = harness.request(ask(harness.path, run, Verb.WITHDRAW, {"request": first}))
        assert answer.outcome == "accepted"
        assert answer.detail == "1 trial; 2 of 3 not: cancelled, scored or asked again since"
        verdicts = [trial.verdict for trial in harness.trials(run)]
        assert verdicts == [Verdict.FAIL, Verdict.FAIL, Verdict.PASS]


async def test_a_rescore_of_cancelled_trials_is_undone(version: int, tmp_path: Path) -> None:
    async with opened(version, tmp_path / "store.sqlite3") as (harness, _):
        run = run_of(harness, "stood")
        verb, request = undone(harness, run)
        ask(harness.path, run, verb, {"request": request})
        assert harness.counts(run).cancelled == 2


async def test_cancelled_trials_go_on_one_request_after_the_other(
    version: int, tmp_path: Path
) -> None:
    async with opened(version, tmp_path / "store.sqlite3") as (harness, server):
        run = run_of(harness, "cancelled")
        for case in ("c1", "c0"):
            verb, request = undone(harness, run)
            answer = await harness.again(run, verb, request=request)
            assert (answer.outcome, answer.detail) == ("accepted", "1 trial")
            assert harness.trial(run, case).verdict is Verdict.PASS
        assert server.counts == {"q0": 1, "q1": 1}


async def test_a_rescore_goes_on_whose_engine_was_killed(version: int, tmp_path: Path) -> None:
    async with opened(version, tmp_path / "store.sqlite3") as (harness, _):
        run = run_of(harness, "killed")
        await Engine(harness.path, run).run()
        request = harness._read(request_queries.requests, run, pending=False)[-1]
        assert (request.outcome, request.detail) == ("accepted", "3 trials")
        assert {trial.state for trial in harness.trials(run)} == {TrialState.DONE}
        answer = harness.request(ask(harness.path, run, Verb.WITHDRAW, {"request": request.id}))
        assert (answer.outcome, answer.detail) == ("accepted", "3 trials")


async def test_what_is_there_is_scored_again(version: int, tmp_path: Path) -> None:
    async with opened(version, tmp_path / "store.sqlite3") as (harness, server):
        run = run_of(harness, "judged")
        answer = await harness.again(run, Verb.RESCORE, which="all")
        assert (answer.outcome, answer.detail) == ("accepted", "10 trials")
        assert harness.counts(run).done == 10
        assert server.requests == 0  # its scorers, as they are by now, ask no judge
