"""All that is said of a run at one moment says the same, wherever it is said."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.reports.filled import ERROR, FAIL, OPEN, UNGRADED, Plan, Told, cases, fill
from tests.support import reading, writing
from tui_eval.model.states import RunState
from tui_eval.reports.document import of_results
from tui_eval.reports.live_results import LiveResults, live_results
from tui_eval.reports.results import results
from tui_eval.reports.run_events import look
from tui_eval.reports.terminal.listing import listing
from tui_eval.reports.terminal.summary import summary
from tui_eval.reports.terminal.tables import AnsiStyle
from tui_eval.store.follow import Pulse
from tui_eval.store.read import run_queries, suite_queries
from tui_eval.store.read.trials import trial_queries

GOOD, WRONG, UNSURE = Told(), Told(FAIL), Told(UNGRADED)
HALF_WAY = [
    *(GOOD, GOOD, GOOD),
    *(WRONG, OPEN, OPEN),
    *(ERROR, UNSURE, GOOD),
    *(OPEN, OPEN, OPEN),
]
"""Of 4 cases asked 3 times; 2 of 3 cases, and 4 of 5 graded trials, pass."""


@pytest.fixture(params=["leave_out", "fail"])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A store with a run that is half way through its epochs."""
    plan = Plan(
        {"one": HALF_WAY},
        cases(4),
        epochs=3,
        run={"errors": request.param},
        gate={"pass_rate": 0.75},
        state=RunState.RUNNING,
    )
    fill(tmp_path / "s.db", plan)
    with reading(tmp_path / "s.db") as made:
        yield made


def now(db: sqlite3.Connection) -> LiveResults:
    return live_results(db, run_queries.runs(db)[0].id)


def test_head_gate_progress_list_and_document_say_the_same(db: sqlite3.Connection) -> None:
    run = run_queries.runs(db)[0]
    fails = suite_queries.run_table(db, run.id)["errors"] == "fail"
    known = now(db).rates[0]
    assert known.rate == pytest.approx((1 + 0 + (0.5 if fails else 1)) / 3)
    assert known.rate is not None
    assert known.n == (6 if fails else 5)
    whole: dict[str, Any] = of_results(results(db, run.id))
    document = whole["targets"]["one"]
    assert document["pass_rate"] == pytest.approx(known.rate, abs=1e-6)
    assert document["n"] == known.n
    seen = look(db, run.id, Pulse(0, 1), events=False, rated=True)
    assert seen.rates == [known.rate]
    assert f"{100 * known.rate:.1f}% so far" in "\n".join(
        listing(db, [run], 0.0, 200, AnsiStyle(False))
    )
    gate = now(db).gate
    assert gate is not None
    assert [missed.got for missed in gate.missed] == [known.rate]


def test_what_is_shown_beside_each_other_is_of_one_moment(
    db: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trial that settles between two reads is in both figures, or in none."""
    from tui_eval.reports import live_results as module

    before = now(db)
    writing = sqlite3.connect(tmp_path / "s.db")
    gate = module._gate

    def settle_first(*given: object) -> object:
        writing.execute("UPDATE trials SET verdict = 'fail' WHERE verdict = 'pass'")
        writing.commit()
        return gate(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "_gate", settle_first)
    assert now(db) == before
    monkeypatch.setattr(module, "_gate", gate)
    assert now(db).rates[0].rate == 0.0
    writing.close()


def test_only_rates_that_rest_on_a_judge_say_so(tmp_path: Path) -> None:
    run = fill(tmp_path / "s.db", Plan({"one": [GOOD, WRONG]}, cases(2)))
    with writing(tmp_path / "s.db") as db:

        def said() -> tuple[bool, bool, bool]:
            of, rows = results(db, run), run_queries.runs(db)
            return (
                live_results(db, run).judged,
                "~50.0%" in "\n".join(listing(db, rows, 0.0, 200, AnsiStyle(False))),
                "~50.0%" in summary(of, width=100, ink=AnsiStyle()),
            )

        assert said() == (False, False, False)
        judges = '[{"kind": "simulated", "name": "j"}]'
        db.execute("UPDATE runs SET spec = json_set(spec, '$.judges', json(?))", (judges,))
        assert said() == (False, False, False)  # none was asked
        db.execute("UPDATE scores SET source = 'judge'")
        assert said() == (True, True, True)
        db.execute("UPDATE scores SET required = 0")
        assert said() == (False, False, False)


def test_all_cases_are_looked_at_once_and_not_before_they_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = fill(tmp_path / "s.db", Plan({"one": [GOOD, WRONG]}, cases(2)))
    with writing(tmp_path / "s.db") as db:
        db.execute("UPDATE runs SET staged = 0")
        assert live_results(db, run).one_each is None
        db.execute("UPDATE runs SET staged = 1")
        known = live_results(db, run)
        assert known.one_each is True
        monkeypatch.setattr(trial_queries, "weighted", None)  # asked, it would break
        assert live_results(db, run, known.one_each) == known
