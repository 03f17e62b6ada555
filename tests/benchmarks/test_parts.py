"""What the benchmarks are made of."""

import argparse
import json
import os
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from benchmarks import filled, processes
from benchmarks.processes import TimedOutError
from benchmarks.profile import Sampler
from benchmarks.report import Figure, Report, Row
from benchmarks.server import heard, serving
from benchmarks.suites import Shape
from tui_eval.engine.session import Session
from tui_eval.engine.settings import Settings
from tui_eval.reports.document import document
from tui_eval.store.connection import open_readable
from tui_eval.store.read import report_queries, run_counts
from tui_eval.store.read.trials import reusable_outputs, trial_queries, trial_rows
from tui_eval.store.search import views
from tui_eval.store.search.views import Condition, FilterKind, TrialOutcome, View
from tui_eval.suites.loading.suite_file import load

BURN = "sum(i * i for i in range({}))"


def around(folder: Path) -> dict[str, str]:
    return processes.surroundings(folder)


def test_a_table_has_words_to_the_left_and_numbers_to_the_right(
    capsys: pytest.CaptureFixture[str],
) -> None:
    figures = (Figure("name", ""), Figure("s", "wall s", ".2f"))
    rows: list[Row] = [
        {"name": "a", "s": 1.234},
        {"name": "long", "s": None},
        {"name": "c", "s": 10},
    ]
    with Report("made up", argparse.Namespace(json=False)) as report:
        report.table("t", "A title", figures, rows)
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("A title")
    assert lines[at + 1 : at + 5] == [
        "        wall s",
        "  a       1.23",
        "  long",
        "  c      10.00",
    ]


def test_a_document_has_the_settings_and_all_figures(capsys: pytest.CaptureFixture[str]) -> None:
    args = argparse.Namespace(json=True, folder=Path("x"), cases=3)
    with Report("made up", args) as report:
        report.say("nothing of this")
        report.table("t", "A title", (Figure("a", "a"),), [{"a": 1, "not shown": 2}])
    told = json.loads(capsys.readouterr().out)
    assert told["benchmark"] == "made up"
    assert told["settings"] == {"folder": "x", "cases": 3}
    assert told["figures"] == {"t": [{"a": 1, "not shown": 2}]}
    assert told["conditions"]["cores"] == os.cpu_count()


def test_the_cost_of_a_command_counts_what_it_started(tmp_path: Path) -> None:
    inner = BURN.format(3_000_000)
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}])"
    little, much = (
        processes.run([sys.executable, "-c", code], folder=tmp_path, environment=around(tmp_path))
        for code in ("pass", outer)
    )
    assert much.cpu_s > little.cpu_s
    assert (little.exit_code, much.exit_code) == (0, 0)


def test_a_command_that_takes_too_long_is_killed_with_its_children(tmp_path: Path) -> None:
    with pytest.raises(TimedOutError):
        processes.run(
            ["/bin/sh", "-c", "sleep 60 & echo $! > pid; wait"],
            folder=tmp_path,
            environment=around(tmp_path),
            timeout_s=1.5,
        )
    child = int((tmp_path / "pid").read_text())
    for _ in range(100):
        if not psutil.pid_exists(child) or psutil.Process(child).status() == "zombie":
            return
        time.sleep(0.05)
    pytest.fail("its child lives")


def test_a_measured_program_finds_no_key_and_no_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    found = around(tmp_path)
    assert "secret" not in found.values()
    assert found["https_proxy"] == "http://127.0.0.1:9"


def test_a_filled_store_is_what_a_run_would_have_left(tmp_path: Path) -> None:
    made = filled.fill(tmp_path, "http://127.0.0.1:9/v1", 1000, queued=100)
    db = open_readable(made.store)
    counts = run_counts.board(db, made.run)[0]
    assert (counts.total, counts.queued, counts.done, counts.error) == (1000, 100, 873, 27)
    assert (counts.passed, counts.failed, counts.ungraded) == (720, 135, 18)
    assert (
        len(views.places(db, made.run, View((Condition(FilterKind.STANDS, TrialOutcome.FAILED),))))
        == 135
    )
    assert db.execute("PRAGMA foreign_key_check").fetchall() == []
    trial = trial_rows.trials_from(db, made.run, 10, 1)[0]
    whole = trial_queries.whole(db, made.run, trial.id)
    assert whole is not None
    assert whole.output is not None
    assert whole.output.text == "question 10"
    assert [score.verdict for score in whole.scores] == ["pass"]
    assert document(db, made.run)["state"] == "interrupted"
    db.close()


def test_a_filled_store_has_the_keys_and_the_cases_that_a_run_would_have(tmp_path: Path) -> None:
    shape = Shape(targets=3, tags=4)
    made = filled.fill(tmp_path, "http://127.0.0.1:9/v1", 1000, errored=0, shape=shape)
    session = Session(load(tmp_path / "bench.toml"), Settings())
    wanted = [want for portion in session.wanted(None) for want in portion]
    with closing(open_readable(made.store)) as db:
        keys = db.execute("SELECT generation_key, seq, col FROM trials ORDER BY place").fetchall()
        assert keys == [(want.key, want.case.seq, want.column.index) for want in wanted[:1000]]
        assert len(reusable_outputs.usable_keys(db, [key for key, *_ in keys])) == 1000
        line = next(report_queries.lines(db, made.run))
    assert (line.case, line.tags) == (wanted[0].case, ("topic-0",))


def test_a_server_says_what_it_has_heard() -> None:
    with serving() as base_url:
        assert heard(base_url).requests == 0
        assert heard(base_url).first_at is None


def spin(cpu_s: float) -> None:
    while time.thread_time() < cpu_s:
        sum(range(2000))


def test_cpu_goes_to_the_function_that_used_it() -> None:
    busy = threading.Thread(target=spin, args=(0.4,), name="busy")
    with Sampler() as sampler:
        busy.start()
        busy.join()  # this thread waits: that is no CPU
    total = sum(sampler.stacks.values())
    by_function = sampler.by(lambda _, stack: {sampler.named(code) for code in stack})
    assert by_function[f"{__name__}.spin"] > 0.8 * total
    assert sampler.by(lambda thread, _: {thread})["busy"] > 0.8 * total
