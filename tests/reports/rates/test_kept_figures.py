"""Histories of changes, drawn: what is kept of a run is what counting it anew gives."""

import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.reports.filled import CANCELLED, ERROR, FAIL, OPEN, UNGRADED, Plan, Told, fill
from tests.reports.keeping import all_figures, keeping, see_that_kept_is_counted
from tests.sampling import examples
from tests.support import key, output, reading, score, writing
from tui_eval.model.case import Case
from tui_eval.model.json import digest
from tui_eval.model.outputs.output import Failure
from tui_eval.model.score import tally
from tui_eval.model.states import RunState
from tui_eval.reports.counting_ahead import count_ahead
from tui_eval.reports.document import document
from tui_eval.reports.rates import trial_figures
from tui_eval.store.chunks import chunks_file, division, kept_figures
from tui_eval.store.location import figures_file
from tui_eval.store.read import run_queries
from tui_eval.store.search import views
from tui_eval.store.search.groups import Grouping, Groups
from tui_eval.store.search.views import Condition, FilterKind, View
from tui_eval.store.tx import Tx
from tui_eval.store.write import attempt_writes, score_writes, trial_moves, trial_verbs, undo
from tui_eval.store.write.people import human_scores, notes
from tui_eval.store.writer import transact

_ASKED = ("retry", "rescore", "undo", "cancel", "grade", "grade", "ungrade")
_WORK = ("ask", "ask", "score", "score")
KINDS = [
    Told(),
    Told(FAIL, latency_s=1.25),
    Told(UNGRADED, finish_reason="length"),
    Told(latency_s=None, scorer="other", required=False),
    ERROR,
    CANCELLED,
    OPEN,
]


