"""The Messages tab: the trajectory, tool calls and long messages folded."""

from collections.abc import Iterator, Sequence

from tui_eval.model.json import JsonObject
from tui_eval.store.read.trials.attempt_queries import StoredRecord
from tui_eval.store.read.trials.trial_queries import WholeTrial
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.run.detail.folds import Folds
from tui_eval.ui.run.detail.pages.steps import (
    BESIDE,
    LEAST,
    calls_in,
    counts_in,
    message_paras,
    step_paras,
)
from tui_eval.ui.text.prose import Para
from tui_eval.ui.theme.glyphs import Glyphs

_MANY = 3
"""Replies in a row from which on they are steps: an agent's work, not a conversation."""


def messages_page(
    found: WholeTrial,
    asked: Sequence[JsonObject] | str | None,
    folds: Folds,
    width: int,
    glyphs: Glyphs,
) -> Iterator[Para]:
    """Yield the trajectory: what was asked, and all that came back.

    Args:
        found: The trial.
        asked: The rendered request's messages; a text says why there are none; None: not yet.
        folds: Which of what can be folded is open.
        width: Cells there are.
        glyphs: The shapes.
    """
    if asked is None:
        yield Para("Rendering…", "dim")
    elif isinstance(asked, str):
        yield Para(asked, "dim")
    messages = [*(asked if asked is not None and not isinstance(asked, str) else ())]
    output = found.output
    messages += found.broken_off
    if output is not None and output.messages:
        messages += output.messages
    elif output is not None and output.text is not None:
        messages.append({"role": "assistant", "content": output.text})
    counted = counts_in(messages)
    if counted:
        yield Para(f"{counted}; {key('run.unfold', 'x')} unfolds all, or folds", "dim")
        yield Para("")
    if _longest_work(messages) > _MANY:
        began = next((one.record.turns for one in _records(found)), ())
        yield from step_paras(messages, folds, width, glyphs, began=began)
        return
    number = 0
    for message in messages:
        yield from message_paras(message, folds, number, max(width - BESIDE, LEAST), glyphs)
        number += 1 + len(calls_in(message))


def _longest_work(messages: Sequence[JsonObject]) -> int:
    """Return the most replies that come without a word of the user between."""
    longest = replies = 0
    for message in messages:
        role = message.get("role")
        replies = 0 if role == "user" else replies + (role == "assistant")
        longest = max(longest, replies)
    return longest


def _records(found: WholeTrial) -> Iterator[StoredRecord]:
    """Yield the record of the attempt that is shown: whose output the trial has, else the last."""
    output, last = found.trial.output, found.attempts[-1:]
    for tried in last if output is None else found.attempts:
        if tried.id in found.records and output in (None, tried.output):
            yield found.records[tried.id]
