"""Staging: trials stand in the store, as far as they come without anybody being asked."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.harness import Harness, suite
from tests.servers.fake_model import FakeModel
from tests.support import reading, writing
from tui_eval.engine.launch import plan, staging
from tui_eval.engine.launch.staging import StagingStoppedError, StagingWriter, stage
from tui_eval.engine.session import Session
from tui_eval.engine.settings import Settings
from tui_eval.model.case import Case
from tui_eval.model.outputs.output import Output
from tui_eval.model.states import RunState, TrialState, Verdict
from tui_eval.reports.live_results import live_results
from tui_eval.reports.results import results
from tui_eval.reports.run_events import look
from tui_eval.reports.terminal.listing import listing
from tui_eval.reports.terminal.summary import summary
from tui_eval.reports.terminal.tables import AnsiStyle
from tui_eval.store import lease
from tui_eval.store.follow import Pulse
from tui_eval.store.read import run_queries
from tui_eval.store.read.trials import reusable_outputs, trial_rows
from tui_eval.store.requests import Verb
from tui_eval.store.tx import Tx
from tui_eval.store.write import output_writes, run_writes
from tui_eval.store.writer import transact
from tui_eval.suites.spec import Suite
from tui_eval.ui.run.snapshot import snapshot


def staged(
    harness: Harness,
    wanted: Suite,
    settings: Settings | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> int:
    """Stage a run and do nothing else; give its id."""
    settings = settings or Settings()
    run = harness.create(wanted, settings)
    session = Session(wanted, settings)
    with writing(harness.path) as db:
        number = transact(db, lambda tx: lease.acquire(tx, run))
        assert number is not None
        transact(db, lambda tx: run_writes.add_columns(tx, run, session.column_rows()))
        with suppress(StagingStoppedError):
            writer = StagingWriter(db, run, number, never_told, stopped)
            stage(
                writer,
                session.wanted(None),
                session,
                reuse=session.reuses,
                whole=lambda: session.is_whole,
            )
        transact(db, lambda tx: lease.release(tx, run))
    return run


def never_told(why: str | None) -> None:
    raise AssertionError(why)


def states(harness: Harness, run: int) -> list[TrialState]:
    return [trial.state for trial in harness.trials(run)]


def scores(harness: Harness, run: int) -> list[tuple[Any, ...]]:
    return harness.sql(
        "SELECT s.scorer, s.verdict, s.value, s.reason, s.source, s.weight, s.required, s.current, "
        "s.superseded, s.output = t.output FROM trials t JOIN scores s ON s.trial = t.id "
        "WHERE t.run = ? ORDER BY t.place, s.id",
        run,
    )


async def test_what_the_store_has_is_scored_as_it_is_staged_just_as_it_was_before(
    harness: Harness,
) -> None:
    several = [
        {"kind": "exact", "expected": "{{ q }}"},
        {"kind": "includes", "expected": "q", "required": False, "weight": 2},
    ]
    async with FakeModel(answers={"q0": "q0", "q1": "q"}) as server:
        wanted = suite(server.base_url, 3, scorers=several)
        first = await harness.run(wanted)
        second = staged(harness, wanted)
        asked = server.requests
        other = suite(server.base_url, 3)
        third = staged(harness, other)
    assert states(harness, second) == [TrialState.DONE] * 3
    assert [t.verdict for t in harness.trials(second)] == [Verdict.PASS, Verdict.FAIL, Verdict.FAIL]
    assert scores(harness, second) == scores(harness, first)
    assert [(t.verdict, t.score) for t in harness.trials(second)] == [
        (t.verdict, t.score) for t in harness.trials(first)
    ]
    assert len(scores(harness, third)) == 3
    counts = harness.counts(second)
    assert (counts.cached, counts.attempts, counts.cost_usd) == (3, 0, 0.0)
    assert asked == 3


async def test_only_the_end_of_staging_waits_for_the_disk(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[tuple[str, int]] = []

    def watched(module: Any, name: str) -> None:
        kept = getattr(module, name)

        def write(tx: Tx, *args: Any, **kwargs: Any) -> None:
            waits.append((name, tx.db.execute("PRAGMA synchronous").fetchone()[0]))
            kept(tx, *args, **kwargs)

        monkeypatch.setattr(module, name, write)

    watched(run_writes, "add_trials")
    watched(run_writes, "staged")
    normal, full = 1, 2
    staged(harness, suite("http://127.0.0.1:9/v1", 2))
    assert waits == [("add_trials", normal), ("staged", full)]


GATES: dict[str, dict[str, Any]] = {
    "whole": {"pass_rate": 0.9, "max_error_rate": 0.1},
    "target": {"targets": {"b": {"pass_rate": 0.9}}},
    "scorer": {"scorers": {"exact": {"pass_rate": 0.9}, "polite": {"mean_score": 0.5}}},
    "tag": {"tags": {"odd": {"pass_rate": 0.9, "max_p95_latency_s": 1}}},
}


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("weight", [None, 2.0])
async def test_a_run_can_be_looked_at_between_any_two_portions(
    harness: Harness, gate: str, weight: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts, rates and gate name the run's columns, and agree, however much is staged."""
    kinds = ["a", "b", "c"]
    wanted = suite(
        "http://127.0.0.1:9/v1",
        0,
        cases=[
            {"id": f"c{i}", "q": "q", "tags": ["odd"] * (i % 2), "weight": weight} for i in range(4)
        ],
        targets=[{"kind": "simulated", "name": name, "answers": "q"} for name in kinds],
        scorers=[
            {"kind": "exact", "expected": "q"},
            {"kind": "exact", "expected": "q", "name": "polite", "when": "{{ false }}"},
        ],
        gate=GATES[gate],
    )
    await harness.run(wanted)  # so that the next has results before it is staged
    monkeypatch.setattr(plan, "_TRIALS", 1)
    seen: list[int] = []

    def look_around() -> bool:
        with reading(harness.path) as db:
            run = run_queries.runs(db)[0]
            assert not run.staged
            of = live_results(db, run.id)
            assert [*of.by_column] == [*of.rates] == [0, 1, 2]
            assert of.gate is not None
            assert not of.gate.settled
            whole = results(db, run.id)
            assert [column.counts for column in whole.columns] == [*of.by_column.values()]
            for column in whole.columns:
                known = of.rates[column.column.index]
                assert known.open
                assert known.rate == column.rates.pass_rate
                assert known.n == column.rates.n == column.counts.graded
                assert known.interval is column.rates.interval is None
            listing(db, [run], 0.0, 100, AnsiStyle(False))
            summary(whole, width=100, ink=AnsiStyle(False), groups=True)
            told = look(db, run.id, Pulse(0, 1), events=True, rated=True)
            assert told.counts == of.total
            snapshot(db, run.id, -1, [])
            seen.append(of.total.total)
        return False

    staged(harness, wanted, stopped=look_around)
    assert seen == [0, 3, 6, 9]
    assert harness.counts(newest(harness)).total == 12


