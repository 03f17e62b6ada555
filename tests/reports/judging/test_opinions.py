"""What judges said is told line by line: the spread of repeats, every requirement's feedback."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from tests.engine.harness import RUBRIC, Harness, judged
from tests.servers.fake_judge import Item, answers
from tests.servers.fake_model import FakeModel
from tui_eval.model.json import JsonObject
from tui_eval.reports.document import document
from tui_eval.reports.exports.csv_table import csv_table
from tui_eval.reports.exports.export_choice import ExportChoice
from tui_eval.reports.exports.trial_line import TrialLines
from tui_eval.reports.judging.opinions import opinions, spread
from tui_eval.reports.results import results
from tui_eval.reports.terminal.summary import summary
from tui_eval.reports.terminal.tables import AnsiStyle
from tui_eval.reports.terminal.whole_case import case_in_full
from tui_eval.store.connection import open_readable
from tui_eval.store.read import report_queries, run_queries
from tui_eval.store.read.trials import trial_queries
from tui_eval.ui.run.detail.pages.scores_page import scores_page
from tui_eval.ui.theme.glyphs import UNICODE

MET = {
    "kind": "judge",
    "name": "met",
    "requirements": ["It is short.", "It is kind.", "It is right."],
    "judge": ["k"],
}


class Wavering:
    """Grades one output 4, 10, 10; meets the second requirement alone."""

    def __init__(self) -> None:
        self.scores = iter((4, 10, 10))

    def __call__(self, item: Item) -> dict[str, Any]:
        if "requirements" in item:
            lines = item["requirements"]
            return {
                "requirements": [
                    {
                        "requirement": line["requirement"],
                        "met": line["requirement"] == 2,
                        "reason": f"why {line['requirement']}",
                    }
                    for line in lines
                ]
            }
        return {"score": next(self.scores)}


async def test_spread_and_every_unmet_requirement_are_told_everywhere(tmp_path: Path) -> None:
    bench = Harness(tmp_path / "store.sqlite3")
    async with FakeModel(answers(Wavering())) as server:
        judge = {"kind": "model", "name": "j", "base_url": server.base_url, "model": "m"}
        judges = [{**judge, "repeats": 3}, {**judge, "name": "k"}]
        scorers = [RUBRIC, MET]
        made = judged(server.base_url, server.base_url, 1, scorers=scorers, judges=judges)
        run = await bench.run(made)
    db = open_readable(bench.path)
    try:
        sd = pytest.approx(0.34641, abs=1e-5)  # statistics of 0.4, 1, 1 with n - 1
        shown = "\n".join(case_in_full(db, run, "c0", 0.0, AnsiStyle()))
        (line,) = report_queries.lines(db, run)
        told = TrialLines(db, run).json(line)["scores"]
        text = "".join(csv_table(db, run_queries.run(db, run), ExportChoice()))
        row = next(csv.DictReader(io.StringIO(text)))
        whole: Any = document(db, run)
        found = trial_queries.whole(db, run, line.id)
        assert found is not None
        detail = list(scores_page(found, None, UNICODE))
        rates = summary(results(db, run), width=100, ink=AnsiStyle())
    finally:
        db.close()
    for text in (shown, "\n".join(para.text for para in detail)):
        assert "3 repeats, mean 0.80, sd 0.346, 66.7% of pairs disagree" in text
        assert "repeat 1: score 4  as it is" in text
    assert isinstance(told, list)
    by_name = {score["scorer"]: score for score in told if isinstance(score, dict)}
    assert by_name["good"]["sd"] == sd
    assert by_name["met"]["sd"] is None
    assert float(row["good sd"]) == sd
    for words in ("1 not met: It is short. – why 1", "3 not met: It is right. – why 3"):
        assert words in shown
    assert "2 met: It is kind. – why 2" in shown
    unmet = [(para.label, para.text) for para in detail if para.label_tone == "fail"]
    assert unmet == [("✗", "It is short."), ("✗", "It is right.")]
    assert [para.text for para in detail if para.label_tone == "pass"] == ["It is kind."]
    assert row["met sd"] == ""
    assert whole["judges"]["j"]["scorers"]["good"]["sd"] == sd
    assert "good: repeats of one output differ by sd 0.346" in rates


def test_a_jury_is_told_member_by_member_and_foreign_raw_not_at_all() -> None:
    part = {"number": 1, "text": "Kind?", "value": 3, "reason": "so so"}
    member = {"judge": "a", "verdict": "fail", "value": 0.25, "reason": "r", "parts": [part]}
    raw: Any = {"jury": [{**member, "form": "criteria"}, {"judge": "b", "verdict": "ungraded"}]}
    assert [(line.depth, line.text) for line in opinions("judge", raw)] == [
        (0, "a: fail 0.25  r"),
        (1, "1 3: Kind? – so so"),
        (0, "b: ungraded  "),
    ]
    assert list(opinions("judge", "42")) == []
    assert list(opinions("judge", {"parts": 3, "repeats": None})) == []
    assert list(opinions("code", "42")) == []


def test_the_parts_of_a_program_are_told_as_requirements_are() -> None:
    raw: JsonObject = {"parts": {"kind": 1.0, "short": 0.0, "speed": 12.5}}
    assert [(line.text, line.met) for line in opinions("code", raw)] == [
        ("met: kind", True),
        ("not met: short", False),
        ("12.50: speed", None),
    ]
    assert spread({"sd": "x"}) is None
