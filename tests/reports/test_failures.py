from pathlib import Path

from tests.reports.filled import FAIL, Plan, Told, cases, connect, fill
from tests.reports.hostile import HOSTILE
from tui_eval.model.case import Case
from tui_eval.model.score import Grade
from tui_eval.model.visible import visible
from tui_eval.reports.failures import failures
from tui_eval.reports.tables import Ink


def test_only_what_failed_is_listed_with_its_reason(tmp_path: Path) -> None:
    run = fill(tmp_path / "store.db", Plan({"gpt": [Told(), Told(FAIL)]}, cases(2)))
    db = connect(tmp_path / "store.db")
    told = list(failures(db, run, Ink()))
    db.close()
    assert told == ["case-1  gpt  exact: expected 'Paris', got 'London'"]


def test_no_hostile_text_reaches_a_terminal_as_it_is(tmp_path: Path) -> None:
    told = [Told(Grade.of(False, f"got {text}", text), text=text) for text in HOSTILE]
    asked = [Case(i, f"{i} {text}", {"n": text}) for i, text in enumerate(HOSTILE)]
    run = fill(tmp_path / "store.db", Plan({"gpt": told}, asked))
    db = connect(tmp_path / "store.db")
    lines = list(failures(db, run, Ink()))
    db.close()
    assert len(lines) == len(HOSTILE)
    assert not [line for line in lines if "\n" in line or visible(line) != line]
