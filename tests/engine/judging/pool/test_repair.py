"""What is asked again, and how often at most."""

import math
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.judging.making import Waiting, question
from tui_eval.engine.judging.pool.repair import RefusedBatches, batches_to_repeat, halves, parts
from tui_eval.engine.judging.question import Batch, Question, Round
from tui_eval.engine.limits.limiter import GONE_AFTER


def asked_again(batch: Batch, never: set[Question]) -> list[Batch]:
    """Play a judge that never grades some; give every further request."""
    line = deque([batch])
    further: list[Batch] = []
    while line:
        present = line.popleft()
        next_ = batches_to_repeat(present, [one for one in present.questions if one in never])
        further += next_
        line += next_
    return further


@given(st.integers(1, 40), st.data())
def test_repair_ends_and_asks_little(size: int, data: st.DataObject) -> None:
    questions = [question() for _ in range(size)]
    never = {one for one in questions if data.draw(st.booleans())}
    further = asked_again(Batch(tuple(questions)), never)
    assert len(further) <= 2 * len(never) + math.log2(size + 1)
    for one in never:
        alone = [batch for batch in further if batch.questions == (one,)]
        assert len(alone) == 2
    answered = set(questions) - never
    assert not any(answered.intersection(batch.questions) for batch in further)


@pytest.mark.parametrize(
    ("size", "rounds"),
    [(1, ["alone", "alone again"]), (2, ["half"] * 2 + ["alone again"] * 2)],
)
def test_the_rounds_of_small_batches(size: int, rounds: list[str]) -> None:
    questions = [question() for _ in range(size)]
    assert [b.round for b in asked_again(Batch(tuple(questions)), set(questions))] == rounds


def test_halves_of_an_odd_number() -> None:
    one, two, three = question(), question(), question()
    assert halves([one, two, three], Round.FIRST) == [Batch((one, two)), Batch((three,))]


def batch_of(size: int, round_: Round = Round.FIRST, refused: str | None = "no") -> Batch:
    return Batch(tuple(question() for _ in range(size)), round_, refused=refused)


@pytest.mark.parametrize(
    ("size", "round_", "made"),
    [
        (5, Round.FIRST, [(3, "half", 0), (2, "half", 0)]),
        (3, Round.FIRST, [(2, "half", 0), (1, "alone", 1)]),
        (2, Round.FIRST, [(1, "alone", 1)] * 2),
        (3, Round.HALF, [(1, "alone", 1)] * 3),
        (1, Round.FIRST, [(1, "alone", 1)]),
    ],
)
def test_a_refused_batch_is_asked_in_halves_once_and_then_one_by_one(
    size: int, round_: Round, made: list[tuple[int, str, int]]
) -> None:
    refused = batch_of(size, round_)
    found = parts(refused)
    assert [(len(part.questions), part.round, part.retries) for part in found] == made
    assert [one for part in found for one in part.questions] == [*refused.questions]
    assert all(part.tries.own and part.refused is None for part in found)


def test_of_refused_batches_one_question_is_asked_at_a_time_once_nothing_else_is() -> None:
    line, refused = RefusedBatches(), batch_of(3)
    line.add(refused)
    assert line.take(in_flight=True) is None
    assert len(line) == 3
    for left, asked in zip((2, 1, 0), refused.questions, strict=True):
        assert line.take(in_flight=False) == Batch((asked,), Round.ALONE, retries=0, refused="no")
        assert len(line) == left
    assert line.take(in_flight=False) is None


def test_what_may_be_asked_as_it_is_goes_though_a_call_is_under_way() -> None:
    line, plain = RefusedBatches(), batch_of(2, refused=None)
    line.add(batch_of(1))
    line.add(plain)
    assert line.take(in_flight=True) == plain
    assert len(line) == 1


def refuses_all(line: RefusedBatches) -> bool:
    return line.by_all


def test_who_answers_nobody_is_given_up_and_who_answers_again_is_asked_for_all() -> None:
    line, whole = RefusedBatches(), batch_of(4)
    line.add(whole)
    for _ in range(GONE_AFTER):
        assert not refuses_all(line)
        line.asked_in_vain()
    assert refuses_all(line)
    assert line.take(in_flight=True) == whole, "to be given up as it is"
    line.add(whole)
    line.add(batch_of(1, refused=None))
    assert [len(part.questions) for part in line.answered()] == [2, 2]
    assert not refuses_all(line)
    for _ in range(GONE_AFTER):
        assert not refuses_all(line)
        line.asked_in_vain()
    assert len(line) == 1, "what was not refused waits on"


def test_refused_questions_that_nobody_waits_for_are_never_asked() -> None:
    line, gone, kept = RefusedBatches(), batch_of(1), batch_of(1)
    for one in (gone, kept):
        line.add(one)
    assert isinstance(gone.questions[0].holder, Waiting)
    gone.questions[0].holder.withdrawn = True
    asked = line.take(in_flight=False)
    assert asked is not None and asked.questions == kept.questions
    line.add(gone)
    line.drop_withdrawn()
    assert len(line) == 0
    line.add(kept)
    line.forget()
    assert len(line) == 0
