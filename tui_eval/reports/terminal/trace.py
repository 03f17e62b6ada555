"""One trial's way, from the store alone: what happened to it, in order of time.

Times count from the making of its run: a judge call that another run has made may lie before.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import zip_longest

from tui_eval.format import decimal, seconds
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.score import tally
from tui_eval.model.states import TrialState, Verdict
from tui_eval.model.visible import visible_line
from tui_eval.reports.json_output import dollars, rounded
from tui_eval.reports.terminal.tables import AnsiStyle
from tui_eval.store.read.judges.judge_calls import JudgeCall
from tui_eval.store.read.trials.trial_trace import FindingRow, TrialTrace
from tui_eval.store.rows import AttemptRow, RequestRow, ScoreRow

_KEY_DIGITS = 12
_MATES = 12
"""Others of a batch that are named in one line."""


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """Something that happened to a trial."""

    at: float
    """Unix seconds."""
    kind: str
    """A stable word for it."""
    words: str
    """One line for a person; foreign text in it is still to be made safe."""
    fields: JsonObject = field(default_factory=dict)
    """The same for a program, and more."""


def trial_events(trace: TrialTrace) -> list[TraceEvent]:
    """Return all that happened to a trial, in order of time."""
    found = [
        *_staged(trace),
        *map(_asked, trace.requests),
        *(event for attempt in trace.attempts for event in _attempt(attempt)),
        *_limits(trace),
        *(event for call in trace.calls for event in _call(call, trace.trial.id)),
        *map(_finding, trace.findings),
        *_moves(trace),
        *_ended_scores(trace.scores),
        *map(_score, trace.scores),
        *_verdicts(trace),
        *_answers(trace),
        *_notes(trace),
        *_ended(trace),
    ]
    return sorted(found, key=lambda event: event.at)  # of one moment in the order above


def trial_document(trace: TrialTrace) -> JsonObject:
    """Return a trial's way as JSON."""
    trial = trace.trial
    return {
        "trial": trial.id,
        "case_id": trial.case_id,
        "column": trial.column,
        "epoch": trial.epoch,
        "state": str(trial.state),
        "verdict": None if trial.verdict is None else str(trial.verdict),
        "events": [
            {
                "at": round(event.at, 3),
                "after_s": round(event.at - trace.run.created_at, 3),
                "event": event.kind,
                **event.fields,
            }
            for event in trial_events(trace)
        ],
    }


def trial_lines(trace: TrialTrace, ink: AnsiStyle, *, epochs: bool) -> Iterator[str]:
    """Yield a trial's way line by line, each safe for a terminal.

    Args:
        trace: What is known of the trial.
        ink: Colours or none.
        epochs: Whether its case is asked more than once.
    """
    trial = trace.trial
    epoch = f" · epoch {trial.epoch + 1}" if epochs else ""
    came_to = str(trial.verdict or trial.state)
    yield f"{ink.bold(visible_line(trial.column) + epoch)}  trial {trial.id}, {came_to}"
    day = None
    for event in trial_events(trace):
        local = datetime.fromtimestamp(round(event.at, 3), UTC).astimezone()
        if local.date() != day:
            day = local.date()
            yield ink.dim(f"  {day} {_zone(local.utcoffset())}")
        after = f"{event.at - trace.run.created_at:+.3f} s"
        moment = f"{local:%H:%M:%S}.{local.microsecond // 1000:03}"
        yield f"  {ink.dim(f'{moment} {after:>12}')}  {visible_line(event.words)}"


def _zone(offset: timedelta | None) -> str:
    minutes = round((offset or timedelta()).total_seconds() / 60)
    return f"UTC{'-' if minutes < 0 else '+'}{abs(minutes) // 60}:{abs(minutes) % 60:02}"


