import csv
import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.reports.filled import CANCELLED, ERROR, FAIL, Plan, Told, cases, fill, filled
from tui_eval.model.case import Case
from tui_eval.model.score import Grade
from tui_eval.reports.exports.csv_table import cell, csv_table
from tui_eval.reports.exports.export_choice import ExportChoice
from tui_eval.reports.exports.formats import FORMATS
from tui_eval.reports.exports.jsonl import jsonl
from tui_eval.reports.exports.whole_file import to_file
from tui_eval.store.connection import open_readable
from tui_eval.store.read import run_queries, suite_queries
from tui_eval.store.rows import RunRow

DATA = Path(__file__).parents[2] / "data" / "hostile_outputs.jsonl"
HOSTILE = [
    row
    for line in DATA.read_text(encoding="utf-8").split("\n")
    if line and "text" in (row := json.loads(line))
]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def exported(tmp_path: Path, plan: Plan, format_name: str) -> Path:
    with filled(tmp_path / "store.db", plan) as (db, run):
        to_file(
            tmp_path / "out", FORMATS[format_name](db, run_queries.run(db, run), ExportChoice())
        )
    return tmp_path / "out"


def test_a_line_has_the_fields_of_the_contract(tmp_path: Path) -> None:
    plan = Plan({"gpt": [Told(attempts=2), ERROR]}, cases(2, tags=("europe",)))
    rows = lines(exported(tmp_path, plan, "jsonl"))
    run = rows[0].pop("run")
    assert run.startswith("capitals-")
    assert rows[0] == {
        "case_id": "case-0",
        "target": "gpt",
        "epoch": 0,
        "state": "done",
        "verdict": "pass",
        "score": 1.0,
        "output": "Paris",
        "finish_reason": "stop",
        "error": None,
        "attempts": 2,
        "question": None,
        "expected": "0",
        "metadata": {"n": 0},
        "messages": None,
        "phase": None,
        "exit": None,
        "isolation": None,
        "resources": None,
        "changes": None,
        "steps": None,
        "tool_calls": None,
        "latency_s": 0.5,
        "tokens": {"input": 10, "output": 5},
        "cost_usd": 0.001,
        "cost_about_usd": None,
        "self_reported": False,
        "cached": False,
        "tags": ["europe"],
        "note": None,
        "scores": [
            {
                "scorer": "exact",
                "value": 1.0,
                "raw": None,
                "sd": None,
                "verdict": "pass",
                "reason": "as expected",
                "source": "code",
            }
        ],
    }
    assert rows[1]["error"] == {"kind": "timeout", "message": "no answer within 300 s"}
    assert (rows[1]["output"], rows[1]["verdict"], rows[1]["scores"]) == (None, None, [])
    assert rows[1]["tokens"] == {"input": None, "output": None}


def test_lines_come_by_dataset_then_target_then_epoch(tmp_path: Path) -> None:
    told = [Told()] * 4
    plan = Plan({"b": told, "a": told}, cases(2), epochs=2)
    rows = lines(exported(tmp_path, plan, "jsonl"))
    assert [(row["case_id"], row["target"], row["epoch"]) for row in rows] == [
        (f"case-{case}", target, epoch) for case in (0, 1) for target in "ba" for epoch in (0, 1)
    ]


def test_a_table_of_epochs_tells_how_far_their_scores_lie_apart(tmp_path: Path) -> None:
    plan = Plan({"gpt": [Told(), Told(FAIL), Told(), ERROR]}, cases(2), epochs=2)
    with exported(tmp_path, plan, "csv").open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    assert [row["score_sd"] for row in rows] == ["0.707107", "0.707107", "", ""]


def test_a_run_of_several_pages_is_exported_whole(tmp_path: Path) -> None:
    n = 1203
    rows = lines(exported(tmp_path, Plan({"gpt": [Told()] * n}, cases(n)), "jsonl"))
    assert [row["case_id"] for row in rows] == [f"case-{i}" for i in range(n)]


def hostile_plan() -> Plan:
    told = [
        Told(Grade.of(False, f"got {row['text']}", row["text"]), text=row["text"])
        for row in HOSTILE
    ]
    asked = [Case(i, f"{i} {r['text']}", {}, tags=(r["text"],)) for i, r in enumerate(HOSTILE)]
    return Plan({"gpt": told}, asked)


def test_jsonl_is_valid_utf8_and_loses_no_character_of_any_text(tmp_path: Path) -> None:
    path = exported(tmp_path, hostile_plan(), "jsonl")
    rows = lines(path)
    assert [row["output"] for row in rows] == [row["text"] for row in HOSTILE]
    assert [row["tags"] for row in rows] == [[row["text"]] for row in HOSTILE]
    assert [row["scores"][0]["raw"] for row in rows] == [row["text"] for row in HOSTILE]
    assert not any(byte < 0x20 and byte != 0x0A for byte in path.read_bytes())


def test_csv_keeps_its_rows_and_runs_no_formula(tmp_path: Path) -> None:
    path = exported(tmp_path, hostile_plan(), "csv")
    with path.open(encoding="utf-8", errors="strict", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(HOSTILE)
    assert all(None not in row and None not in row.values() for row in rows)
    cells = [value for row in rows for value in row.values()]
    assert not [value for value in cells if value.lstrip(" \"';")[:1] in tuple("=+-@") and
                not value.startswith("'")]  # fmt: skip
    assert not any(c < " " and c not in "\t\r\n" for c in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1", "-1", "@SUM(1)", "\t=1", "\rx", "  =1", '"=1', ";=1", "＝1", "'=1", "\n-2"],
)
def test_cells_that_would_be_formulas_are_defused(text: str) -> None:
    assert cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "Paris", "3 - 1", "a=b", "naïve – ok", "1,5", "'tis"])
