"""What an answer of `/embeddings` holds: vectors → how alike pairs of texts are."""

import math
from collections.abc import Sequence
from typing import TypeAlias

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.output import Failure, Output, Usage
from tui_eval.providers.answers import error_inside, tokens_counted
from tui_eval.providers.finite import finite

Pairs: TypeAlias = Sequence[tuple[int, int]]
"""Texts of a request that are compared, by their places in it."""


def cosines_output(answer: Json, *, texts: int, pairs: Pairs) -> Output | Failure:
    """Return the cosines of pairs of texts in `fields`, as `cosines`.

    Args:
        answer: The answer's JSON.
        texts: How many texts were sent: each must have a vector, and all of one length.
        pairs: Which are compared.
    """
    if not isinstance(answer, dict):
        return _bad("the answer is no JSON object")
    if answer.get("error"):
        return error_inside(answer["error"])
    vectors = _vectors(answer.get("data"), texts)
    if isinstance(vectors, str):
        return _bad(vectors)
    usage = answer.get("usage")
    told: JsonObject = usage if isinstance(usage, dict) else {}
    model = answer.get("model")
    return Output(
        None,
        fields={"cosines": [cosine(vectors[one], vectors[other]) for one, other in pairs]},
        model=model if isinstance(model, str) else None,
        usage=Usage(input=tokens_counted(told.get("prompt_tokens")), output=0),
        finish_reason="stop",
    )


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the cosine of the angle between two vectors that are not 0, in −1..1."""
    length, other_length = math.hypot(*one), math.hypot(*other)
    parts = (a / length * (b / other_length) for a, b in zip(one, other, strict=True))
    return max(-1.0, min(1.0, math.fsum(parts)))


def _vectors(data: Json, texts: int) -> list[list[float]] | str:
    """Return the vectors in the order of the texts, or say what is wrong with them."""
    if not isinstance(data, list) or len(data) != texts:
        return f"the answer has not one vector for each of the {texts} texts"
    found: dict[int, list[float]] = {}
    for place, one in enumerate(data):
        if not isinstance(one, dict):
            return "the answer has an embedding that is no object"
        index, vector = one.get("index", place), one.get("embedding")
        if not isinstance(index, int) or index in found or not 0 <= index < texts:
            return "the answer's embeddings are not numbered as the texts are"
        if not isinstance(vector, list) or not vector or not all(map(finite, vector)):
            return "the answer has an embedding that is no list of numbers"
        found[index] = [float(number) for number in vector if isinstance(number, int | float)]
    vectors = [found[index] for index in range(texts)]
    if len({len(vector) for vector in vectors}) > 1:
        return "the answer has embeddings of several lengths"
    if not all(map(any, vectors)):
        return "the answer has an embedding that is 0 throughout"
    return vectors


def _bad(what: str) -> Failure:
    return Failure("bad_answer", what, retryable=True)
