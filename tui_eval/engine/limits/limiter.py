"""How many calls one endpoint may have at once, and when it is left alone.

Nothing here waits or talks: the pool asks `may_start`, takes a slot, and sleeps until `again_at`.
All times are monotonic seconds.
"""

import logging
from collections.abc import Callable, Mapping
from enum import IntEnum
from math import isqrt

from tui_eval.engine.limits.admission import NO_LIMITS
from tui_eval.engine.limits.call_budget import CallBudget
from tui_eval.engine.limits.gradient import Gradient, LatencyTrend
from tui_eval.engine.limits.overload import STATUSES, Overload, OverloadVerdict
from tui_eval.engine.limits.started_call import LimitChange, StartedCall
from tui_eval.model.bounds import MOST_CALLS
from tui_eval.model.outputs.attempt_record import AttemptProgress
from tui_eval.model.outputs.output import ExhaustedQuota, Failure, Output
from tui_eval.model.runs.endpoint_event import BY_HAND, EndpointEvent, EndpointEventKind

FIRST = 4
"""Where `auto` starts."""
MOST = 1000
"""Where `auto` ends."""
_BEYOND = 1.25
"""How many times the limit that was refused last is borne once more is borne than then."""
COOL_DOWN_S = 1.0
"""Seconds in which several refusals cut the limit once."""
GONE_AFTER = 10
"""Calls that nobody answers, one after the other, by which an endpoint is gone."""
PROBE_S = 0.5
"""Seconds between two probes of a paused endpoint at least."""

log = logging.getLogger(__name__)


class _Growth(IntEnum):
    """By how much a clean round lets the ceiling grow."""

    FAST = 0
    """It doubles."""
    CAREFUL = 1
    """By its root, as Gradient2: more of them once took longer."""
    CREEPING = 2
    """By one: more of them were refused."""


