from pathlib import Path

from tests import hostile
from tests.reports.filled import FAIL, Plan, Told, cases, filled
from tests.support import do, writing
from tui_eval.model.case import Case
from tui_eval.model.score import Grade, Score
from tui_eval.model.visible import visible
from tui_eval.reports.results import results
from tui_eval.reports.terminal.failures import failures
from tui_eval.reports.terminal.summary import summary
from tui_eval.reports.terminal.tables import AnsiStyle
from tui_eval.store.write import score_writes


def test_only_what_failed_is_listed_with_its_reason(tmp_path: Path) -> None:
    with filled(tmp_path / "store.db", Plan({"gpt": [Told(), Told(FAIL)]}, cases(2))) as (db, run):
        told = list(failures(db, run, AnsiStyle()))
    assert told == ["case-1  gpt  exact: expected 'Paris', got 'London'"]


def test_no_hostile_text_reaches_a_terminal_as_it_is(tmp_path: Path) -> None:
    told = [Told(Grade.of(False, f"got {text}", text), text=text) for text in hostile.outputs()]
    asked = [Case(i, f"{i} {text}", {"n": text}) for i, text in enumerate(hostile.outputs())]
    with filled(tmp_path / "store.db", Plan({"gpt": told}, asked)) as (db, run):
        lines = list(failures(db, run, AnsiStyle()))
    assert len(lines) == len(hostile.outputs())
    assert not [line for line in lines if "\n" in line or visible(line) != line]


def test_what_is_only_reported_stands_apart(tmp_path: Path) -> None:
    failed = [Told(FAIL), Told(FAIL, scorer="style", required=False)]
    with filled(tmp_path / "store.db", Plan({"gpt": failed}, cases(2))) as (db, run):
        with writing(tmp_path / "store.db") as other:
            polite = Score("style", Grade.of(False, "is not polite"), required=False)
            trials = [row[0] for row in other.execute("SELECT id FROM trials ORDER BY place")]
            do(other, lambda tx: score_writes.add_scores(tx, trials[0], [polite], fresh=True))
        lines = list(failures(db, run, AnsiStyle()))
        shown = summary(results(db, run), width=100, ink=AnsiStyle(), groups=True).splitlines()
    (line,) = lines  # the other has not failed
    assert line.endswith("exact: expected 'Paris', got 'London'  reported: style: is not polite")
    scorers = [line.split()[:2] for line in shown if line.startswith(("exact", "style"))]
    assert scorers == [["exact", "gpt"], ["style", "(reported)"]]
