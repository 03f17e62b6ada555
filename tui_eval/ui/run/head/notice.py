"""What a person must know of a run beside its figures: that nobody works on it, that it waits."""

from collections.abc import Iterator
from pathlib import Path

from tui_eval.format import clock, cost, dollars, many, number
from tui_eval.model.home import from_home
from tui_eval.model.runs.endpoint_event import EXECUTOR, EndpointEventKind
from tui_eval.model.states import RunState
from tui_eval.model.visible import visible_line
from tui_eval.store.requests import Verb
from tui_eval.store.rows import RequestRow, RunRow
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.run.actions.commands import columns_at
from tui_eval.ui.run.snapshot import Snapshot
from tui_eval.ui.text.prose import Para

STARTING_S = 15.0
"""Seconds an engine may take to begin before something is said."""
_LONGEST_REASON = 400
"""Characters of a reason, enough for ours with two paths: what to do stands behind it, and has to
be seen."""
_SILENT_S = 15.0
"""Seconds without a heartbeat after which a living engine counts as stuck."""
AT_CAP = frozenset({"max_cost_usd", "max_tokens", "max_errors"})
"""Words of `stopped_by` where a run waits for a person to move its cap."""


def awaits_cap(run: RunRow) -> bool:
    """Whether a run has paused at a cap, and a person is to say how it goes on."""
    return run.state is RunState.PAUSED and not run.live and run.stopped_by in AT_CAP


def abandoned(run: RunRow) -> bool:
    """Whether an engine died while it worked on the run."""
    if run.live or run.state not in (RunState.RUNNING, RunState.PAUSED):
        return False
    return run.state is RunState.RUNNING or run.lease.pid is not None


def unstarted(run: Snapshot, now: float) -> bool:
    """Whether no engine has taken a new run for longer than that can take."""
    row = run.run
    asked = max([row.created_at, *(request.asked_at for request in run.pending)])
    return row.state is RunState.PENDING and not row.live and now - asked > STARTING_S


def notices(run: Snapshot, now: float) -> Iterator[Para]:
    """Say what stands in the way of a run, and what to do; nothing while all is well.

    Args:
        run: As it stands.
        now: Unix seconds.
    """
    row = run.run
    resume = key("run.resume", "u")
    if row.live:
        yield from _of_a_live_one(run, now)
    elif unstarted(run, now):
        waited = clock(now - row.created_at)
        yield Para(
            f"No engine has begun this run for {waited}.{_log(run.log)} {resume} starts one",
            "error",
        )
    elif abandoned(row):
        yield Para(
            f"Its engine died.{_log(run.log)} {resume} resumes the run",
            "error",
        )
    elif awaits_cap(row):
        yield Para(f"Paused at its cap: {_cap_words(run)}; {resume} asks how to resume", "ungraded")
    elif row.state is RunState.PAUSED and row.stopped_by == "bulk":
        yield Para(
            f"Sent in bulk, and left there: {resume} takes what is done and waits for the rest",
            "ungraded",
        )
    elif row.state is RunState.PAUSED:
        why = _in_short(row.reason) or "no engine works on it"
        yield Para(f"Paused: {why}; {resume} resumes it", "error")
    elif row.state is RunState.INTERRUPTED and row.stopped_by != "person":
        why = _in_short(row.reason) or "nobody knows why"
        yield Para(f"Interrupted: {why}; {resume} resumes it", "error")
    elif unheard := _unheard(run, now):
        what, waited = Verb(unheard.verb).called, clock(now - unheard.asked_at)
        yield Para(
            f"{what} was asked {waited} ago and no engine has come.{_log(run.log)} "
            "Ask again to start one",
            "error",
        )


def _of_a_live_one(run: Snapshot, now: float) -> Iterator[Para]:
    row = run.run
    silent = 0.0 if row.lease.beat is None else now - row.lease.beat
    if silent > _SILENT_S:
        yield Para(
            f"Its engine lives but has written nothing for {clock(silent)}: the disk may be full, "
            "or another program holds the store",
            "error",
        )
    for endpoint, limit in run.left_alone.items():
        said = limit.event.words_since(clock(now - limit.at))
        yield Para(f"{_named(endpoint, run)} {said}", "ungraded")
    for endpoint, limit in run.limits.items():
        if limit.event.kind is EndpointEventKind.ALONE:
            yield Para(f"{_named(endpoint, run)}: {limit.event.words}", "ungraded")
    workers = run.limits.get(EXECUTOR)
    if workers is not None and workers.event.kind is not EndpointEventKind.PLACED:
        said = _in_short(workers.event.words)
        yield Para(f"Workers: {said}; {workers.concurrency:,} ready", "ungraded")
    if row.state is RunState.PAUSED:
        yield Para(
            f"Paused: what is in flight ends; {key('run.pause', 'p')} resumes"
            if row.stopped_by == "person"
            else f"Paused: {_in_short(row.reason)}; it resumes when that has passed",
            "ungraded",
        )


def _cap_words(run: Snapshot) -> str:
    """Say which cap a run has reached; `reason` says it for the command line."""
    caps, total = run.caps, run.total
    match run.run.stopped_by:
        case "max_cost_usd" if caps.cost_usd is not None:
            return f"{cost(total)} of ${dollars(caps.cost_usd)} is spent"
        case "max_tokens" if caps.tokens is not None:
            used = total.input_tokens + total.output_tokens
            return f"{number(used)} of {number(caps.tokens)} tokens are used"
        case "max_errors" if caps.errors is not None:
            return f"{many(total.error, 'trial')} errored, max_errors is {caps.errors:g}"
        case _:
            return str(run.run.reason)


def _named(endpoint: str, run: Snapshot) -> str:
    """Name an endpoint by a target of it, where the run has others too."""
    if {column.endpoint for column in run.columns} == {endpoint}:
        return "The endpoint"
    return f"The endpoint of {columns_at(endpoint, run.columns) or endpoint}"


def _unheard(run: Snapshot, now: float) -> RequestRow | None:
    """Return a request that no engine has come to answer."""
    waiting = (request for request in run.pending if now - request.asked_at > STARTING_S)
    return next(waiting, None)


def _in_short(reason: str | None) -> str:
    """Return a reason so that there is room for what follows it; the command line has it whole."""
    return visible_line(reason or "", _LONGEST_REASON)


def _log(file: Path | None) -> str:
    if file is None:
        return ""
    home = from_home("~")
    shown = f"~/{file.relative_to(home)}" if file.is_relative_to(home) else str(file)
    return f" Its log: {shown}."