def plan(draw: random.Random, epochs: int) -> Plan:
    cases = [
        Case(
            seq,
            f"case-{seq}",
            {"n": seq, "book": seq // 3},
            tags=tuple(tag for tag in ("x", "é") if draw.random() < 0.5),
            weight=draw.choice((1.0, 0.5, 3.0)) if epochs > 1 else 1.0,
        )
        for seq in range(11)
    ]
    told = {name: draw.choices(KINDS, k=len(cases) * epochs) for name in ("a", "b")}
    reduce = ["mean", "pass@2", "max"] if epochs > 1 else "mean"
    return Plan(
        told,
        cases,
        epochs=epochs,
        run={"reduce": reduce, "errors": draw.choice(("leave_out", "fail"))},
        state=draw.choice((RunState.DONE, RunState.INTERRUPTED)),
        cluster=draw.choice((None, "book")),
    )


def happens(tx: Tx, trial: int, draw: random.Random) -> None:
    """Let one thing happen to a trial, if it may."""
    request = draw.randrange(1, 4)
    match draw.choice(
        ("retry", "rescore", "undo", "cancel", "grade", "ungrade", *_WORK, "fail", "note")
    ):
        case "retry":
            trial_verbs.retry(tx, trial, request)
        case "rescore":
            trial_verbs.rescore(tx, trial, draw.choice(((), ("exact",))), request=request)
        case "undo":
            undo.withdraw(tx, trial, request, 9)
            undo.uncancel(tx, trial, request, 9)
        case "cancel":
            trial_verbs.cancel(tx, trial, request)
        case "grade":
            by_hand = score(draw.random() < 0.5, source="human")
            graded = tx.db.execute("SELECT output FROM trials WHERE id = ?", (trial,)).fetchone()
            human_scores.grade(tx, trial, graded[0], by_hand, request)
        case "ungrade":
            human_scores.withdraw(tx, trial, "exact", request)
            human_scores.take_back(tx, trial, request, 9)
        case "ask":
            attempt = attempt_writes.start_attempt(tx, trial, queue_s=None, wait_s=None)
            if attempt is not None and draw.random() < 0.7:
                came = output(latency_s=draw.random())
                attempt_writes.answer(tx, attempt, trial, key(trial, attempt), came, 0.5)
        case "score":
            given = [score(draw.choice((True, False, None)), cached=draw.random() < 0.3)]
            scoring = "SELECT 1 FROM trials WHERE id = ? AND state = 'scoring'"
            if tx.db.execute(scoring, (trial,)).fetchone():
                score_writes.add_scores(tx, trial, given, fresh=False)
                if draw.random() < 0.7:
                    trial_moves.settle(tx, trial, tally(given))
        case "fail":
            trial_moves.fail_trial(tx, trial, Failure("timeout", "no answer"))
        case "note":
            notes.write(tx, {trial: draw.choice(("", "odd"))})


def settle_all(tx: Tx, draw: random.Random) -> None:
    """Decide about all trials that are being scored."""
    scored = "SELECT id FROM trials WHERE state = 'scoring'"
    for (trial,) in tx.db.execute(scored).fetchall():
        given = [score(draw.choice((True, False)))]
        score_writes.add_scores(tx, trial, given, fresh=False)
        trial_moves.settle(tx, trial, tally(given))


def go_on(db: sqlite3.Connection, run: int, draw: random.Random) -> None:
    trials = [row[0] for row in db.execute("SELECT id FROM trials WHERE run = ?", (run,))]

    def some(tx: Tx) -> None:
        for trial in draw.sample(trials, draw.randrange(1, 4)):
            try:
                with tx.apart():
                    happens(tx, trial, draw)
            except sqlite3.IntegrityError:  # one request moves a trial once
                continue

    transact(db, some)


@given(st.integers(0, 1 << 32), st.sampled_from((1, 3)))
@settings(
    max_examples=examples(12),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_whatever_happens_to_trials_what_is_kept_is_what_counting_gives(
    tmp_path_factory: pytest.TempPathFactory, seed: int, epochs: int
) -> None:
    draw = random.Random(seed)
    path = tmp_path_factory.mktemp("kept") / "store.sqlite3"
    before, run = fill(path, plan(draw, 1)), fill(path, plan(draw, epochs))
    with keeping(draw.choice((2, 7))), writing(path) as db, reading(path) as kept:
        for _ in range(6):
            go_on(db, draw.choice((before, run, run)), draw)
            see_that_kept_is_counted(kept, path, run)
            if draw.random() < 0.5:  # lists and groups are kept only while nothing is scored
                transact(db, partial(settle_all, draw=draw))
                see_that_kept_is_counted(kept, path, run)
        assert figures_file(path, run_queries.run(db, run).name).exists()


def test_a_trial_that_is_graded_otherwise_in_a_copy_put_back_is_counted_anew(
    tmp_path: Path,
) -> None:
    path = tmp_path / "store.sqlite3"
    run = fill(path, plan(random.Random(7), 1))
    with keeping(4), writing(path) as db, closing(sqlite3.connect(":memory:")) as copy:
        trial, out = db.execute(
            "SELECT id, output FROM trials WHERE state = 'done' AND output IS NOT NULL"
        ).fetchone()
        db.backup(copy)

        def grade(passed: bool) -> None:
            by_hand = score(passed, source="human")
            transact(db, lambda tx: human_scores.grade(tx, trial, out, by_hand, 1))
            with reading(path) as kept:
                see_that_kept_is_counted(kept, path, run)

        grade(True)
        copy.backup(db)
        grade(False)


def test_parts_together_say_what_all_trials_say_at_once(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    run = fill(path, plan(random.Random(7), 3))
    with reading(path) as db:
        at_once = document(db, run)
    with keeping(4), reading(path) as db:
        assert division.division(db, run_queries.run(db, run), division.TRIALS).chunks > 5
        for _ in range(2):
            in_parts = document(db, run)
            assert {**in_parts, "wall_s": 0} == {**at_once, "wall_s": 0}


def test_what_a_killed_writer_left_half_done_counts_for_nothing(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    run = fill(path, plan(random.Random(3), 1))
    with keeping(2), reading(path) as db:
        before = all_figures(db, run)
        killed = subprocess.Popen(
            [sys.executable, "-c", _HALF, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert killed.stdout is not None and killed.stdout.readline() == "written\n"
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        killed.stdout.close()
        see_that_kept_is_counted(db, path, run)
        assert all_figures(db, run) == before
        with writing(path) as writer:
            transact(writer, lambda tx: trial_verbs.retry(tx, _done(writer), None))
        see_that_kept_is_counted(db, path, run)
        assert all_figures(db, run) != before


_HALF = """
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN IMMEDIATE")
db.execute("UPDATE meta SET value = value + 1 WHERE name = 'change'")
db.execute("UPDATE trials SET state = 'queued', verdict = NULL, change = change + 1")
print("written", flush=True)
time.sleep(60)
"""


def _done(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT id FROM trials WHERE state = 'done' LIMIT 1").fetchone()[0])


def test_what_was_counted_ahead_is_not_counted_when_it_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    run = fill(path, plan(random.Random(8), 3))
    with keeping(2):
        with reading(path) as db:
            count_ahead(db, run)
        asked: list[str] = []
        with reading(path) as db:
            db.set_trace_callback(asked.append)
            all_figures(db, run)
    assert len(asked) > 20 and not [one for one in asked if "seq >= " in one]


def test_lists_and_groups_that_take_longest_are_there_before_somebody_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.sqlite3"
    run = fill(path, plan(random.Random(8), 1))
    monkeypatch.setattr(views, "_WORTH_KEEPING_S", 0.0)
    parts = (Condition(FilterKind.CUT), Condition(FilterKind.SCORER, "exact"))

    def found(db: sqlite3.Connection) -> list[object]:
        lists = [list(views.places(db, run, View((part,)))) for part in parts]
        groups = Groups(run, Grouping.REASON, None, 22)
        while groups.step(db):
            pass
        return [*lists, groups.counts, groups.grouped]

    with reading(path) as db:
        at_once = found(db)
    assert all(at_once)
    with keeping(2):
        with reading(path) as db:
            count_ahead(db, run)
        asked: list[str] = []
        with reading(path) as db:
            db.set_trace_callback(asked.append)
            assert found(db) == at_once
    looks = [one for one in asked if "trials_change" not in one]  # at all, not at what is newest
    assert looks and not [one for one in looks if "FROM trials t" in one or "scores" in one]


def test_who_counts_otherwise_gives_the_file_another_format(tmp_path: Path) -> None:
    """Figures that were kept by another version are not to be taken for those of this one."""
    path = tmp_path / "store.sqlite3"
    run = fill(path, plan(random.Random(9), 3))
    with keeping(4), reading(path) as db:
        all_figures(db, run)
        file = figures_file(path, run_queries.run(db, run).name)
    with closing(sqlite3.connect(file)) as kept:
        rows = kept.execute("SELECT figures, chunk, content FROM chunks ORDER BY 1, 2").fetchall()
    assert (chunks_file.FORMAT, digest(rows).hex()[:12]) == (4, "bcc507675746")


def test_a_run_that_is_half_deleted_is_counted_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    run = fill(path, plan(random.Random(5), 1))
    with keeping(2), reading(path) as db, writing(path) as writer:
        whole = all_figures(db, run)
        writer.execute("UPDATE runs SET total = 0")
        writer.execute("DELETE FROM trials WHERE place < 12")
        see_that_kept_is_counted(db, path, run)
        assert all_figures(db, run)["rates"] != whole["rates"]


def test_where_nothing_can_be_kept_everything_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    run = fill(path, plan(random.Random(6), 1))
    (tmp_path / "figures").write_text("in the way", "utf-8")
    with keeping(2), reading(path) as db:
        see_that_kept_is_counted(db, path, run)


def test_the_times_of_all_trials_do_not_stay_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    run = fill(path, plan(random.Random(4), 1))
    with keeping(2):
        for _ in range(2):  # counted, and from what is kept
            with reading(path) as db:
                assert trial_figures.call_times(db, run)
                trial_figures.endings(db, run)
                assert list(kept_figures._known_of(db, run)) == ["endings"]
