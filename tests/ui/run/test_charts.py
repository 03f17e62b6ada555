"""The charts of a run."""

import json
from functools import partial
from pathlib import Path

import pytest

from tests.support import do, output, reading, writing
from tests.ui.playing import app_on, by_hand, plain_run, run_screen, shown_on, text, until_shown
from tui_eval.engine.sweep.sweep_suite import sweep_settings
from tui_eval.model.case import Case
from tui_eval.model.outputs.attempt_record import AttemptRecord, UsageSample
from tui_eval.model.runs.endpoint_event import EndpointEvent, EndpointEventKind
from tui_eval.model.runs.sweep_plan import SweepPlan
from tui_eval.store.read.charts.timeline import Timeline
from tui_eval.store.read.charts.working_time import WorkingTime
from tui_eval.store.read.sweep_queries import SweepLevel
from tui_eval.store.tx import Tx
from tui_eval.store.write import attempt_writes, run_writes, sweep_writes
from tui_eval.store.write.run_writes import NewTrial
from tui_eval.ui.run.charts import chart_data
from tui_eval.ui.run.charts.chart_data import CHARTS, Drawing
from tui_eval.ui.run.charts.plotting import FILL, Curve, Plot, drawn
from tui_eval.ui.screens.charts_screen import ChartsScreen


def lines_of(plot: Plot, *, ascii_only: bool = False) -> list[str]:
    drawing = drawn(plot, 40, 10, ascii_only=ascii_only)
    return ["".join(piece.text for piece in line) for line in drawing]


def test_a_plot_is_as_large_as_there_is_room_and_goes_up_where_values_do() -> None:
    plot = Plot(
        [Curve("a", [0, 1, 2, 4], FILL, "accent"), Curve("b", [None, 3, None, 3], "x", "fail")],
        [(0, "0s"), (1, "4s")],
        4,
        [(0, "0"), (4, "4")],
    )
    lines = lines_of(plot)
    assert len(lines) == 10
    assert all(len(line) == 40 for line in lines)
    assert lines[0].startswith("4┤")
    highest = [line.count("█") for line in lines]
    assert highest[1] < highest[4] < highest[6]
    assert lines[0][:20].split() == ["4┤"]  # only what is last goes so high
    assert set(lines[0][30:]) <= set("▄▖ ")
    assert sum(line.count("x") for line in lines) == 2
    drawing = drawn(plot, 40, 10, ascii_only=False)
    tones = {piece.tone for line in drawing for piece in line if piece.text.strip()}
    assert tones == {"plain", "dim", "accent", "fail"}
    assert "\x1b" not in "".join(lines)


def test_a_plot_has_a_twin_in_plain_letters() -> None:
    plot = Plot([Curve("a", [1, 2], FILL, "accent")], [(0, "0s")], 2, [(0, "0"), (2, "2")])
    assert "".join(lines_of(plot, ascii_only=True)).isascii()


def test_a_plot_larger_than_the_terminal_of_this_process_is_drawn_whole() -> None:
    plot = Plot([Curve("a", [1, 2], FILL, "accent")], [(0, "0s")], 2, [(0, "0"), (2, "2")])
    assert len(drawn(plot, 290, 90, ascii_only=False)) == 90


