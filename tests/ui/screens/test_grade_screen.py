"""The screen on which outputs are graded, driven by keys over a real run."""

import threading
from pathlib import Path
from typing import Any

import pytest

from tests.hostile import CONTROLS
from tests.support import do, writing
from tests.ui.playing import (
    app_on,
    finished,
    made_up,
    run_screen,
    shown_on,
    sql,
    text,
    until,
    until_shown,
)
from tui_eval.model.states import Verdict
from tui_eval.store.write.people import grade_writes
from tui_eval.store.write.people.grade_writes import NewGrade
from tui_eval.ui.app import TuiEvalApp
from tui_eval.ui.grade import blind_grading, grading_reader
from tui_eval.ui.grade.grading_choice import GradingChoice
from tui_eval.ui.screens.grade_screen import GradeScreen
from tui_eval.ui.screens.run_screen import RunScreen

HOSTILE = "alpha \x1b[31mred\x1b[0m [bold]beta[/bold] \u202egnol"


def judged(form: dict[str, Any], n: int = 8) -> Any:
    """Give a suite whose outputs a simulated judge grades."""
    return made_up(
        n,
        targets=[
            {"kind": "simulated", "name": "secret-model", "answers": [HOSTILE], "accuracy": 1.0},
            {"kind": "simulated", "name": "other-model", "answers": ["nothing"], "accuracy": 1.0},
        ],
        scorers=[{"kind": "judge", "name": "good", "judge": ["j"], **form}],
        judges=[{"kind": "simulated", "name": "j"}],
    )


SCALE = {"rubric": "alpha beta", "scale": [1, 5], "reference": "alpha beta"}
MET = {"requirements": ["alpha", "beta"]}


async def grade_screen(pilot: Any) -> GradeScreen:
    await until(pilot, lambda: isinstance(pilot.app.screen, GradeScreen))
    screen = pilot.app.screen
    assert isinstance(screen, GradeScreen)
    await until(pilot, lambda: screen.grading is not None and screen.grading.count > 0)
    return screen


def given(store: Path) -> list[Any]:
    return [row[0] for row in sql(store, "SELECT grade FROM grades ORDER BY id")]


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_outputs_are_graded_blindly_and_each_grade_is_kept(
    store: Path, size: tuple[int, int]
) -> None:
    await finished(store, judged(SCALE))
    app = app_on(store, run="last")
    async with shown_on(app, size) as pilot:
        await run_screen(pilot)
        await pilot.press("G")
        await until_shown(pilot, "who grades?")
        await pilot.press("enter")
        screen = await grade_screen(pilot)
        await until_shown(pilot, "Question", "Output", "Expected", "1 of 16", "seed 1")
        shown = text(app)
        assert "secret-model" not in shown
        assert "other-model" not in shown
        assert "sum-0" not in shown
        assert not CONTROLS.intersection(shown.replace("\n", ""))
        await pilot.press("4")
        await until_shown(pilot, "2 of 16")
        assert given(store) == ["4"]
        await pilot.press("u")
        await until_shown(pilot, "3 of 16")
        await pilot.press("9")
        await until_shown(pilot, "must be a number from 1 to 5, not 9")
        await pilot.press("backspace")
        await until_shown(pilot, "2 of 16", "graded before: cannot tell")
        await pilot.press("y")
        await until_shown(pilot, "3 of 16")
        assert given(store) == ["4", None, '"pass"']
        await pilot.press("v")
        await until_shown(pilot, "good by j, beside people's grades", "secret-model")
        await pilot.press("escape")
        await until_shown(pilot, "Question")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, RunScreen))
        assert screen.grading is not None
    again = app_on(store, run="last")
    async with shown_on(again, size) as pilot:
        await run_screen(pilot)
        await pilot.press("G")  # who grades is remembered, and what was graded
        await until_shown(pilot, "3 of 16")


