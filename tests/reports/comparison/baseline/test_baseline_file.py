import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.reports.filled import ERROR, FAIL, Plan, Told, cases, fill
from tests.support import reading
from tui_eval.model.case import Case
from tui_eval.reports.comparison.baseline.baseline_file import (
    BaselineFile,
    BaselineFileError,
    baseline_lines,
)
from tui_eval.reports.comparison.comparison import ComparisonChoice, compare
from tui_eval.reports.comparison.side import RunSide
from tui_eval.store.read import run_queries

GOOD, WRONG = Told(), Told(FAIL)


def written(folder: Path, plan: Plan) -> Path:
    file = folder / "baseline.jsonl"
    run = fill(folder / "store.db", plan)
    with reading(folder / "store.db") as db:
        side = RunSide(db, run_queries.run(db, run))
        file.write_text("".join(baseline_lines(side)), "utf-8")
        assert file.read_text("utf-8") == "".join(baseline_lines(side))
        assert compare(BaselineFile(file), side, ComparisonChoice({})).flips == []
    return file


def test_a_file_has_no_texts_and_stands_for_its_run(tmp_path: Path) -> None:
    weighted = [replace(case, weight=2.0, tags=("a",)) for case in cases(3)]
    file = written(tmp_path, Plan({"small": [GOOD, WRONG, ERROR], "big": [GOOD] * 3}, weighted))
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert [(line["column"], line["case_id"], line["verdict"]) for line in lines] == [
        ("big", "case-0", "pass"),
        ("big", "case-1", "pass"),
        ("big", "case-2", "pass"),
        ("small", "case-0", "pass"),
        ("small", "case-1", "fail"),
        ("small", "case-2", None),
    ]
    assert "Paris" not in file.read_text("utf-8")
    assert set(lines[0]) == {"column", "case_id", "digest", "verdict", "score", "weight", "tags"}


def test_epochs_keep_their_value(tmp_path: Path) -> None:
    file = written(tmp_path, Plan({"gpt": [GOOD, WRONG]}, cases(1), epochs=2))
    (line,) = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert (line["verdict"], line["value"]) == ("mixed", 0.5)


def test_lines_are_sorted_whatever_the_order_of_the_dataset(tmp_path: Path) -> None:
    """Each line has what is its own case's, with several epochs too."""
    of = [
        Case(seq, name, {"n": seq}, tags=(name,))
        for seq, name in enumerate(("zebra", "Ärger", "ant", "𝔸"))
    ]
    fates = [GOOD, GOOD, GOOD, WRONG, WRONG, WRONG, ERROR, GOOD]
    file = written(tmp_path, Plan({"gpt": fates}, of, epochs=2))
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert [(line["case_id"], line["verdict"], line["score"], line["tags"]) for line in lines] == [
        ("ant", "fail", 0.0, ["ant"]),
        ("zebra", "pass", 1.0, ["zebra"]),
        ("Ärger", "mixed", 0.5, ["Ärger"]),
        ("𝔸", "pass", 1.0, ["𝔸"]),
    ]


GOOD_LINE = {"column": "gpt", "case_id": "a", "digest": "00", "verdict": "pass", "score": 1.0}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("not JSON\n", "line 1: is no line of a baseline file"),
        ("[]\n", "not an object"),
        (json.dumps({**GOOD_LINE, "verdict": "passed"}), "verdict is pass, fail, mixed or null"),
        (json.dumps({**GOOD_LINE, "verdict": "mixed", "value": 2}), "no number from 0 to 1"),
        (json.dumps({**GOOD_LINE, "digest": "zz"}), "line 1"),
        (json.dumps({"column": "gpt"}), "'case_id'"),
        (
            f"{json.dumps(GOOD_LINE)}\n{json.dumps(GOOD_LINE)}\n",
            "line 2: the case a is there twice",
        ),
        ("[" * 100_000, "line 1"),
    ],
)
def test_a_line_that_is_none_is_named(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "base.jsonl"
    file.write_text(text, "utf-8")
    with pytest.raises(BaselineFileError, match=f"base.jsonl.*{says}"):
        BaselineFile(file)


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "base.jsonl"
    file.write_bytes(b"\xff\xfe{}")
    with pytest.raises(BaselineFileError, match="is not UTF-8"):
        BaselineFile(file)


def test_a_file_knows_no_scorers(tmp_path: Path) -> None:
    file = BaselineFile(written(tmp_path, Plan({"gpt": [GOOD]}, cases(1))))
    with pytest.raises(BaselineFileError, match="none of single scorers"):
        file.cases("gpt", "exact")


def test_of_tags_that_are_sought_no_others_are_held(tmp_path: Path) -> None:
    """A gate looks for the few cases that must not break, among millions."""
    of = [
        replace(case, tags=("core", "x") if case.seq == 1 else ("x",) if case.seq else ())
        for case in cases(4)
    ]
    store, file = tmp_path / "store.db", tmp_path / "kept.jsonl"
    run = fill(store, Plan({"gpt": [Told()] * 4}, of))
    with reading(store) as db:
        side = RunSide(db, run_queries.run(db, run))
        file.write_text("".join(baseline_lines(side)), "utf-8")
        for one in (side, BaselineFile(file)):
            assert one.tags(["core", "none"]) == {"case-1": ("core",)}
            assert one.tags() == {"case-1": ("core", "x"), "case-2": ("x",), "case-3": ("x",)}
