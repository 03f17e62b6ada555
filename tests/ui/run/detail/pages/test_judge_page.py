"""The Judge tab on a run that a judge graded."""

from typing import Any

from tests.engine.harness import Harness, judged
from tests.servers.fake_judge import answers, by_number
from tests.servers.fake_model import FakeModel, refuse
from tui_eval.model.json import JsonObject
from tui_eval.scoring.judge.request import items_of
from tui_eval.store.connection import open_readable
from tui_eval.store.read.trials.trial_queries import WholeTrial, whole
from tui_eval.ui.run.detail.pages.judge_page import judge_page
from tui_eval.ui.run.detail.pages.judge_words import grade_brief, grade_paras
from tui_eval.ui.text.prose import lay_out
from tui_eval.ui.theme.glyphs import UNICODE


def of(harness: Harness, run: int, case: str, epoch: int = 0) -> WholeTrial:
    db = open_readable(harness.path)
    try:
        trials = harness.trials(run)
        (trial,) = (t.id for t in trials if (t.case_id, t.epoch) == (case, epoch))
        found = whole(db, run, trial)
        assert found is not None
        return found
    finally:
        db.close()


def text(found: WholeTrial, *, raw: bool = False) -> str:
    return "\n".join(line.text for line in lay_out(judge_page(found, UNICODE, raw=raw), 100))


async def test_it_shows_reply_input_and_batch_and_raw_all_as_it_went(harness: Harness) -> None:
    async with FakeModel(answers(by_number)) as server:
        run = await harness.run(judged(server.base_url, server.base_url, 5))
    found = of(harness, run, "c3")
    shown = text(found)
    assert "✓ good by j" in shown
    reply, _, rest = shown.partition("Judge reply")[2].partition("Judge input")
    asked, _, batch = rest.partition("Batch")
    assert reply.split()[:2] == ["score", "3"]
    assert "q3" in asked.split()
    (call,) = found.judging
    ids = {position: item["id"] for position, item in items_of(call.request).items()}
    told = [line.replace("▸", " ").split() for line in batch.splitlines() if "· fake" in line]
    assert told == [
        [str(item.position + 1), "score", item.case_id[1:], item.case_id, "·", "fake", id_]
        for item in call.items
        if item.case_id is not None and (id_ := ids[item.position])
    ]
    (here,) = [item.position + 1 for item in call.items if item.here]
    assert f"▸ {here} score 3" in batch
    as_it_went = text(found, raw=True)
    assert "To system" in as_it_went
    assert '"output": "q3"' in as_it_went
    assert '"score": 3' in as_it_went


def test_a_reply_is_laid_out_by_the_requirements_that_were_asked() -> None:
    grade: JsonObject = {
        "id": "k1",
        "requirements": [
            {"requirement": 2, "met": False, "reason": "no\x1b[2J"},
            {"requirement": 1, "met": True},
            "odd",
        ],
        "extra": {"a": 1},
    }
    asked: JsonObject = {"requirements": [{"requirement": 1, "text": "A"}, "odd"]}
    shown = [line.text for line in lay_out(grade_paras(grade, asked, UNICODE), 60)]
    assert shown[:4] == ["✗ 2 ", "    no␛[2J", "✓ 1 A", '"odd"']
    assert grade_brief(grade, UNICODE) == ("✗ ✓", "plain")
    assert grade_brief({"score": "7"}, UNICODE)[0] == 'score "7"'
    assert grade_brief(None, UNICODE)[0] == "no grade in the reply"


async def test_what_was_asked_again_says_why(harness: Harness) -> None:
    def never_three(item: Any) -> dict[str, Any] | None:
        return None if item["output"] == "q3" else by_number(item)

    async with FakeModel(answers(never_three)) as server:
        run = await harness.run(judged(server.base_url, server.base_url, 5))
    found = of(harness, run, "c3")
    assert [call.round for call in found.judging] == ["alone again", "alone", "first"]
    shown = text(found)
    assert "asked again (alone again)" in shown
    (problem,) = {item.problem for item in found.judging[0].items}
    assert problem is not None
    assert problem in shown
    assert len(of(harness, run, "c2").judging) == 1


async def test_a_failed_call_shows_its_error(harness: Harness) -> None:
    async with FakeModel() as target, FakeModel(script=lambda call: refuse(400, "bad")) as judge:
        run = await harness.run(judged(target.base_url, judge.base_url, 1))
    assert "bad_request" in text(of(harness, run, "c0"))


async def test_a_cached_grade_says_so(harness: Harness) -> None:
    async with FakeModel(answers(by_number)) as server:
        made = judged(server.base_url, server.base_url, 2)
        await harness.run(made)
        run = await harness.run(made)
    assert "from the cache" in text(of(harness, run, "c1"))


async def test_a_copied_grade_shows_the_call_it_was_given_in(harness: Harness) -> None:
    async with FakeModel(answers(by_number), latency=0.02) as server:
        made = judged(server.base_url, server.base_url, 3, run={"epochs": 2})
        first = await harness.run(made)
        second = await harness.run(made)
    both = [of(harness, first, "c1", epoch) for epoch in (0, 1)]
    copied = [found for found in both if "a copy of what an equal output got here" in text(found)]
    assert len(copied) == 1
    for found in (*copied, of(harness, second, "c1"), of(harness, second, "c1", 1)):
        (call,) = found.judging
        assert [item.case_id for item in call.items if item.here] == ["c1"]
        assert "a copy of what an equal output got here" in text(found)
    (direct,) = [found for found in both if found not in copied]
    assert direct.judging == copied[0].judging
