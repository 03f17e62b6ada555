"""The lines above the trials: state, targets, money, pace."""

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.engine.harness import Harness, judged
from tests.servers.fake_judge import answers, by_number
from tests.servers.fake_model import Call, FakeModel, Reply
from tests.support import output, reading, writing
from tests.ui.playing import (
    app_on,
    by_hand,
    first_snapshot,
    lines,
    plain_run,
    run_screen,
    shown_on,
    until_shown,
    words,
)
from tests.ui.run.making import with_run
from tui_eval.engine.limits.spend_caps import Caps
from tui_eval.format import money
from tui_eval.model.case import Case
from tui_eval.model.runs import endpoint_event
from tui_eval.model.states import RunState
from tui_eval.reports.document import document
from tui_eval.reports.live_results import LiveResults, live_results
from tui_eval.reports.results import results
from tui_eval.reports.spending import Spending
from tui_eval.reports.terminal.progress import line
from tui_eval.reports.terminal.summary import summary
from tui_eval.reports.terminal.tables import AnsiStyle
from tui_eval.reports.throughput import expected_usd
from tui_eval.store.read import request_queries, run_queries
from tui_eval.store.read.consignment_queries import BulkProgress
from tui_eval.store.read.run_counts import Counts
from tui_eval.store.read.run_parts import RunParts
from tui_eval.store.read.trials.trial_queries import RecentActivity
from tui_eval.store.rows import LimitRow
from tui_eval.ui.run.actions.capping import capped
from tui_eval.ui.run.figures import ColumnDifference, ColumnDifferences, Figures
from tui_eval.ui.run.head.pace import RunPace
from tui_eval.ui.run.head.pace_line import pace_line
from tui_eval.ui.run.head.run_head import state_words
from tui_eval.ui.run.head.target_table import target_lines
from tui_eval.ui.run.observed_run import ObservedRun
from tui_eval.ui.run.snapshot import snapshot
from tui_eval.ui.theme.glyphs import UNICODE


def test_targets_beyond_the_room_are_folded(store: Path) -> None:
    names = [f"target-{n}" for n in range(6)]
    made = by_hand(store, [Case(0, "c", {})], answers=[None] * 6, columns=names)
    found = first_snapshot(store, made.run)
    lines = target_lines(found, None, None, 3, 80)
    assert len(lines) == 4
    assert words(lines[0]).split("  ")[1] == "target, 3 of 6"
    assert len(target_lines(found, None, None, 8, 80)) == 7
    narrow = target_lines(found, None, None, 8, 60)
    assert all(len(words(line)) <= 60 for line in narrow)


@pytest.mark.parametrize("names", [("a", "b"), ("a-name-of-some-length", "b")])
def test_rates_have_their_bar_whatever_the_names_are(store: Path, names: tuple[str, str]) -> None:
    answers = [output("o", latency_s=1.0)] * 2
    made = by_hand(store, [Case(0, "c", {})], answers=answers, columns=names)
    found = first_snapshot(store, made.run)
    with reading(store) as db:
        live = live_results(db, made.run)
    assert UNICODE.bar in words(target_lines(found, live, None, 3, 120)[1])


def test_on_a_narrow_screen_the_interval_stays_longer_than_times_and_what_is_truncated(
    store: Path,
) -> None:
    long, cut = "borealis-2025-instruct", output("o", finish_reason="length")
    made = by_hand(store, [Case(0, "c", {})], answers=[output("o"), cut], columns=["one", long])
    found = first_snapshot(store, made.run)
    with reading(store) as db:
        live = live_results(db, made.run)
    counted = Figures({1: 1}, {0: 0.4}, (), (), (), 0, 0)
    head, *rows = [words(line) for line in target_lines(found, live, counted, 3, 60)]
    assert "95%" in head
    assert "p50" not in head
    assert "borealis-2…struct" in rows[1]
    assert "p50" in words(target_lines(found, live, counted, 3, 120)[0])
    untimed = Figures({}, {}, (), (), (), 0, 0)
    assert "p50" not in words(target_lines(found, live, untimed, 3, 120)[0])


@pytest.mark.parametrize(("suite", "said"), [("short", True), ("a-suite-of-a-long-name", False)])
async def test_what_has_no_room_beside_the_name_is_not_said_in_part(
    store: Path, suite: str, said: bool
) -> None:
    by_hand(store, [Case(0, "c", {})], answers=[output("o")], suite=suite)
    app = app_on(store, run="last")
    async with shown_on(app, (60, 20)) as pilot:
        await run_screen(pilot)
        await until_shown(pilot, "1/1")
        assert ("simulated" in lines(app)[0]) is said
        assert said or " s" not in lines(app)[0]