def _staged(trace: TrialTrace) -> Iterator[TraceEvent]:
    """Tell how the trial came to be; when exactly is written down for its run alone."""
    run, key = trace.run, trace.trial.generation_key
    yield TraceEvent(run.created_at, "created", f"run {run.name} was made", {"run": run.name})
    staged_at = run.created_at if run.started_at is None else run.started_at
    digits = None if key is None else key.hex()
    words = "no request could be made" if digits is None else f"key {digits[:_KEY_DIGITS]}…"
    fields: JsonObject = {"generation_key": digits}
    if trace.reused:
        first = trace.reused[0]
        whose = "a run that was deleted" if first.run_name is None else f"run {first.run_name}"
        whose += "" if first.trial is None else f", trial {first.trial}"
        words += f"; its output {first.output} was in the store: {whose}"
        fields |= {
            "output": first.output,
            "output_made_at": round(first.made_at, 3),
            "output_of": {"run": first.run_name, "trial": first.trial},
        }
    yield TraceEvent(staged_at, "staged", f"staged: {words}", fields)


def _attempt(attempt: AttemptRow) -> Iterator[TraceEvent]:
    waited = [
        f"{word} {seconds(spent)}"
        for word, spent in (("queued", attempt.queue_s), ("backed off", attempt.wait_s))
        if spent is not None
    ]
    name = f"attempt {attempt.number}"
    yield TraceEvent(
        attempt.sent_at,
        "sent",
        f"{name} left{_joined(waited, ' (', ')')}",
        {
            "attempt": attempt.number,
            "queue_s": rounded(attempt.queue_s),
            "wait_s": rounded(attempt.wait_s),
        },
    )
    if attempt.state == "sent":
        return
    took = "" if attempt.call_s is None else f" after {seconds(attempt.call_s)}"
    why = []
    if attempt.status is not None:
        why.append(f"HTTP {attempt.status}")
    if attempt.error_kind is not None:
        why.append(f"{attempt.error_kind}: {attempt.error_message or ''}")
    if attempt.retry_after_s is not None:
        why.append(f"asked to wait {seconds(attempt.retry_after_s)}")
    if attempt.output is not None:
        what = "output" if attempt.state == "answered" else "its conversation is output"
        why.append(f"{what} {attempt.output}")
    yield TraceEvent(
        attempt.sent_at + (attempt.call_s or 0.0),
        attempt.state,
        f"{name} {attempt.state}{took}{_joined(why, ': ')}",
        {
            "attempt": attempt.number,
            "call_s": rounded(attempt.call_s),
            "status": attempt.status,
            "error": _error(attempt.error_kind, attempt.error_message),
            "retry_after_s": rounded(attempt.retry_after_s),
            "output": attempt.output,
            "tokens": {"input": attempt.input_tokens, "output": attempt.output_tokens},
            "cost_usd": dollars(attempt.cost_usd),
            "cost_about_usd": dollars(attempt.about_usd),
        },
    )


def _joined(parts: Sequence[str], before: str, after: str = "") -> str:
    return f"{before}{', '.join(parts)}{after}" if parts else ""


def _error(kind: str | None, message: str | None) -> Json:
    return None if kind is None else {"kind": kind, "message": message}


def _limits(trace: TrialTrace) -> Iterator[TraceEvent]:
    for limit in trace.limits:
        yield TraceEvent(
            limit.at,
            "limit",
            f"its endpoint: concurrency {limit.concurrency}: {limit.event.words}",
            {
                "concurrency": limit.concurrency,
                "kind": str(limit.event.kind),
                "reason": limit.event.words,
            },
        )