def test_other_text_is_left_alone(text: str) -> None:
    assert cell(text) == text


def test_csv_has_three_columns_a_scorer_and_numbers_stay_numbers(tmp_path: Path) -> None:
    plan = Plan({"gpt": [Told(FAIL), CANCELLED]}, cases(2))
    with exported(tmp_path, plan, "csv").open(newline="") as file:
        wrong, cancelled = csv.DictReader(file)
    assert wrong["exact verdict"] == "fail"
    assert wrong["exact value"] == "0.0"
    assert wrong["exact reason"] == "expected 'Paris', got 'London'"
    assert cancelled["exact verdict"] == ""
    assert (cancelled["state"], cancelled["score"]) == ("cancelled", "")


def test_a_file_is_the_old_one_or_the_new_one_never_half(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("old\n")

    def breaking() -> Iterator[str]:
        yield "new\n"
        raise RuntimeError("the store broke")

    with pytest.raises(RuntimeError):
        to_file(path, breaking())
    assert path.read_text() == "old\n"
    assert list(tmp_path.iterdir()) == [path]
    to_file(path, iter(["new\n"]))
    assert path.read_text() == "new\n"


def test_a_file_that_is_written_over_is_readable_by_whom_it_was(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("old")
    path.chmod(0o600)
    to_file(path, iter(["new"]))
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", 0o600)


def test_a_link_stays_a_link_and_a_pipe_is_written_to(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    link.symlink_to(real)
    to_file(link, iter(["new"]))
    assert link.is_symlink()
    assert real.read_text() == "new"
    reading, writing = os.pipe()
    to_file(Path(f"/dev/fd/{writing}"), iter(["piped"]))
    os.close(writing)
    assert os.read(reading, 100) == b"piped"
    os.close(reading)


CALL = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "=find"}}]}


def _with_calls(folder: Path) -> tuple[sqlite3.Connection, RunRow]:
    """Fill a store with one trial that only called a tool, of a suite with a prompt."""
    case = Case(0, "a", {"id": "a", "country": "=Peru", "capital": "Lima", "scorers": None})
    run = fill(folder / "store.db", Plan({"gpt": [Told(text=None)]}, [case]))
    db = open_readable(folder / "store.db")
    spec = json.loads(suite_queries.spec(db, run))
    spec["prompts"] = [{"user": "Capital of {{ country }}?"}]
    spec["scorers"] = [{"kind": "exact", "name": "exact", "expected": "{{ capital }}"}]
    with closing(sqlite3.connect(folder / "store.db", isolation_level=None)) as own:
        own.execute("UPDATE runs SET spec = ? WHERE id = ?", (json.dumps(spec), run))
        own.execute("UPDATE outputs SET messages = ?", (json.dumps([CALL]),))
    return db, run_queries.run(db, run)


def test_a_line_says_what_was_asked_expected_and_which_tools_were_called(tmp_path: Path) -> None:
    db, run = _with_calls(tmp_path)
    (line,) = map(json.loads, jsonl(db, run, ExportChoice()))
    assert (line["output"], line["messages"]) == (None, [CALL])
    assert (line["question"], line["expected"]) == ("Capital of =Peru?", "Lima")
    assert line["metadata"] == {"country": "=Peru", "capital": "Lima"}
    (less,) = map(json.loads, jsonl(db, run, ExportChoice(case=False)))
    assert line.keys() - less.keys() == {"question", "expected", "metadata"}
    (header, row) = csv.reader("".join(csv_table(db, run, ExportChoice())).splitlines())
    told = dict(zip(header, row, strict=True))
    assert told["question"] == "Capital of =Peru?"
    assert told["expected"] == "Lima"
    assert json.loads(told["messages"]) == [CALL]
    assert "question" not in "".join(csv_table(db, run, ExportChoice(case=False)))
    db.close()


def test_what_is_expected_by_what_the_output_has_beside_its_text_is_told(tmp_path: Path) -> None:
    db, run = _with_calls(tmp_path)
    spec = json.loads(suite_queries.spec(db, run.id))
    spec["targets"] = [
        {"kind": "python", "name": "gpt", "callable": "app.py:answer", "python": "python3"}
    ]
    spec["scorers"] = [{"kind": "exact", "name": "exact", "expected": "{{ fields.capital }}"}]
    with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as own:
        own.execute("UPDATE runs SET spec = ?", (json.dumps(spec),))
        own.execute("UPDATE outputs SET fields = ?", (json.dumps({"capital": "Lima"}),))
    (line,) = map(json.loads, jsonl(db, run, ExportChoice()))
    assert line["expected"] == "Lima"
    db.close()


def test_what_a_killed_export_left_is_removed_by_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    code = (
        "import os, pathlib, sys; from tui_eval.reports.exports.whole_file import to_file\n"
        "def pieces():\n yield 'half'\n os.kill(os.getpid(), 9)\n"
        "to_file(pathlib.Path(sys.argv[1]), pieces())"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    (left,) = tmp_path.iterdir()
    alive = left.with_name(re.sub(r"-\d+\.", f"-{os.getpid()}.", left.name))
    alive.write_text("of a live process")
    to_file(path, iter(["whole"]))
    assert sorted(tmp_path.iterdir()) == sorted([alive, path])


def test_predictions_have_what_the_harness_of_swe_bench_reads(tmp_path: Path) -> None:
    plan = Plan({"agent": [Told(), ERROR, Told()]}, cases(3))
    rows = lines(exported(tmp_path, plan, "swebench"))
    assert rows == [
        {"instance_id": f"case-{at}", "model_name_or_path": "agent", "model_patch": "Paris"}
        for at in (0, 2)
    ]
