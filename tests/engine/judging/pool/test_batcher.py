"""Which questions leave together, and when."""

import math
import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tests.engine.judging.making import Waiting, question
from tui_eval.engine.judging.pool.batcher import HURRIED_S, Batcher
from tui_eval.engine.judging.question import Batch, Question, Round
from tui_eval.store.write.judges.measured_judges import GOLD


def batcher(size: int = 5, budget: int = 1000, linger_s: float = 2.0, seed: int = 0) -> Batcher:
    return Batcher(size, budget, linger_s, random.Random(seed))


def fill(into: Batcher, questions: list[Question], now: float = 0.0) -> list[Question]:
    for one in questions:
        into.add(one, now)
    return questions


def test_a_full_batch_leaves_at_once_and_a_part_of_one_waits() -> None:
    waiting = batcher()
    all_of_them = fill(waiting, [question() for _ in range(7)])
    first = waiting.take(0.0, more_to_come=True)
    assert first is not None
    assert len(first.questions) == 5
    assert waiting.take(0.0, more_to_come=True) is None
    assert waiting.due() == 2.0
    second = waiting.take(2.0, more_to_come=True)
    assert second is not None
    assert {*first.questions, *second.questions} == {*all_of_them}


def test_when_nothing_more_can_come_nobody_waits() -> None:
    waiting = batcher()
    fill(waiting, [question() for _ in range(2)])
    batch = waiting.take(0.0, more_to_come=False)
    assert batch is not None
    assert len(batch.questions) == 2
    assert waiting.take(9.0, more_to_come=False) is None