def _call(call: JudgeCall, trial: int) -> Iterator[TraceEvent]:
    """Tell of a call that the trial stood in, or whose grade of an equal output it has."""
    name = f"judge call {call.id}"
    own = any(mate.trial == trial for mate in call.items)
    mates = [_named(mate.case_id, mate.column) for mate in call.items if not mate.here]
    beside = ", ".join(mates[:_MATES]) + (", …" if len(mates) > _MATES else "")
    places = ", ".join(str(mate.position + 1) for mate in call.items if mate.here)
    bulk = "" if call.bulk is None else f", {call.bulk.words}"
    yield TraceEvent(
        call.sent_at,
        "judge_sent",
        f"{name} to {call.judge} left: {call.purpose} by {call.scorer}, round {call.round}, "
        f"try {call.attempt}{bulk}; "
        f"{'item' if own else 'equal to item'} {places} of {len(call.items)}"
        f"{f' with {beside}' if beside else ''}",
        {
            "call": call.id,
            "judge": call.judge,
            "model": call.model,
            "scorer": call.scorer,
            "purpose": call.purpose,
            "round": call.round,
            "try": call.attempt,
            "consignment": None if call.bulk is None else call.bulk.number,
            "items": [
                {
                    "trial": mate.trial,
                    "case_id": mate.case_id,
                    "column": mate.column,
                    "here": mate.here,
                }
                for mate in call.items
            ],
        },
    )
    if call.state == "sent":
        return
    took = "" if call.call_s is None else f" after {seconds(call.call_s)}"
    problems = [mate.problem for mate in call.items if mate.here and mate.problem is not None]
    why = "; ".join(filter(None, [call.error, *problems]))
    yield TraceEvent(
        call.sent_at + (call.call_s or 0.0),
        f"judge_{call.state}",
        f"{name} {call.state}{took}{f': {why}' if why else ''}",
        {
            "call": call.id,
            "call_s": rounded(call.call_s),
            "error": call.error,
            "problems": [*problems],
            "tokens": {"input": call.input_tokens, "output": call.output_tokens},
            "cost_usd": dollars(call.cost_usd),
        },
    )


def _named(case_id: str | None, column: str | None) -> str:
    return "gold" if case_id is None else f"{case_id} ({column})"


def _finding(found: FindingRow) -> TraceEvent:
    repeat = f", repeat {found.repeat + 1}" if found.repeat else ""
    if found.origin is not None:
        whose = "" if found.origin_trial is None else f" (trial {found.origin_trial})"
        how = f"taken from finding {found.origin}{whose}"
    else:
        how = f"of judge call {found.call}" if found.call is not None else "without a call"
    why = f": {found.problem}" if found.problem is not None else ""
    return TraceEvent(
        found.at,
        "finding",
        f"finding {found.id} for {found.scorer} by {found.judge}{repeat}, {how}{why}",
        {
            "finding": found.id,
            "scorer": found.scorer,
            "judge": found.judge,
            "purpose": found.purpose,
            "repeat": found.repeat,
            "call": found.call,
            "position": found.position,
            "origin": found.origin,
            "origin_trial": found.origin_trial,
            "problem": found.problem,
        },
    )


def _score(score: ScoreRow) -> TraceEvent:
    value = "" if score.value is None else f" {decimal(score.value)}"
    by = "" if score.source == "code" else f" (by {score.source})"
    return TraceEvent(
        score.at,
        "score",
        f"{score.scorer}{by}: {score.verdict}{value}  {score.reason}",
        {
            "score": score.id,
            "scorer": score.scorer,
            "verdict": str(score.verdict),
            "value": score.value,
            "reason": score.reason,
            "source": score.source,
            "output": score.output,
        },
    )


def _ended_scores(scores: Sequence[ScoreRow]) -> Iterator[TraceEvent]:
    """Tell which scores count no more from when on, those of one moment together."""
    ended: dict[tuple[float, str], list[ScoreRow]] = {}
    for score in scores:
        if score.withdrawn_at is not None:
            ended.setdefault((score.withdrawn_at, "withdrawn"), []).append(score)
        elif score.superseded_at is not None:
            ended.setdefault((score.superseded_at, "superseded"), []).append(score)
    for (at, kind), those in ended.items():
        told = ", ".join(f"{score.scorer} ({score.verdict})" for score in those)
        yield TraceEvent(
            at, kind, f"scores {kind}: {told}", {"scores": [score.id for score in those]}
        )


