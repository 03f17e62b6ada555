"""The Attempts tab: queue, wait and call of each attempt as bars on one time line."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from tui_eval.format import call_cost, clock, left_words, number, seconds
from tui_eval.model.states import TrialState
from tui_eval.store.read.trials.trial_queries import WholeTrial
from tui_eval.store.rows import AttemptRow, TrialRow
from tui_eval.ui.run.detail.moments import moment
from tui_eval.ui.run.detail.pages.program_record import record_paras
from tui_eval.ui.run.detail.pages.time_axis import TimeAxis, time_axis
from tui_eval.ui.run.detail.progress_words import waiting_words
from tui_eval.ui.text.prose import Para, marked
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone

_WIDEST = 60
_LEAST = 12
_INDENT = 4


@dataclass(frozen=True, slots=True)
class _Span:
    """The parts of one attempt, in seconds."""

    queue: float
    wait: float
    call: float

    @property
    def parts(self) -> tuple[float, float, float]:
        return self.queue, self.wait, self.call


def attempts_page(found: WholeTrial, width: int, glyphs: Glyphs, now: float) -> Iterator[Para]:
    """Yield each attempt as a line of time, with what came of it.

    The bars stand one behind the other; time between them in which nothing was wanted of the trial
    is left out, and the middle of what is many times as long as all the rest.

    Args:
        found: The trial.
        width: Cells there are.
        glyphs: The shapes.
        now: Unix seconds.
    """
    trial = found.trial
    if not found.attempts:
        yield Para(_none_yet(trial, now), "dim")
    spans = [_span(tried, now) for tried in found.attempts]
    waits = _waits(trial, now)
    cells = max(min(width - _INDENT - 2, _WIDEST), _LEAST)
    axis = time_axis([*(part for span in spans for part in span.parts), waits], cells)
    if axis is not None:
        yield _legend(axis, glyphs)
    before = 0.0
    for tried, span in zip(found.attempts, spans, strict=True):
        yield from _attempt(tried, now, glyphs)
        if axis is not None:
            yield _bar(span, before, axis, tried.state, glyphs)
        left = found.records.get(tried.id)
        if left is not None:
            limit = _limit(found, tried)
            yield from record_paras(left.record, span.call, limit, cells, _INDENT, glyphs)
        if tried.bulk is not None:
            yield Para(tried.bulk.words, "dim", indent=_INDENT)
            if tried.state == "sent" and trial.left_at is not None:
                kept = "its answer is kept as it comes, and the trial does not take it"
                words = f"{left_words(trial.left_at)}; {kept}"
                yield Para(words, "ungraded", indent=_INDENT)
        yield from _came_of_it(tried)
        before += sum(span.parts)
    in_flight = bool(found.attempts) and found.attempts[-1].state == "sent"
    if trial.waiting is not None:
        when = "now" if in_flight else "next"
        yield Para(f"{when}: {waiting_words(trial, now)}", "ungraded", indent=_INDENT)
        if waits and axis is not None:
            yield _bar(_Span(0, waits, 0), before, axis, "sent", glyphs)
    if axis is not None and len(spans) > 1:
        yield Para(axis.words(glyphs), "dim", indent=_INDENT)


def _limit(found: WholeTrial, tried: AttemptRow) -> str | None:
    """Return the limit that ended an attempt, as far as its output tells."""
    output = found.output
    if output is None or tried.output != found.trial.output:
        return None
    head, _, limit = (output.finish_reason or "").partition(":")
    return limit if head == "limit" else None


def _none_yet(trial: TrialRow, now: float) -> str:
    if trial.cached:
        return "None: the output came from the cache."
    if trial.state is TrialState.QUEUED and trial.since is not None:
        return f"No attempt yet; in the queue for {clock(now - trial.since)}."
    return "No attempt yet."


def _span(tried: AttemptRow, now: float) -> _Span:
    call = tried.call_s
    if call is None:
        call = max(now - tried.sent_at, 0.0) if tried.state == "sent" else 0.0
    return _Span(tried.queue_s or 0.0, tried.wait_s or 0.0, call)


def _waits(trial: TrialRow, now: float) -> float:
    """Return the seconds that are left until the next attempt."""
    if trial.waiting is None or trial.waiting_until is None:
        return 0.0
    return max(trial.waiting_until - now, 0.0)


def _legend(axis: TimeAxis, glyphs: Glyphs) -> Para:
    broken = f" {glyphs.broken} {seconds(axis.gap)} left out" if axis.gap else ""
    return marked(
        (glyphs.queued * 2, "dim"),
        (" queue  ", "dim"),
        (glyphs.held * 2, "ungraded"),
        (" wait  ", "dim"),
        (glyphs.called * 2, "accent"),
        (f" call   {seconds(axis.total)} in all{broken}", "dim"),
        indent=_INDENT,
    )


def _bar(span: _Span, before: float, axis: TimeAxis, state: str, glyphs: Glyphs) -> Para:
    start = min(axis.at(before), axis.cells - 1)
    looks: Sequence[tuple[str, Tone]] = (
        (glyphs.queued, "dim"),
        (glyphs.held, "ungraded"),
        (glyphs.called, "error" if state == "failed" else "accent"),
    )
    drawn: list[tuple[str, Tone]] = [(" ", "plain")] * start
    at = before
    for part, look in zip(span.parts, looks, strict=True):
        at += part
        drawn += [look] * (axis.at(at) - len(drawn))
    if len(drawn) == start and any(span.parts):  # too short for a cell, but it was there
        drawn.append(looks[max(range(3), key=lambda which: span.parts[which])])
    if axis.break_at is not None and start <= axis.break_at < len(drawn):
        drawn[axis.break_at] = (glyphs.broken, "plain")
    runs = ((look, len([*same])) for look, same in groupby(drawn))
    return marked(*((shape * n, tone) for (shape, tone), n in runs), indent=_INDENT)


def _attempt(tried: AttemptRow, now: float, glyphs: Glyphs) -> Iterator[Para]:
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
        if value
    ]
    if tried.state == "sent":
        times.append(f"in flight {clock(now - tried.sent_at)}")
    tokens = ""
    if tried.input_tokens is not None or tried.output_tokens is not None:
        tokens = f"   {number(tried.input_tokens)} in, {number(tried.output_tokens)} out"
    paid = tried.cost_usd or tried.about_usd
    cost = f"   {call_cost(tried.cost_usd, tried.about_usd)}" if paid else ""
    line = f"{tried.ending:<9} {moment(tried.sent_at)}   {' · '.join(times)}{tokens}{cost}"
    yield Para(line, "error" if tone == "error" else "plain", label=f"{shape} {tried.number}")


def _came_of_it(tried: AttemptRow) -> Iterator[Para]:
    if tried.state == "lost":
        ended = "its engine ended meanwhile: " if tried.error_kind is None else ""
        yield Para(f"{ended}may have been sent", "dim", indent=_INDENT)
    if tried.error_kind is not None:
        status = f" (HTTP {tried.status})" if tried.status is not None else ""
        yield Para(f"{tried.error_kind}{status}: {tried.error_message or ''}", indent=_INDENT)
    if tried.retry_after_s is not None:
        yield Para(
            f"the server asked to wait {seconds(tried.retry_after_s)}", "dim", indent=_INDENT
        )
    if tried.partial:
        label = "had arrived:" if tried.output is None else "said last:"
        yield Para(tried.partial, "dim", indent=_INDENT, label=label)
    if tried.printed:
        yield Para(tried.printed, "dim", indent=_INDENT, label="printed:")
