"""What a running attempt prints and does, read from its folder: so much at a look and no more."""

import os
import sqlite3
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.store.location import attempt_folders
from tui_eval.store.read.trials.trial_queries import WholeTrial
from tui_eval.ui.run.detail.rendered_request import NothingToCopyError, target_of

if TYPE_CHECKING:
    from tui_eval.targets.attempt.attempt_view import AttemptView

TAIL: Final = 64_000
"""Bytes of the end of each stream that are read at one look."""
_STEPS: Final = 200
"""Messages that are shown, the last ones."""
_LONGEST: Final = 20_000
"""Characters of each text in them."""


@dataclass(frozen=True, slots=True)
class StreamTail:
    """The end of what a program has printed on one stream."""

    name: str
    text: str
    before: int
    """Bytes of its file that stand before."""
    in_order: bool = True
    """False: it has printed more than is kept, and its last lines are not in order yet."""


@dataclass(frozen=True, slots=True)
class LiveView:
    """What was seen of a running attempt at one look; all of it is foreign."""

    attempt: int
    tails: tuple[StreamTail, ...] = ()
    messages: tuple[JsonObject, ...] | None = None
    """The last messages of its transcript; None: it tells none."""
    before: int = 0
    """Messages that came before these."""
    turns_before: int = 0
    """Replies among them."""
    figures: Mapping[str, float] = field(default_factory=dict)
    """What it says it took, by the names of limits."""
    limits: Mapping[str, float] = field(default_factory=dict)
    """What it may take."""


class LiveReader:
    """Looks at one attempt again and again; blocking, one thread's at a time."""

    def __init__(self, attempt: int, view: "AttemptView | None") -> None:
        self.attempt = attempt
        self._view = view

    def look(self) -> LiveView:
        """Return what is there now."""
        from tui_eval.providers import keys

        view = self._view
        if view is None:
            return LiveView(self.attempt)
        tails = (_tail(name, path) for name, path in view.streams.items())
        shown = tuple(
            StreamTail(one.name, keys.redact(one.text), one.before, one.in_order)
            for one in tails
            if one is not None
        )
        if view.transcript is None:
            return LiveView(self.attempt, shown, limits=view.limits)
        view.transcript.look()
        reader = view.transcript.reader
        last = reader.messages[-_STEPS:]
        messages = [keys.redact_json(_bounded(one)) for one in last]
        used = (reader.usage.input or 0) + (reader.usage.output or 0)
        figures = {"tool_calls": reader.tool_calls, "tokens": used, "cost_usd": reader.cost_usd}
        return LiveView(
            self.attempt,
            shown,
            tuple(one for one in messages if isinstance(one, dict)),
            len(reader.messages) - len(last),
            reader.turn - sum(one.get("role") == "assistant" for one in last),
            {name: float(value) for name, value in figures.items() if value is not None},
            view.limits,
        )


def live_reader(db: sqlite3.Connection, store: Path, run: int, found: WholeTrial) -> LiveReader:
    """Return what looks at the running attempt of a trial."""
    attempt = found.attempts[-1].id if found.attempts else 0
    try:
        target, _ = target_of(db, run, found)
        view = target.view(found.case, attempt_folders(store) / str(attempt))
    except NothingToCopyError:
        view = None
    return LiveReader(attempt, view)


def _tail(name: str, path: Path) -> StreamTail | None:
    """Return the end of a regular file; None: there is none. No link is followed."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(opened, "rb") as file:
        status = os.fstat(opened)
        if not stat.S_ISREG(status.st_mode):  # a pipe, a folder: a program put it there
            return None
        start = max(status.st_size - TAIL, 0)
        file.seek(start)
        data = file.read(TAIL)
    in_order = not path.with_name(f"{path.name}.ring").exists()
    if start:  # from the next whole line on
        cut = data.find(b"\n") + 1
        data, start = data[cut:], start + cut
    return StreamTail(name, data.decode("utf-8", "replace"), start, in_order)


def _bounded(value: Json) -> Json:
    """Return a copy of a message in which no text is long."""
    if isinstance(value, str):
        return value[:_LONGEST]
    if isinstance(value, list):
        return [_bounded(one) for one in value[:_STEPS]]
    if isinstance(value, dict):
        return {name: _bounded(one) for name, one in value.items()}
    return value