def newest(harness: Harness) -> int:
    """Give the run that was made last."""
    return int(harness.sql("SELECT max(id) FROM runs")[0][0])


async def test_what_was_asked_is_there_for_scorers_that_name_it(harness: Harness) -> None:
    looking = [{"kind": "includes", "expected": "{{ prompt }}"}]
    own: list[Any] = [{"kind": "includes", "name": "own", "expected": "{{ messages[0].content }}"}]
    async with FakeModel(answers={"q0": "q0", "q1": "q1"}) as server:
        for told in (
            suite(server.base_url, 2, scorers=looking),
            suite(server.base_url, 0, cases=[{"id": "c0", "q": "q0", "scorers": own}, {"q": "q1"}]),
        ):
            assert harness.counts(await harness.run(told)).passed == 2
            assert harness.counts(staged(harness, told)).passed == 2


async def test_only_what_nobody_has_is_queued(harness: Harness) -> None:
    async with FakeModel() as server:
        await harness.run(suite(server.base_url, 2, run={"epochs": 2}))
        run = staged(harness, suite(server.base_url, 3, run={"epochs": 3}))
    done, queued = TrialState.DONE, TrialState.QUEUED
    assert states(harness, run) == [done, done, queued, done, done, queued, queued, queued, queued]


@pytest.mark.parametrize(
    ("settings", "partial"),
    [
        (Settings(limit=3), False),
        (Settings(limit=2), True),
        (Settings(sample=3), False),
        (Settings(sample=2), True),
        (Settings(cases=("c0", "c1", "c2")), False),
        (Settings(cases=("c0",)), True),
        (Settings(targets=("fake",)), False),
        (Settings(changed_dataset=True), True),
        (Settings(), False),
    ],
)
def test_what_leaves_nothing_out_is_no_partial_run(
    harness: Harness, settings: Settings, partial: bool
) -> None:
    run = staged(harness, suite("http://127.0.0.1:9", 3), settings)
    assert harness.sql("SELECT partial FROM runs WHERE id = ?", run) == [(int(partial),)]


