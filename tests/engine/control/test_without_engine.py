"""What is asked of many trials while no engine works: in portions, whoever is ended between two."""

import sqlite3
import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from tests.engine.harness import Harness, suite
from tests.servers.fake_model import FakeModel
from tui_eval.engine.control import verbs
from tui_eval.engine.control.submit import ask, settle
from tui_eval.engine.engine import Engine
from tui_eval.model.json import JsonObject
from tui_eval.model.states import Verdict
from tui_eval.store import lease
from tui_eval.store.requests import Verb
from tui_eval.store.writer import once

NEVER: JsonObject = {"kind": "exact", "name": "exact", "expected": "never"}
WRONG: JsonObject = {"scorer_specs": [NEVER], "judge_specs": []}

Between = Callable[[Callable[[], None]], None]


class Ended(BaseException):
    """An asker's process is ended."""


@pytest.fixture
def between(monkeypatch: pytest.MonkeyPatch) -> Between:
    """Have something done between portions, of two trials each."""
    monkeypatch.setattr(verbs, "PORTION", 2)

    def set_up(do: Callable[[], None]) -> None:
        clock = SimpleNamespace(monotonic=time.monotonic, sleep=lambda _: do())
        monkeypatch.setattr("tui_eval.engine.control.without_engine.time", clock)

    return set_up


def ends() -> None:
    raise Ended


async def rescored(harness: Harness, n: int = 5) -> tuple[int, int]:
    """Give a run whose trials all failed when they were scored otherwise, and that request."""
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, n))
        request = await harness.again(run, Verb.RESCORE, which="all", **WRONG)
    assert harness.counts(run).failed == n
    return run, request.id


def withdrawing(harness: Harness) -> int:
    (row,) = harness.sql("SELECT id FROM requests WHERE verb = 'withdraw' ORDER BY id LIMIT 1")
    return int(row[0])


async def test_others_write_between_the_portions_of_a_withdrawal(
    harness: Harness, between: Between
) -> None:
    run, request = await rescored(harness)
    passed: list[int] = []

    def write() -> None:
        db = sqlite3.connect(harness.path, timeout=0)
        db.execute("BEGIN IMMEDIATE")
        db.rollback()
        db.close()
        passed.append(harness.counts(run).passed)

    between(write)
    number = ask(harness.path, run, Verb.WITHDRAW, {"request": request})
    answer = harness.request(number)
    assert (answer.outcome, answer.detail) == ("accepted", "5 trials")
    assert passed == [2, 4]
    assert harness.counts(run).passed == 5
    assert '"never"' not in str(harness.sql("SELECT spec FROM runs WHERE id = ?", run)[0][0])


@pytest.mark.parametrize("how", ["next", "same", "engine"])
async def test_a_withdrawal_whose_asker_was_ended_is_gone_on_with(
    harness: Harness, between: Between, how: str
) -> None:
    run, request = await rescored(harness)
    between(ends)
    with pytest.raises(Ended):
        ask(harness.path, run, Verb.WITHDRAW, {"request": request})
    number = withdrawing(harness)
    assert harness.request(number).outcome is None
    assert harness.counts(run).passed == 2
    between(lambda: None)
    if how == "next":
        second = harness.request(ask(harness.path, run, Verb.WITHDRAW, {"request": request}))
        assert (second.outcome, second.detail) == ("closed", "nothing of it is left to undo")
    elif how == "same":
        settle(harness.path, run, number)
    else:
        await Engine(harness.path, run).run()
    answer = harness.request(number)
    assert (answer.outcome, answer.detail) == ("accepted", "5 trials")
    assert harness.counts(run).passed == 5
    undone = "SELECT count(*) FROM moves WHERE undone_by = ? AND request = ?"
    assert harness.sql(undone, number, request) == [(5,)]


async def test_an_engine_that_comes_between_portions_has_the_rest(
    harness: Harness, between: Between
) -> None:
    run, request = await rescored(harness)
    taken: list[int | None] = []
    between(lambda: taken.append(once(harness.path, lambda tx: lease.acquire(tx, run))))
    number = ask(harness.path, run, Verb.WITHDRAW, {"request": request})
    assert taken != [None]
    assert len(taken) == 1
    assert harness.request(number).outcome is None
    assert harness.counts(run).passed == 2


async def test_two_askers_that_go_on_with_a_request_count_each_trial_once(
    harness: Harness, between: Between
) -> None:
    run, request = await rescored(harness)
    others: list[str] = []

    def other() -> None:
        between(ends)
        with pytest.raises(Ended):
            settle(harness.path, run, withdrawing(harness))
        others.append("ended after its first portion")
        between(lambda: None)

    between(other)
    number = ask(harness.path, run, Verb.WITHDRAW, {"request": request})
    answer = harness.request(number)
    assert len(others) == 1
    assert (answer.outcome, answer.detail) == ("accepted", "5 trials")
    assert harness.counts(run).passed == 5


async def test_what_is_refused_is_counted_over_all_portions(
    harness: Harness, between: Between
) -> None:
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 5))
    harness.write("UPDATE trials SET state = 'queued' WHERE place IN (0, 3)")
    between(lambda: None)
    answer = harness.request(ask(harness.path, run, Verb.CANCEL, {"which": "all"}))
    assert answer.outcome == "accepted"
    assert answer.detail == "2 trials; 3 of 5 not: settled already (done)"


async def test_what_waits_to_be_scored_keeps_no_score_of_scorers_that_are_taken_back(
    harness: Harness,
) -> None:
    run, request = await rescored(harness, 2)
    # its engine went before the last of its new scores
    waits = harness.trial(run, "c1").id
    harness.write("UPDATE trials SET state = 'scoring', verdict = NULL WHERE id = ?", waits)
    answer = harness.request(ask(harness.path, run, Verb.WITHDRAW, {"request": request}))
    assert answer.outcome == "accepted"
    await harness.again(run, Verb.RESUME)
    assert [trial.verdict for trial in harness.trials(run)] == [Verdict.PASS, Verdict.PASS]