def test_two_answers_to_one_case_never_share_a_batch() -> None:
    waiting = batcher()
    fill(waiting, [question(case=i // 3, repeat=i % 3) for i in range(30)])
    seen = 0
    while (batch := waiting.take(0.0, more_to_come=False)) is not None:
        cases = [one.case for one in batch.questions]
        assert len(set(cases)) == len(cases)
        seen += len(cases)
    assert seen == 30


def test_scorers_do_not_mix() -> None:
    waiting = batcher(size=2)
    fill(waiting, [question(scorer=name) for name in "abab"])
    for _ in range(2):
        batch = waiting.take(0.0, more_to_come=True)
        assert batch is not None
        assert len({one.scorer for one in batch.questions}) == 1


def test_scorers_take_turns() -> None:
    waiting = batcher(size=2)
    for at in range(6):
        for name in "ab":
            waiting.add(question(scorer=name), float(at))
    taken = []
    while (batch := waiting.take(9.0, more_to_come=True)) is not None:
        taken.append(batch.questions[0].scorer)
    assert {*taken[:2]} == {"a", "b"}
    assert sorted(taken) == [*"aaabbb"]


def test_the_token_budget_fills_a_batch_too() -> None:
    waiting = batcher(budget=1000)
    fill(waiting, [question(tokens=240) for _ in range(5)])
    batch = waiting.take(0.0, more_to_come=True)
    assert batch is not None
    assert len(batch.questions) == 4


def test_a_budget_is_used_up_before_the_number_is() -> None:
    waiting = batcher(size=10, budget=1000)
    fill(waiting, [question(tokens=240) for _ in range(5)])
    batch = waiting.take(0.0, more_to_come=True)
    assert batch is not None
    assert len(batch.questions) == 4
    fill(waiting, [question(tokens=240) for _ in range(3)])
    assert waiting.take(0.0, more_to_come=True) is None, "they just fit together"


def test_what_fits_to_the_token_leaves_together() -> None:
    waiting = batcher(budget=1000)
    fill(waiting, [question(tokens=250) for _ in range(4)])
    assert waiting.take(0.0, more_to_come=True) is None, "another may be small"
    batch = waiting.take(0.0, more_to_come=False)
    assert batch is not None
    assert len(batch.questions) == 4


def test_an_item_of_more_than_a_quarter_of_the_budget_goes_alone() -> None:
    waiting = batcher(budget=1000)
    large = question(tokens=251)
    fill(waiting, [question(), large])
    batch = waiting.take(0.0, more_to_come=True)
    assert batch is not None
    assert batch.questions == (large,)


def test_what_a_person_asks_alone_goes_alone() -> None:
    waiting = batcher()
    fill(waiting, [*(question() for _ in range(5)), question(alone=True)])
    batch = waiting.take(0.0, more_to_come=True)
    assert batch is not None
    assert [one.alone for one in batch.questions] == [True]


def test_repair_goes_first_and_what_nobody_waits_for_never_goes() -> None:
    waiting = batcher()
    fill(waiting, [question() for _ in range(5)])
    gone, left = question(), question()
    assert isinstance(gone.holder, Waiting)
    waiting.ask_again([Batch((gone, left), Round.HALF), Batch((gone,), Round.HALF)])
    gone.holder.withdrawn = True
    first = waiting.take(0.0, more_to_come=True)
    assert first == Batch((left,), Round.HALF)
    waiting.drop_withdrawn()
    assert len(waiting) == 5


def test_what_is_forgotten_never_goes() -> None:
    waiting = batcher()
    fill(waiting, [question(), question(alone=True)])
    assert len(waiting) == 2
    waiting.forget()
    assert len(waiting) == 0
    assert waiting.take(0.0, more_to_come=False) is None


def test_company_is_drawn_from_more_than_the_next_in_line() -> None:
    met, firsts = set(), set()
    for seed in range(9):
        waiting = batcher(seed=seed)
        fill(waiting, [question(case=i) for i in range(20)])
        batch = waiting.take(0.0, more_to_come=True)
        assert batch is not None
        cases = {one.case for one in batch.questions}
        assert 0 in cases, "the oldest goes first"
        met |= cases
        firsts.add(batch.questions[0].case)
    assert len(met) > 10
    assert len(firsts) > 3, "and it does not stand first for that"


def test_where_those_near_are_of_one_case_company_is_looked_for_among_all() -> None:
    waiting = batcher(size=2)
    fill(waiting, [*(question(case=0) for _ in range(20)), question(case=1)])
    batch = waiting.take(0.0, more_to_come=True)
    assert batch is not None
    assert {one.case for one in batch.questions} == {0, 1}


def test_order_is_mixed_and_the_same_for_the_same_seed() -> None:
    def order(seed: int) -> list[int]:
        waiting = batcher(seed=seed)
        fill(waiting, [question(case=i) for i in range(20)])
        found: list[int] = []
        while (batch := waiting.take(0.0, more_to_come=False)) is not None:
            found += [one.case for one in batch.questions]
        return found

    assert order(1) == order(1)
    assert order(1) != order(2)
    assert order(1) != list(range(20))


@given(
    st.lists(
        st.tuples(st.integers(0, 6), st.sampled_from("ab"), st.integers(1, 400), st.booleans()),
        max_size=60,
    ),
    st.integers(1, 7),
    st.integers(0, 3),
)
def test_every_question_leaves_once_in_a_legal_batch(
    made: list[tuple[int, str, int, bool]], size: int, seed: int
) -> None:
    waiting = batcher(size=size, budget=1000, seed=seed)
    questions = fill(
        waiting, [question(case=c, scorer=s, tokens=t, alone=a) for c, s, t, a in made]
    )
    left: list[Question] = []
    while (batch := waiting.take(0.0, more_to_come=False)) is not None:
        assert 1 <= len(batch.questions) <= size
        assert len({one.scorer for one in batch.questions}) == 1
        assert len({one.case for one in batch.questions}) == len(batch.questions)
        if len(batch.questions) > 1:
            assert sum(one.item.tokens for one in batch.questions) <= 1000
            assert not any(one.alone for one in batch.questions)
        left += batch.questions
    assert sorted(one.key for one in left) == sorted(one.key for one in questions)
    assert len(waiting) == 0


def test_a_scorer_whose_batching_is_off_goes_alone_and_takes_what_waits_along() -> None:
    batcher = Batcher(5, 8000, 60.0, random.Random(0))
    for _ in range(2):
        batcher.add(question(), 0.0)
    batcher.add(question(scorer="short"), 0.0)
    assert batcher.take(0.0, more_to_come=True) is None
    assert batcher.grade_alone("polite")
    assert not batcher.grade_alone("polite")
    batcher.add(question(), 0.0)
    taken = [batcher.take(0.0, more_to_come=True) for _ in range(4)]
    assert [batch and len(batch.questions) for batch in taken] == [1, 1, 1, None]
    assert len(batcher) == 1


@given(
    st.lists(st.tuples(st.integers(0, 3), st.floats(0, 5)), min_size=1, max_size=40),
    st.integers(1, 7),
    st.integers(0, 3),
)
def test_however_slow_they_come_answers_of_each_scorer_make_as_few_batches_as_can_be(
    arrivals: list[tuple[int, float]], size: int, seed: int
) -> None:
    waiting = batcher(size=size, budget=100_000, linger_s=500.0, seed=seed)
    now, taken = 0.0, Counter[str]()
    for case, (scorer, gap) in enumerate(arrivals):
        now += gap
        waiting.add(question(case=case, scorer=f"s{scorer}"), now)
        while (batch := waiting.take(now, more_to_come=True)) is not None:
            taken[batch.questions[0].scorer] += 1
    while (batch := waiting.take(now, more_to_come=False)) is not None:
        taken[batch.questions[0].scorer] += 1
    asked = Counter(f"s{scorer}" for scorer, _ in arrivals)
    assert taken == {scorer: math.ceil(n / size) for scorer, n in asked.items()}
    assert waiting.due() is None


@given(st.integers(1, 12), st.integers(1, 4), st.integers(1, 7), st.integers(0, 9))
def test_answers_to_one_case_are_spread_so_that_none_is_left_over(
    cases: int, each: int, size: int, seed: int
) -> None:
    waiting = batcher(size=size, budget=100_000, seed=seed)
    fill(waiting, [question(case=case) for case in range(cases) for _ in range(each)])
    n = 0
    while waiting.take(0.0, more_to_come=False) is not None:
        n += 1
    near = 4 * size  # those further away are not looked at to choose from
    if cases * each <= near:
        assert n == max(each, math.ceil(cases * each / size))


def test_what_a_person_waits_for_takes_along_what_waits_and_does_not_wait_for_targets() -> None:
    waiting = batcher(linger_s=60.0)
    waiting.add(question(), 0.0)
    fill(waiting, [question(hurried=True) for _ in range(2)], 10.0)
    assert waiting.due() == 10.0 + HURRIED_S
    assert waiting.take(11.0, more_to_come=True) is None
    batch = waiting.take(10.0 + HURRIED_S, more_to_come=True)
    assert batch is not None
    assert len(batch.questions) == 3
    assert waiting.due() is None


def test_once_nobody_waits_for_it_any_more_it_hurries_no_other() -> None:
    waiting = batcher(linger_s=60.0)
    other, hurried = question(), question(hurried=True)
    fill(waiting, [other, hurried])
    assert waiting.due() == HURRIED_S
    assert isinstance(hurried.holder, Waiting)
    hurried.holder.withdrawn = True
    waiting.drop_withdrawn()
    assert waiting.due() == 60.0
    assert isinstance(other.holder, Waiting)
    other.holder.withdrawn = True
    waiting.drop_withdrawn()
    assert waiting.due() is None


def test_gold_waits_for_nobody() -> None:
    waiting = batcher(linger_s=60.0)
    fill(waiting, [question(purpose=purpose) for purpose in (GOLD, GOLD, "grade")])
    batch = waiting.take(0.0, more_to_come=True)
    assert batch is not None
    assert [one.purpose for one in batch.questions] == [GOLD, GOLD]
    assert waiting.take(0.0, more_to_come=True) is None