async def test_what_takes_too_long_to_score_is_left_for_the_crew(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeModel() as server:
        wanted = suite(server.base_url, 4)
        await harness.run(wanted)
        monkeypatch.setattr(staging, "_SCORING_S", -1.0)
        run = staged(harness, wanted)
        assert sorted(states(harness, run)) == [TrialState.DONE] + [TrialState.SCORING] * 3
        await harness.again(run, Verb.RESUME)
        assert server.requests == 4
    assert harness.counts(run).passed == 4
    assert len(scores(harness, run)) == 4


async def test_a_bug_in_a_scorer_ends_its_trial_alone(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeModel() as server:
        wanted = suite(server.base_url, 3)
        await harness.run(wanted)
        kept = Session.outcome

        def broken(self: Session, column: Any, case: Case, *rest: Any) -> Any:
            if case.id == "c1":
                raise ZeroDivisionError("half way")
            return kept(self, column, case, *rest)

        monkeypatch.setattr(Session, "outcome", broken)
        run = staged(harness, wanted)
    assert states(harness, run) == [TrialState.DONE, TrialState.ERROR, TrialState.DONE]
    trial = harness.trial(run, "c1")
    assert (trial.error_kind, trial.output is None) == ("bug", False)


@pytest.mark.parametrize("how", ["deleted", "superseded"])
async def test_an_output_that_goes_while_it_is_scored_is_asked_for(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    async with FakeModel() as server:
        wanted = suite(server.base_url, 3)
        await harness.run(wanted)
        kept = reusable_outputs.usable_outputs

        def found(db: sqlite3.Connection, keys: list[bytes]) -> Iterator[tuple[bytes, int, Output]]:
            outputs = {key: (key, known, output) for key, known, output in kept(db, keys)}
            gone = outputs[keys[1]][1]
            with writing(harness.path) as other:
                if how == "deleted":
                    other.execute("DELETE FROM outputs WHERE id = ?", (gone,))
                else:
                    other.execute("UPDATE outputs SET superseded = 1 WHERE id = ?", (gone,))
            yield from outputs.values()

        monkeypatch.setattr(reusable_outputs, "usable_outputs", found)
        run = staged(harness, wanted)
    assert states(harness, run) == [TrialState.DONE, TrialState.QUEUED, TrialState.DONE]
    assert harness.trials(run)[1].output is None
    assert len(scores(harness, run)) == 2


async def test_a_staging_that_is_done_again_leaves_nothing_of_the_first(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "_TRIALS", 2)
    async with FakeModel() as server:
        wanted = suite(server.base_url, 5)
        await harness.run(wanted)
        looks = iter([False, False, True])
        run = staged(harness, wanted, stopped=lambda: next(looks))
        assert (len(harness.trials(run)), harness.row(run).staged) == (4, False)
        await harness.again(run, Verb.RESUME)
        assert server.requests == 5
    assert harness.row(run).state is RunState.DONE
    assert len(scores(harness, run)) == 5
    assert harness.sql(
        "SELECT count(*) FROM scores WHERE trial NOT IN (SELECT id FROM trials)"
    ) == [(0,)]


def cases(texts: list[str]) -> Iterator[Case]:
    return (Case(i, str(i), {"q": text}) for i, text in enumerate(texts))


def wanted_of(made: Suite, given: Iterator[Case], epochs: int = 1) -> list[list[plan.PlannedTrial]]:
    session = Session(made, Settings())
    return list(plan.wanted(given, session.columns, session.targets, epochs))


def test_portions_are_bounded_in_trials_and_in_size(monkeypatch: pytest.MonkeyPatch) -> None:
    made = suite("http://127.0.0.1:9/v1", 0, cases=[{"id": "a", "q": "x"}])
    monkeypatch.setattr(plan, "_TRIALS", 6)
    portions = wanted_of(made, cases(["x"] * 10), epochs=2)
    assert [len(portion) for portion in portions] == [6, 6, 6, 2]
    monkeypatch.setattr(plan, "_CHARACTERS", 100)
    portions = wanted_of(made, cases(["x" * 60] * 5), epochs=1)
    assert [len(portion) for portion in portions] == [2, 2, 1]
    listed = (Case(i, str(i), {"q": "x", "parts": ["y" * 200]}) for i in range(3))
    assert [len(portion) for portion in wanted_of(made, listed)] == [1, 1, 1]


@given(
    st.lists(st.sampled_from("xyz"), min_size=1, max_size=12), st.integers(1, 13), st.integers(1, 4)
)
def test_equal_requests_are_told_apart_wherever_portions_end(
    texts: list[str], at_once: int, put_away_at: int
) -> None:
    made = suite("http://127.0.0.1:9/v1", 0, cases=[{"id": "a", "q": "x"}])
    usual = [want.key for portion in wanted_of(made, cases(texts)) for want in portion]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "_TRIALS", at_once)
        patch.setattr(plan, "_NEAR", put_away_at)
        keys = [want.key for portion in wanted_of(made, cases(texts)) for want in portion]
    assert keys == usual
    assert len(set(keys)) == len(texts)
    assert keys[0] == wanted_of(made, cases(texts[:1]))[0][0].key, "as if it were alone"


def test_of_equal_outputs_the_newest_is_used_that_may_be(harness: Harness) -> None:
    harness.create(suite("http://127.0.0.1:9/v1", 1))
    with writing(harness.path) as db:
        for key, text in ((b"a", "old"), (b"b", "b"), (b"a", "new"), (b"a", "newest")):
            transact(db, partial(output_writes.add_output, key=key, output=Output(text)))
        db.execute("UPDATE outputs SET superseded = 1 WHERE text = 'newest'")
        found = [
            (key, at, output.text)
            for key, at, output in reusable_outputs.usable_outputs(db, [b"c", b"b", b"a"])
        ]
        assert found == [(b"b", 2, "b"), (b"a", 3, "new")]
        assert reusable_outputs.usable_keys(db, [b"c", b"a"]) == {b"a"}


def test_more_may_be_looked_up_than_one_question_names(harness: Harness) -> None:
    run = harness.create(suite("http://127.0.0.1:9/v1", 1))
    with reading(harness.path) as db:
        keys = [bytes([n % 256]) * 32 for n in range(1200)]
        assert reusable_outputs.usable_keys(db, keys) == set()
        assert list(reusable_outputs.usable_outputs(db, keys)) == []
        assert reusable_outputs.usable_no_more(db, range(1200)) == {*range(1200)}
        assert trial_rows.names_of_cases(db, run, [str(n) for n in range(1200)]) == set()
        assert run_queries.run(db, run).total == 0
