"""Readers take time in proportion to the text, whatever it says.

Measured as processor time of a text against one four times as long, the best of a few tries:
four times as much where it is linear, sixteen times where it is quadratic.
"""

import gc
import time
from collections.abc import Callable

import pytest

from tui_eval.providers.answers import split_thinking
from tui_eval.scoring.judge.documents import documents
from tui_eval.scoring.judge.item import ReplyForm
from tui_eval.scoring.judge.reading import read
from tui_eval.scoring.rules import choice_replies
from tui_eval.texts import json_in_text, numbers, options
from tui_eval.texts.normal import normalized

OFFERED = options.options(["the first one", "answer is A", "third", "1"])
FORMS = {"k1": ReplyForm("pass-fail", 0, 1, (0,)), "k2": ReplyForm("pass-fail", 0, 1, (0,))}


def _extracted(text: str) -> None:
    try:
        json_in_text.extract(text)
    except (json_in_text.NotJsonError, json_in_text.UnreadableError):
        return


READERS: dict[str, tuple[Callable[[str], object], int]] = {
    "choice": (lambda text: choice_replies.chosen(text, OFFERED), 3_000),
    "numeric": (numbers.chosen, 6_000),
    "numeric, first": (lambda text: numbers.chosen(text, "first"), 6_000),
    "json": (_extracted, 30_000),
    "normalized": (normalized, 6_000),
    "thinking": (split_thinking, 250_000),
    "documents": (lambda text: documents(text, len(text)), 10_000),
    "grades": (lambda text: read(text, FORMS, "n", "stop"), 10_000),
}
PIECES = [
    "Answer:", "the answer is A, ", "A or ", "choose option B / ", "so it is C is the the ",
    "1 1/2 3.5e3 ", "1'234 ", "<<1+1>>", "\\boxed{", "\\text{A}", "(", " ",
    "[]", "{}", "[{", '{"a":', '"', '\\"', "```\n", '{"id":"k1","score":1},', "}]",
    "<think></think>", "<think>", "</think>", "\u0301", "é\u0301", "*_`",
]  # fmt: skip


def seconds(read_text: Callable[[str], object], text: str) -> float:
    gc.disable()  # what it takes grows with all that other tests left, too
    try:
        before = time.process_time()
        read_text(text)
        return time.process_time() - before
    finally:
        gc.enable()


@pytest.mark.parametrize("name", READERS)
def test_a_text_four_times_as_long_takes_no_more_than_eight_times_as_long(name: str) -> None:
    read_text, length = READERS[name]
    read_text("A 1 {}")  # what is made once is made
    for piece in PIECES:
        short, long = (piece * (size // len(piece)) for size in (length, 4 * length))
        for _ in range(5):
            once = seconds(read_text, short)
            if seconds(read_text, long) <= 8 * max(once, 0.002):
                break
        else:
            pytest.fail(f"{name} takes more than linear time on {piece!r}")
