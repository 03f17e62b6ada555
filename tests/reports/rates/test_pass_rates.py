import sqlite3
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reports.filled import CANCELLED, ERROR, FAIL, OPEN, UNGRADED, Plan, Told, cases
from tests.reports.filled import fill as write
from tests.support import new_run, reading, writing
from tui_eval.model.case import Case
from tui_eval.reports.rates import pass_rates as module
from tui_eval.reports.rates.pass_rates import ColumnPassRate, pass_rates
from tui_eval.reports.rates.run_rates import rates
from tui_eval.store.errors import UnknownRunError
from tui_eval.suites.spec.run import RunSettings

GOOD, WRONG, UNSURE = Told(), Told(FAIL), Told(UNGRADED)
ANY = [GOOD, WRONG, UNSURE, ERROR, CANCELLED, OPEN]


def whole_way(
    db: sqlite3.Connection, run: int, rules: dict[str, object]
) -> dict[int, ColumnPassRate]:
    found = rates(db, run, RunSettings.model_validate(rules))
    return {
        column: ColumnPassRate(of.pass_rate, of.n, of.interval, of.open > 0)
        for column, of in found.columns.items()
    }


@settings(max_examples=80, deadline=None)
@given(
    reduce=st.sampled_from(["mean", "max", "majority", "at_least_2", "pass@1", "pass^2"]),
    errors=st.sampled_from(["leave_out", "fail"]),
    epochs=st.integers(1, 3),
    weights=st.lists(st.sampled_from([1.0, 1.0, 1.0, 2.5]), min_size=1, max_size=5),
    data=st.data(),
)
def test_it_is_what_reports_say(
    reduce: str, errors: str, epochs: int, weights: Sequence[float], data: st.DataObject
) -> None:
    asked = [Case(i, f"case-{i}", {}, weight=weight) for i, weight in enumerate(weights)]
    n = len(asked) * epochs
    told = {
        name: data.draw(st.lists(st.sampled_from(ANY), min_size=n, max_size=n))
        for name in ("one", "two")
    }
    rules: dict[str, object] = {"reduce": reduce, "errors": errors}
    with TemporaryDirectory() as folder:
        file = Path(folder) / "store.db"
        run = write(file, Plan(told, asked, epochs=epochs, run=rules))
        with reading(file) as db:
            found = pass_rates(db, run)
            assert found == whole_way(db, run, rules)


def test_where_a_case_is_a_trial_none_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = write(tmp_path / "s.db", Plan({"one": [GOOD, WRONG, GOOD]}, cases(3)))
    twice = write(
        tmp_path / "s.db",
        Plan({"one": [GOOD, WRONG, GOOD, GOOD, UNSURE, WRONG]}, cases(3), epochs=2),
    )

    def refuse(*_: object) -> None:
        raise AssertionError("it went through the trials")

    with reading(tmp_path / "s.db") as db:
        assert pass_rates(db, twice)[0].rate == pytest.approx((0.5 + 1 + 0) / 3)
        monkeypatch.setattr(module, "_reduced", refuse)
        assert pass_rates(db, plain)[0].rate == pytest.approx(2 / 3)
        with pytest.raises(AssertionError):
            pass_rates(db, twice)


def test_a_run_that_is_not_staged_has_no_rates_yet(tmp_path: Path) -> None:
    with writing(tmp_path / "s.db") as db:
        assert pass_rates(db, new_run(db)) == {0: ColumnPassRate(None, 0, None, open=True)}


def test_rules_of_a_later_version_are_not_guessed(tmp_path: Path) -> None:
    run = write(tmp_path / "s.db", Plan({"one": [GOOD, WRONG]}, cases(2)))
    with writing(tmp_path / "s.db") as db:
        db.execute("UPDATE runs SET spec = json_set(spec, '$.run.reduce', 'median')")
        assert pass_rates(db, run) == {}


def test_a_run_nobody_knows_is_an_error(tmp_path: Path) -> None:
    with writing(tmp_path / "s.db") as db, pytest.raises(UnknownRunError):
        pass_rates(db, 7)
