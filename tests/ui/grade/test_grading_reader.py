"""What is shown of an output that is graded blindly."""

import json
from pathlib import Path

from tests.support import reading
from tui_eval.engine.engine import Engine
from tui_eval.engine.launch.create_run import create
from tui_eval.engine.settings import Settings
from tui_eval.suites.loading.suite_file import load
from tui_eval.ui.grade.grading_reader import question_about

SUITE = """
name = "recorded"

[dataset]
path = "rows.jsonl"

[prompt]
user = "What is the capital of {{ country }}?"

[[targets]]
kind = "replay"
name = "last-week"
path = "rows.jsonl"

[[scorers]]
kind = "exact"
expected = "{{ capital }}"
"""


async def test_of_a_recorded_row_the_question_alone_is_shown(store: Path, tmp_path: Path) -> None:
    row = {"id": "fr-large", "country": "France", "capital": "Paris", "output": "Lyon", "ok": False}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row))
    file = tmp_path / "recorded.toml"
    file.write_text(SUITE)
    run = create(store, load(file), Settings(), path=str(file))
    await Engine(store, run).run()
    with reading(store) as db:
        ((trial,),) = db.execute("SELECT id FROM trials")
        assert question_about(db, run, trial, "exact").asked == "What is the capital of France?"
