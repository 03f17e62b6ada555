"""The tabs of a trial's detail, as paragraphs."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.output import Output
from tui_eval.model.states import TrialState, Verdict
from tui_eval.store.browse import WholeTrial
from tui_eval.store.rows import AttemptRow, ScoreRow, TrialRow
from tui_eval.ui.glyphs import Glyphs
from tui_eval.ui.prose import Para
from tui_eval.ui.tones import Tone
from tui_eval.ui.words import clock, money, number, score, seconds

_VERDICT_TONES: dict[Verdict, Tone] = {
    Verdict.PASS: "pass",
    Verdict.FAIL: "fail",
    Verdict.UNGRADED: "ungraded",
}


def output_page(found: WholeTrial, glyphs: Glyphs, now: float) -> Iterator[Para]:
    """Give what the target said, then what the scorers say of it; times are as of `now`."""
    trial, output = found.trial, found.output
    yield from _note(trial)
    if trial.state is TrialState.ERROR:
        yield Para(f"{glyphs.error} {trial.error_kind}: {trial.error_message or ''}", "error")
    elif output is None:
        yield Para(_no_output(trial, now), "ungraded" if trial.waiting else "dim")
    if output is not None:
        yield from _spoken(output)
    partial = next((tried.partial for tried in reversed(found.attempts) if tried.partial), None)
    if output is None and partial:
        yield Para("What had arrived when it broke:", "dim")
        yield Para(partial)
    current = [entry for entry in found.scores if entry.current]
    if current:
        yield Para("")
    for entry in current:
        yield _verdict_line(entry, glyphs)
    if output is not None:
        yield Para("  ".join(_output_facts(output, cached=trial.cached)), "dim")


def _note(trial: TrialRow) -> Iterator[Para]:
    if trial.note is not None:
        yield Para(trial.note, "accent", label="note")


def _no_output(trial: TrialRow, now: float) -> str:
    """Say why there is no output, and for how long."""
    if trial.waiting is not None:
        return f"No output yet: {waiting_words(trial, now)}."
    since = "" if trial.since is None else f", for {clock(now - trial.since)}"
    return {
        TrialState.QUEUED: f"No output yet: the trial waits for its turn{since}.",
        TrialState.RUNNING: f"No output yet: the call is in flight{since}.",
        TrialState.CANCELLED: "Cancelled before there was an output; r asks again.",
    }.get(trial.state, "No output.")


def waiting_words(trial: TrialRow, now: float) -> str:
    """Say what a trial waits for between two attempts: why, which try, how long.

    Args:
        trial: One that waits; its words may be foreign.
        now: Unix seconds.
    """
    left = None if trial.waiting_until is None else trial.waiting_until - now
    if left is None:
        return str(trial.waiting)
    return f"{trial.waiting}, {f'in {clock(left)}' if left >= 1 else 'any moment'}"


def _spoken(output: Output) -> Iterator[Para]:
    if output.text is None:
        yield Para("The answer has no text.", "dim")
    elif not output.text:
        yield Para("The answer is an empty text.", "dim")
    else:
        yield Para(output.text)
    if output.cut_short:
        yield Para("Cut short: the endpoint stopped before the model did.", "ungraded")
    if output.filtered:
        yield Para("Taken away by the endpoint's content filter.", "ungraded")
    if output.reasoning:
        yield Para("")
        yield Para("Reasoning", "accent")
        yield Para(output.reasoning, "dim", indent=2)


def _output_facts(output: Output, *, cached: bool) -> Iterator[str]:
    yield seconds(output.latency_s)
    usage = output.usage
    if usage.input is not None or usage.output is not None:
        yield f"{number(usage.input)} tokens in, {number(usage.output)} out"
    if usage.reasoning:
        yield f"{number(usage.reasoning)} of them reasoning"
    if usage.cached:
        yield f"{number(usage.cached)} read from the endpoint's cache"
    if output.cost_usd is None or output.cost_usd > 0:
        yield money(output.cost_usd)
    if output.finish_reason:
        yield f"finish {output.finish_reason}"
    if output.model:
        yield output.model
    if cached:
        yield "from the cache"


def _verdict_line(entry: ScoreRow, glyphs: Glyphs) -> Para:
    optional = "" if entry.required else " (reported only)"
    source = "" if entry.source == "code" else f" by {entry.source}"
    return Para(
        f"{entry.scorer}{optional}{source}: {entry.reason}",
        _VERDICT_TONES[entry.verdict],
        label=glyphs.verdict(entry.verdict),
    )


def scores_page(found: WholeTrial, glyphs: Glyphs) -> Iterator[Para]:
    """Give each scorer's whole history, the newest first."""
    if not found.scores:
        yield Para("No scores yet.", "dim")
    for scorer in dict.fromkeys(entry.scorer for entry in found.scores):
        yield Para(scorer, "accent")
        history = [entry for entry in found.scores if entry.scorer == scorer]
        for entry in reversed(history):
            yield from _score(entry, glyphs)
        yield Para("")
    if found.trial.score is not None:
        yield Para(f"The trial's score: {score(found.trial.score)}", "dim")


