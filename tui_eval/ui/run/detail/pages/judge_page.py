"""The Judge tab: what judges were asked about a trial, and what they said."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from tui_eval.format import call_cost, number, seconds
from tui_eval.model.json import JsonObject
from tui_eval.store.read.judges.judge_calls import JudgeCall
from tui_eval.store.read.judges.judge_figures import JudgeFigures
from tui_eval.store.read.trials.trial_queries import WholeTrial
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.run.detail.pages.judge_words import (
    grade_brief,
    grade_in,
    grade_paras,
    item_paras,
    laid_out,
)
from tui_eval.ui.run.head.judge_status import quality_is_poor, trust_paras
from tui_eval.ui.text.prose import Para, block, marked
from tui_eval.ui.theme.glyphs import Glyphs

_LABELS = 13
"""Cells of the column of labels."""
_BEGINS = 2_000
"""Characters of a reply that are shown where no grade is found in it."""


def judge_page(
    found: WholeTrial, glyphs: Glyphs, judges: Sequence[JudgeFigures] = (), *, raw: bool = False
) -> Iterator[Para]:
    """Yield each judge call about the trial, the newest first: reply, input, batch.

    Args:
        found: The trial.
        glyphs: The shapes.
        judges: What is known of the run's judges; what was measured is said last, and first where
            it is amiss.
        raw: Whether request and reply are shown whole, as they went.
    """
    asked = {entry.scorer for entry in found.scores}
    mine = [one for one in judges if one.scorer in asked]
    wrong = quality_is_poor(mine)
    if wrong:
        yield from trust_paras(mine)
    if not found.judging:
        judged = any(entry.source == "judge" for entry in found.scores)
        yield Para(
            "Graded from the cache: the judge had graded the same before."
            if judged
            else "No judge was run on this trial.",
            "dim",
        )
    for call in found.judging:
        yield from _call(call, found.trial.id, glyphs, raw=raw)
        yield Para("")
    if not wrong:
        yield from trust_paras(mine)


def _call(call: JudgeCall, trial: int, glyphs: Glyphs, *, raw: bool) -> Iterator[Para]:
    # imported late: the first picture of a run needs none of it
    from tui_eval.scoring.judge.request import items_of

    shape = {"answered": glyphs.passed, "failed": glyphs.error, "sent": glyphs.working}
    failed = call.state == "failed"
    yield marked(
        (f"{call.scorer} by {call.judge}", "error" if failed else "accent"),
        (f"  {', '.join(_facts(call))}", "dim"),
        label=shape.get(call.state, glyphs.cancelled),
    )
    if call.bulk is not None:
        yield from block("Sent", [Para(call.bulk.words, "dim")], _LABELS)
    if call.error is not None:
        yield from block("Error", [Para(call.error, "error")], _LABELS)
    if not any(item.trial == trial for item in call.items):
        words = "from the cache: a copy of what an equal output got here"
        yield from block("Cache", [Para(words, "dim")], _LABELS)
    if raw:
        yield from _as_it_went(call)
        return
    asked = items_of(call.request)
    for item in call.items:
        if item.here:
            yield from _graded(call, asked.get(item.position), glyphs)
    yield from block("Batch", list(_batch(call, asked, glyphs)), _LABELS)


def _graded(call: JudgeCall, asked: JsonObject | None, glyphs: Glyphs) -> Iterator[Para]:
    """Yield what the reply says of an item, and what was asked of it."""
    grade = None if asked is None else grade_in(call.reply, asked["id"])
    raw = f"{key('run.raw', 'm')} shows request and reply as they went"
    if asked is not None and grade is not None:
        yield from block("Judge reply", grade_paras(grade, asked, glyphs), _LABELS)
    elif call.reply is not None:
        words = f"no grade of this output is found in it; {raw}"
        paras = [Para(words, "ungraded"), Para(call.reply[:_BEGINS])]
        yield from block("Judge reply", paras, _LABELS)
    if asked is not None:
        yield from block("Judge input", item_paras(asked), _LABELS)
        yield from block("", [Para(raw, "dim")], _LABELS)


def _batch(call: JudgeCall, asked: Mapping[int, JsonObject], glyphs: Glyphs) -> Iterator[Para]:
    """Yield who stood in a call and what each was given: its number, grade, case and column."""
    if len(call.items) == 1 and call.items[0].here:
        yield Para("alone", "dim")
        return
    for item in call.items:
        there = asked.get(item.position)
        given = None if there is None else grade_in(call.reply, there["id"])
        words, tone = grade_brief(given, glyphs)
        if call.reply is None:
            words, tone = call.state, "dim"
        sign = glyphs.cursor if item.here else " "
        column = f" {glyphs.dot} {item.column}" if item.column else ""
        id_ = f"  {there['id']}" if there is not None else ""
        yield marked(
            (f"{words}  ", tone),
            (f"{item.case_id or 'gold'}{column}", "strong" if item.here else "plain"),
            (id_, "dim"),
            label=f"{sign} {item.position + 1}",
        )
        if item.problem:
            yield Para(item.problem, "ungraded", indent=4)


def _as_it_went(call: JudgeCall) -> Iterator[Para]:
    messages = call.request.get("messages")
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, dict):
            paras = [Para(laid_out(str(message.get("content", ""))), "dim")]
            yield from block(f"To {message.get('role')}"[: _LABELS - 1], paras, _LABELS)
    if call.reply is not None:
        yield from block("Reply", [Para(laid_out(call.reply))], _LABELS)


def _facts(call: JudgeCall) -> Iterator[str]:
    if call.purpose != "grade":
        yield call.purpose
    if call.round != "first":
        yield f"asked again ({call.round})"
    if call.attempt > 1:
        yield f"try {call.attempt}"
    at = datetime.fromtimestamp(call.sent_at, UTC).astimezone()
    yield f"{call.state} {at:%H:%M:%S}"
    if call.call_s is not None:
        yield seconds(call.call_s)
    if call.input_tokens is not None or call.output_tokens is not None:
        yield f"{number(call.input_tokens)} tokens in, {number(call.output_tokens)} out"
    if call.cost_usd is None or call.cost_usd > 0:
        yield call_cost(call.cost_usd, call.about_usd)
    if call.finish_reason not in (None, "stop"):
        yield f"finish {call.finish_reason}"
    if call.model and call.model != call.judge:
        yield call.model