def test_while_it_is_scored_again_the_rates_before_stand_and_say_so(store: Path) -> None:
    cases = [Case(n, f"c{n}", {}) for n in range(4)]
    made = by_hand(store, cases, answers=[output("o")] * 4)
    with reading(store) as db:
        settled = live_results(db, made.run)
    run = ObservedRun(made.run)

    def stands(results: LiveResults) -> LiveResults | None:
        run.update(results)
        return run.rescored_from

    assert stands(settled) is None
    total = replace(settled.total, done=1, scoring=3)
    assert stands(replace(settled, total=total)) is settled
    found = first_snapshot(store, made.run)
    head, row = target_lines(found, settled, None, 3, 80, before=True)
    assert "before" in words(head)
    assert "pass" not in words(head)
    assert {piece.tone for piece in row} <= {"dim", "plain"}
    assert "100.0%" in words(row)
    retried = replace(total, scoring=2, queued=1)
    assert stands(replace(settled, total=retried)) is None, "other outputs come"
    assert stands(replace(settled, total=total)) is None


def test_a_sweep_scores_nothing_and_has_no_rate(store: Path) -> None:
    made = by_hand(store, [Case(0, "c", {})], answers=[output("o")])
    found = first_snapshot(store, made.run)
    with reading(store) as db:
        live = live_results(db, made.run)
    target = words(target_lines(found, live, None, 3, 120)[1])
    assert "100.0%" in target
    swept = with_run(found, settings=json.dumps({"sweep": {}}))
    assert swept.run.is_sweep
    target = words(target_lines(swept, live, None, 3, 120)[1])
    assert target.split() == ["one", *"––"]


def spent(cap_usd: float | None = None, cap_tokens: int | None = None, **of: object) -> Spending:
    given = {"cost_usd": 0.83, "known_usd": 0.83, "input_tokens": 41_200, **of}
    total = Counts(**given)  # type: ignore[arg-type]
    return Spending(total, Caps(cap_usd, cap_tokens), 1.17, 0.12)


def test_money_is_shown_with_its_cap_and_where_it_leads() -> None:
    assert spent().so_far == "$0.83"
    assert spent(cap_usd=2.0).so_far == "$0.83/2"
    assert spent(cap_usd=0.5).so_far == "$0.83/0.5"
    assert spent(cap_tokens=50_000).so_far == "$0.83  41.2k/50.0k tok"
    assert spent().to_come == "$0.12/min, about $1.17 in all"


def test_money_nobody_knows_is_unknown_and_none_is_nothing() -> None:
    unknown = {"cost_usd": None, "unestimated": True}
    assert spent(**unknown, known_usd=0.0).so_far == "$?"
    assert spent(2.0, **unknown).so_far == "$0.83+?/2"
    assert spent(**unknown).to_come == ""
    free = spent(cost_usd=0.0, known_usd=0.0)
    assert (free.so_far, free.to_come) == ("", "")
    assert spent(2.0, cost_usd=0.0, known_usd=0.0).so_far == "$0.00/2"


def test_money_that_is_estimated_is_expected_too() -> None:
    about = spent(2.0, cost_usd=None, known_usd=0.0, about_usd=0.83)
    assert about.so_far == "about $0.83/2"
    assert about.to_come == "$0.12/min, about $1.17 in all"
    column = Counts(total=10, done=2, queued=8, cost_usd=None, about_usd=1.0, attempts=2)
    assert expected_usd([column]) == pytest.approx(5.0)
    assert expected_usd([replace(column, unestimated=True)]) is None


def test_the_expected_sum_is_made_target_by_target(store: Path) -> None:
    found = first_snapshot(store, plain_run(store, 2).run)
    dear = Counts(total=10, done=2, queued=8, cost_usd=1.0, attempts=2)
    cheap = Counts(total=10, done=6, cached=1, queued=4, cost_usd=0.05, attempts=5)
    stopped = Counts(total=10, done=4, queued=4, cancelled=2, cost_usd=4.0, attempts=4)
    columns = {0: dear, 1: cheap, 2: stopped}
    found = replace(found, by_column=columns, total=Counts(total=30, cost_usd=5.05))
    expected = expected_usd(columns.values())
    assert expected == pytest.approx(1.0 + 8 * 0.5 + 0.05 + 4 * 0.01 + 8.0)
    said = line(found.total, [*columns.values()], [], None, 0, bar=False)
    assert f"of about {money(expected)}" in said, "the line of progress says the same"
    unasked = Counts(total=10, queued=10)
    assert expected_usd([dear, unasked]) is None
    assert expected_usd([replace(dear, cost_usd=None)]) is None


