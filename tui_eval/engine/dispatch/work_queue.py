"""The open trials of some columns as a stream: read in small pieces, in dataset order."""

from collections import deque
from collections.abc import Sequence

from tui_eval.engine.journey.trial_in_flight import TrialInFlight
from tui_eval.model.states import TrialState
from tui_eval.store.connection import Connection
from tui_eval.store.read.trials.open_trials import ByRetried, open_work


class WorkQueue:
    """Reads ahead of the workers; never holds more than a few pieces, whatever the run's size.

    The store says what is open; `flights` says what of it is taken already. Outputs that only wait
    to be scored go before trials that need a call: scoring needs no endpoint.
    """

    def __init__(
        self,
        connection: Connection,
        run: int,
        columns: tuple[int, ...],
        flights: dict[int, TrialInFlight],
        by_retried: ByRetried | None = None,
        *,
        scores: bool = True,
    ) -> None:
        """Begin before the first open trial.

        Args:
            connection: Reads the store.
            run: The run.
            columns: Whose trials.
            flights: The trials that are taken already, by their ids.
            by_retried: Which trials of some columns need calls here; None: all.
            scores: Whether outputs that only wait to be scored are taken here.
        """
        self._connection = connection
        self._run = run
        self._columns = columns
        self._by_retried = by_retried
        self._scores = scores
        self.flights = flights
        """The trials that are taken already, by their ids."""
        self._to_score: deque[TrialInFlight] = deque()
        self._to_call: deque[TrialInFlight] = deque()
        self._scored_up_to = -1
        self._called_up_to = -1
        self._all_to_score = not scores
        self._all_to_call = False
        self._rewound = False

    @property
    def at_end(self) -> bool:
        """Whether everything open has been handed out, as far as the store was read."""
        return self._all_to_score and self._all_to_call

    def take(self, *, to_call: bool = True, to_score: bool = True) -> TrialInFlight | None:
        """Return the next open trial that is already read.

        Args:
            to_call: Whether it may be one that needs a call.
            to_score: Whether it may be one whose output is to be scored.
        """
        if to_score and self._to_score:
            return self._to_score.popleft()
        return self._to_call.popleft() if to_call and self._to_call else None

    def put_back(self, flights: Sequence[TrialInFlight]) -> None:
        """Let trials that were taken for calls, and were not asked, be the next ones again."""
        self._to_call.extendleft(reversed(flights))

    def next_call(self) -> TrialInFlight | None:
        """Return the next open trial that needs a call, as far as it is read; it is not taken."""
        return self._to_call[0] if self._to_call else None

    def has(self, *, to_call: bool, to_score: bool) -> bool:
        """Whether `take` would give a trial."""
        return bool((to_score and self._to_score) or (to_call and self._to_call))

    def __len__(self) -> int:
        """Trials that are read and not taken."""
        return len(self._to_score) + len(self._to_call)

    def drop_withdrawn(self) -> None:
        """Forget what a person took away before any worker had it."""
        self._to_score = deque(flight for flight in self._to_score if not flight.withdrawn)
        self._to_call = deque(flight for flight in self._to_call if not flight.withdrawn)

    def rewind(self, *, calls: bool = True) -> None:
        """Read from the first trial again: something that was passed may be open now.

        Args:
            calls: Whether that may need a call; else outputs wait to be scored, and no more.
        """
        self._scored_up_to, self._all_to_score = -1, not self._scores
        if calls:
            self._called_up_to, self._all_to_call = -1, False
        self._rewound = True

    def forget(self) -> None:
        """Forget what was read ahead: it stays open in the store."""
        while (ready := self.take()) is not None:
            self.flights.pop(ready.work.trial, None)

    @property
    def outputs_at_end(self) -> bool:
        """Whether every output to be scored has been handed out, as far as the store was read."""
        return self._all_to_score and not self._to_score

    def wants(self, most: int, *, calls: bool = True) -> bool:
        """Whether there is more to read and room for it.

        Args:
            most: How many of a kind are read ahead.
            calls: Whether trials that need a call are wanted, too.
        """
        return (not self._all_to_score and len(self._to_score) <= most) or (
            calls and not self._all_to_call and len(self._to_call) <= most
        )

    async def refill(self, size: int) -> None:
        """Read up to `size` further open trials, those to be scored first."""
        self._rewound = False
        scoring = not self._all_to_score and (self._all_to_call or len(self._to_score) < size)
        state = TrialState.SCORING if scoring else TrialState.QUEUED
        after = self._scored_up_to if scoring else self._called_up_to
        by_retried = None if scoring else self._by_retried
        found = await self._connection.call(
            open_work, self._run, self._columns, state, after, size, by_retried
        )
        if self._rewound:
            return  # somebody asked to begin again meanwhile; this piece is read anew then
        last = found[-1].place if found else after
        if scoring:
            self._scored_up_to, self._all_to_score = last, len(found) < size
        else:
            self._called_up_to, self._all_to_call = last, len(found) < size
        ready = self._to_score if scoring else self._to_call
        for work in found:
            if work.trial not in self.flights:
                flight = self.flights[work.trial] = TrialInFlight(work)
                ready.append(flight)
