"""How many programs of one target may run at once, as far as this machine has room for them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from time import monotonic
from typing import Final

from tui_eval.engine.limits.admission import MOST, NO_LIMITS, Admission, ProgramShare, Room
from tui_eval.engine.limits.limiter import Limiter
from tui_eval.engine.limits.started_call import LimitChange, StartedCall
from tui_eval.model.bounds import MOST_CALLS
from tui_eval.model.outputs.attempt_record import AttemptProgress
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.model.runs.endpoint_event import BY_HAND, HOLDS_BACK, EndpointEvent, EndpointEventKind
from tui_eval.processes.machine import Machine, processors

LOOK_S: Final = 0.1
"""Seconds between two readings of the machine at least."""
LASTS_S: Final = 1.0
"""Seconds for which there is no room for as many as it allows before the ceiling falls, and after
that before it grows: what is near a bound moves to and fro."""


class MachineShares:
    """What all limiters of one engine know of the machine: a reading, and who takes what of it."""

    def __init__(self, machine: Machine) -> None:
        self.admission = Admission(processors())
        self._machine = machine
        self._read_at = float("-inf")

    def admission_now(self, now: float) -> Admission:
        """Return who takes what, with a reading that is new."""
        if now - self._read_at >= LOOK_S:
            self._read_at = now
            self.admission.look(self._machine.read())
        return self.admission


class MachineLimiter(Limiter):
    """A ceiling on programs that run here.

    Fixed, it is one as any other. With `auto` it follows what the machine has left: where it is the
    bound it grows by what there is room for, and where there is none for the next program it is as
    many as run. Either way, shares are kept for those that run, so that other targets' programs
    leave them room.
    """

    def __init__(
        self,
        endpoint: str,
        concurrency: int | None,
        on_change: Callable[[LimitChange], None],
        *,
        machine: MachineShares,
        share: ProgramShare,
        rpm: int | None = None,
        tpm: int | None = None,
        most: int = MOST_CALLS,
    ) -> None:
        """Make a limiter.

        Args:
            endpoint: Whom it is for.
            concurrency: The fixed ceiling; None: `auto`.
            on_change: Told of every change and pause.
            machine: What it shares with those of other targets.
            share: What a program takes, as far as that is known.
            rpm: Programs that begin in a minute at most; None: no budget.
            tpm: Tokens in a minute at most, by their own word; None: no budget.
            most: Where its ceiling ends, whoever sets it.
        """
        first = machine.admission_now(monotonic()).room(share).more
        super().__init__(
            endpoint, concurrency or min(first, most), on_change, rpm=rpm, tpm=tpm, most=most
        )
        self._machine = machine
        self._share = share
        self._next = NO_LIMITS
        """The limits that the case of the program names that is ready to begin."""
        self._follows = concurrency is None
        self._told: set[EndpointEventKind] = set()
        """What was said of the ceiling since it moved last."""
        self._unused_since: float | None = None
        """Since when there has been no room for as many as the ceiling allows; None: there is."""
        self._fell_at = float("-inf")

    @property
    def follows_machine(self) -> bool:
        """Whether its ceiling may move because this machine has more or less left."""
        return self._follows

    @property
    def throttled(self) -> bool:
        """Whether fewer calls may leave than the ceiling allows."""
        return self._follows or super().throttled

    @property
    def bound_by_slots(self) -> bool:
        """Whether nothing but calls in flight keeps others from leaving: the machine may too."""
        return False

    def set(self, concurrency: int) -> bool:
        """Set a fixed ceiling; False where it was so already, below 1 or above `most`."""
        if concurrency == self.concurrency and self._follows:
            self._follows = False
            self.tell(BY_HAND)
            return True
        changed = super().set(concurrency)
        self._follows = self._follows and not changed
        return changed

    def wanted(self, now: float, case_limits: Mapping[str, int] = NO_LIMITS) -> None:
        """Move the ceiling to what the machine has room for, as a program is ready to begin."""
        self._next = case_limits
        if not self._follows:
            return
        room = self._room(now)
        if room.why.kind is EndpointEventKind.ALONE:
            self._follow(1, room.why, now)
        if self.in_flight >= self.concurrency:
            self._unused_since = None
            more = room.more if now - self._fell_at >= LASTS_S else 0
            if more or not room.more:
                self._follow(min(self.in_flight + more, MOST, self.most), room.why, now)
        elif room.more:
            self._unused_since = None
        elif self._unused_since is None:
            self._unused_since = now
        elif now - self._unused_since >= LASTS_S:
            self._follow(max(1, self.in_flight), room.why, now)

    def may_start(self, now: float) -> bool:
        """Whether a call may leave now."""
        if not super().may_start(now):
            return False
        return not self._follows or self._room(now).more > 0

    def begin(self, now: float) -> StartedCall:
        """Count the call that was `wanted` and leaves; return what tells it from others."""
        begun = super().begin(now)
        return replace(begun, hold=self._machine.admission.begin(self._share, self._next))

    def seen(self, begun: StartedCall, progress: AttemptProgress, now: float) -> None:
        """Learn what a program that runs takes by now."""
        if begun.hold is not None:
            self._machine.admission.seen(begun.hold, progress, now)

    def end(self, begun: StartedCall) -> None:
        """Count a call that is over, whether anything was heard of it or not."""
        super().end(begun)
        if begun.hold is not None:
            self._machine.admission.end(begun.hold)

    def heard(
        self,
        reply: Output | Failure,
        now: float,
        *,
        begun: StartedCall | None = None,
        call_s: float | None = None,
        own: bool = False,
    ) -> None:
        """Learn from what a call came back with; of a program also what it took."""
        if reply.record.resources is not None:
            self._share.learn(reply.record.resources)
        super().heard(reply, now, begun=begun, call_s=call_s, own=own)

    def _room(self, now: float) -> Room:
        return self._machine.admission_now(now).room(self._share, self._next)

    def _follow(self, concurrency: int, why: EndpointEvent, now: float) -> None:
        """Move the ceiling, and say why; where it stays, say what else holds it from now on."""
        if concurrency < self.concurrency:
            self._fell_at = now
        if concurrency != self.concurrency:
            self._told.clear()
            self._move(concurrency, why)
        elif why.kind in HOLDS_BACK and not self._told & {why.kind, EndpointEventKind.ALONE}:
            self.tell(why)
        self._told.add(why.kind)
