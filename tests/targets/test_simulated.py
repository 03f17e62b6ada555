import asyncio
import itertools
from dataclasses import replace
from typing import Any

import pytest

from tests.targets.making import COLUMN, answered, case, only, requested
from tui_eval.model.case import Case
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.targets import Target
from tui_eval.targets.attempt.attempt_context import AttemptContext


def simulated(**more: Any) -> Target:
    return only({"kind": "simulated", "answers": ["{{ answer }}"], **more})


def cases(n: int) -> list[Case]:
    return [case(seq, question=f"{seq}?", answer=str(seq * 7)) for seq in range(n)]


async def texts(target: Target, of: list[Case]) -> list[str | None]:
    return [(await answered(target, one)).text for one in of]


async def test_it_says_that_it_is_simulated() -> None:
    target = simulated()
    assert target.simulated and target.kind == "simulated"
    got = await answered(target, case(question="x", answer="y"))
    assert got.model == "simulated"
    assert got.cost_usd == 0.0 and got.usage.input is None


async def test_it_answers_right_as_often_as_it_is_told_to() -> None:
    of = cases(1000)
    for accuracy, least, most in ((0.0, 0, 0), (0.7, 650, 750), (1.0, 1000, 1000)):
        got = await texts(simulated(accuracy=accuracy), of)
        right = sum(text == one.fields["answer"] for text, one in zip(got, of, strict=True))
        assert least <= right <= most


async def test_it_answers_alike_in_every_process_and_otherwise_by_its_seed() -> None:
    of = cases(50)
    first = await texts(simulated(accuracy=0.5), of)
    assert await texts(simulated(accuracy=0.5), list(reversed(of))) == list(reversed(first))
    assert await texts(simulated(accuracy=0.5, seed=1), of) != first


async def test_it_answers_otherwise_in_another_epoch_and_to_another_prompt() -> None:
    spec = {"kind": "simulated", "answers": ["{{ answer }}"], "accuracy": 0.5}
    prompts = [{"name": name, "user": "{{ question }}"} for name in ("p", "q")]
    named, unnamed, of = only(spec, prompts=prompts), simulated(accuracy=0.5), cases(200)
    ways = [(unnamed, None), (named, "p"), (named, "q")]

    async def right(target: Target, prompt: str | None, epoch: int) -> list[bool]:
        found = []
        for one in of:
            request = target.request(replace(COLUMN, prompt=prompt), one, epoch)
            assert isinstance(request, dict)
            got = await target.generate(request, AttemptContext(1))
            assert isinstance(got, Output)
            found.append(got.text == one.fields["answer"])
        return found

    seen = [await right(*way, epoch) for epoch in (0, 1, 2) for way in ways]
    assert all(70 < sum(one) < 130 for one in seen)
    for one, other in itertools.combinations(seen, 2):
        assert 60 < sum(a != b for a, b in zip(one, other, strict=True)) < 140
    assert seen == [await right(*way, epoch) for epoch in (0, 1, 2) for way in ways]


async def test_its_wrong_answers_are_those_of_the_suite() -> None:
    target = simulated(answers=["{{ answer }}", "no", "never", "{{ answer }}"], accuracy=0.0)
    assert set(await texts(target, cases(50))) == {"no", "never"}


@pytest.mark.parametrize("right", ["B", "42", "about 3 of 8", "Paris", "", "9" * 5001])
async def test_a_wrong_answer_it_makes_up_is_never_the_right_one(right: str) -> None:
    target = simulated(accuracy=0.0)
    of = [case(seq, question="x", answer=right) for seq in range(50)]
    got = await texts(target, of)
    assert right not in got and all(got)


async def test_its_faults_come_by_their_shares_and_again_alike() -> None:
    faults = {"rate_limit": 0.2, "server_error": 0.1, "empty": 0.1, "truncated": 0.1}

    async def kinds() -> list[str]:
        target = simulated(faults=faults)
        seen = []
        for one in cases(1000):
            got = await target.generate(requested(target, one), AttemptContext(20))
            cut = isinstance(got, Output) and got.cut_short
            seen.append(got.kind if isinstance(got, Failure) else "cut" if cut else "")
        return seen

    seen = await kinds()
    for kind, share in (("rate_limit", 200), ("server_error", 100), ("empty_output", 100)):
        assert abs(seen.count(kind) - share) < 50
    assert abs(seen.count("cut") - 100) < 50
    assert await kinds() == seen


async def test_another_attempt_draws_anew() -> None:
    target = simulated(faults={"server_error": 0.5})
    request = requested(target, cases(1)[0])
    got = [await target.generate(request, AttemptContext(20)) for _ in range(40)]
    failures = [one for one in got if isinstance(one, Failure)]
    assert 5 < len(failures) < 35
    assert all(one.retryable for one in failures)


async def test_a_call_that_takes_longer_than_its_deadline_times_out() -> None:
    target = simulated(latency_s=1000.0)
    got = await target.generate(requested(target, cases(1)[0]), AttemptContext(0.01))
    assert isinstance(got, Failure) and got.kind == "timeout"


async def test_a_call_can_be_cancelled() -> None:
    target = simulated(latency_s=[1000, 2000])
    call = asyncio.create_task(
        target.generate(requested(target, cases(1)[0]), AttemptContext(3000))
    )
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


async def test_the_time_it_takes_is_its_latency() -> None:
    got = await answered(simulated(latency_s=0.02), cases(1)[0])
    assert got.latency_s is not None and got.latency_s >= 0.02


def test_a_template_mistake_is_a_failure_of_that_case() -> None:
    got = simulated(answers=["{{ nothing }}"]).request(COLUMN, cases(1)[0])
    assert isinstance(got, Failure) and got.kind == "template"
    assert "nothing" in got.message


def test_its_settings_are_in_its_identity() -> None:
    base = simulated().identity()
    assert base != simulated(accuracy=0.5).identity()
    assert base != simulated(seed=1).identity()
    assert base == simulated(latency_s=3.0, concurrency=2).identity()
