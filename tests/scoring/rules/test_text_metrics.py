import sys
from typing import Any

import pytest

from tests.scoring.making import check, scored
from tui_eval.isolated.calls import IsolatedCalls
from tui_eval.model.outputs.output import Output
from tui_eval.model.score import Grade
from tui_eval.model.states import Verdict
from tui_eval.scoring import deciding
from tui_eval.scoring.rules import text_metrics

CAT = "the cat sat on the mat"


def value(metric: str, expected: object, answer: str, **more: Any) -> float:
    settings = {"kind": "similarity", "metric": metric, "expected": expected, **more}
    found = scored(settings, answer).value
    assert found is not None
    return found


def test_rouge_l_is_the_f_measure_of_the_longest_common_subsequence_of_words() -> None:
    assert value("rouge-l", "the cat is on the mat", CAT) == pytest.approx(5 / 6)
    # police killed the gunman / the gunman police killed: two of four words in order (Lin 2004)
    killed = "police killed the gunman"
    assert value("rouge-l", killed, "police kill the gunman") == pytest.approx(3 / 4)
    assert value("rouge-l", killed, "the gunman kill police") == pytest.approx(2 / 4)
    assert value("rouge-l", [killed, CAT], CAT) == 1.0
    assert value("rouge-l", CAT, "") == 0.0


def test_bleu_and_chrf_are_what_sacrebleu_gives_for_a_sentence() -> None:
    other = "the cat is on the mat"
    # by hand: 5/6 words, 3/5 pairs, 1/4 triples, 0 of 3 in fours, smoothed to 1/2 of a third
    by_hand = (5 / 6 * 3 / 5 * 1 / 4 * (1 / 2) / 3) ** 0.25
    assert value("bleu", other, CAT) == pytest.approx(by_hand)
    assert value("bleu", CAT, CAT) == pytest.approx(1.0)
    assert value("chrf", other, CAT) == pytest.approx(0.645779420626)
    assert value("chrf++", other, CAT) == pytest.approx(0.663606708458)
    assert value("chrf", [other, CAT], CAT) == pytest.approx(1.0)


def test_bleu_finds_words_as_the_suite_says() -> None:
    assert value("bleu", "我喜欢猫和狗", "我喜欢狗和猫") < 0.01
    assert value("bleu", "我喜欢猫和狗", "我喜欢狗和猫", tokenize="zh") > 0.3


def test_a_grade_passes_from_the_threshold_on_and_says_what_was_compared() -> None:
    settings = {"kind": "similarity", "metric": "rouge-l", "expected": CAT}
    good = scored({**settings, "threshold": 5 / 6}, "the cat is on the mat")
    bad = scored({**settings, "threshold": 0.9}, "the cat is on the mat")
    assert (good.verdict, bad.verdict) == (Verdict.PASS, Verdict.FAIL)
    assert bad.reason == (f'rouge-l 0.833 < 0.9: expected "{CAT}", got "the cat is on the mat"')


def test_what_the_metric_cannot_see_is_ungraded() -> None:
    blind = scored({"kind": "similarity", "metric": "rouge-l", "expected": "Москва"}, "Москва")
    assert blind.verdict is Verdict.UNGRADED
    assert blind.reason == (
        'rouge-l knows words of a-z and 0-9 only, and "Москва" has none: use chrf'
    )
    assert value("chrf", "Москва", "Москва") == pytest.approx(1.0)


def test_too_much_to_compare_is_ungraded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_metrics, "WORDS", 20)
    words = scored({"kind": "similarity", "metric": "rouge-l", "expected": CAT}, CAT)
    assert words.reason == "too long for rouge-l: 6 words against 6"
    monkeypatch.setattr(text_metrics, "LIMIT", 10)
    long = scored({"kind": "similarity", "metric": "chrf", "expected": "cat"}, CAT)
    assert (words.verdict, long.verdict) == (Verdict.UNGRADED, Verdict.UNGRADED)
    assert long.reason == "too long to compare: 22 characters of at most 10"


@pytest.mark.parametrize(
    ("metric", "library"), [("rouge-l", "rouge_score"), ("chrf", "sacrebleu.metrics.chrf")]
)
def test_without_the_library_it_is_ungraded(
    metric: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    grade = scored({"kind": "similarity", "metric": metric, "expected": CAT}, CAT)
    assert grade.verdict is Verdict.UNGRADED
    assert grade.reason == f"{metric} cannot be computed: install tui-eval[similarity]"


def test_it_is_computed_in_a_process_of_its_own() -> None:
    calls = IsolatedCalls(1)
    try:
        grade = deciding.decided(
            check({"kind": "similarity", "metric": "bleu", "expected": CAT}), Output(CAT), calls
        )
    finally:
        calls.close()
    assert isinstance(grade, Grade)
    assert grade.verdict is Verdict.PASS
