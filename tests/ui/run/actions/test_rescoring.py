"""Scoring again from the app: what the menu behind S offers, and what comes of it."""

from pathlib import Path
from typing import Any

from tests.engine.control.edited_suite import write
from tests.engine.harness import RUBRIC, Harness, judged
from tests.servers.fake_judge import answers, by_number
from tests.servers.fake_model import FakeModel
from tui_eval.engine.preflight.request_forecast import request_forecast
from tui_eval.store.connection import open_readable
from tui_eval.store.requests import Verb
from tui_eval.ui.run.actions.commands import Command
from tui_eval.ui.run.actions.rescoring import Rescoring, RunScorers, choices, command, scored


def read(harness: Harness, run: int) -> RunScorers:
    db = open_readable(harness.path)
    try:
        return scored(db, harness.path, run)
    finally:
        db.close()


def offered(harness: Harness, run: int, marked: tuple[int, ...] = ()) -> dict[str, Rescoring]:
    lines = choices(read(harness, run), harness.counts(run), marked)
    return {line.label: line.value for line in lines}


def asked(harness: Harness, run: int, chosen: Rescoring) -> Command:
    db = open_readable(harness.path)
    try:
        return command(chosen, request_forecast(db, run, Verb.RESCORE, chosen.args))
    finally:
        db.close()


async def run_of(harness: Harness, server: FakeModel, file: Path | None, **changes: Any) -> int:
    made = judged(server.base_url, server.base_url, 12, **changes)
    run = await harness.run(made)
    if file is not None:
        harness.write("UPDATE runs SET path = ? WHERE id = ?", str(file), run)
    return run


async def test_everything_says_how_many_judge_calls_it_takes(harness: Harness) -> None:
    async with FakeModel(answers(by_number)) as server:
        run = await run_of(harness, server, None)
        lines = offered(harness, run)
        assert list(lines) == ["everything"]
        question = asked(harness, run, lines["everything"])
    assert question.verb is Verb.RESCORE
    assert question.question == "Score everything again: 12 trials?"
    assert question.more.startswith("About 3 judge calls")


async def test_each_scorer_can_grade_again_alone(harness: Harness) -> None:
    exact = {"kind": "exact", "expected": "{{ q }}"}
    async with FakeModel(answers(by_number)) as server:
        run = await run_of(harness, server, None, scorers=[exact, RUBRIC])
        lines = offered(harness, run)
        assert list(lines) == ["everything", "everything by exact", "everything by good"]
        assert asked(harness, run, lines["everything by exact"]).more.startswith(
            "No judge is asked"
        )
        before = server.requests
        await harness.again(run, Verb.RESCORE, **lines["everything by exact"].args)
        assert server.requests == before
        await harness.again(run, Verb.RESCORE, **lines["everything by good"].args)
        assert server.requests == before + 3


async def test_the_suites_file_as_it_is_now_brings_its_changes(
    harness: Harness, tmp_path: Path
) -> None:
    async with FakeModel(answers(by_number)) as server:
        run = await run_of(harness, server, write(tmp_path, server.base_url))
        (first, *_) = (trial.id for trial in harness.trials(run))
        lines = offered(harness, run, (first,))
        changed = "as the file says now (scorer good changed, judge j gone, judge new)"
        assert list(lines) == ["everything", f"everything {changed}", f"the marked {changed}"]
        marked = lines[f"the marked {changed}"]
        await harness.again(run, Verb.RESCORE, **marked.args)
        assert server.calls[-1].body["model"] == "another-judge"


async def test_a_file_with_a_mistake_is_told_and_not_offered(
    harness: Harness, tmp_path: Path
) -> None:
    file = tmp_path / "edited.toml"
    file.write_text("name = 3\n")
    async with FakeModel(answers(by_number)) as server:
        run = await run_of(harness, server, file)
    assert list(offered(harness, run)) == ["everything"]
    assert "edited.toml" in (read(harness, run).problem or "")
