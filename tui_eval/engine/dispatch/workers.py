"""The pools and judges of a run together, and what can be done to all of them."""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from typing import Protocol

from tui_eval.engine.bulk.bulk_pool import BulkPool
from tui_eval.engine.bulk.polling import BulkPolling
from tui_eval.engine.departure import Departure
from tui_eval.engine.dispatch.assembly import Assembly
from tui_eval.engine.dispatch.bulk_assembly import BulkAssembly
from tui_eval.engine.executors.executor import Executor
from tui_eval.engine.journey.trial_in_flight import Phase, TrialInFlight
from tui_eval.engine.limits.limiter import Limiter
from tui_eval.engine.limits.machine_limiter import LOOK_S
from tui_eval.engine.limits.spend_caps import SpendCaps
from tui_eval.engine.run_store import RunStore
from tui_eval.engine.session import Session
from tui_eval.model.outputs.attempt_record import ResourceFigures


class Host(Protocol):
    """Who has the workers work."""

    @property
    def leaving(self) -> bool:
        """Whether nothing new is begun any more."""

    @property
    def stopping(self) -> bool:
        """Whether a person stops the run, and what is in flight has but a grace."""

    def leave(self, why: Departure) -> None:
        """Begin nothing new, and let go of the run once what is in flight has ended."""

    def wake(self) -> None:
        """Look whether anything is left to do."""


class Pool(Protocol):
    """Who has trials asked."""

    @property
    def idle(self) -> bool:
        """Whether nothing is left to do, as far as the store was read."""

    @property
    def busy(self) -> int:
        """What is being done; as long as anything is, the engine does not leave."""

    async def run(self) -> None:
        """Work until `end`."""

    def set_open(self, dispatching: bool) -> None:
        """Begin new calls, or begin none until told otherwise."""

    def tell(self) -> None:
        """Look whether something can be done now."""

    def look_again(self) -> None:
        """Look for open trials from the beginning: a request has opened some."""

    def drop_withdrawn(self) -> None:
        """Forget what a person took away before it was asked."""

    def end(self) -> None:
        """Let everything end; what is being done is finished first."""


class Worked(Protocol):
    """Who has a limit of calls at once."""

    limiter: Limiter

    def staff(self) -> None:
        """Have as many calls leave as the limit allows."""


