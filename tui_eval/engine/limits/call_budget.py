"""What the calls to an endpoint may take in a minute: so many requests, so many tokens."""

from tui_eval.engine.limits.rate_budget import RateBudget
from tui_eval.model.outputs.output import Output


class CallBudget:
    """The budgets of a minute; a call's tokens are guessed before it leaves, then put right."""

    def __init__(self, rpm: int | None, tpm: int | None) -> None:
        """Make a budget.

        Args:
            rpm: Requests in a minute at most; None: no budget.
            tpm: Tokens in a minute at most, read and produced; None: no budget.
        """
        self._requests = None if rpm is None else RateBudget(rpm)
        self._tokens = None if tpm is None else RateBudget(tpm)
        self._call_tokens = 0.0
        """Tokens of the usual call; 0: none has been heard of."""

    @property
    def counts_tokens(self) -> bool:
        """Whether tokens are bounded."""
        return self._tokens is not None

    @property
    def unbounded(self) -> bool:
        """Whether neither requests nor tokens are bounded."""
        return self._requests is None and self._tokens is None

    @property
    def awaits_first(self) -> bool:
        """Whether the first call is to tell how many tokens one takes."""
        return self._tokens is not None and not self._call_tokens

    def wait_s(self, now: float) -> float:
        """Return the seconds until a call as large as the usual one may leave; 0: now."""
        requests = 0.0 if self._requests is None else self._requests.wait_s(1, now)
        tokens = 0.0 if self._tokens is None else self._tokens.wait_s(round(self._call_tokens), now)
        return max(requests, tokens)

    def spend(self, now: float) -> None:
        """Count a call that leaves."""
        if self._requests is not None:
            self._requests.spend(1, now)
        if self._tokens is not None:
            self._tokens.spend(round(self._call_tokens), now)

    def learn(self, reply: Output, now: float) -> None:
        """Spend what a call took beyond the guess, and guess better."""
        if self._tokens is None:
            return
        took = (reply.usage.input or 0) + (reply.usage.output or 0)
        self._tokens.spend(took - round(self._call_tokens), now)
        self._call_tokens += (took - self._call_tokens) / (8 if self._call_tokens else 1)
