"""What the Run screen says of judges: what they do now, and how far they are to be trusted."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.engine.harness import Harness, gold_rows, judged
from tests.servers.fake_judge import answers, asked, by_number
from tests.servers.fake_model import FakeModel
from tests.support import reading
from tests.ui.playing import app_on, shown_on, text, words
from tests.waiting import until
from tui_eval.engine.engine import Engine
from tui_eval.model.judge_quality import Audit, GoldAgreement
from tui_eval.reports.results import results
from tui_eval.store.read import run_queries
from tui_eval.store.read.judges.judge_figures import JudgeFigures, JudgeRequests
from tui_eval.ui.run.figures import Figures, count_figures
from tui_eval.ui.run.head.judge_status import (
    judge_groups,
    judged_groups,
    quality_is_poor,
    trust_line,
    trust_paras,
)
from tui_eval.ui.run.head.run_head import state_words
from tui_eval.ui.run.snapshot import Snapshot, snapshot
from tui_eval.ui.theme.glyphs import UNICODE
from tui_eval.ui.theme.tones import Tone

AUDIT = Audit(
    n=60,
    batch_size=5,
    max_excess_flips=0.05,
    flips_batched=0.1,
    flips_alone=0.08,
    excess=0.02,
    low=-0.03,
    high=0.07,
    kappa_batched=None,
    kappa_alone=None,
    spearman_batched=None,
    spearman_alone=None,
    positions=(),
    tokens_batched=None,
    tokens_alone=None,
)
GOLD = GoldAgreement(
    n=40, ungraded=0, agreement=0.8, low=0.65, high=0.9, kappa=0.6, spearman=None,
    min_agreement=None,
)  # fmt: skip
ONE = JudgeFigures("good", "j", grading=JudgeRequests(calls=3, items=12))


def line(*judges: JudgeFigures, width: int = 200) -> str:
    return words(trust_line(judges, width, UNICODE))


def test_what_nobody_measured_has_no_line() -> None:
    assert trust_line([ONE], 80, UNICODE) == []
    assert not list(trust_paras([ONE]))


def test_without_a_judge_the_line_is_about_what_people_graded() -> None:
    by_hand: list[tuple[Tone | None, str]] = [("plain", "1 verdict by hand")]
    assert words(trust_line([], 80, UNICODE, by_hand)) == "  graded 1 verdict by hand"
    assert words(trust_line([ONE], 80, UNICODE, by_hand)) == "  judge 1 verdict by hand"


def test_gold_stands_against_what_is_asked_and_an_audit_with_its_bounds() -> None:
    assert line(replace(ONE, gold=GOLD, audit=AUDIT)) == (
        "  judge gold 80.0% of 40 · batching flips +2.0% (-3.0 to +7.0)"
    )
    low = replace(ONE, gold=replace(GOLD, min_agreement=0.9))
    assert line(low) == "  judge ✗ gold 80.0% of 40, 90% asked"
    assert quality_is_poor([low])
    assert not quality_is_poor([replace(ONE, gold=GOLD, audit=AUDIT)])
    orders = replace(ONE, gold=replace(GOLD, min_spearman=0.7, spearman=0.65))
    assert line(orders) == "  judge ✗ gold 80.0% of 40, rank correlation 0.65, 0.70 asked"
    few = replace(ONE, gold=replace(GOLD, n=4), audit=replace(AUDIT, n=9))
    assert line(few) == "  judge gold 80.0% of 4, too few to say · audit of 9, too few to say"


def test_what_is_amiss_comes_first_and_the_rest_as_there_is_room() -> None:
    off = replace(ONE, scorer="polite", audit=replace(AUDIT, excess=0.2, low=0.12, high=0.3))
    said = line(replace(ONE, gold=GOLD), off)
    assert said == (
        "  judge ✗ polite: batching off: flips at least 12.0%, 5% allowed · good: gold 80.0% of 40"
    )
    assert line(replace(ONE, gold=GOLD), off, width=80).endswith("5% allowed · +1 more")


def first_look(harness: Harness, run: int) -> tuple[Snapshot, Figures]:
    with reading(harness.path) as db:
        return snapshot(db, run, -1, []), count_figures(db, run)


def told(found: Snapshot, figures: Figures) -> str:
    return "".join(words(group) for group in judge_groups(found, figures))


async def looked_at(
    harness: Harness, of: int, when: Callable[[], object]
) -> tuple[Snapshot, Figures, str]:
    """Look at a run at a moment; then let it end."""
    task = asyncio.create_task(Engine(harness.path, of).run())
    try:
        await until(when)
        found, figures = await asyncio.to_thread(first_look, harness, of)
    finally:
        await asyncio.wait_for(task, 30)
    return found, figures, state_words(found, 0.0)[0]


async def test_an_audit_that_goes_on_is_no_mere_running(harness: Harness) -> None:
    def alone(server: FakeModel) -> int:
        return sum(len(found["items"]) == 1 for call in server.calls if (found := asked(call.body)))

    async with FakeModel(answers(by_number), latency=0.12) as server:
        run = harness.create(judged(server.base_url, server.base_url, 20, judge={"audit": 0.5}))
        found, figures, state = await looked_at(harness, run, lambda: alone(server) > 5)
    assert state == "auditing"
    said = told(found, figures)
    assert said.startswith("audit ")
    assert "so far" in said
    found, figures = first_look(harness, run)
    assert state_words(found, 0.0)[0] == "done"
    assert line(*figures.judges) == "  judge audit of 20, too few to say"


async def test_gold_that_is_graded_first_is_no_mere_running(harness: Harness) -> None:
    async with FakeModel(answers(by_number), latency=0.25) as server:
        gold = {"gold": gold_rows(40, wrong=8), "concurrency": 2}
        run = harness.create(judged(server.base_url, server.base_url, 4, judge=gold))
        found, figures, state = await looked_at(harness, run, lambda: server.requests >= 4)
    assert state == "checking gold"
    said = told(found, figures)
    assert said.startswith("gold ")
    assert "so far" in said
    found, figures = first_look(harness, run)
    assert line(*figures.judges) == "  judge gold 80.0% of 40"
    (para, *_) = list(trust_paras(figures.judges))[1:]
    with reading(harness.path) as db:
        assert para.text in [line.strip() for line in judges_said(db, run)]


def judges_said(db: Any, run: int) -> list[str]:
    from tui_eval.reports.judging.judge_report import judge_lines

    return list(judge_lines(results(db, run).judges))


async def test_repaired_and_ungraded_are_told_beside_those_that_wait(harness: Harness) -> None:
    seen: set[str] = set()

    def forgetful(item: Any) -> dict[str, Any] | None:
        if item["output"] == "q7" or (item["output"] == "q3" and "q3" not in seen):
            seen.add(item["output"])
            return None
        return by_number(item)

    async with FakeModel(answers(forgetful)) as server:
        made = judged(server.base_url, server.base_url, 10, judge={"concurrency": 1})
        run = await harness.run(made)
    found, figures = first_look(harness, run)
    waiting = replace(found, total=replace(found.total, scoring=12))
    assert told(waiting, figures) == "12 being scored, 1 repaired, 1 ungraded"
    in_flight = replace(waiting, judging=replace(found.judging, calls=3))
    assert told(in_flight, figures) == "judge 3 calls, 12 waiting, 1 repaired, 1 ungraded"
    auditing = replace(in_flight, judging=replace(in_flight.judging, purpose="audit"))
    assert told(auditing, figures).startswith("audit 3 calls, 12 waiting")
    over = "".join(words(group) for group in judged_groups(figures))
    assert over.strip() == f"judge {figures.judges[0].asked.calls} calls, 1 repaired, 1 ungraded"


async def test_the_screen_says_it_in_its_head_and_on_the_judge_tab(harness: Harness) -> None:
    async with FakeModel(answers(by_number)) as server:
        judge = {"gold": gold_rows(40, wrong=8), "audit": 0.5}
        run = await harness.run(judged(server.base_url, server.base_url, 40, judge=judge))
    with reading(harness.path) as db:
        name = run_queries.run(db, run).name
    app = app_on(harness.path, run=name)
    async with shown_on(app, (100, 40)) as pilot:
        await until(lambda: "gold 80.0% of 40 · batching flips +0.0%" in text(app))
        await pilot.press("tab", *["]"] * 4, "end")
        # at the end: where they differ
        await until(lambda: "judge pass 0.70" in text(app))
    low = app_on(harness.path, run=name)
    async with shown_on(low, (60, 20)) as pilot:
        await until(lambda: "40/40" in text(low))
        await pilot.pause()
        assert "judge gold" not in text(low)  # all is well, and there is little room
