"""The list of runs: what stands in it, finding, marking, exporting, deleting."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.plugins.installed import install, site
from tests.support import do, output, writing
from tests.ui.making import SLOW
from tests.ui.playing import (
    app_on,
    by_hand,
    finished,
    lines,
    made_up,
    plain_run,
    run_screen,
    shown_on,
    sql,
    text,
    until,
    until_shown,
)
from tui_eval.engine.engine import Engine
from tui_eval.engine.launch.create_run import create, log_file
from tui_eval.engine.settings import Settings
from tui_eval.format import age, compact
from tui_eval.model.case import Case
from tui_eval.model.outputs.output import Output
from tui_eval.model.states import RunState
from tui_eval.reports.rates.run_rates import rates
from tui_eval.store import lease
from tui_eval.ui.app import TuiEvalApp
from tui_eval.ui.dialogs.confirm_dialog import ConfirmDialog
from tui_eval.ui.dialogs.name_dialog import NameDialog
from tui_eval.ui.runs.exporting import UnusableNameError, files
from tui_eval.ui.runs.run_list import listed
from tui_eval.ui.runs.run_preview import first_failures
from tui_eval.ui.runs.run_table import cost
from tui_eval.ui.screens import runs_screen as screen_module
from tui_eval.ui.screens.runs_screen import RunsScreen
from tui_eval.ui.store_access.rate_book import RateBook

__all__ = ["site"]

LONG = "a-suite-with-a-very-long-name-indeed"


def runs_screen(app: TuiEvalApp) -> RunsScreen:
    screen = app.screen
    assert isinstance(screen, RunsScreen)
    return screen


def asking(app: TuiEvalApp) -> NameDialog:
    screen = app.screen
    assert isinstance(screen, NameDialog)
    return screen


def small(store: Path, suite: str, n: int = 2) -> int:
    """Write a finished run, all of it passed."""
    cases = [Case(i, f"case-{i}", {"n": i}) for i in range(n)]
    return by_hand(
        store, cases, answers=[Output(f"{i}", cost_usd=0.0) for i in range(n)], suite=suite
    ).run


def many_runs(store: Path, n: int) -> None:
    """Write runs of two trials; quickly, by copying the rows of one."""
    small(store, "copied")
    with writing(store) as db:
        db.execute("BEGIN")
        for table, key in (("runs", "id"), ("columns", "run"), ("tallies", "run"), ("cases", "run"),
                           ("trials", "run")):  # fmt: skip
            names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            kept = [name for name in names if name not in (key, "name") and
                    (table, name) != ("trials", "id")]  # fmt: skip
            named = ", 'copied-' || printf('%04d', k.n)" if table == "runs" else ""
            into = ", name" if table == "runs" else ""
            named, into = (named, into) if table != "columns" else (", c.name", ", name")
            db.execute(
                f"WITH RECURSIVE k(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM k WHERE n < {n}) "
                f"INSERT INTO {table} ({key}, {', '.join(kept)}{into}) "
                f"SELECT k.n, {', '.join(f'c.{name}' for name in kept)}{named} "
                f"FROM k, {table} c WHERE c.{key} = 1"
            )
        db.execute("COMMIT")


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (200, 60)])
async def test_names_keep_their_letters_and_no_column_is_cut(
    store: Path, size: tuple[int, int]
) -> None:
    for suite in ("sums", LONG):
        small(store, suite)
    names = [row[0] for row in sql(store, "SELECT name FROM runs ORDER BY id DESC")]
    app = app_on(store)
    async with shown_on(app, size) as pilot:
        await pilot.press("2")
        await until_shown(pilot, "100.0%")
        shown = [line.strip("│╭╮─ ") for line in lines(app)]
        head, long, short = [line for line in shown[1:] if line][:3]
        assert names[1] in short
        assert names[0][-5:] in long
        assert head.rstrip().endswith(("pass", "time", "age"))
        assert "100.0%" in long
        assert (LONG in long) == (size[0] == 200)
        for row in (long, short):
            assert row.rstrip().endswith("now") or size[0] == 60


async def test_short_names_leave_the_gate_its_room_on_a_small_screen(store: Path) -> None:
    targets = [{"kind": "simulated", "name": name, "answers": ["{{ a }}"]} for name in "abcd"]
    judged = {"kind": "judge", "name": "good", "judge": ["j"], "requirements": ["1"]}
    suite = made_up(
        name="truthful",
        targets=targets,
        scorers=[judged],
        judges=[{"kind": "simulated", "name": "j"}],
        gate={"pass_rate": 0.1},
    )
    await finished(store, suite)
    app = app_on(store)
    async with shown_on(app, (56, 20)) as pilot:
        await pilot.press("2")
        await until_shown(pilot, "truthful-", "gate  ")


async def test_a_column_is_there_where_a_run_has_something_for_it(store: Path) -> None:
    small(store, "sums")
    app = app_on(store)
    async with shown_on(app, (120, 20)) as pilot:
        await pilot.press("2")
        await until_shown(pilot, "100.0%")
        for title in (" ! ", " ? ", "partial", "cost"):
            assert title not in lines(app)[1]
        await finished(store, made_up(4, targets=[SLOW], name="half"), Settings(limit=2))
        await until_shown(pilot, "partial", "half-")
        assert [one.run.suite for one in runs_screen(app).table.runs] == ["half", "sums"]


async def test_rates_are_those_of_reports(store: Path) -> None:
    cases = [{"id": f"c{i}", "q": "?", "a": str(i), "weight": 1 + i * i} for i in range(12)]
    half = {"kind": "simulated", "name": "one", "answers": ["{{ a }}", "no"], "accuracy": 0.5}
    suite = made_up(cases=cases, targets=[half])
    run = await finished(store, suite)
    with writing(store) as db:
        reported = rates(db, run, suite.run).columns[0].pass_rate
        trials = db.execute(
            "SELECT avg(verdict = 'pass') FROM trials WHERE run = ?", (run,)
        ).fetchone()[0]
    assert reported is not None
    assert abs(reported - trials) > 0.001  # else this says nothing
    app = app_on(store)
    async with shown_on(app) as pilot:
        await pilot.press("2")
        await until_shown(pilot, f"{reported * 100:.1f}%")


async def test_rates_that_rest_on_a_judge_say_so_and_have_room_for_it(store: Path) -> None:
    judges = '{"judges": [{"kind": "simulated", "name": "j"}]}'
    by_hand(store, [Case(0, "a", {})], answers=[output("x")], suite="judged", spec=judges)
    with writing(store) as db:
        db.execute("UPDATE scores SET source = 'judge'")
    plain_run(store, 2)
    app = app_on(store, run="judged")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        await until_shown(pilot, "~100.0%")
        await pilot.press("escape")
        await until_shown(pilot, "█~100.0%", "█100.0%")


async def test_runs_that_were_read_while_one_was_opened_are_listed_once_it_is(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen_module, "_READ_S", 600.0)  # as after a read that took long
    plain_run(store, 2)
    app = app_on(store)
    async with shown_on(app) as pilot:
        await until(pilot, lambda: app.context.client.opened)
        screen = RunsScreen(app.context, "plain")
        await app.push_screen(screen)
        await until_shown(pilot, "opening plain…")
        await until(pilot, lambda: screen._read)
        screen.opened()
        await until_shown(pilot, "Runs  1")


async def test_a_rate_is_worked_out_once_for_each_change(store: Path) -> None:
    plain_run(store, 10, failing=(1, 2))
    app = app_on(store)
    async with shown_on(app) as pilot:
        book = RateBook()
        client = app.context.client
        (one,) = await client.read(listed, {})
        assert await book.learn(client, [(one.run.id, one.stamp)])
        rated = book.of(one.run.id)
        assert rated is not None
        assert rated.shares == (0.8,)
        assert not rated.open
        assert not await book.learn(client, [(one.run.id, one.stamp)])
        await until(pilot, lambda: book.due(one.run.id, one.stamp + 1))
        assert await book.learn(client, [(77, 1)])  # deleted meanwhile
        rated = book.of(77)
        assert rated is not None
        assert rated.shares == ()


async def test_counts_that_change_without_an_engine_are_seen(store: Path) -> None:
    by_hand(store, [Case(0, "c", {})], answers=[None])
    app = app_on(store)
    async with shown_on(app) as pilot:
        await pilot.press("2")
        await until_shown(pilot, "0/1")
        with writing(store) as db:
            db.execute("UPDATE trials SET state = 'cancelled', change = change + 1")
        await until(pilot, lambda: "0/1" not in text(app))


@pytest.mark.whole
async def test_a_thousand_runs_are_there_at_once_live_ones_on_top(store: Path) -> None:
    many_runs(store, 1000)
    with writing(store) as db:
        do(db, lambda tx: lease.acquire(tx, 500))
    app = app_on(store)
    async with shown_on(app) as pilot:
        await pilot.press("2")
        await until_shown(pilot, "1,000", "1 live", "▸ copied-0500", "copied-0999", "100.0%")
        screen = runs_screen(app)
        assert [one.run.id for one in screen.table.runs[:3]] == [500, 1000, 999]
        await pilot.press("end")
        await until_shown(pilot, "▸ copied-")
        assert screen.selected is not None
        assert screen.selected.id == 1
        await until(pilot, lambda: any("▸" in line and "100.0%" in line for line in lines(app)))
        await pilot.press("slash", *"-0077", "enter")
        await until_shown(pilot, "1 of 1,000", "▸ copied-0077")
        await pilot.press("slash", *"nobody")
        await until_shown(pilot, "No run is called so")
        await pilot.press("escape")
        await until_shown(pilot, "copied-0077", "copied-0076")


async def test_unknown_money_is_never_a_nought(store: Path) -> None:
    cases = [Case(i, f"case-{i}", {}) for i in range(2)]
    for suite, costs in (("some", (0.5, None)), ("none", (None, None)), ("all", (0.5, 0.25))):
        by_hand(store, cases, answers=[Output("x", cost_usd=one) for one in costs], suite=suite)
    with writing(store) as db:
        told = {one.run.suite: cost(one) for one in listed(db, {})}
    assert told == {"some": "$0.50+?", "none": "$?", "all": "$0.75"}


# -- marks


async def test_marks_are_set_and_taken_back(store: Path) -> None:
    for suite in ("one", "two", "other"):
        small(store, suite)
    app = app_on(store)
    async with shown_on(app) as pilot:
        await pilot.press("2")
        await until_shown(pilot, "one-")
        await pilot.press("space", "space")
        await until_shown(pilot, "2 runs marked")
        await pilot.press("space")
        await until_shown(pilot, "3 runs marked")
        await pilot.press("escape")
        await until(pilot, lambda: "marked" not in text(app))
        await pilot.press("slash", *"o", "enter", "a")
        await until_shown(pilot, "3 runs marked")
        await pilot.press("a")
        await until(pilot, lambda: "marked" not in text(app))


# -- export


async def test_a_run_is_exported_into_a_file(store: Path, tmp_path: Path) -> None:
    small(store, "sums", 3)
    app = app_on(store)
    async with shown_on(app) as pilot:
        await pilot.press("2")
        await until_shown(pilot, "sums-")
        await pilot.press("E")
        await until_shown(pilot, "Export sums-", ".jsonl, .csv")
        screen = asking(app)
        screen.field.value = "trials.txt"
        await until_shown(pilot, "must end in one of .jsonl")
        await pilot.press("enter")
        await pilot.pause()
        assert app.screen is screen
        screen.field.value = str(tmp_path / "trials.jsonl")
        await pilot.press("enter")
        await until_shown(pilot, "wrote")
        exported = (tmp_path / "trials.jsonl").read_text().splitlines()
        written = [json.loads(line) for line in exported]
        assert [line["case_id"] for line in written] == ["case-0", "case-1", "case-2"]
        # the same name again: asked, and left alone
        (tmp_path / "trials.jsonl").write_text("mine")
        await pilot.press("E")
        await until(pilot, lambda: isinstance(app.screen, NameDialog))
        asking(app).field.value = str(tmp_path / "trials.jsonl")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
        assert (tmp_path / "trials.jsonl").read_text() == "mine"


async def test_marked_runs_are_exported_into_a_file_each(store: Path, tmp_path: Path) -> None:
    for suite in ("one", "two"):
        small(store, suite)
    app = app_on(store)
    async with shown_on(app) as pilot:
        await pilot.press("2")
        await until_shown(pilot, "one-")
        await pilot.press("a", "E")
        await until_shown(pilot, "Export 2 runs", "stands for")
        asking(app).field.value = str(tmp_path / "all-{run}.csv")
        await pilot.press("enter")
        await until(pilot, lambda: len(list(tmp_path.glob("all-*.csv"))) == 2)
        await until_shown(pilot, "wrote 2 files")


async def test_an_exporter_that_is_installed_writes_what_it_is_chosen_for(
    store: Path, tmp_path: Path, site: Path
) -> None:
    writer = """
        def export(run, trials):
            yield f"{run['suite']}\\n"
            for trial in trials:
                yield f"{trial['case_id']} {trial['verdict']}\\n"
    """
    breaks = "def export(run, trials):\n    raise ValueError('no such thing')\n"
    points = ("exporter.verdicts = acme_verdicts", "exporter.broken = acme_broken")
    install(site, "acme", "1.0", *points, acme_verdicts=writer, acme_broken=breaks)
    await finished(store, made_up(2))
    app = app_on(store)
    async with shown_on(app) as pilot:
        await pilot.press("2")
        await until_shown(pilot, "sums-")
        await pilot.press("E")
        await until_shown(pilot, "by the file's ending", "acme.verdicts", "plugin of acme 1.0")
        await pilot.press("end", "enter")
        await until_shown(pilot, "Export sums-", "acme.verdicts writes it")
        asking(app).field.value = str(tmp_path / "verdicts")
        await pilot.press("enter")
        await until_shown(pilot, "wrote")
        assert (tmp_path / "verdicts").read_text() == "sums\nsum-000 pass\nsum-001 pass\n"
        await pilot.press("E")
        await until_shown(pilot, "acme.broken")
        await pilot.press("down", "enter")
        await until_shown(pilot, "acme.broken writes it")
        asking(app).field.value = str(tmp_path / "broken")
        await pilot.press("enter")
        await until_shown(pilot, "nothing was written", "no such thing")
        assert not (tmp_path / "broken").exists()


def test_names_of_files_that_cannot_be_meant_are_refused(store: Path, tmp_path: Path) -> None:
    for suite in ("one", "two"):
        small(store, suite)
    with writing(store) as db:
        runs = [one.run for one in listed(db, {})]
    for name, why in (
        ("", "name"),
        ("x", "end in"),
        ("x.jsonl", "need {run}"),
        (str(tmp_path / "gone" / "{run}.csv"), "no such folder"),
    ):
        with pytest.raises(UnusableNameError, match=why):
            files(name, runs)
    first, second = files(str(tmp_path / "{run}.CSV"), runs)
    assert (first.name, second.name) == (f"{runs[0].name}.CSV", f"{runs[1].name}.CSV")


# -- delete


async def test_a_run_is_deleted_once_somebody_says_yes(store: Path) -> None:
    run = small(store, "gone", 3)
    small(store, "stays")
    name = sql(store, "SELECT name FROM runs WHERE id = ?", run)[0][0]
    log = log_file(store, name)
    log.parent.mkdir(exist_ok=True)
    log.write_text("a log")
    app = app_on(store)
    async with shown_on(app) as pilot:
        await pilot.press("2")
        await until_shown(pilot, "gone-", "stays-")
        await pilot.press("j", "D")
        await until_shown(pilot, f"Delete {name} for good?", "3 trials, 3 outputs")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
        assert len(sql(store, "SELECT 1 FROM runs")) == 2
        await pilot.press("D")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await pilot.press("enter")
        await until(pilot, lambda: "gone-" not in text(app))
        assert "stays-" in text(app)
    assert sql(store, "SELECT count(*) FROM outputs") == [(2,)]
    assert not log.exists()


async def test_marked_runs_are_deleted_together(store: Path) -> None:
    for suite in ("one", "two", "three"):
        small(store, suite)
    app = app_on(store)
    async with shown_on(app) as pilot:
        await pilot.press("2")
        await until_shown(pilot, "three-")
        await pilot.press("space", "space", "D")
        await until_shown(pilot, "Delete 2 runs for good?", "4 trials")
        await pilot.press("enter")
        await until(pilot, lambda: "two-" not in text(app) and "three-" not in text(app))
        assert "one-" in text(app)
        assert "marked" not in text(app)


async def test_a_live_run_is_not_deleted(store: Path) -> None:
    live = create(store, made_up(100, targets=[SLOW], name="live"), Settings())
    working = asyncio.create_task(Engine(store, live).run())
    app = app_on(store)
    async with shown_on(app) as pilot:
        await pilot.press("2")
        await until_shown(pilot, "live-", "1 live")
        await pilot.press("D")
        await until_shown(pilot, "is live: stop it first")
        await pilot.press("p")
        await until_shown(pilot, "Pause live-", "nothing new starts")
        await pilot.press("enter")
        await until_shown(pilot, "‖ paused")
        await pilot.press("p")
        await until_shown(pilot, "● running")
        await pilot.press("C")
        await until_shown(pilot, "Stop live-", "stay open")
        await pilot.press("enter")
        await until_shown(pilot, "○ interrupted")
        await pilot.press("C")
        await until_shown(pilot, "no engine works on it")
        assert isinstance(app.screen, RunsScreen)
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
    assert len(sql(store, "SELECT 1 FROM runs")) == 1


# -- baseline


async def test_a_run_is_pinned_replaced_and_unpinned(store: Path) -> None:
    first, second = small(store, "one"), small(store, "one")
    names = dict(sql(store, "SELECT id, name FROM runs"))
    app = app_on(store)
    async with shown_on(app) as pilot:
        await pilot.press("2")
        await until_shown(pilot, names[first])
        assert "base" not in text(app)
        await pilot.press("B")
        await until_shown(pilot, f"{names[second]} is the baseline of one", " base ")
        await pilot.press("j", "B")
        await until_shown(pilot, f"Make {names[first]} the baseline of one?", "is it now")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
        assert sql(store, "SELECT run FROM baselines") == [(second,)]
        await pilot.press("B")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await pilot.press("enter")
        await until(pilot, lambda: sql(store, "SELECT run FROM baselines") == [(first,)])
        await pilot.press("D")
        await until_shown(pilot, "baseline of one goes: later runs have none")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(app.screen, RunsScreen))
        await until_shown(pilot, "  baseline")
        await pilot.press("B")
        await until(pilot, lambda: not sql(store, "SELECT run FROM baselines"))
        await until_shown(pilot, "no more")


async def test_what_can_be_no_baseline_says_why(store: Path) -> None:
    run = small(store, "part")
    with writing(store) as db:
        db.execute("UPDATE runs SET partial = 1 WHERE id = ?", (run,))
        db.commit()
    app = app_on(store)
    async with shown_on(app) as pilot:
        await pilot.press("2")
        await until_shown(pilot, "part-")
        await pilot.press("B")
        await until_shown(pilot, "a baseline is a whole run")
        assert not sql(store, "SELECT 1 FROM baselines")


# -- words


@pytest.mark.parametrize(
    ("past", "words"),
    [(0, "now"), (59, "now"), (60, "1 min"), (7199, "1 h"), (86400, "1 d"), (8e7, "2 y")],
)
def test_an_age_takes_six_cells(past: float, words: str) -> None:
    assert age(1000.0, 1000.0 + past) == words
    assert len(words) <= 6


@pytest.mark.parametrize(
    ("n", "words"),
    [(9999, "9999"), (12_345, "12.3k"), (412_000, "412k"), (999_499, "999k"), (999_500, "1.0M")],
)
def test_a_count_takes_five_cells(n: int, words: str) -> None:
    assert compact(n) == words


async def test_runs_are_listed_live_ones_first(store: Path) -> None:
    live = create(store, made_up(100, targets=[SLOW], name="live"), Settings())
    working = asyncio.create_task(Engine(store, live).run())
    await finished(store, made_up(3, name="over"), Settings(limit=2))
    app = app_on(store)
    async with shown_on(app, (120, 30)) as pilot:
        await pilot.press("2")
        await until_shown(pilot, "live-", "over-", "partial", "1 live", "/100")
        screen = app.screen
        assert isinstance(screen, RunsScreen)
        assert [one.run.suite for one in screen.table.runs] == ["live", "over"]
        await pilot.press("u")
        await until_shown(pilot, "the run is running")
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)


async def test_an_interrupted_run_is_resumed_from_the_list(store: Path) -> None:
    create(store, made_up(3), Settings())
    app = app_on(store)
    async with shown_on(app) as pilot:
        await pilot.press("2")
        await until_shown(pilot, "sums-")
        await pilot.press("u")
        await run_screen(pilot)
        await until_shown(pilot, "3/3", "○ done")


async def test_what_is_finished_is_not_resumed(store: Path) -> None:
    by_hand(store, [Case(0, "c", {})], answers=[None], state=RunState.CANCELLED)
    plain_run(store, 2)
    app = app_on(store)
    async with shown_on(app) as pilot:
        await pilot.press("2")
        await until_shown(pilot, "by-hand-")
        await pilot.press("u")
        await until_shown(pilot, "everything is finished")
        await pilot.press("C")
        await until_shown(pilot, "not available: the run is finished")
        await pilot.press("j", "u")
        await until_shown(pilot, "the run was cancelled")


async def test_a_run_shows_its_gate_and_first_failures_and_the_list_is_sorted(store: Path) -> None:
    cases = [Case(i, f"case-{i}", {"n": i}) for i in range(4)]
    right = [Output(f"{i}") for i in range(4)]
    spec = made_up(4, gate={"pass_rate": 0.7}).model_dump_json()
    reasons = ["expected 2", "expected 3"]
    by_hand(store, cases, answers=right, reasons=reasons, suite="low", spec=spec)
    by_hand(store, cases, answers=right, suite="high", spec=spec)
    app = app_on(store)
    async with shown_on(app, (120, 30)) as pilot:
        await pilot.press("2")
        await until_shown(pilot, "✓ holds", "✗ fails", "no failures", "gate ✓ holds", "▅50.0%")
        await pilot.press("j")
        await until_shown(pilot, "first of 2 failures", "✗ case-0", "gate ✗ fails", "50% < 70%")
        db = await app.context.client.reader()
        assert [one.case_id for one in await db.call(first_failures, 1)] == ["case-0", "case-1"]
        await pilot.press("o")
        await until_shown(pilot, "sort by", "pass rate, lowest first")
        await pilot.press("j", "j", "enter")
        await until_shown(pilot, "pass▲", "▸ low-")
        assert [one.run.suite for one in runs_screen(app).table.runs] == ["low", "high"]
        await pilot.press("slash", *"high")
        await until_shown(pilot, "1 of 2", "no failures")


async def test_where_the_runs_leave_room_a_low_screen_shows_what_one_came_to(store: Path) -> None:
    for _ in range(2):
        plain_run(store, 3, failing=(1,))
    app = app_on(store)
    async with shown_on(app, (60, 20)) as pilot:
        await pilot.press("2")
        await until_shown(pilot, "▸ by-hand-", "✗ case-001")
        assert runs_screen(app).preview.display

        async def add_up_to(n: int) -> None:
            table = runs_screen(app).table
            for _ in range(n - len(table.runs)):
                plain_run(store, 1)
            await until(pilot, lambda: len(table.runs) == len(table.shown) == n)

        await add_up_to(12)
        assert runs_screen(app).preview.display
        await add_up_to(13)
        assert not runs_screen(app).preview.display


async def test_on_a_narrow_screen_the_gate_stays_longer_than_the_age(store: Path) -> None:
    spec = made_up(1, gate={"pass_rate": 0.7}).model_dump_json()
    by_hand(store, [Case(0, "c", {})], answers=[Output("o")], spec=spec)
    app = app_on(store)
    async with shown_on(app, (60, 24)) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: "✓ holds" in text(app) and "age" not in text(app))
    app = app_on(store)
    async with shown_on(app, (52, 24)) as pilot:
        await pilot.press("2")
        # of what has ended it matters least
        await until(pilot, lambda: "✓ holds" in text(app) and "trials" not in text(app))


async def test_of_a_sweep_no_rate_is_shown_and_a_narrow_line_has_interval_and_n(
    store: Path,
) -> None:
    plain_run(store, 4, failing=(1,))
    made = plain_run(store, 3, failing=())
    with writing(store) as db:
        db.execute("UPDATE runs SET settings = ? WHERE id = ?", ('{"sweep": {}}', made.run))
    app = app_on(store)
    async with shown_on(app, (60, 24)) as pilot:
        await pilot.press("2")
        await until_shown(pilot, "a sweep scores nothing")
        assert "100.0%" not in text(app)
        await pilot.press("j")
        await until_shown(pilot, "75.0%", "n 4")


async def test_names_of_failures_are_whole_where_there_is_room(store: Path) -> None:
    name, case = "a-target-of-a-long-name", "a-case-of-a-very-long-name-indeed-0001"
    answers = [Output("1"), Output("2")]
    reasons = ["no", "no"]
    by_hand(store, [Case(0, case, {})], answers=answers, columns=("b", name), reasons=reasons)
    app = app_on(store)
    async with shown_on(app, (200, 40)) as pilot:
        await pilot.press("2")
        await until_shown(pilot, f" {case}  {name}  ")
        await pilot.resize_terminal(80, 40)
        await until_shown(pilot, "…d-0001  ")
