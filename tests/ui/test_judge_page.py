"""The Judge tab on a run that a judge graded."""

from pathlib import Path
from typing import Any

import pytest

from tests.engine.harness import Bench
from tests.engine.judging.test_judging import judged
from tests.servers.fake_judge import answers, by_number
from tests.servers.fake_model import FakeModel, refuse
from tui_eval.store.browse import WholeTrial, whole
from tui_eval.store.connection import open_readable
from tui_eval.ui.glyphs import UNICODE
from tui_eval.ui.run.judge_page import judge_page


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "store.sqlite3")


def of(bench: Bench, run: int, case: str) -> WholeTrial:
    db = open_readable(bench.path)
    try:
        (trial,) = (t.id for t in bench.trials(run) if t.case_id == case)
        found = whole(db, run, trial)
        assert found is not None
        return found
    finally:
        db.close()


def text(found: WholeTrial) -> str:
    return "\n".join(f"{para.label} {para.text}" for para in judge_page(found, UNICODE))


async def test_it_shows_batch_reply_and_request(bench: Bench) -> None:
    async with FakeModel(answers(by_number)) as server:
        run = await bench.run(judged(server.base_url, server.base_url, 5))
    shown = text(of(bench, run, "c3"))
    assert "good by j" in shown
    assert "batch of 5" in shown
    assert shown.count("· fake") == 5
    assert '"score": 3' in shown
    assert "Request, system" in shown
    assert '"output": "q3"' in shown


async def test_what_was_asked_again_says_why(bench: Bench) -> None:
    def never_three(item: Any) -> dict[str, Any] | None:
        return None if item["output"] == "q3" else by_number(item)

    async with FakeModel(answers(never_three)) as server:
        run = await bench.run(judged(server.base_url, server.base_url, 5))
    found = of(bench, run, "c3")
    assert [call.round for call in found.judging] == ["alone again", "alone", "first"]
    shown = text(found)
    assert "asked again (alone again)" in shown
    (problem,) = {item.problem for item in found.judging[0].items}
    assert problem is not None
    assert problem in shown
    assert len(of(bench, run, "c2").judging) == 1


async def test_a_failed_call_shows_its_error(bench: Bench) -> None:
    async with FakeModel() as target, FakeModel(script=lambda call: refuse(400, "bad")) as judge:
        run = await bench.run(judged(target.base_url, judge.base_url, 1))
    assert "bad_request" in text(of(bench, run, "c0"))


async def test_a_cached_grade_says_so(bench: Bench) -> None:
    async with FakeModel(answers(by_number)) as server:
        made = judged(server.base_url, server.base_url, 2)
        await bench.run(made)
        run = await bench.run(made)
    assert "from the cache" in text(of(bench, run, "c1"))
