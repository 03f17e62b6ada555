"""What became of a case over the runs of its suite."""

import sqlite3
from pathlib import Path

from tests.support import Staged, output, reading
from tests.ui.playing import by_hand
from tui_eval.model.case import Case
from tui_eval.model.states import TrialState, Verdict
from tui_eval.store.read.comparing.case_history import PastTrial, flaky, history
from tui_eval.store.read.trials import trial_rows


def run_of(path: Path, text: str, *, fails: bool = False, suite: str = "s") -> Staged:
    cases = [Case(0, "other", {}), Case(1, "odd \ud800 id", {})]
    reasons = [None, "no"] if fails else []
    answers = [output("x"), output(text)]
    return by_hand(path, cases, answers=answers, reasons=reasons, suite=suite)  # type: ignore[arg-type]


def pasts_of(path: Path, made: Staged) -> list[PastTrial]:
    with reading(path) as db:
        trial = trial_rows.trial(db, made.trials[1])
        assert trial is not None
        return history(db, made.run, trial)


def test_newest_first_of_the_same_suite_case_and_column_with_how_it_began(path: Path) -> None:
    first = run_of(path, "one \ud800" + "y" * 900)
    run_of(path, "elsewhere", suite="another")
    last = run_of(path, "two", fails=True)
    found = pasts_of(path, last)
    assert [past.run for past in found] == [last.run, first.run]
    assert [past.verdict for past in found] == [Verdict.FAIL, Verdict.PASS]
    assert found[0].opening == "two"
    assert found[1].opening is not None
    assert found[1].opening.startswith("one \ud800yy")
    assert len(found[1].opening) == 300


def test_partial_runs_are_left_out_but_for_the_trials_own(path: Path) -> None:
    runs = [run_of(path, str(n)) for n in range(3)]
    db = sqlite3.connect(path)
    db.execute("UPDATE runs SET partial = 1 WHERE id IN (?, ?)", (runs[0].run, runs[2].run))
    db.commit()
    db.close()
    assert [past.run for past in pasts_of(path, runs[2])] == [runs[2].run, runs[1].run]
    assert [past.run for past in pasts_of(path, runs[1])] == [runs[1].run]


def test_every_step_is_a_look_into_an_index(path: Path) -> None:
    made = run_of(path, "x")
    asked: list[str] = []
    with reading(path) as db:
        trial = trial_rows.trial(db, made.trials[1])
        assert trial is not None
        db.set_trace_callback(asked.append)
        history(db, made.run, trial)
        db.set_trace_callback(None)
        *_, statement = asked
        plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {statement}")]
    assert not [step for step in plan if step.startswith("SCAN") and step != "SCAN r"], plan


def past(
    run: int,
    verdict: Verdict,
    output: int,
    key: bytes = b"k",
    epoch: int = 0,
    text: bytes | None = None,
    rules: bytes = b"",
) -> PastTrial:
    done, said = TrialState.DONE, b"%d" % output if text is None else text
    return PastTrial(
        run, "r", False, 0.0, 1, 0, epoch, done, verdict, 1.0, key, output, "x", None, said, rules
    )


def test_flaky_is_what_flips_though_the_same_was_asked() -> None:
    passed, failed = Verdict.PASS, Verdict.FAIL
    assert flaky([past(2, failed, 2), past(1, passed, 1)])
    assert not flaky([past(2, failed, 2, b"other"), past(1, passed, 1)])
    assert not flaky([past(2, failed, 1), past(1, passed, 1)])  # one output: its scorers changed
    assert not flaky([past(2, passed, 2), past(1, passed, 1)])
    assert not flaky([past(2, Verdict.UNGRADED, 2), past(1, passed, 1)])
    assert flaky([past(1, passed, 1), past(1, failed, 2, b"second", epoch=1)])
    # the very same text, and scorers that were mended in between
    assert not flaky([past(2, failed, 2, text=b"x"), past(1, passed, 1, text=b"x")])
    assert not flaky([past(2, failed, 2, rules=b"new"), past(1, passed, 1, rules=b"old")])


def test_texts_are_alike_as_wholes_and_rules_where_scorers_judges_and_case_are(path: Path) -> None:
    long = "y" * 400
    runs = [run_of(path, f"{long}1"), run_of(path, f"{long}1"), run_of(path, f"{long}2")]
    first, second, third = reversed(pasts_of(path, runs[2]))
    assert first.text == second.text != third.text
    assert first.rules == second.rules == third.rules
    db = sqlite3.connect(path)
    db.execute("UPDATE runs SET spec = json_set(spec, '$.scorers[0].kind', 'f1') WHERE id = 1")
    db.execute("UPDATE runs SET spec = json_set(spec, '$.judges', json('[1]')) WHERE id = 2")
    db.commit()
    db.close()
    assert len({past.rules for past in pasts_of(path, runs[2])}) == 3