async def test_estimates_are_told_alike_in_document_summary_progress_and_head(
    tmp_path: Path,
) -> None:
    """Neither target nor judge says what it took."""
    said = answers(by_number)

    def silent(call: Call) -> Reply:
        told = {"message": {"content": said(call.body)}, "finish_reason": "stop"}
        return Reply("status", body=json.dumps({"id": "x", "choices": [told]}))

    context = Harness(tmp_path / "silent.sqlite3")
    async with FakeModel(script=silent) as server:
        prices = {"prices": {"input": 10_000.0, "output": 10_000.0}}
        target = {"base_url": server.base_url, "model": "m", **prices}
        run = await context.run(
            judged(server.base_url, server.base_url, 4, targets=[target], judge=prices)
        )
    with reading(context.path) as db:
        read, told = results(db, run), document(db, run)["cost_usd"]
        (about,) = db.execute("SELECT sum(about_usd) FROM attempts").fetchone()
        (by_judge,) = db.execute("SELECT sum(about_usd) FROM judge_calls").fetchone()
    assert about > 0
    assert by_judge > 0
    assert told == {
        "target": None,
        "judge": None,
        "total": None,
        "target_known": 0.0,
        "target_about": pytest.approx(about),
        "judge_about": pytest.approx(by_judge),
        "user": None,
        "user_about": None,
        "target_expected": pytest.approx(about),
    }
    head, judge = f"about {money(about)}", f"about {money(by_judge)}"
    text = summary(read, width=200, ink=AnsiStyle(False))
    (row,) = (row for row in text.splitlines() if row.endswith(head) and "·" not in row)
    assert "at least" not in row
    assert judge in text
    counts = read.counts
    assert head in line(counts, [counts], [], None, 0, bar=False)
    found = first_snapshot(context.path, run)
    assert found.spending().so_far == head
    asked = capped(replace(with_run(found, stopped_by="max_cost_usd"), caps=Caps(cost_usd=0.01)))
    assert asked is not None
    assert asked.question.told.startswith(f"{head} of $0.01 is spent")
    assert asked.question.problem(str(about / 2)) == f"{head} is spent already"


def test_an_accepted_stop_is_said_until_the_engine_is_gone(store: Path) -> None:
    made = plain_run(store, 2)
    with writing(store) as db:
        db.execute("UPDATE runs SET active_since = 100.0")
        db.execute(
            "INSERT INTO requests (run, verb, args, asked_by, asked_at, outcome, answered_at) "
            "VALUES (?, 'stop', '{}', 'a person', 90.0, 'accepted', 99.0)",
            (made.run,),
        )

    def seen() -> bool:
        with reading(store) as db:
            run = run_queries.run(db, made.run)
            run.__dict__["live"] = True
            return request_queries.stopping(db, run)

    assert not seen(), "another engine was told to"
    with writing(store) as db:
        db.execute("UPDATE requests SET answered_at = 101.0")
    assert seen()
    with reading(store) as db:
        found = snapshot(db, made.run, -1, ())
    stopping = with_run(replace(found, stopping=True), live=True, state=RunState.RUNNING)
    assert state_words(stopping, 0.0)[0] == "stopping"
    assert state_words(replace(stopping, stopping=False), 0.0)[0] == "running"


def test_a_finished_run_burns_nothing(store: Path) -> None:
    found = first_snapshot(store, plain_run(store, 4).run)
    shown = found.spending(RunPace().usd_per_minute())
    assert shown.total.cost_usd == pytest.approx(0.004)
    assert shown.usd_per_minute is None
    assert shown.expected_usd == pytest.approx(0.004)


def test_what_is_clicked_beside_the_pace_stays_where_it_is(store: Path) -> None:
    made = by_hand(store, [Case(0, "a", {})], answers=[None], state=RunState.RUNNING)
    found = with_run(first_snapshot(store, made.run), live=True)
    limit = LimitRow("endpoint", 12, endpoint_event.START, 0.0)
    places = []
    for running, seconds in [(0, 0), (3, 1), (12, 60)]:
        pace = RunPace()
        pace.recall(
            time.monotonic(), RecentActivity(seconds, dict.fromkeys(range(seconds), (20, 0)), 0, 0)
        )
        now = replace(found, limits={"endpoint": limit}, total=Counts(total=99, running=running))
        line = words(pace_line(now, None, pace, now.spending(pace.usd_per_minute()), UNICODE, 80))
        assert f"{running} of 12 slots - +" in line
        places.append(line.index(" - +"))
    assert len(set(places)) == 1


