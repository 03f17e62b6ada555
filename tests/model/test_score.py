import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_eval.model.score import Grade, Score, Tally, tally
from tui_eval.model.states import Verdict

grades = st.one_of(
    st.booleans().map(lambda passed: Grade.of(passed, "")),
    st.just(Grade.ungraded("")),
    st.floats(0, 1).map(lambda value: Grade(Verdict.FAIL, value, "")),
)
scores = st.builds(
    Score, scorer=st.text(), grade=grades, weight=st.floats(0.1, 10), required=st.booleans()
)


def scored(passed: bool | None, *, weight: float = 1.0, required: bool = True) -> Score:
    grade = Grade.ungraded("no answer") if passed is None else Grade.of(passed, "")
    return Score("exact", grade, weight, required)


@pytest.mark.parametrize(
    ("given", "comes_to"),
    [
        ([], Tally(Verdict.PASS, None)),
        ([scored(True)], Tally(Verdict.PASS, 1.0)),
        ([scored(False)], Tally(Verdict.FAIL, 0.0)),
        ([scored(None)], Tally(Verdict.UNGRADED, None)),
        ([scored(True), scored(False)], Tally(Verdict.FAIL, 0.5)),
        ([scored(True), scored(None)], Tally(Verdict.UNGRADED, 1.0)),
        ([scored(False), scored(None)], Tally(Verdict.UNGRADED, 0.0)),
        ([scored(True, weight=3), scored(False)], Tally(Verdict.FAIL, 0.75)),
        ([scored(True), scored(False, required=False)], Tally(Verdict.PASS, 1.0)),
        ([scored(True), scored(None, required=False)], Tally(Verdict.PASS, 1.0)),
        ([scored(True, required=False)], Tally(Verdict.PASS, None)),
        ([scored(False, required=False)], Tally(Verdict.PASS, None)),
        ([scored(None, required=False)], Tally(Verdict.PASS, None)),
    ],
)
def test_scores_come_to_a_verdict_and_a_weighted_mean(given: list[Score], comes_to: Tally) -> None:
    assert tally(given) == comes_to


@given(st.lists(scores, max_size=6))
def test_a_tally_passes_exactly_when_every_required_score_does(given: list[Score]) -> None:
    required = [score for score in given if score.required]
    result = tally(given)
    passes = all(score.grade.verdict is Verdict.PASS for score in required)
    assert (result.verdict is Verdict.PASS) == passes
    if any(score.grade.verdict is Verdict.UNGRADED for score in required):
        assert result.verdict is Verdict.UNGRADED
    assert result.score is None or 0.0 <= result.score <= 1.0 + 1e-12


@given(st.lists(scores, max_size=6))
def test_the_order_of_scores_does_not_count(given: list[Score]) -> None:
    turned = list(reversed(given))
    assert tally(turned).verdict is tally(given).verdict
    assert tally(turned).score == pytest.approx(tally(given).score)


def test_a_check_that_could_not_be_made_has_no_value() -> None:
    grade = Grade.ungraded("the judge was unreachable", {"status": 503})
    assert (grade.verdict, grade.value) == (Verdict.UNGRADED, None)
    assert grade.raw == {"status": 503}


def test_a_check_that_is_met_or_not_is_worth_one_or_nothing() -> None:
    assert Grade.of(True, "").value == 1.0
    assert Grade.of(False, "").value == 0.0