def _verdicts(trace: TrialTrace) -> Iterator[TraceEvent]:
    """Tell what the trial's scores came to, each time it had them all.

    It has whenever a request finds it done, or scores are withdrawn; and at last, if it is done.
    """
    scores = trace.scores
    withdrawn = {score.withdrawn_at for score in scores if score.withdrawn_at is not None}
    changed = {score.at for score in scores} | withdrawn
    found_done = {move.at for move in trace.moves if move.state in (TrialState.DONE, None)}
    moves = {move.at for move in trace.moves if move.at is not None}
    moments = sorted(changed | moves)
    before: Verdict | None = None
    for at, then in zip_longest(moments, moments[1:]):
        done = trace.trial.state is TrialState.DONE if then is None else then in found_done
        standing = list(_standing(scores, at))
        if at not in changed or not standing or not (done or then in withdrawn):
            continue
        found = tally([score.as_score() for score in standing])
        was = "" if before is None else f", was {before}"
        yield TraceEvent(
            at,
            "verdict",
            f"verdict {found.verdict}{was}, score {decimal(found.score)}",
            {
                "verdict": str(found.verdict),
                "was": None if before is None else str(before),
                "score": rounded(found.score),
            },
        )
        before = found.verdict


def _standing(scores: Iterable[ScoreRow], at: float) -> Iterator[ScoreRow]:
    """Yield the scores that counted at a moment: of each scorer the newest, or a person's."""
    newest: dict[str, ScoreRow] = {}
    for score in scores:
        ends = [end for end in (score.superseded_at, score.withdrawn_at) if end is not None]
        gone = any(end <= at for end in ends) or (score.superseded and not ends)
        if score.at > at or gone:
            continue
        known = newest.get(score.scorer)
        if known is None or known.source != "human" or score.source == "human":
            newest[score.scorer] = score
    yield from newest.values()


def _asked(request: RequestRow) -> TraceEvent:
    of = _meant(request.args)
    return TraceEvent(
        request.asked_at,
        "asked",
        f"request {request.id}: {request.verb} of {of}, by {request.asked_by}",
        {
            "request": request.id,
            "verb": request.verb,
            "asked_by": request.asked_by,
            "of": of,
        },
    )


def _meant(args: JsonObject) -> str:
    """Say what a request was about, in words."""
    if "request" in args:
        return f"what request {args['request']} did"
    whom = "these trials" if args.get("trials") else "this case" if args.get("cases") else "the run"
    which = args.get("which")
    if which is None or which == "all":
        return whom
    words = which if isinstance(which, list) else [which]
    return f"{whom}, {' and '.join(map(str, words))}"


def _answers(trace: TrialTrace) -> Iterator[TraceEvent]:
    for request in trace.requests:
        if request.answered_at is None:
            continue
        detail = f": {request.detail}" if request.detail else ""
        yield TraceEvent(
            request.answered_at,
            "request_answered",
            f"request {request.id} {request.outcome}{detail}",
            {"request": request.id, "outcome": request.outcome, "detail": request.detail},
        )


def _moves(trace: TrialTrace) -> Iterator[TraceEvent]:
    """Tell what requests did to the trial; an earlier version did not write down when."""
    verbs = {request.id: request.verb for request in trace.requests}
    for move in trace.moves:
        if move.at is None:
            continue
        was = "" if move.state is None else f", which was {move.state}"
        back = "" if move.undone_by is None else f"; request {move.undone_by} took that back"
        verb = verbs[move.request]
        yield TraceEvent(
            move.at,
            "moved",
            f"request {move.request} moved it ({verb}){was}{back}",
            {
                "request": move.request,
                "was": None if move.state is None else str(move.state),
                "undone_by": move.undone_by,
            },
        )


def _notes(trace: TrialTrace) -> Iterator[TraceEvent]:
    for note in trace.notes:
        words = f"noted: {note.text}" if note.text else "the note was taken away"
        yield TraceEvent(note.at, "note", words, {"text": note.text})


def _ended(trace: TrialTrace) -> Iterator[TraceEvent]:
    """Tell since when the trial is as it is."""
    trial = trace.trial
    if trial.since is None:
        return
    why = ""
    if trial.state is TrialState.ERROR:
        why = f": {trial.error_kind}: {trial.error_message or ''}"
    elif not trial.state.settled and trial.waiting:
        why = f": {trial.waiting}"
    yield TraceEvent(
        trial.since,
        str(trial.state),
        f"{trial.state}{why}",
        {"error": _error(trial.error_kind, trial.error_message), "waiting": trial.waiting},
    )
