import os
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.store.fates import finish
from tests.support import Staged, do, reading, score, staged, writing
from tui_eval.engine.control.drawing import grading_session
from tui_eval.model.json import Json
from tui_eval.model.states import Verdict
from tui_eval.store.read import grade_queries
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.write import trial_verbs
from tui_eval.store.write.people import grade_writes
from tui_eval.store.write.people.grade_writes import NewGrade, OutputReplacedError

KILLED = """
import os, signal, sys
from pathlib import Path
from tui_eval.engine.control.drawing import grading_session
from tui_eval.store.connection import open_readable
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.write.people import grade_writes
from tui_eval.store.writer import once
from tui_eval.store.write.people.grade_writes import NewGrade
path, run = Path(sys.argv[1]), int(sys.argv[2])
db = open_readable(path)
session = grading_session(db, run, "good", "anna", 20)
for trial in session.trials[:7]:
    output = trial_rows.trial(db, trial).output
    new = NewGrade(trial, output, "good", "anna", "pass", "pass", None, seed=session.seed)
    once(path, lambda tx: grade_writes.add(tx, run, [new]))
os.kill(os.getpid(), signal.SIGKILL)
"""


def judged(db: sqlite3.Connection, n: int = 4) -> Staged:
    run = staged(db, n)
    for at, trial in enumerate(run.trials):
        finish(db, trial, score(at % 2 == 0, "good", source="judge"))
    return run


def new(db: sqlite3.Connection, trial: int, grade: Json = "pass", by: str = "anna") -> NewGrade:
    row = trial_rows.trial(db, trial)
    assert row is not None
    assert row.output is not None
    verdict = None if grade is None else Verdict(str(grade))
    return NewGrade(trial, row.output, "good", by, grade, verdict, None)


def test_the_newest_of_a_person_counts_and_the_same_twice_is_nothing_new(
    db: sqlite3.Connection,
) -> None:
    run = judged(db)
    first, second = run.trials[:2]
    grades = [new(db, first), new(db, first, "fail", "ben"), new(db, second, None)]
    assert do(db, lambda tx: grade_writes.add(tx, run.run, grades)) == 3
    assert do(db, lambda tx: grade_writes.add(tx, run.run, grades)) == 0
    noted = replace(new(db, first, "fail"), note="half \ud800 of it")
    assert do(db, lambda tx: grade_writes.add(tx, run.run, [noted])) == 1
    found = [(one.trial, one.person, one.verdict) for one in grade_queries.given(db, run.run)]
    assert found == [
        (first, "anna", Verdict.FAIL),  # who graded first stands first
        (first, "ben", Verdict.FAIL),
        (second, "anna", None),
    ]
    assert grade_queries.given(db, run.run)[0].note == "half \ud800 of it"
    assert db.execute("SELECT count(*) FROM grades").fetchone() == (4,)


def test_a_grade_is_of_the_output_it_was_given_to(db: sqlite3.Connection) -> None:
    run = judged(db)
    first = run.trials[0]
    graded = new(db, first)
    do(db, lambda tx: grade_writes.add(tx, run.run, [graded]))
    do(db, lambda tx: trial_verbs.retry(tx, first))
    assert grade_queries.given(db, run.run) == []
    with pytest.raises(OutputReplacedError, match="replaced meanwhile"):
        do(db, lambda tx: grade_writes.add(tx, run.run, [new(db, run.trials[1]), graded]))
    assert db.execute("SELECT count(*) FROM grades").fetchone() == (1,)


def test_a_session_that_is_killed_after_the_seventh_grade_goes_on_with_the_eighth(
    tmp_path: Path,
) -> None:
    path = tmp_path / "store.sqlite3"
    with writing(path) as db:
        run = judged(db, 40).run
        planned = grading_session(db, run, "good", "anna", 20)
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(path), str(run)], env={**os.environ}, timeout=60
    )
    assert done.returncode == -signal.SIGKILL
    with reading(path) as db:
        session = grading_session(db, run, "good", "anna", 20)
    assert session.done == 7
    assert list(session.trials) == list(planned.trials)
