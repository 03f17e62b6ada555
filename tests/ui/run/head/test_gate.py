"""The gate, as the Run screen says it."""

from dataclasses import replace
from pathlib import Path

from tests.support import do, key, reading, writing
from tests.ui.playing import (
    app_on,
    by_hand,
    finished,
    made_up,
    shown_on,
    until_shown,
    words,
)
from tui_eval.engine.launch.create_run import create
from tui_eval.engine.session import Session
from tui_eval.engine.settings import Settings
from tui_eval.model.case import Case
from tui_eval.model.states import RunState
from tui_eval.reports.gates.gate import MissedThreshold
from tui_eval.reports.live_results import LiveGate, live_results
from tui_eval.reports.rates.pass_rates import ColumnPassRate
from tui_eval.store import lease
from tui_eval.store.read import run_queries
from tui_eval.store.write import run_writes
from tui_eval.store.write.run_writes import NewTrial
from tui_eval.ui.run.head.cluster_line import cluster_line
from tui_eval.ui.run.head.gate import gate_line, missed_words
from tui_eval.ui.theme.glyphs import UNICODE


async def test_a_run_with_a_gate_and_several_targets_is_shown_while_it_is_staged(
    store: Path,
) -> None:
    suite = made_up(
        targets=[
            {"kind": "simulated", "name": name, "answers": "{{ a }}"} for name in ("one", "two")
        ],
        gate={"pass_rate": 0.9},
    )
    run = create(store, suite, Settings())
    columns = Session(suite, Settings()).column_rows()
    with writing(store) as db:
        do(db, lambda tx: run_writes.move(tx, run, RunState.RUNNING))
        do(db, lambda tx: lease.acquire(tx, run))
        async with shown_on(
            app_on(store, run=str(run_queries.run(db, run).name)), (100, 24)
        ) as pilot:
            await until_shown(pilot, "staging", "0/0", "gate …")
            do(db, lambda tx: run_writes.add_columns(tx, run, columns))
            await until_shown(pilot, "two", "nothing to measure yet")
            case = Case(0, "first", {})
            trials = [NewTrial(0, 0, 0, 0, key("a")), NewTrial(1, 0, 1, 0, key("b"))]
            do(db, lambda tx: run_writes.add_cases(tx, run, [case]))
            do(db, lambda tx: run_writes.add_trials(tx, run, trials))
            await until_shown(pilot, "staging", "0/2", "first")
            do(db, lambda tx: run_writes.staged(tx, run))
            await until_shown(pilot, "running", "0/2", "nothing to measure yet")


def gate_words(gate: LiveGate, columns: int = 1, width: int = 80) -> str:
    return words(gate_line(gate, columns, width, UNICODE)).strip()


RATE = MissedThreshold("one", None, "pass_rate", 0.9, 0.675)


def test_the_gate_says_whether_it_holds() -> None:
    assert gate_words(LiveGate(True, (), 0)) == "gate ✓ holds"
    assert gate_words(LiveGate(False, (), 0)) == "gate ✓ holds so far"
    assert gate_words(LiveGate(False, (), 2)) == "gate · nothing to measure yet"
    later = LiveGate(False, (), 0, later=True)
    assert gate_words(later) == "gate ✓ holds so far · baseline at the end"
    assert gate_words(replace(later, bare=True)) == "gate · baseline at the end"
    unclear = LiveGate(True, (), 0, ("one", "two"))
    assert gate_words(unclear) == "gate ? holds, but the baseline is unclear"
    assert gate_words(unclear, 3) == "gate ? holds, but the baseline is unclear: one, two"
    assert gate_words(unclear, 3, 50) == "gate ? holds, but the baseline is unclear"
    missed = gate_words(LiveGate(True, (RATE,), 0))
    assert missed == "gate ✗ does not hold  pass rate 67.5% < 90%"
    assert gate_words(LiveGate(False, (RATE,), 0)).startswith("gate ✗ does not hold so far  ")


def test_what_of_a_gate_does_not_hold_is_told_in_few_words() -> None:
    latency = MissedThreshold("one", "tag hard", "max_p95_latency_s", 2.0, 3.14159)
    assert missed_words(latency, True) == "one tag hard p95 latency 3.14s > 2s"
    assert missed_words(replace(RATE, got=0.89996), False) == "pass rate 89.996% < 90%"
    assert missed_words(replace(RATE, got=None), False) == "pass rate unknown < 90%"
    cost = MissedThreshold("one", None, "max_cost_usd", 0.5, 0.75)
    assert missed_words(cost, False) == "cost usd $0.75 > $0.50"


def test_a_gate_says_how_much_more_does_not_hold_than_there_is_room_for() -> None:
    gate = LiveGate(True, tuple(replace(RATE, column=f"target-{n}") for n in range(5)), 0)
    for width in (80, 120, 400):
        shown = gate_words(gate, 5, width)
        assert len(shown) <= width
        assert shown.endswith("more") == (width < 400), shown
    assert gate_words(gate, 5, 30).endswith("5 thresholds")


async def test_the_gate_is_judged_as_the_reports_judge_it(store: Path) -> None:
    gated = made_up(40, gate={"pass_rate": 1.0, "max_error_rate": 0.0})
    run = await finished(store, gated)
    with reading(store) as db:
        gate = live_results(db, run).gate
    assert gate is not None
    assert gate.settled
    assert [missed.threshold for missed in gate.missed] == ["pass_rate"]
    plain = await finished(store, made_up(3, name="plain"))
    with reading(store) as db:
        assert live_results(db, plain).gate is None


def test_a_gate_of_an_open_run_is_not_missed_by_what_nobody_can_measure_yet(store: Path) -> None:
    spec = made_up(2, gate={"pass_rate": 0.9}).model_dump_json()
    made = by_hand(
        store,
        [Case(0, "a", {}), Case(1, "b", {})],
        answers=[None, None],
        spec=spec,
        state=RunState.RUNNING,
    )
    with reading(store) as db:
        assert live_results(db, made.run).gate == LiveGate(False, (), 1)


def test_the_head_has_both_errors_where_cases_are_in_clusters() -> None:
    rate = ColumnPassRate(0.5, 60, (0.0, 1.0), False, 6, 0.065, 0.224)
    said = words(cluster_line({0: rate, 1: replace(rate, stderr=0.05)}, 120))
    assert said.strip().split("   ") == [
        "95% is over 6 clusters",
        "standard error 22.4 22.4 points; 6.5 5.0 were all cases independent",
    ]
    assert words(cluster_line({0: rate}, 60)).strip() == "95% is over 6 clusters"
    assert cluster_line({0: ColumnPassRate(0.5, 60, (0.4, 0.6), False)}, 120) == []
