from typing import Any

import pytest

from tui_eval.model.outputs.output import Failure, Output
from tui_eval.providers.embeddings import cosine, cosines_output


def answer(*vectors: Any, **more: Any) -> dict[str, Any]:
    return {"data": [{"index": n, "embedding": one} for n, one in enumerate(vectors)], **more}


def test_the_cosines_of_pairs_are_given_and_no_vectors() -> None:
    said = answer([1, 0], [1, 1], [-2, 0], model="m", usage={"prompt_tokens": 7})
    said["data"].reverse()
    got = cosines_output(said, texts=3, pairs=[(0, 1), (0, 2), (2, 2)])
    assert isinstance(got, Output)
    assert got.fields == {"cosines": [pytest.approx(0.5**0.5), -1.0, 1.0]}
    assert (got.text, got.model, got.usage.input, got.usage.output) == (None, "m", 7, 0)


def test_a_cosine_is_never_beyond_one() -> None:
    assert cosine([0.1] * 7, [0.1] * 7) <= 1.0
    assert cosine([1e200, 1.0], [1e200, 1.0]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ([], "no JSON object"),
        ({"error": {"message": "no room"}}, "no room"),
        (answer([1.0]), "not one vector for each of the 2 texts"),
        ({"data": [3, 4]}, "no object"),
        ({"data": [{"index": 0, "embedding": [1]}] * 2}, "not numbered"),
        ({"data": [{"index": n + 1, "embedding": [1]} for n in range(2)]}, "not numbered"),
        (answer([1, 2], ["x", 2]), "no list of numbers"),
        (answer([1, 2], [True, 2]), "no list of numbers"),
        (answer([1, 2], [float("nan"), 2]), "no list of numbers"),
        (answer([1, 2], [10**400, 2]), "no list of numbers"),
        (answer([], []), "no list of numbers"),
        (answer([1, 2], "AAAA"), "no list of numbers"),
        (answer([1, 2], [1, 2, 3]), "several lengths"),
        (answer([1, 2], [0, 0]), "0 throughout"),
    ],
)
def test_an_answer_that_is_none_says_why(said: Any, why: str) -> None:
    got = cosines_output(said, texts=2, pairs=[(0, 1)])
    assert isinstance(got, Failure)
    assert (got.kind, got.retryable) == ("bad_answer", True)
    assert why in got.message