async def test_nothing_is_said_to_be_over_while_outputs_are_drawn_or_read(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = {name: threading.Event() for name in ("grading_session", "question_about")}

    def held(module: Any, name: str) -> None:
        real = getattr(module, name)

        def waits(*args: Any) -> Any:
            assert go_on[name].wait(30)
            return real(*args)

        monkeypatch.setattr(module, name, waits)

    held(blind_grading, "grading_session")
    held(grading_reader, "question_about")
    await finished(store, judged(SCALE, 2))
    app = TuiEvalApp(store, (), "last", GradingChoice("good", 4, "ben"))
    async with shown_on(app, (120, 40)) as pilot:
        try:
            await until(pilot, lambda: isinstance(app.screen, GradeScreen))
            for event, width in zip(go_on.values(), (100, 90), strict=True):
                await pilot.resize_terminal(width, 30)
                await pilot.pause()
                assert "drawing outputs" in text(app)
                assert "beside people's grades" not in text(app)
                assert "drawn" not in text(app)
                event.set()
            await until_shown(pilot, "1 of 4", "Question")
            go_on["question_about"].clear()
            await pilot.press("4")
            await until(pilot, lambda: given(store) == ["4"])
            await pilot.resize_terminal(120, 40)
            await pilot.pause()
            assert "Question" in text(app), "the one before stays until the next is read"
        finally:
            for event in go_on.values():
                event.set()
        await until_shown(pilot, "2 of 4", "Question")


async def test_of_a_scorer_without_a_judge_the_row_is_shown_without_its_id(store: Path) -> None:
    await finished(store, made_up(2))
    app = TuiEvalApp(store, (), "last", GradingChoice(None, 2, "ben"))
    async with shown_on(app, (120, 40)) as pilot:
        await grade_screen(pilot)
        await until_shown(pilot, "1 of 2", "Question", "Output")
        assert "sum-0" not in text(app)
        assert not any(line.startswith(" id: ") for line in text(app).splitlines())


async def test_at_the_end_it_says_how_far_they_agree_and_applies_them(store: Path) -> None:
    run = await finished(store, judged(MET, 2))
    app = TuiEvalApp(store, (), "last", GradingChoice("good", 4, "ben"))
    async with shown_on(app, (120, 40)) as pilot:
        await grade_screen(pilot)
        await until_shown(pilot, "1 of 4", "1    alpha", "2    beta")
        await pilot.press("1", "1")
        await until_shown(pilot, "1 ✗  alpha")
        await pilot.press("y")
        for place in ("2 of 4", "3 of 4", "4 of 4"):
            await until_shown(pilot, place)
            await pilot.press("n")
        await until_shown(pilot, "You have graded all 4 that were yours.", "too few to say")
        assert given(store) == ["[false,true]", *["[false,false]"] * 3]
        await pilot.press("y")
        await until_shown(pilot, "no output is left to grade")
        await pilot.press("A")
        await until_shown(pilot, "Make 4 grades verdicts of the run?")
        await pilot.press("enter")
        await until(
            pilot,
            lambda: sql(store, f"SELECT count(*) FROM trials WHERE run = {run} "
                        "AND verdict = 'fail'") == [(4,)],
        )  # fmt: skip
    rows = sql(store, "SELECT DISTINCT source FROM scores WHERE current = 1")
    assert rows == [("human",)]


async def test_g_grades_for_good_and_u_takes_it_back(store: Path) -> None:
    await finished(store, judged(SCALE, 2))
    app = app_on(store, run="last")

    def verdict() -> str:
        return str(sql(store, "SELECT verdict FROM trials ORDER BY place LIMIT 1")[0][0])

    async with shown_on(app, (120, 40)) as pilot:
        await run_screen(pilot)
        before = verdict()
        await pilot.press("g")
        await until_shown(pilot, "good: sum-000", "by judge", "1–5, or y pass, n fail")
        await pilot.press("w")
        await until_shown(pilot, "there is no grade by hand to withdraw")
        await pilot.press("t", *"why")
        await pilot.press("enter", "1" if before == "pass" else "5")
        await until_shown(pilot, "graded by hand: 1 trial")
        assert verdict() != before
        await pilot.press("U")
        await until_shown(pilot, "what was graded before counts again")
        assert verdict() == before
        await pilot.press("a", "g")
        await until_shown(pilot, "good: 4 trials")
        await pilot.press("n")
        await until_shown(pilot, "graded by hand: 4 trials")
        await pilot.press("escape", "g")
        await until_shown(pilot, "now fail 0.00 by hand")
        await pilot.press("w")
        await until_shown(pilot, "grade by hand withdrawn: 1 trial")
        assert verdict() == before


async def test_the_head_says_how_far_people_agree_and_what_they_decided(store: Path) -> None:
    await finished(store, judged(SCALE, 20))
    run = sql(store, "SELECT max(id) FROM runs")[0][0]
    new = [
        NewGrade(trial, made, "good", "anna", verdict, Verdict(verdict), None)
        for trial, made, place in sql(store, "SELECT id, output, place FROM trials")
        for verdict in ("pass" if place % 4 < 2 else "fail",)
    ]
    with writing(store) as db:
        do(db, lambda tx: grade_writes.add(tx, run, new))
    app = app_on(store, run="last")
    async with shown_on(app, (160, 40)) as pilot:
        await run_screen(pilot)
        await until_shown(pilot, "secret-model: 20 graded by people, too few to say")