class Workers:
    """One pool for each endpoint, so that a slow one holds up no other, and one for each judge.

    A trial goes from its pool to the judges, where it has any. What happens in one part and
    concerns others comes here (`Coordination`), and goes to whom it concerns.
    """

    def __init__(
        self,
        session: Session,
        store: RunStore,
        opened: AsyncExitStack,
        host: Host,
        took: Mapping[int, ResourceFigures],
        polling: BulkPolling,
        executor: Executor | None = None,
    ) -> None:
        """Make the workers of a run; none begins a call before `set_open`.

        Args:
            session: What the run is.
            store: Where it is.
            opened: Closes the targets and judges that were opened.
            host: Whom they work for.
            took: What programs of each column took so far: the most of each, and all of the time.
            polling: How often providers that were asked in bulk are asked how far they are.
            executor: Who makes the attempts; None: the targets, here.
        """
        self._host = host
        self._off_loop = session.off_loop
        self._flights: dict[int, TrialInFlight] = {}
        self._dispatching = False
        self.held_back = 0
        """How often no new call was to begin for a while, or for good."""
        self._ended = asyncio.Event()
        self.spend_caps = SpendCaps(self)
        self._assembly = Assembly(
            session, store, opened, self._flights, self.spend_caps, self, took, executor
        )
        self._bulk_assembly = BulkAssembly(
            session, store, self._flights, self.spend_caps, self, polling
        )
        self.judging = self._assembly.judging()
        bulk_judges = self._bulk_assembly.judges(self.judging)
        self._assembly.use_judges(self.judging, bulk_judges)
        self._user = self._assembly.user_limit()
        journey = self._assembly.journey(self._user)
        self.pools = self._assembly.pools(self.judging, journey, self._bulk_assembly.columns())
        self.bulk_pools = self._bulk_assembly.target_pools(self.pools, journey)
        self.bulk_judges = self._bulk_assembly.judge_pools(self.pools)
        self.bulk_judges.use(bulk_judges)

    @property
    def _pools(self) -> list[Pool]:
        """All that have trials asked, live or in bulk."""
        return [*self.pools.values(), *self.bulk_pools]

    @property
    def _in_bulk(self) -> list[BulkPool]:
        """All that ask in bulk, of targets and of judges."""
        return [*self.bulk_pools, *self.bulk_judges.all]

    @property
    def _all_pools(self) -> list[Pool]:
        """All that ask of their own: those of `_pools`, and the judges that are asked in bulk."""
        return [*self.pools.values(), *self._in_bulk]

    @property
    def idle(self) -> bool:
        """Whether nothing is left to do, as far as the store was read."""
        judges = all(pool.idle for pool in self.bulk_judges.all)
        return self.pools_idle and self.judging.idle and judges

    @property
    def dispatching(self) -> bool:
        """Whether calls may begin: the run neither pauses nor ends."""
        return self._dispatching

    @property
    def leaving(self) -> bool:
        """Whether the engine is to leave the run: nothing new is begun any more."""
        return self._host.leaving

    @property
    def waits_for_bulk(self) -> bool:
        """Whether all that is left to do is to wait for providers that were asked in bulk."""
        idle = all(pool.idle for pool in self.pools.values()) and self.judging.only_in_bulk
        waits = [pool.waits for pool in self._in_bulk if not pool.idle]
        return idle and bool(waits) and all(waits)

    @property
    def stopping(self) -> bool:
        """Whether a person stops the run: what has not begun is left for another time."""
        return self._host.stopping

    @property
    def pools_idle(self) -> bool:
        """Whether no pool has anything left to do."""
        return all(pool.idle for pool in self._pools)

    @property
    def outputs_rest(self) -> bool:
        """Whether no output comes for now: nothing is asked but of providers in bulk."""
        live = all(pool.idle for pool in self.pools.values())
        return live and all(pool.rests for pool in self.bulk_pools)

    @property
    def busy(self) -> int:
        """Workers that have a trial, a batch or facts to write."""
        return sum(pool.busy for pool in self._all_pools) + self.judging.busy

    async def run(self) -> None:
        """Work until `end`."""
        async with asyncio.TaskGroup() as group:
            for pool in self._pools:
                group.create_task(pool.run())
            group.create_task(self.judging.run())
            group.create_task(self.bulk_judges.run())
            looking = group.create_task(self._look_for_room())
            await self._ended.wait()
            looking.cancel()

    async def _look_for_room(self) -> None:
        """Look again and again whether the machine has room for more of what runs on it."""
        while any(pool.limiter.follows_machine for pool in self.pools.values()):
            await asyncio.sleep(LOOK_S)
            for pool in self.pools.values():
                pool.look_for_room()

    def set_open(self, dispatching: bool) -> None:
        """Begin new calls, or begin none until told otherwise; those in flight go on.

        Once the engine is leaving none begins, whoever asks for it.
        """
        self._dispatching = dispatching and not self._host.leaving
        self.held_back += not self._dispatching
        self._open_pools()
        self.judging.set_open(self._dispatching)
        self.bulk_judges.set_open(self._dispatching)

    def _open_pools(self) -> None:
        """Let targets be asked, unless nothing is to begin or gold is to be graded first."""
        for pool in self._pools:
            pool.set_open(self._dispatching and not self.judging.gold_first)

    async def use_judges(self) -> None:
        """Take the judges that the session has now; what they are asked is asked anew."""
        bulk_judges = self._bulk_assembly.judges(self.judging)
        self._assembly.use_judges(self.judging, bulk_judges, anew=True)
        self.bulk_judges.use(bulk_judges)
        await self.prepare()
        self._open_pools()

    async def prepare(self) -> None:
        """See what is known of the judges; to be done before anything is asked."""
        await self.bulk_judges.prepare()
        await self.judging.prepare()

    def leave(self, why: Departure) -> None:
        """The run cannot go on, or is not to before a person has looked."""
        self._host.leave(why)

    def pool_idle(self) -> None:
        """A pool of an endpoint has nothing left to do: judges need not wait for its outputs."""
        self.judging.look()
        self._host.wake()

    def judging_idle(self) -> None:
        """Nothing is left to grade, or nothing to audit for now."""
        self._host.wake()

    def judging_has_room(self) -> None:
        """Trials that were left in the store can be taken by judges now."""
        self.look_again()

    def gold_graded(self) -> None:
        """Nothing has to be graded before targets are asked any more."""
        self._open_pools()

    def calls_have_room(self) -> None:
        """Have workers that caps held back look whether a call may begin now."""
        for pool in self._all_pools:
            pool.tell()
        self.judging.tell()

    def targets_held(self) -> None:
        """Caps hold targets' calls back: batches need not wait for their outputs."""
        self.judging.look()

    @property
    def ungraded(self) -> int:
        """Outputs that wait for a grade, or may once they are there."""
        return self.judging.waiting + sum(pool.ungraded for pool in self.pools.values())

    @property
    def judges_rest(self) -> bool:
        """Whether no judge is asked for some time: nobody waits for its grades meanwhile."""
        return self.judging.rests

    def look_again(self) -> None:
        """Look for open trials from the beginning: a request has opened some."""
        for pool in self._pools:
            pool.look_again()

    def set_limit(self, endpoint: str, concurrency: int) -> bool:
        """Set an endpoint's limit as a person wants it; False where that changes nothing.

        Raises:
            KeyError: there is no such endpoint.
        """
        worked = self._worked()[endpoint]
        changed = worked.limiter.set(concurrency)
        if changed:
            worked.staff()
        return changed

    def most(self, endpoint: str) -> int:
        """Return how many calls an endpoint may have at once, whatever a person wants.

        Raises:
            KeyError: there is no such endpoint.
        """
        return self._worked()[endpoint].limiter.most

    def only_retries(self, endpoint: str) -> bool:
        """Return whether all that an endpoint is asked live is what a person retries."""
        judges = {one.limiter.endpoint for one in self.judging.judge_pools.values()}
        return self._bulk_assembly.only_in_bulk(endpoint) and endpoint not in judges

    def limits(self) -> dict[str, int]:
        """Return how many calls each endpoint may have at once."""
        return {name: worked.limiter.concurrency for name, worked in self._worked().items()}

    def withdraw(self, trials: Iterable[int]) -> None:
        """Let go of trials that a person took away; their calls in flight end at once."""
        for trial in trials:
            flight = self._flights.get(trial)
            if flight is None:
                continue
            without_worker = flight.phase in (Phase.READY, Phase.WAITING, Phase.JUDGING)
            flight.withdraw()
            if without_worker:
                del self._flights[trial]
        for pool in self._pools:
            pool.drop_withdrawn()
        self.judging.drop_withdrawn()

    def flights(self) -> list[int]:
        """Return the trials that are taken."""
        return list(self._flights)

    def drop_calls(self) -> None:
        """End every call in flight, and what is being scored.

        Their trials go back to the queue, or to the judges' line, or stay to be scored.
        """
        for flight in self._flights.values():
            flight.end()
        for pool in self._in_bulk:
            pool.drop_calls()
        self.judging.drop_calls()
        self._off_loop.end()

    async def cancel_bulk(self) -> None:
        """Have what providers were asked in bulk end there; what they have done is kept."""
        await asyncio.gather(*(pool.cancel() for pool in self._in_bulk))

    def give_up(self) -> list[int]:
        """Let go of everything that has no worker; give the trials that run in the store."""
        self.judging.give_up()
        for pool in self._in_bulk:
            pool.give_up()
        return [flight.work.trial for pool in self.pools.values() for flight in pool.give_up()]

    def end(self) -> None:
        """Let all workers leave."""
        for pool in self._all_pools:
            pool.end()
        self.judging.end()
        self._ended.set()

    def _worked(self) -> dict[str, Worked]:
        user = self._user
        judge_pools = {
            judge_pool.limiter.endpoint: judge_pool
            for judge_pool in self.judging.judge_pools.values()
        }
        users = {} if user is None else {user.limiter.endpoint: user}
        return {**self.pools, **judge_pools, **users}
