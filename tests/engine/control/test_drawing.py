import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.fates import finish
from tests.support import do, score, staged, writing
from tui_eval.engine.control.drawing import SEED, drawn, grading_session
from tui_eval.model.states import Verdict
from tui_eval.store.read.grade_queries import ScoredOutput
from tui_eval.store.write.people import grade_writes
from tui_eval.store.write.people.grade_writes import NewGrade


def scored(n: int, passing: int, columns: int = 1) -> list[ScoredOutput]:
    return [
        ScoredOutput(i, i, i % columns, i, Verdict.PASS if i < passing else Verdict.FAIL, None)
        for i in range(n)
    ]


def test_half_of_it_passed_and_half_failed_of_each_column_alike() -> None:
    chosen = drawn(scored(1000, 900, columns=3), 60, SEED)
    assert len({one.trial for one in chosen}) == 60
    assert Counter(one.verdict for one in chosen) == {Verdict.PASS: 30, Verdict.FAIL: 30}
    assert set(Counter((one.col, one.verdict) for one in chosen).values()) == {10}
    halves = Counter(one.verdict for one in chosen[:20])
    assert len(halves) == 2, "nobody can tell by the place what the judge said"


def test_where_one_kind_is_rare_all_of_it_is_drawn_and_more_of_the_other() -> None:
    chosen = drawn(scored(200, 196), 50, SEED)
    assert Counter(one.verdict for one in chosen) == {Verdict.PASS: 46, Verdict.FAIL: 4}
    assert len(drawn(scored(12, 6), 50, SEED)) == 12
    assert drawn([], 50, SEED) == []


def test_more_are_those_before_and_others_and_another_seed_draws_others() -> None:
    outputs = scored(500, 250)
    few = {one.trial for one in drawn(outputs, 50, SEED)}
    assert few < {one.trial for one in drawn(outputs, 100, SEED)}
    assert few != {one.trial for one in drawn(outputs, 50, SEED + 1)}


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with writing(tmp_path / "s.sqlite3") as opened:
        yield opened


def test_one_in_five_goes_to_a_second_person_too(db: sqlite3.Connection) -> None:
    run = staged(db, 80)
    for at, trial in enumerate(run.trials):
        finish(db, trial, score(at % 2 == 0, "good", source="judge"))

    def give(person: str, trials: list[int]) -> None:
        outputs = dict(db.execute("SELECT id, output FROM trials"))
        new = [
            NewGrade(one, outputs[one], "good", person, "pass", Verdict.PASS, None)
            for one in trials
        ]
        do(db, lambda tx: grade_writes.add(tx, run.run, new))

    anna = grading_session(db, run.run, "good", "anna", 50)
    assert (len(anna.trials), anna.done, anna.drawn) == (50, 0, 50)
    give("anna", list(anna.trials[:30]))
    ben = grading_session(db, run.run, "good", "ben", 50)
    again = set(ben.trials) & set(anna.trials[:30])
    assert len(ben.trials) == 20 + len(again)
    give("anna", list(anna.trials[30:]))
    assert len(grading_session(db, run.run, "good", "ben", 50).trials) == 10
    give("ben", list(grading_session(db, run.run, "good", "ben", 50).trials))
    assert not grading_session(db, run.run, "good", "carl", 50).trials
    assert grading_session(db, run.run, "good", "anna", 50).done == 50