async def test_every_chart_is_a_key_away(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite3"
    plain_run(store, failing=(3, 7))
    app = app_on(store, run="last")
    async with shown_on(app, (80, 24)) as pilot:
        await run_screen(pilot)
        await pilot.press("v")
        await until_shown(pilot, "(throughput)", "30 answered, 0 failed calls", "⠤ answered")
        await pilot.press("right_square_bracket")
        await until_shown(pilot, "(latency)", "30 outputs: p50", "p95")
        await pilot.press("right_square_bracket")
        await until_shown(pilot, "(concurrency)", "in flight, on average", "never limited")
        await pilot.press("right_square_bracket", "right_square_bracket")
        await until_shown(pilot, "(memory)", "No program told yet")
        await pilot.press("right_square_bracket")
        await until_shown(pilot, "(scores)", "how scores are spread, by target", "one", "0.93")
        await pilot.press("right_square_bracket")
        await until_shown(pilot, "(by tag)", "t0", "t1")
        await pilot.press("right_square_bracket", "left_square_bracket")
        await until_shown(pilot, "(by tag)")
        await pilot.click("#tabs", offset=(4, 0))
        await until_shown(pilot, "(throughput)")
        await pilot.press("v")
        await run_screen(pilot)


async def test_each_endpoint_has_its_own_limit_drawn(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite3"
    cases = [Case(i, f"c{i}", {}) for i in range(3)]
    answers = [output(f"o{i}", latency_s=1.0) for i in range(9)]
    by_hand(store, cases, answers=answers, columns=("one", "two", "three"))
    with writing(store) as db:
        db.execute("UPDATE columns SET endpoint = name")
        db.execute("UPDATE attempts SET error_kind = 'rate_limit' WHERE id = 2")
        db.commit()
    app = app_on(store, run="last")
    async with shown_on(app, (80, 24)) as pilot:
        await run_screen(pilot)
        await pilot.press("v", "right_square_bracket", "right_square_bracket")
        await until_shown(pilot, "one: never limited", "two: rate limited 1×", "1 more in a higher")
        assert "three" not in text(app)
        await pilot.resize_terminal(80, 48)
        await until_shown(pilot, "three: never limited")
        assert "higher" not in text(app)


async def test_charts_without_anything_to_draw_say_what_to_do(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite3"
    by_hand(store, [], answers=[])
    app = app_on(store, run="last")
    async with shown_on(app, (60, 20)) as pilot:
        await run_screen(pilot)
        await pilot.press("v")
        await until_shown(pilot, "No call was made")
        for name, hint in (("latency", "No output yet"), ("by tag", "No scored case has tags")):
            screen = app.screen
            assert isinstance(screen, ChartsScreen)
            screen.action_choose(list(CHARTS).index(name))
            await until_shown(pilot, hint)
        assert "Traceback" not in text(app)


@pytest.mark.parametrize("name", ["throughput", "latency", "concurrency"])
def test_scales_have_round_numbers(name: str, tmp_path: Path) -> None:
    from tui_eval.store.connection import open_readable

    store = tmp_path / "s.sqlite3"
    plain_run(store)
    db = open_readable(store)
    chart = CHARTS[name](db, 1, 70)
    db.close()
    assert isinstance(chart, Drawing)
    (plot,) = (panel.plot for panel in chart.panels)
    steps = [value for value, _ in plot.y_labels]
    assert steps[0] == 0
    assert steps[-1] == plot.y_most
    assert float(f"{steps[1]:.1g}") == pytest.approx(steps[1])


def test_a_burst_of_refusals_does_not_set_the_scale_of_the_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "s.sqlite3"
    run = plain_run(store).run
    failed = [0] * 50
    failed[3] = 40_000  # all at once
    found = Timeline(WorkingTime(0.0), 0.5, [10] * 50, failed, [], [], False, 0)
    monkeypatch.setattr(chart_data, "timeline", lambda *_: found)
    with reading(store) as db:
        drawing = CHARTS["throughput"](db, run, 50)
    assert isinstance(drawing, Drawing)
    (panel,) = drawing.panels
    assert panel.plot.y_most < 50
    answered, refused = panel.plot.curves
    assert max(y or 0 for y in answered.ys) == max(y or 0 for y in refused.ys) == 20


def test_a_short_run_has_no_rate_that_nobody_could_keep_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "s.sqlite3"
    run = plain_run(store).run
    found = Timeline(WorkingTime(0.0), 0.001, [80] + [0] * 49, [0] * 50, [], [], False, 0)
    monkeypatch.setattr(chart_data, "timeline", lambda *_: found)
    with reading(store) as db:
        drawing = CHARTS["throughput"](db, run, 50)
    assert isinstance(drawing, Drawing)
    assert max(y or 0 for y in drawing.panels[0].plot.curves[0].ys) == 80


def test_where_a_short_run_had_no_answers_any_more_none_are_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "s.sqlite3"
    run = plain_run(store).run
    found = Timeline(WorkingTime(0.0), 0.5, [100] * 10 + [0] * 40, [0] * 50, [], [], False, 0)
    monkeypatch.setattr(chart_data, "timeline", lambda *_: found)
    with reading(store) as db:
        drawing = CHARTS["throughput"](db, run, 50)
    assert isinstance(drawing, Drawing)
    rates = [y or 0 for y in drawing.panels[0].plot.curves[0].ys]
    assert max(rates) == 200
    assert not any(rates[13:])
    assert sum(rates) * 0.5 == pytest.approx(1000, rel=0.1)


async def test_the_chart_says_the_throughput_of_a_run_that_has_ended(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite3"
    plain_run(store, 30)
    with writing(store) as db:
        db.execute("UPDATE runs SET wall_s = 7.5")
    app = app_on(store, run="last")
    async with shown_on(app, (80, 24)) as pilot:
        await run_screen(pilot)
        assert "4.0/s" not in text(app)
        await pilot.press("v")
        await until_shown(pilot, "30 answered", "4.0/s")


async def test_programs_are_drawn_with_how_many_ran_and_why_no_more(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite3"
    made = plain_run(store)

    def unit(tx: Tx) -> None:
        for at, trial in enumerate(made.trials[:4]):
            (attempt,) = tx.db.execute(
                "SELECT id FROM attempts WHERE trial = ?", (trial,)
            ).fetchone()
            samples = (UsageSample(0.0, 0.0, 100_000_000 * (at + 1)),)
            attempt_writes.add_record(tx, attempt, AttemptRecord(samples=samples), None)
        (endpoint,) = tx.db.execute("SELECT endpoint FROM columns").fetchone()
        held = EndpointEvent(EndpointEventKind.LOW_MEMORY, what="1 MB of memory available")
        run_writes.add_limit(tx, made.run, endpoint, 3, held)

    with writing(store) as db:
        do(db, unit)
    app = app_on(store, run="last")
    async with shown_on(app, (80, 40)) as pilot:
        await run_screen(pilot)
        await pilot.press("v", *["left_square_bracket"] * 3)
        await until_shown(
            pilot,
            "(memory)",
            "1.0 GB at most",
            "all programs together",
            "short of memory 1×",
            "slots",
        )


async def test_a_sweep_is_drawn_over_concurrency_with_its_knee(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite3"
    plan = SweepPlan((1, 4, 16), cases=3)
    settings = sweep_settings(plan, "one", None).as_json()
    by_hand(store, [Case(0, "c", {})], answers=[output("o")])
    with writing(store) as db:
        db.execute("UPDATE runs SET partial = 1, settings = ?", (json.dumps(settings),))
        do(db, partial(_measure, took={1: 0.1, 4: 0.1, 16: 0.4}))
    app = app_on(store, run="last")
    async with shown_on(app, (100, 40)) as pilot:
        await run_screen(pilot)
        await pilot.press("v")
        await until_shown(pilot, "(sweep)", "knee: 4 (40/s)", "knee 4", "p95", "share of errors")
        assert "scores" not in text(app)
        await pilot.press("v")
        await run_screen(pilot)
        await pilot.press("r")
        await until_shown(pilot, "a sweep makes each call once")


def _measure(tx: Tx, took: dict[int, float]) -> None:
    """Write three levels down in which each call took so long."""
    place = 100
    for number, (level, took_s) in enumerate(took.items()):
        of = SweepLevel(number, level, place, level, 3 * level, ended=False)
        places = range(of.first, of.after)
        trials = [NewTrial(at, 0, 0, at, b"") for at in places]
        sweep_writes.begin_level(tx, 1, of, trials)
        sweep_writes.end_level(tx, 1, number)
        tx.db.executemany(
            "INSERT INTO attempts (trial, number, state, sent_at, call_s) "
            "SELECT id, 1, 'answered', ?, ? FROM trials WHERE place = ?",
            [((at - of.first) // level * took_s, took_s, at) for at in places],
        )
        place = of.after
