"""What the Run screen reads of a run: what changed, and the figures."""

import asyncio
import math
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support import output, reading
from tests.ui.playing import by_hand, finished, first_snapshot, made_up, plain_run, words
from tui_eval.engine.settings import Settings
from tui_eval.model.case import Case
from tui_eval.model.outputs.output import Failure
from tui_eval.model.states import RunState
from tui_eval.reports.live_results import LiveResults, live_results
from tui_eval.reports.rates.run_rates import rates
from tui_eval.ui.run import monitor as monitor_module
from tui_eval.ui.run.figures import count_figures
from tui_eval.ui.run.head.run_head import state_words
from tui_eval.ui.run.head.target_table import target_lines
from tui_eval.ui.run.monitor import RunMonitor
from tui_eval.ui.run.snapshot import Snapshot, snapshot
from tui_eval.ui.store_access.store_client import StoreClient
from tui_eval.ui.theme.glyphs import UNICODE


async def test_a_feed_tells_what_changed_and_no_more(store: Path) -> None:
    made = plain_run(store, 4)
    client = StoreClient(store)
    await client.open()
    try:
        snapshots = RunMonitor(client, made.run).snapshots()
        first, *_ = await anext(snapshots)
        assert isinstance(first, Snapshot)
        assert first.changed == ()
        assert first.total.passed == 3
        assert first.epochs == 1
        await snapshots.aclose()
    finally:
        await client.close()


async def test_results_that_are_quickly_read_come_with_the_snapshot(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What belongs together is painted together; slow ones keep no snapshot waiting."""
    made = plain_run(store, 4)
    client = StoreClient(store)
    await client.open()
    try:
        monitor = RunMonitor(client, made.run)
        snapshots, results = monitor.snapshots(), monitor.results()
        kinds = []
        for slow in (False, True, False):
            monkeypatch.setattr(monitor_module, "_QUICK_S", -1.0 if slow else math.inf)
            monitor.wake()
            kinds.append([type(part) for part in await anext(snapshots)])
            if slow:
                assert [type(part) for part in await anext(results)] == [LiveResults]
        assert kinds == [[Snapshot, LiveResults], [Snapshot], [Snapshot, LiveResults]]
        await snapshots.aclose()
        await results.aclose()
    finally:
        await client.close()


async def test_what_changes_while_results_become_quick_to_read_is_in_the_next(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A snapshot that came without results, as they were slow so far, is not the last word."""
    monkeypatch.setattr(monitor_module, "_QUICK_S", 60.0)
    made = plain_run(store, 4)
    client = StoreClient(store)
    await client.open()
    try:
        monitor = RunMonitor(client, made.run)
        snapshots, results = monitor.snapshots(), monitor.results()
        await anext(results)
        monitor._results_took = math.inf  # as when that is still being read
        await anext(snapshots)
        monitor.wake()
        assert [type(part) for part in await anext(snapshots)] == [Snapshot]
        monitor._results_took = 0.0
        again = asyncio.ensure_future(anext(results))  # asked for more, it looks what changed
        found = await asyncio.wait_for(anext(snapshots), 10)
        assert [type(part) for part in found] == [Snapshot, LiveResults]
        again.cancel()
        await snapshots.aclose()
    finally:
        await client.close()


def test_a_snapshot_lists_the_rows_that_changed_with_their_reasons(store: Path) -> None:
    made = plain_run(store, 8, failing=(5,))
    with reading(store) as db:
        found = snapshot(db, made.run, 0, [])
    assert len(found.changed) == 8
    assert found.reasons == {made.trials[5]: "exact: expected 5"}
    assert not found.overflow


def test_too_many_changes_are_not_listed_one_by_one(store: Path) -> None:
    made = plain_run(store, 450)
    with reading(store) as db:
        found = snapshot(db, made.run, 0, [])
    assert found.overflow
    assert found.changed == ()


def test_figures_of_a_settled_run_have_rates_with_intervals(store: Path) -> None:
    spec = (
        '{"name":"s","targets":[{"kind":"simulated","name":"one","answers":["x"]}],'
        '"cases":[{"id":"a"}]}'
    )
    cases = [Case(i, f"c{i}", {}) for i in range(10)]
    made = by_hand(
        store,
        cases,
        answers=[output(str(i)) for i in range(10)],
        reasons=[*["no"] * 3],
        spec=spec,
    )
    with reading(store) as db:
        found, counted = live_results(db, made.run), count_figures(db, made.run)
    assert found.rates[0].rate == pytest.approx(0.7)
    assert found.rates[0].interval is not None
    assert counted.failing == (("exact", 3),)


async def test_rates_of_epochs_are_those_of_the_reports(store: Path) -> None:
    suite = made_up(12)
    run_id = await finished(store, suite, Settings(epochs=3))
    with reading(store) as db:
        found = live_results(db, run_id)
        reported = rates(db, run_id, suite.run).columns[0]
    assert found.rates[0].rate == reported.pass_rate
    assert found.rates[0].interval == reported.interval


async def test_rates_without_epochs_are_those_of_the_reports_too(store: Path) -> None:
    suite = made_up(40)
    run_id = await finished(store, suite)
    with reading(store) as db:
        found = live_results(db, run_id)
        reported = rates(db, run_id, suite.run).columns[0]
    assert found.rates[0].rate == pytest.approx(reported.pass_rate)
    assert found.rates[0].interval == pytest.approx(reported.interval)


def test_rates_of_open_columns_are_so_far_and_have_no_interval(store: Path) -> None:
    cases = [Case(i, f"c{i}", {}) for i in range(4)]
    made = by_hand(
        store,
        cases,
        answers=[output("x"), output("y"), Failure("timeout", "slow"), None],
        reasons=[None, "no"],  # type: ignore[list-item]
        state=RunState.RUNNING,
    )
    found = first_snapshot(store, made.run)
    with reading(store) as db:
        now = live_results(db, made.run)
    head, line = target_lines(found, now, None, 3, 80)
    said = ["target", "pass", "95%", "n", "!"]
    assert words(head).split() == said, "none is ungraded, and no latency is known"
    name, rate, bar, *rest = words(line).split()
    assert (name, rate, rest) == ("one", "50.0%", ["so", "far", "2", "1"])
    assert bar.strip(UNICODE.bar + UNICODE.bar_rest) == ""
    assert state_words(found, time.time()) == ("interrupted", "error")
    (_, judged) = target_lines(found, replace(now, judged=True), None, 3, 80)
    assert "~50.0%" in words(judged)
    (_, unread) = target_lines(found, None, None, 3, 80)
    assert words(unread).split()[1:] == ["–"] * 2
