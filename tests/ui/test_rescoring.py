"""Scoring again from the app: what the menu behind S offers, and what comes of it."""

from pathlib import Path
from typing import Any

import pytest

from tests.engine.harness import Bench
from tests.engine.judging.test_edited import write
from tests.engine.judging.test_judging import RUBRIC, judged
from tests.servers.fake_judge import answers, by_number
from tests.servers.fake_model import FakeModel
from tui_eval.store.connection import open_readable
from tui_eval.store.requests import Verb
from tui_eval.ui.run.costs import costs
from tui_eval.ui.run.errands import Errand
from tui_eval.ui.run.rescoring import Rescoring, Scored, choices, errand, scored


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "store.sqlite3")


def read(bench: Bench, run: int) -> Scored:
    db = open_readable(bench.path)
    try:
        return scored(db, bench.path, run)
    finally:
        db.close()


def offered(bench: Bench, run: int, marked: tuple[int, ...] = ()) -> dict[str, Rescoring]:
    lines = choices(read(bench, run), bench.counts(run), marked)
    return {line.label: line.value for line in lines}


def asked(bench: Bench, run: int, chosen: Rescoring) -> Errand:
    db = open_readable(bench.path)
    try:
        return errand(chosen, costs(db, run, Verb.RESCORE, chosen.args))
    finally:
        db.close()


async def run_of(bench: Bench, server: FakeModel, file: Path | None, **changes: Any) -> int:
    made = judged(server.base_url, server.base_url, 12, **changes)
    run = await bench.run(made)
    if file is not None:
        bench.write("UPDATE runs SET path = ? WHERE id = ?", str(file), run)
    return run


async def test_everything_says_how_many_judge_calls_it_takes(bench: Bench) -> None:
    async with FakeModel(answers(by_number)) as server:
        run = await run_of(bench, server, None)
        lines = offered(bench, run)
        assert list(lines) == ["everything"]
        question = asked(bench, run, lines["everything"])
    assert question.verb is Verb.RESCORE
    assert question.question == "Score everything again: 12 trials?"
    assert question.more.startswith("About 3 judge calls")


async def test_each_scorer_can_grade_again_alone(bench: Bench) -> None:
    exact = {"kind": "exact", "expected": "{{ q }}"}
    async with FakeModel(answers(by_number)) as server:
        run = await run_of(bench, server, None, scorers=[exact, RUBRIC])
        lines = offered(bench, run)
        assert list(lines) == ["everything", "everything by exact", "everything by good"]
        assert asked(bench, run, lines["everything by exact"]).more.startswith("No judge is asked")
        before = server.requests
        await bench.again(run, Verb.RESCORE, **lines["everything by exact"].args)
        assert server.requests == before
        await bench.again(run, Verb.RESCORE, **lines["everything by good"].args)
        assert server.requests == before + 3


async def test_the_suites_file_as_it_is_now_brings_its_changes(
    bench: Bench, tmp_path: Path
) -> None:
    async with FakeModel(answers(by_number)) as server:
        run = await run_of(bench, server, write(tmp_path, server.base_url))
        (first, *_) = (trial.id for trial in bench.trials(run))
        lines = offered(bench, run, (first,))
        changed = "as the suite's file says now (scorer good changed, judge j gone, judge new)"
        assert list(lines) == ["everything", f"everything {changed}", f"the marked {changed}"]
        marked = lines[f"the marked {changed}"]
        await bench.again(run, Verb.RESCORE, **marked.args)
        assert server.calls[-1].body["model"] == "another-judge"


async def test_a_file_with_a_mistake_is_told_and_not_offered(bench: Bench, tmp_path: Path) -> None:
    file = tmp_path / "edited.toml"
    file.write_text("name = 3\n")
    async with FakeModel(answers(by_number)) as server:
        run = await run_of(bench, server, file)
    assert list(offered(bench, run)) == ["everything"]
    assert "edited.toml" in (read(bench, run).problem or "")
