"""The Judge tab: what judges were asked about a trial, and what they said."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from tui_eval.format import call_cost, number, seconds
from tui_eval.model.json import Json, JsonObject
from tui_eval.store.read.judges.judge_calls import BatchItem, JudgeCall
from tui_eval.store.read.judges.judge_figures import JudgeFigures
from tui_eval.store.read.trial_queries import WholeTrial
from tui_eval.ui.run.judge_status import quality_is_poor, trust_paras
from tui_eval.ui.text.prose import LONGEST, Para
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone


def judge_page(
    found: WholeTrial, glyphs: Glyphs, judges: Sequence[JudgeFigures] = ()
) -> Iterator[Para]:
    """Yield each judge call about the trial, the newest first: batch, reply, request.

    Args:
        found: The trial.
        glyphs: The shapes.
        judges: What is known of the run's judges; what was measured is said last, and first where
            it is amiss.
    """
    asked = {entry.scorer for entry in found.scores}
    mine = [one for one in judges if one.scorer in asked]
    wrong = quality_is_poor(mine)
    if wrong:
        yield from trust_paras(mine)
    if not found.judging:
        judged = any(entry.source == "judge" for entry in found.scores)
        yield Para(
            "Graded from the cache: the same question had been answered before."
            if judged
            else "No judge was asked about this trial.",
            "dim",
        )
    for call in found.judging:
        yield from _call(call, found.trial.id, glyphs)
        yield Para("")
    if not wrong:
        yield from trust_paras(mine)


def _call(call: JudgeCall, trial: int, glyphs: Glyphs) -> Iterator[Para]:
    # imported late: the first picture of a run needs none of it
    from tui_eval.scoring.judge.request import items_of

    shape = {"answered": glyphs.passed, "failed": glyphs.error, "sent": glyphs.working}
    yield Para(
        f"{call.scorer} by {call.judge}  {', '.join(_facts(call))}",
        "error" if call.state == "failed" else "accent",
        label=shape.get(call.state, glyphs.cancelled),
    )
    if call.error is not None:
        yield Para(call.error, "error", indent=2)
    if not any(item.trial == trial for item in call.items):
        yield Para("from the cache: a copy of what an equal output got here", indent=2)
    asked = items_of(call.request)
    for item in call.items:
        if item.here:
            yield from _item(item, asked.get(item.position), glyphs)
            yield from _about(asked.get(item.position), call.reply)
    mates = [item for item in call.items if not item.here]
    words = f"batch of {len(call.items)}, beside it:" if mates else "alone in its batch"
    yield Para(words, "dim", indent=2)
    for item in mates:
        yield from _item(item, asked.get(item.position), glyphs)
    if call.reply is not None:
        yield Para("Reply", "accent", indent=2)
        yield Para(_laid_out(call.reply), indent=4)
    messages = call.request.get("messages")
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, dict):
            yield Para(f"Request, {message.get('role')}", "accent", indent=2)
            yield Para(_laid_out(str(message.get("content", ""))), "dim", indent=4)


def _item(item: BatchItem, asked: JsonObject | None, glyphs: Glyphs) -> Iterator[Para]:
    """Yield the line of an item: its number, its id in request and reply, whose it is."""
    known = f"{asked['id']}  " if asked is not None else ""
    column = f" · {item.column}" if item.column else ""
    problem = f": {item.problem}" if item.problem else ""
    tone: Tone = "ungraded" if item.problem else ("strong" if item.here else "dim")
    sign = glyphs.cursor if item.here else " "
    words = f"{known}{item.case_id or 'gold'}{column}{problem}"
    yield Para(words, tone, indent=2, label=f"{sign} {item.position + 1}")


def _about(asked: JsonObject | None, reply: str | None) -> Iterator[Para]:
    """Yield what the reply says of an item, and what was asked of it."""
    if asked is None:
        return
    said = None if reply is None else _grade(reply, asked["id"])
    for title, found in (("Judge reply", said), ("Judge input", asked)):
        if found is not None:
            fields = {name: value for name, value in found.items() if name != "id"}
            yield Para(title, "accent", indent=4)
            yield Para(json.dumps(fields, ensure_ascii=False, indent=2), indent=6)


def _grade(reply: str, id_: Json) -> JsonObject | None:
    """Return what stands under an id in a reply that is as it was asked for; None: nothing."""
    found = _parsed(reply)
    grades = found.get("grades") if isinstance(found, dict) else None
    there = grades if isinstance(grades, list) else []
    return next((one for one in there if isinstance(one, dict) and one.get("id") == id_), None)


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


def _laid_out(text: str) -> str:
    """Lay the JSON of a text out in lines; what is none stays as it came."""
    found = _parsed(text)
    if found is None:
        return text
    laid = json.dumps(found, ensure_ascii=False, indent=2)
    return f"{text[: text.find('{')]}{laid}{text[text.rfind('}') + 1 :]}"


def _parsed(text: str) -> Json:
    """Read the JSON object of a text; None: there is none."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start or len(text) > LONGEST:
        return None
    try:
        found: Json = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        return None
    return found
