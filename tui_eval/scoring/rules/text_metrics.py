"""Similarity by metrics of the literature: the rule of `similarity` but for embeddings.

They are computed by the libraries that papers use: ROUGE-L (Lin 2004) by rouge-score, BLEU
(Papineni et al. 2002) and chrF (Popović 2015, 2017) by sacrebleu, for one text as it stands. They
have no bound of their own and are to be called where they can be ended.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from tui_eval.model.json import JsonObject
from tui_eval.model.score import Grade
from tui_eval.model.states import Verdict
from tui_eval.scoring.settings import number, text, texts
from tui_eval.suites import loop_bounds
from tui_eval.texts.wording import one_of, quoted

_Metric: TypeAlias = Callable[[str, Sequence[str], JsonObject], float]

LIMIT: Final = 1_000_000
"""The most characters that are compared."""
WORDS: Final = 25_000_000
"""The most pairs of words that ROUGE-L compares: it keeps a table of them."""


class _UnfitError(Exception):
    """The texts cannot be compared by the metric; the message says why."""


def similar(settings: JsonObject, answer: str) -> Grade:
    """Pass where the text is similar enough to an expected one."""
    loop_bounds.allow(1, 0)  # a second to load, and no bound
    metric, expected = text(settings["metric"]), texts(settings["expected"])
    longest = max(len(answer), *map(len, expected))
    if longest > LIMIT:
        return Grade.ungraded(f"too long to compare: {longest:,} characters of at most {LIMIT:,}")
    try:
        value = _METRICS[metric](answer, expected, settings)
    except ImportError:
        return Grade.ungraded(f"{metric} cannot be computed: install tui-eval[similarity]")
    except _UnfitError as unfit:
        return Grade.ungraded(str(unfit))
    threshold = number(settings["threshold"]) or 0.0
    passed = value >= threshold
    reason = f"{metric} {value:.3f} {'≥' if passed else '<'} {threshold:g}"
    reason += f": expected {one_of(expected)}, got {quoted(answer)}"
    return Grade(Verdict.PASS if passed else Verdict.FAIL, value, reason, value)


def _rouge_l(answer: str, expected: Sequence[str], settings: JsonObject) -> float:
    """Return the F-measure of the longest common subsequence of words, of the best expected text.

    Raises:
        _UnfitError: the library finds no words in an expected text, or too many.
    """
    from rouge_score import rouge_scorer, tokenizers

    words = tokenizers.DefaultTokenizer(use_stemmer=False).tokenize
    got = words(answer)
    for one in expected:
        wanted = words(one)
        if not wanted:
            raise _UnfitError(
                f"rouge-l knows words of a-z and 0-9 only, and {quoted(one)} has none: use chrf"
            )
        if len(wanted) * len(got) > WORDS:
            raise _UnfitError(f"too long for rouge-l: {len(got):,} words against {len(wanted):,}")
    scorer = rouge_scorer.RougeScorer(["rougeL"])
    return max(float(scorer.score(one, answer)["rougeL"].fmeasure) for one in expected)


def _bleu(answer: str, expected: Sequence[str], settings: JsonObject) -> float:
    """Return BLEU of one text against all expected ones: smoothed, of as many n-grams as it has."""
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU(effective_order=True, tokenize=str(settings["tokenize"] or "13a"))
    return _share(metric.sentence_score(answer, [*expected]).score)


def _chrf(word_order: int) -> _Metric:
    """Return chrF (0) or chrF++ (2): F2 over runs of up to 6 letters, of the best expected text."""

    def compute(answer: str, expected: Sequence[str], settings: JsonObject) -> float:
        from sacrebleu.metrics.chrf import CHRF

        return _share(CHRF(word_order=word_order).sentence_score(answer, [*expected]).score)

    return compute


def _share(percent: float) -> float:
    """Return a score of 0 to 100 as 0 to 1; a sum of hundredths may end a hair above."""
    return min(1.0, max(0.0, percent / 100))


_METRICS: Final[Mapping[str, _Metric]] = {
    "rouge-l": _rouge_l,
    "bleu": _bleu,
    "chrf": _chrf(0),
    "chrf++": _chrf(2),
}
