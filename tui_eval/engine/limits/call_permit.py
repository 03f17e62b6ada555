"""The right to make one call, and what its outcome means for whatever was asked."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self

from tui_eval.engine.limits.limiter import Limiter
from tui_eval.engine.limits.started_call import StartedCall
from tui_eval.model.outputs.attempt_record import AttemptProgress
from tui_eval.model.outputs.output import Failure, Output

OUTAGE_S = 60.0
"""Seconds to wait for an endpoint that answered before and is gone; or `patience`, if less."""
LAST_ONES_S = 10.0
"""Seconds in which the last trials of a run are waited for as if everybody were refused; or half of
`patience`, if less: they fail by themselves before the endpoint is given up."""


@dataclass(slots=True)
class CallHistory:
    """What was tried so far to get one thing answered: a trial, or a batch of a judge."""

    attempts: int = 0
    failures: int = 0
    """Attempts that failed and used up a retry."""
    spared: int = 0
    """Refusals (429) in a row that used up none, as others that were refused got through."""
    refused_after: int | None = None
    """How many calls had succeeded when it was last refused, or its call broke; None: never."""
    recovered: int = 0
    """How many that were refused had got through when it was last refused."""
    refused_since: float | None = None
    """When it was first refused (monotonic seconds); None: it was not."""
    begun_after: int = 0
    """How many calls had succeeded when it was first tried."""
    lost: int = 0
    """Attempts in a row that were lost with whoever made them."""
    own: bool = False
    """Whether its failures are known to be its own: others were answered while it was not."""


class CallPermit:
    """The right to make one call, and in its slot one after the other; see `call_permit`."""

    def __init__(
        self,
        limiter: Limiter,
        nothing_untried: Callable[[], bool],
        begun: StartedCall | None = None,
    ) -> None:
        self._limiter = limiter
        self.begun = begun
        self._nothing_untried = nothing_untried

    @classmethod
    def begin(cls, limiter: Limiter, nothing_untried: Callable[[], bool]) -> Self:
        """Count a call that leaves, until `end`; see `call_permit`."""
        return cls(limiter, nothing_untried, limiter.begin(time.monotonic()))

    def end(self) -> None:
        """Count the call no more."""
        if self.begun is not None:
            self._limiter.end(self.begun)

    def seen(self, progress: AttemptProgress) -> None:
        """Tell the limiter how far the call is."""
        if self.begun is not None:
            self._limiter.seen(self.begun, progress, time.monotonic())

    @property
    def further_wait_s(self) -> float:
        """Seconds until a further call may leave in the same slot; 0: now."""
        return self._limiter.further_wait_s(time.monotonic())

    def begin_further(self) -> None:
        """Count a further call in the same slot: the one before was answered, and told."""
        if self.begun is not None:
            self.begun = self._limiter.begin_further(self.begun, time.monotonic())

    def answered(self, reply: Output | Failure, tries: CallHistory) -> None:
        """Tell the limiter what came of a call that others of the same slot follow."""
        self.heard(reply, tries, 0.0, reply.latency_s if isinstance(reply, Output) else None)

    def heard(
        self,
        reply: Output | Failure,
        tries: CallHistory,
        patience_s: float,
        call_s: float | None = None,
    ) -> bool:
        """Tell the limiter what came of the call, and put it down with what was tried before.

        A failure uses up a retry, except while the endpoint refuses everybody, and where it
        refuses (429) now this one, now that one: as long as, since this one's last refusal, one
        that was refused got through, so will this one.

        Args:
            reply: What came back.
            tries: What was tried before to get the same answered.
            patience_s: Seconds for which such refusals use up no retry.
            call_s: Seconds until the call was dealt with; None: it never left, or nobody knows.
                Where the output says that it was there sooner, that is what the endpoint took:
                reading it is no business of the endpoint's.

        Returns:
            Whether the endpoint is left alone, and a failure everybody's.
        """
        limiter, now = self._limiter, time.monotonic()
        if call_s is not None and isinstance(reply, Output) and reply.latency_s is not None:
            call_s = min(call_s, reply.latency_s)
        own = self._is_own_trouble(reply, tries, patience_s)
        if isinstance(reply, Output) and call_s is not None and reply.latency_s is not None:
            call_s = min(call_s, reply.latency_s)  # without what it waited for a connection
        limiter.heard(reply, now, begun=self.begun, call_s=call_s, own=own)
        if isinstance(reply, Output):
            if tries.refused_since is not None:
                limiter.recovered += 1
            return False
        spared = False
        if reply.refused:
            since = tries.refused_since
            spared = since is not None and (
                limiter.recovered > tries.recovered and now - since < patience_s
            )
            tries.refused_since = now if since is None else since
            tries.recovered = limiter.recovered
        if reply.may_be_everybodys:
            tries.refused_after = limiter.successes
            if limiter.paused_since is not None and not own:
                return True
        if spared:
            tries.spared += 1
        else:
            tries.failures += 1
            tries.spared = 0
        return False

    def _is_own_trouble(
        self, reply: Output | Failure, tries: CallHistory, patience_s: float
    ) -> bool:
        """Whether a refusal or a broken call is about what was asked and not about everybody."""
        if isinstance(reply, Output) or not reply.may_be_everybodys:
            return False
        if tries.own and self._limiter.paused_since is None:
            return True
        if self._only_refused_left(patience_s):
            self._limiter.lift()
            return True
        return tries.refused_after is not None and self._limiter.successes > tries.refused_after

    def _only_refused_left(self, patience_s: float) -> bool:
        """Whether an endpoint that answered others is asked only by those that it refuses.

        After some seconds in which none got through, that is their trouble and not everybody's.
        """
        waited = self.paused_s
        return (
            self._limiter.successes > 0
            and waited is not None
            and waited > min(LAST_ONES_S, patience_s / 2)
            and self._nothing_untried()
        )

    def waited_out(self, failure: Failure, patience_s: float) -> bool:
        """Whether an endpoint has been left alone for as long as anybody waits for it.

        Args:
            failure: What the last probe came back with.
            patience_s: Seconds to wait for an endpoint that refuses everybody.
        """
        longest_s = min(patience_s, OUTAGE_S) if failure.broken else patience_s
        return self.paused_s is not None and self.paused_s > longest_s

    @property
    def paused_s(self) -> float | None:
        """For how many seconds the endpoint has been left alone; None: it is not."""
        since = self._limiter.paused_since
        return None if since is None else time.monotonic() - since


@contextmanager
def call_permit(
    limiter: Limiter, nothing_untried: Callable[[], bool] = lambda: False
) -> Iterator[CallPermit]:
    """Count a call from now until the block ends.

    Args:
        limiter: Of the endpoint that is called.
        nothing_untried: Tells whether all that is left to ask was asked before.
    """
    permit = CallPermit.begin(limiter, nothing_untried)
    try:
        yield permit
    finally:
        permit.end()