class Limiter:
    """A ceiling on the calls in flight to one endpoint, shared by all its targets.

    Fixed, the ceiling moves only when a person moves it. With `auto` it starts low and doubles
    with each clean round until the first refusal, which halves it; from then on it creeps up by
    one a round, and a refusal takes a quarter of it (additive increase, multiplicative decrease:
    Chiu and Jain, 1989; as CUBIC, RFC 9438, it is cut by less than half). A quarter above where
    calls were refused last the endpoint bears more than it did: it grows by its root. A round is as
    many successes as the ceiling is high; it is clean where the ceiling was the bound in it, no
    call broke, and calls took no longer than when there were fewer (see `Gradient`). Where they
    take much longer the endpoint queues what it cannot serve: that halves the ceiling too.

    A server that is full and says 503 halves it where one call in ten is turned away. If of half as
    many none are, later ones count as refusals; if some are too, it is something else, and the
    ceiling is what it was (see `Overload`).

    Time-outs halve it where they are no exception: two with no success in between, or one in ten of
    a round. They also begin anew with one call in flight and one more for each that is answered (as
    TCP does: Jacobson, 1988), for what timed out may still be worked on. The latter holds for
    fixed ceilings too.

    Either way, an endpoint that refuses a call when nothing has succeeded since its last refusal
    is paused: one probe at a time from then on, until a call succeeds; after that the calls in
    flight grow again from what they are, so that no herd follows. So is one that has answered and
    then breaks call after call, and one whose headers say that nothing remains of a limit, until
    it is back.
    """

    def __init__(
        self,
        endpoint: str,
        concurrency: int | None,
        on_change: Callable[[LimitChange], None],
        *,
        rpm: int | None = None,
        tpm: int | None = None,
        gone_after: int = GONE_AFTER,
        most: int = MOST_CALLS,
    ) -> None:
        """Make a limiter.

        Args:
            endpoint: Whom it is for.
            concurrency: The fixed ceiling; None: `auto`.
            on_change: Told of every change and pause.
            rpm: Requests in a minute at most; None: no budget.
            tpm: Tokens in a minute at most, read and produced; None: no budget.
            gone_after: Calls that break, one after the other, by which it is gone.
            most: Where its ceiling ends, whoever sets it.
        """
        self.endpoint = endpoint
        self.most = most
        self._top = min(most, MOST)
        """Where it ends by itself."""
        self.auto = concurrency is None
        self.concurrency = min(FIRST, most) if concurrency is None else concurrency
        self.in_flight = 0
        self.successes = 0
        """Calls that succeeded so far."""
        self.recovered = 0
        """How many of those were about something that had been refused before."""
        self.paused_since: float | None = None
        """When the endpoint was left alone; None: it is not."""
        self._on_change = on_change
        self._gone_after = gone_after
        self._gradient = Gradient(self.concurrency)
        self._overload = Overload()
        self._growth = _Growth.FAST
        self._refused_at = 0
        """The ceiling at which calls were refused, or not answered in time, last."""
        self._successes = 0
        self._was_bound = False
        self._timed_out = 0
        """Calls of this round that nobody answered in time."""
        self._silent = 0
        """Time-outs since the last success."""
        self._cut_at = float("-inf")
        self._refusals = 0
        """Refusals (429) since the last success."""
        self._streak = 0
        """How often it has begun to turn calls away, after a success."""
        self._older = 0
        """Calls under way that left before it did so last."""
        self._broken = 0
        """Calls that broke since the endpoint last said anything."""
        self._lifted = False
        """Whether, since the last success, a pause was ended by those that are left."""
        self._probe_at = 0.0
        self._empty_until = float("-inf")
        """When an endpoint that says that nothing remains will have something again."""
        self._paused_at = 0.0
        """When it was last left alone."""
        self._untold: EndpointEvent | None = None
        """Why it is left alone, until that is written down."""
        self._ramp = self.concurrency
        self._budget = CallBudget(rpm, tpm)

    @property
    def follows_machine(self) -> bool:
        """Whether its ceiling may move because this machine has more or less left."""
        return False

    def set(self, concurrency: int) -> bool:
        """Set a fixed ceiling; False where it was so already, below 1 or above `most`."""
        if not 1 <= concurrency <= self.most or concurrency == self.concurrency:
            return False
        self.auto = False
        self._ramp = max(concurrency, self._ramp)
        self._move(concurrency, BY_HAND)
        return True

    def wanted(self, now: float, case_limits: Mapping[str, int] = NO_LIMITS) -> None:
        """Learn that a call is ready to leave, and which limits its case names."""

    def may_start(self, now: float) -> bool:
        """Whether a call may leave now."""
        if self.paused_since is not None:
            return self.in_flight == 0 and now >= self._probe_at
        if self._budget.awaits_first and self.in_flight:
            return False
        return self.in_flight < min(self.concurrency, self._ramp) and self._budget.wait_s(now) <= 0

    def again_at(self, now: float) -> float | None:
        """When `may_start` may change by time alone; None: it waits for a call to end."""
        if self.paused_since is not None:
            return None if self.in_flight else self._probe_at
        wait = self._budget.wait_s(now)
        return now + wait if wait > 0 else None

    @property
    def throttled(self) -> bool:
        """Whether fewer calls may leave than the ceiling allows."""
        return (
            self.paused_since is not None
            or self._ramp < self.concurrency
            or self._budget.counts_tokens
        )

    @property
    def bound_by_slots(self) -> bool:
        """Whether nothing but calls in flight keeps others from leaving."""
        return not self.throttled and self._budget.unbounded

    def begin(self, now: float) -> StartedCall:
        """Count a call that leaves; return what tells it from others."""
        self.in_flight += 1
        self._budget.spend(now)
        if self.in_flight >= self.concurrency:
            self._was_bound = True
        if self.paused_since is not None:
            self._probe_at = now + PROBE_S
        return StartedCall(self._streak, self._gradient.begin(now) if self.auto else None)

    def further_wait_s(self, now: float) -> float:
        """Return the seconds until whoever holds a slot may make a further call in it; 0: now.

        While the endpoint is left alone such calls are its probes too: one at a time, with the
        pauses that all have.
        """
        pause = self._probe_at - now if self.paused_since is not None else 0.0
        return max(0.0, pause, self._budget.wait_s(now))

    def begin_further(self, begun: StartedCall, now: float) -> StartedCall:
        """Count a further call in the slot of one that is over; return its handle."""
        self.end(begun)
        return self.begin(now)

    def seen(self, begun: StartedCall, progress: AttemptProgress, now: float) -> None:
        """Learn how far a call in flight is."""

    def end(self, begun: StartedCall) -> None:
        """Count a call that is over, whether anything was heard of it or not."""
        self.in_flight -= 1
        self._older -= begun.streak < self._streak
        if begun.place is not None:
            self._gradient.end(begun.place, None)

    def lift(self) -> None:
        """End a pause because it is not everybody who is refused."""
        if self.paused_since is not None:
            self.paused_since = None
            self._ramp = self.concurrency
            self._lifted = True
            self.tell(EndpointEvent(EndpointEventKind.ANSWERED_OTHERS))

    def heard(
        self,
        reply: Output | Failure,
        now: float,
        *,
        begun: StartedCall | None = None,
        call_s: float | None = None,
        own: bool = False,
    ) -> None:
        """Learn from what a call came back with.

        Args:
            reply: What came back.
            now: When.
            begun: What `begin` said of the call; None: nothing is learnt of how long it took.
            call_s: Seconds it took, waiting not counted.
            own: Others have succeeded since this trial was first refused: a refusal is its own
                trouble, and says nothing about the endpoint.
        """
        if reply.exhausted is not None:
            self._ran_out(reply.exhausted, now)
        if begun is not None and begun.place is not None:
            self._gradient.end(begun.place, call_s)
        if isinstance(reply, Output):
            self._budget.learn(reply, now)
            self._succeeded(now)
            self._look_at_overload(now, turned_away=False)
        elif reply.refused:
            self._refused(reply, now, own)
        elif reply.broken and not reply.fatal:
            self._broke(reply, now, own)
            if reply.status in STATUSES:
                self._look_at_overload(now, turned_away=True)
        elif reply.kind == "timeout":
            self._timed_out_at(now)
        else:
            self._broken = 0  # it is there, whatever it says

    def _succeeded(self, now: float) -> None:
        self.successes += 1
        self._refusals = self._broken = self._silent = 0
        self._lifted = False
        if self.paused_since is not None and now < self._empty_until:
            self.paused_since = now  # it refuses nobody: it waits for its limit
        elif self.paused_since is not None:
            self.paused_since = None
            self._ramp = max(1, self.in_flight - 1)
            if self._untold is None:
                lasted = now - self._paused_at
                self.tell(EndpointEvent(EndpointEventKind.ANSWERS_AGAIN, seconds=lasted))
        self._ramp = min(self._ramp + 1, max(self.concurrency, 1))
        self._successes += 1
        if self.auto and self._successes >= self.concurrency:
            self._end_round(now)

    def _end_round(self, now: float) -> None:
        """Move the ceiling as the calls of a round have shown it."""
        trend = self._gradient.trend(now)
        if trend is None:
            self._successes = 0  # it goes on for as many more
            return
        if trend is LatencyTrend.RISES:
            self._growth = max(self._growth, _Growth.CAREFUL)
            took, before = self._gradient.latency_s, self._gradient.base_s
            why = EndpointEvent(EndpointEventKind.SLOWER, seconds=took, before_s=before)
            self._move(self.concurrency // 2, why)
        elif trend is LatencyTrend.UNRELATED:
            self._growth = _Growth.FAST
            self._move(self._gradient.before, EndpointEvent(EndpointEventKind.NO_FASTER))
        elif trend is LatencyTrend.LEVEL and self._may_grow:
            if self._growth is _Growth.CREEPING and self.concurrency >= _BEYOND * self._refused_at:
                self._growth = _Growth.CAREFUL
            step = {_Growth.FAST: self.concurrency, _Growth.CAREFUL: isqrt(self.concurrency)}
            more = self.concurrency + step.get(self._growth, 1)
            self._move(min(more, self._top), EndpointEvent(EndpointEventKind.CLEAN_ROUND))
        self._new_round()

    @property
    def _may_grow(self) -> bool:
        """Whether the ceiling was the bound, and nothing is tried out below it."""
        return self._was_bound and self.concurrency < self._top and not self._overload.trying

    def _new_round(self) -> None:
        self._successes = self._timed_out = 0
        self._was_bound = False
        self._gradient.restart(self.concurrency)

    def _timed_out_at(self, now: float) -> None:
        """Ask for less where time-outs are no exception."""
        self._timed_out += 1
        self._silent += 1
        if self._silent < 2 and self._timed_out * 10 < self.concurrency:
            return
        self._ramp = 1
        self._cut(now, 0.0, EndpointEventKind.TIMEOUTS)

    def _refused(self, failure: Failure, now: float, own: bool) -> None:
        asked = failure.retry_after_s or 0.0
        if own:
            return
        self._refusals += 1
        self._turned_away(now, asked, everybody=self._refusals > 1)
        self._cut(now, asked, EndpointEventKind.RATE_LIMITED)

    def _cut(self, now: float, asked: float, why: EndpointEventKind) -> None:
        """Cut the ceiling, once for all that happens in one moment.

        It is halved, for it may be twice of what is borne; one that crept up is little above it.
        """
        crept = self._growth is _Growth.CREEPING and why is not EndpointEventKind.TIMEOUTS
        self._growth = _Growth.CREEPING
        self._new_round()
        if self.auto and now - self._cut_at >= max(COOL_DOWN_S, asked):
            self._cut_at = now
            self._refused_at = self.concurrency
            fewer = self.concurrency * 3 // 4 if crept else self.concurrency // 2
            self._move(max(1, fewer), EndpointEvent(why))

    def _look_at_overload(self, now: float, *, turned_away: bool) -> None:
        """Move the ceiling where a server that is full turns calls away without saying 429."""
        if not self.auto or self.paused_since is not None:
            return
        verdict = self._overload.heard(turned_away, self.concurrency)
        if verdict is OverloadVerdict.TRY_HALF:
            self._growth = _Growth.CREEPING
            self._refused_at = self.concurrency
            half = EndpointEvent(EndpointEventKind.OVERLOADED)
            self._move(self.concurrency // 2, half)
        elif verdict is OverloadVerdict.REFUSED:
            self._cut(now, 0.0, EndpointEventKind.OVERLOADED)
        elif verdict is OverloadVerdict.UNRELATED:
            self._growth = _Growth.FAST
            again = max(self.concurrency, self._overload.before)
            self._move(again, EndpointEvent(EndpointEventKind.AS_OVERLOADED))

    def _broke(self, failure: Failure, now: float, own: bool) -> None:
        """Leave an endpoint that answered before alone once it breaks call after call."""
        self._new_round()  # what breaks is no sign that more could be done
        if own or not self.successes:
            return
        self._broken += 1
        asked = failure.retry_after_s or 0.0
        self._turned_away(now, asked, everybody=self._broken >= self._gone_after)

    def _turned_away(self, now: float, asked: float, *, everybody: bool) -> None:
        """Leave the endpoint alone where it answers nobody any more.

        Calls that left before it began to turn others away may be answered yet. As long as there
        are some it does not refuse everybody, and only no more leave than are under way.

        Args:
            now: When it turned a call away.
            asked: Seconds it wants to be left alone.
            everybody: Whether so many were turned away, and none answered, that it may be all.
        """
        if self._refusals + self._broken == 1:
            self._streak += 1
            self._older = max(0, self.in_flight - 1)
        if self.paused_since is not None:
            self._probe_failed(now + max(PROBE_S, asked))
        elif everybody and not self._lifted:
            if self._older > 0:
                self._ramp = max(1, min(self._ramp, self.in_flight - 1))
            else:
                why = EndpointEvent(EndpointEventKind.REFUSES_ALL)
                self._pause(now, now + max(PROBE_S, asked), why)

    def _ran_out(self, of: ExhaustedQuota, now: float) -> None:
        """Leave the endpoint alone until it has something again of what it has run out of."""
        self._empty_until = max(self._empty_until, now + of.for_s)
        if self.paused_since is not None:
            self._probe_at = max(self._probe_at, self._empty_until)
            return
        why = EndpointEvent(EndpointEventKind.NOTHING_REMAINS, seconds=of.for_s, what=of.what)
        self._pause(now, self._empty_until, why)

    def _pause(self, now: float, probe_at: float, why: EndpointEvent) -> None:
        log.debug("%s: next probe in %.3f s: %s", self.endpoint, probe_at - now, why.words)
        self.paused_since = self._paused_at = now
        self._probe_at = probe_at
        self._untold = why
        if probe_at - now > PROBE_S:
            self._tell_pause()  # shorter ones are not worth a line, and some endpoints have many

    def _probe_failed(self, probe_at: float) -> None:
        self._probe_at = max(self._probe_at, probe_at)
        self._tell_pause()

    def _tell_pause(self) -> None:
        if self._untold is not None:
            self.tell(self._untold)
            self._untold = None

    def _move(self, concurrency: int, why: EndpointEvent) -> None:
        if concurrency == self.concurrency:
            return
        if self._ramp >= self.concurrency:
            self._ramp = concurrency
        self.concurrency = concurrency
        self._new_round()
        self.tell(why)

    def tell(self, event: EndpointEvent) -> None:
        """Say something about the endpoint where its limits are followed."""
        log.debug("%s: %d at once: %s", self.endpoint, self.concurrency, event.words)
        self._on_change(LimitChange(self.endpoint, self.concurrency, event))