def _score(entry: ScoreRow, glyphs: Glyphs) -> Iterator[Para]:
    counts = entry.current and not entry.superseded and entry.withdrawn_at is None
    tone: Tone = _VERDICT_TONES[entry.verdict] if counts else "dim"
    yield Para(
        f"{entry.verdict} {score(entry.value)}  {entry.reason}",
        tone,
        indent=1,
        label=glyphs.verdict(entry.verdict),
    )
    if entry.raw is not None:
        yield Para(_json(entry.raw), "dim", indent=3, label="saw")
    facts = [_moment(entry.at), entry.source]
    if entry.weight != 1.0:
        facts.append(f"weight {entry.weight:g}")
    if not entry.required:
        facts.append("reported only")
    if entry.withdrawn_at is not None:
        facts.append("withdrawn")
    elif not counts:
        facts.append("counts no more")
    yield Para(", ".join(facts), "dim", indent=3)


def messages_page(found: WholeTrial, asked: Sequence[JsonObject] | str | None) -> Iterator[Para]:
    """Give the trajectory: what was asked, and all that came back.

    Args:
        found: The trial.
        asked: The rendered request's messages; a text says why there are none; None: not yet.
    """
    if asked is None:
        yield Para("Rendering…", "dim")
    elif isinstance(asked, str):
        yield Para(asked, "dim")
    else:
        for message in asked:
            yield from _message(message)
    output = found.output
    if output is None:
        return
    if output.messages:
        for message in output.messages:
            yield from _message(message)
    elif output.text is not None:
        yield from _message({"role": "assistant", "content": output.text})


def _message(message: JsonObject) -> Iterator[Para]:
    yield Para(str(message.get("role", "?")), "accent")
    content = message.get("content")
    if isinstance(content, str):
        yield Para(content, indent=2)
    elif content is not None:
        yield Para(_json(content), indent=2)
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        for call in calls:
            yield Para(_json(call), "dim", indent=2, label="calls")
    yield Para("")


def attempts_page(found: WholeTrial, glyphs: Glyphs, now: float) -> Iterator[Para]:
    """Give each attempt as a line of time: queue, wait, call; with its error.

    Args:
        found: The trial.
        glyphs: The shapes.
        now: Unix seconds.
    """
    if not found.attempts:
        cached = found.trial.cached
        yield Para("None: the output came from the cache." if cached else "No attempt yet.", "dim")
    for tried in found.attempts:
        yield from _attempt(tried, glyphs, now)
    if found.trial.waiting is not None:
        yield Para(f"next: {waiting_words(found.trial, now)}", "ungraded", indent=4)


def _attempt(tried: AttemptRow, glyphs: Glyphs, now: float) -> Iterator[Para]:
    shape, tone = {
        "answered": (glyphs.passed, "plain"),
        "failed": (glyphs.error, "error"),
        "sent": (glyphs.working, "accent"),
    }.get(tried.state, (glyphs.cancelled, "dim"))
    times = [
        f"{name} {seconds(value)}"
        for name, value in (
            ("queue", tried.queue_s),
            ("wait", tried.wait_s),
            ("call", tried.call_s),
        )
        if value is not None
    ]
    if tried.state == "sent":
        times.append(f"in flight {clock(now - tried.sent_at)}")
    tokens = ""
    if tried.input_tokens is not None or tried.output_tokens is not None:
        tokens = f"   {number(tried.input_tokens)} in, {number(tried.output_tokens)} out"
    cost = "" if not tried.cost_usd else f"   {money(tried.cost_usd)}"
    line = f"{tried.state:<9} {_moment(tried.sent_at)}   {' · '.join(times)}{tokens}{cost}"
    yield Para(line, "error" if tone == "error" else "plain", label=f"{shape} {tried.number}")
    if tried.error_kind is not None:
        status = f" (HTTP {tried.status})" if tried.status is not None else ""
        yield Para(f"{tried.error_kind}{status}: {tried.error_message or ''}", indent=4)
    if tried.retry_after_s is not None:
        yield Para(f"asked to wait {seconds(tried.retry_after_s)}", "dim", indent=4)
    if tried.partial:
        yield Para(tried.partial, "dim", indent=4, label="had arrived:")


def case_page(found: WholeTrial) -> Iterator[Para]:
    """Give the case as it was frozen with the run."""
    case, trial = found.case, found.trial
    yield Para(case.id, "strong", label="id")
    facts = [f"number {case.seq + 1}", f"asked of {trial.column}"]
    if trial.epoch:
        facts.append(f"epoch {trial.epoch + 1}")
    if case.weight != 1.0:
        facts.append(f"weight {case.weight:g}")
    if case.timeout is not None:
        facts.append(f"timeout {clock(case.timeout)}")
    yield Para(", ".join(facts), "dim")
    yield from _note(trial)
    if case.tags:
        yield Para(", ".join(case.tags), label="tags")
    if case.skip:
        yield Para(", ".join(case.skip), label="skips")
    yield Para("")
    for name, value in case.fields.items():
        text = value if isinstance(value, str) else _json(value)
        yield Para(name, "accent")
        yield Para(text, indent=2)
    for settings in case.scorers:
        yield Para("its own scorer", "accent")
        yield Para(_json(settings), indent=2)


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, indent=None)


def _moment(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC).astimezone():%H:%M:%S}"


def nothing_selected() -> list[Para]:
    """Give what stands there while no trial is selected."""
    return [Para("No trial selected.", "dim")]
