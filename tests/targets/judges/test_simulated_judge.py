"""A made-up judge replies in the wire format, by its rule."""

import random
from collections import Counter
from typing import Any

import pytest

from tests.scoring.judge.checks import check, criteria, requirements
from tests.targets.making import suite
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.scoring.check import Check
from tui_eval.scoring.judge.item import Item, item
from tui_eval.scoring.judge.reading import Reading, read
from tui_eval.scoring.judge.request import request
from tui_eval.targets import Judge, build_judges

RUBRIC = "Names the river Seine"


def judge(**settings: Any) -> Judge:
    spec = {"kind": "simulated", "name": "j", **settings}
    (made,) = build_judges(suite({"kind": "simulated", "answers": ["x"]}, judges=[spec])).values()
    return made


def asked_about(text: str, of: Check) -> Item:
    made = item(of, Output(text))
    assert isinstance(made, Item)
    return made


async def sent(to: Judge, items: list[Item], seed: int = 0) -> tuple[Output | Failure, Reading]:
    """Send a request, and read the reply as production does."""
    asked = request(items, None, random.Random(seed))
    got = await to.ask(asked.messages, asked.schema, timeout_s=20)
    forms = {id_: one.form for id_, one in zip(asked.ids, asked.items, strict=True)}
    text, finish = (got.text, got.finish_reason) if isinstance(got, Output) else (None, None)
    return got, read(text, forms, asked.nonce, finish)


async def values(text: str, of: Check) -> dict[int, float]:
    _, reading = await sent(judge(), [asked_about(text, of)])
    assert not reading.missing
    (finding,) = reading.findings.values()
    return {number: part.value for number, part in finding.parts.items()}


def test_it_says_that_it_is_made_up() -> None:
    made = judge()
    assert made.simulated
    assert (made.kind, made.model, made.problem()) == ("simulated", "simulated", None)


@pytest.mark.parametrize(
    ("text", "score"),
    [("The Seine is a river it names.", 10), ("A river.", 3), ("Nothing.", 0)],
)
async def test_a_rubric_is_graded_by_the_share_of_its_words(text: str, score: float) -> None:
    assert await values(text, check(scale=[0, 10], reference=None, rubric=RUBRIC)) == {0: score}


async def test_a_reference_goes_before_the_rubric_and_numbers_are_words() -> None:
    asked = check(scale=[1, 5], reference={"city": "Paris", "people": 2100000}, rubric=RUBRIC)
    assert await values("Paris has 2100000 people", asked) == {0: 5}
    assert await values("paris", asked) == {0: 3}


async def test_a_scale_whose_ends_are_not_whole_is_not_rounded() -> None:
    asked = check(scale=[0, 0.5], reference="one two three four", rubric=RUBRIC)
    assert await values("one", asked) == {0: 0.125}


@pytest.mark.parametrize(("text", "score"), [("one two", 1), ("one", 0)])
async def test_pass_is_half_of_the_words_or_more(text: str, score: float) -> None:
    asked = check(form="pass-fail", scale=[0, 1], reference="one two three four", rubric=RUBRIC)
    assert await values(text, asked) == {0: score}


async def test_requirements_and_criteria_are_graded_by_their_own_words() -> None:
    asked = requirements("Names the Seine", "Says how long", reference="Seine")
    assert await values("The Seine", asked) == {1: 1, 2: 0}
    assert await values("criterion 1", criteria(1, 2, scale=[0, 10])) == {1: 10, 2: 5}


async def test_it_grades_each_item_of_a_batch_and_always_alike() -> None:
    items = [
        asked_about(text, check(scale=[0, 10], reference="one two")) for text in ("one", "two one")
    ]
    found = [await sent(judge(), items, seed) for seed in (1, 2)]
    for _, reading in found:
        assert [f.parts[0].value for f in reading.findings.values()] == [5, 10]
    assert found[0][1].findings.keys() != found[1][1].findings.keys()


BATCH = [f"output {n}" for n in range(4)]


@pytest.mark.parametrize(
    ("fault", "graded"),
    [("missing", 3), ("garbage", 0), ("out_of_range", 3), ("wrong_nonce", 0)],
)
async def test_its_faults_are_those_that_judges_have(fault: str, graded: int) -> None:
    items = [asked_about(text, check(scale=[0, 10], reference="x")) for text in BATCH]
    _, reading = await sent(judge(faults={fault: 1.0}), items)
    assert len(reading.findings) == graded
    assert len(reading.missing) == 4 - graded


async def test_a_reply_that_is_cut_keeps_what_is_complete() -> None:
    items = [asked_about(text, check(scale=[0, 10], reference="x")) for text in BATCH]
    got, reading = await sent(judge(faults={"truncated": 1.0}), items)
    assert isinstance(got, Output)
    assert got.finish_reason == "length"
    assert 0 < len(reading.findings) < 4


@pytest.mark.parametrize("fault", ["missing", "out_of_range"])
async def test_faults_reach_requirements_too(fault: str) -> None:
    items = [asked_about(text, requirements("one", "two")) for text in BATCH]
    _, reading = await sent(judge(faults={fault: 1.0}), items)
    assert reading.missing


@pytest.mark.parametrize(("fault", "status"), [("rate_limit", 429), ("server_error", 500)])
async def test_it_fails_on_the_wire_too(fault: str, status: int) -> None:
    got, _ = await sent(judge(faults={fault: 1.0}), [asked_about("x", check())])
    assert isinstance(got, Failure)
    assert (got.kind, got.status, got.retryable) == (fault, status, True)
    assert "simulated" in got.message


async def test_it_answers_no_later_than_its_deadline() -> None:
    asked = request([asked_about("x", check())], None, random.Random(0))
    got = await judge(latency_s=60).ask(asked.messages, asked.schema, timeout_s=0.01)
    assert isinstance(got, Failure)
    assert got.kind == "timeout"


async def test_faults_are_drawn_by_seed_and_content_and_anew_for_each_attempt() -> None:
    items = [[asked_about(f"output {n}", check())] for n in range(200)]

    async def kinds(made: Judge, round_: int) -> list[bool]:
        found = [await sent(made, asked, round_) for asked in items]
        return [bool(reading.missing) for _, reading in found]

    made = judge(faults={"garbage": 0.3}, seed=1)
    first, second = await kinds(made, 1), await kinds(made, 2)
    assert first == await kinds(judge(faults={"garbage": 0.3}, seed=1), 3)
    assert first != second
    assert first != await kinds(judge(faults={"garbage": 0.3}, seed=2), 1)
    assert 30 <= Counter(first)[True] <= 90


def test_its_identity_is_its_rule() -> None:
    assert judge().identity() == judge(seed=3, faults={"missing": 0.1}).identity()