def test_what_waits_for_a_provider_holds_no_slot(store: Path) -> None:
    made = by_hand(store, [Case(0, "a", {})], answers=[None], state=RunState.RUNNING)
    found = with_run(first_snapshot(store, made.run), live=True)
    limit = LimitRow("endpoint", 12, endpoint_event.START, 0.0)
    of = (BulkProgress(2, 0, 700, 0, None), BulkProgress(1, 0, 200, 0, None, "judge"))
    total = Counts(total=999, running=708)
    now = replace(found, limits={"endpoint": limit}, total=total, bulk=of)
    line = words(pace_line(now, None, RunPace(), now.spending(None), UNICODE, 160))
    assert "bulk 0 of 700, 2 consignments; judge bulk 0 of 200" in line
    assert " 8 of 12 slots" in line


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize(
    ("width", "told"),
    [
        (60, "bulk 0 of 700; judge bulk 0 of 200"),
        (80, "bulk 0 of 700; judge bulk 0 of 200"),
        (100, "bulk 0 of 700, 2 consignments, by "),
        (120, "bulk 0 of 700, 2 consignments, at the latest "),
    ],
)
def test_where_all_is_at_a_provider_the_line_begins_with_that(
    store: Path, width: int, told: str, live: bool
) -> None:
    made = by_hand(store, [Case(0, "a", {})], answers=[None], state=RunState.RUNNING)
    found = with_run(first_snapshot(store, made.run), live=live)
    day = time.time() + 86_400
    of = (BulkProgress(2, 0, 700, 0, day), BulkProgress(1, 0, 200, 0, day, "judge"))
    total = Counts(total=999, running=700)
    now = replace(found, total=total, bulk=of)
    line = words(pace_line(now, None, RunPace(), now.spending(None), UNICODE, width))
    assert line.strip().startswith(told)
    assert len(line) < width


@pytest.mark.parametrize(
    ("width", "told"),
    [
        (120, "partial: part 1, 2 of 3, 59 of 100 cases; missing: 3   1 attempt"),
        (60, "partial: part 1, 2 of 3, 59 of 100 cases; missing: 3"),
        (50, "partial: part 1, 2 of 3, 59 of 100 cases"),
        (36, "partial: 59 of 100 cases"),
    ],
)
def test_a_part_says_what_it_has_of_the_whole(store: Path, width: int, told: str) -> None:
    made = by_hand(store, [Case(0, "a", {})], answers=[output("o")])
    now = replace(first_snapshot(store, made.run), parts=RunParts((1, 2), 3, 59, 100))
    line = words(pace_line(now, None, RunPace(), now.spending(None), UNICODE, width))
    assert line.strip() == told


@pytest.mark.parametrize(
    ("targets", "size", "lines"),
    [(4, (80, 24), 4), (5, (80, 24), 3), (5, (80, 30), 5), (4, (80, 20), 2), (9, (120, 36), 9)],
)
async def test_no_target_is_left_out_alone(
    store: Path, targets: int, size: tuple[int, int], lines: int
) -> None:
    names = [f"target-{n}" for n in range(targets)]
    by_hand(store, [Case(0, "c", {})], answers=[output("o")] * targets, columns=names)
    async with shown_on(app_on(store, run="last"), size) as pilot:
        screen = await run_screen(pilot)
        await until_shown(pilot, "target-0")
        assert screen.query_one("#targets").size.height == 1 + lines


def test_columns_of_what_is_amiss_are_named_where_there_is_room(store: Path) -> None:
    made = by_hand(store, [Case(0, "c", {}), Case(1, "d", {})], answers=[output("o"), output("p")])
    found = first_snapshot(store, made.run)
    with reading(store) as db:
        live = live_results(db, made.run)
    counts = replace(live.by_column[0], ungraded=1, error=2)
    amiss = replace(live, by_column={0: counts})

    def head(width: int, of: LiveResults) -> list[str]:
        return words(target_lines(found, of, counted, 3, width)[0]).split()

    counted = Figures({}, {0: 0.5}, (), (), (), 0, 0)
    assert head(120, live) == ["target", "pass", "95%", "n", "p50"]
    assert head(120, amiss) == ["target", "pass", "95%", "n", "ungraded", "errors", "p50"]
    assert head(80, amiss) == ["target", "pass", "95%", "n", "?", "!", "p50"]
    without = replace(live, by_column={0: replace(live.by_column[0], cancelled=7)})
    assert head(120, without) == ["target", "pass", "95%", "n", "cancelled", "p50"]
    assert head(80, without) == ["target", "pass", "95%", "n", "-", "p50"]
    assert " 7 " in words(target_lines(found, without, counted, 3, 80)[1])


def test_the_heading_of_differences_names_what_they_are_from(store: Path) -> None:
    made = by_hand(store, [Case(0, "c", {})], answers=[output("o")])
    found = first_snapshot(store, made.run)
    differs = {0: ColumnDifference("+1.0 unclear", "plain")}

    def head(base: str | None) -> str:
        compared = ColumnDifferences(base, differs)
        return words(target_lines(found, None, None, 3, 120, compared)[0])

    assert "vs sums-7f3k" in head("sums-7f3k")
    assert "vs one" in head(None)
