"""From a session to the crew that works on its run."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

from tui_eval.engine.crew import Crew
from tui_eval.engine.doors import Doors
from tui_eval.engine.feed import Feed
from tui_eval.engine.hand import Hand
from tui_eval.engine.journey import Journey
from tui_eval.engine.judging.audit import Auditing
from tui_eval.engine.judging.bench import Bench, Fact
from tui_eval.engine.judging.gold import GoldRound
from tui_eval.engine.judging.judging import Judging
from tui_eval.engine.limiter import GONE_AFTER, LimitChange, Limiter
from tui_eval.engine.marking import Marks
from tui_eval.engine.pool import Pool
from tui_eval.engine.purse import Purse
from tui_eval.engine.session import Session
from tui_eval.isolated.calls import AbandonedError
from tui_eval.model.case import Column
from tui_eval.model.output import Failure
from tui_eval.providers.patience import Patience
from tui_eval.store import runs
from tui_eval.store.connection import Connection
from tui_eval.store.trust import Judged
from tui_eval.store.tx import Tx
from tui_eval.store.writer import Writer
from tui_eval.suites.judging import asked_judges
from tui_eval.suites.spec import ModelTarget
from tui_eval.targets import fixed


@dataclass(frozen=True, slots=True)
class Manning:
    """Puts pools and benches together; what they ask is opened when it is first asked."""

    session: Session
    run: int
    reading: Connection
    """For reading ahead."""
    writer: Writer
    opened: AsyncExitStack
    """Closes what was opened."""
    purse: Purse
    on_fatal: Callable[[Failure], None]
    """Told of a failure that every trial of an endpoint would meet."""
    on_low: Callable[[Failure, Fact], None]
    """Told that a judge agrees too little with gold, and what to write down as the run pauses."""
    on_idle: Callable[[], None]
    """Told when a pool or the judges have nothing left to do."""

    def crew(self) -> Crew:
        """Man the run."""
        self.purse.bound(self.session.bounds())
        hands: dict[int, Hand] = {}
        pools: dict[str, Pool] = {}
        suite = self.session.suite

        def look_again() -> None:
            for pool in pools.values():
                pool.look_again()

        def open_pools() -> None:
            crew.open_pools()

        judging = Judging(
            self.reading,
            self.writer,
            hands,
            self.purse,
            reuse=suite.run.cache and not self.session.settings.fresh,
            pools_idle=lambda: all(pool.idle for pool in pools.values()),
            on_idle=self.on_idle,
            on_room=look_again,
            on_gold=open_pools,
        )
        self.seat(judging)

        def pool_idle() -> None:
            judging.look()
            self.on_idle()

        journey = self._journey()
        for endpoint, columns in self._endpoints().items():
            indexes = tuple(column.index for column in columns)
            pools[endpoint] = Pool(
                Feed(self.reading, self.run, indexes, hands),
                self._limiter(endpoint),
                journey,
                self.writer,
                hands,
                judging,
                self.purse,
                pool_idle,
            )
        crew = Crew(pools, judging, hands, self.session.off_loop)
        self.purse.on_room = crew.tell
        self.purse.on_held = judging.look
        self.purse.grading.rests = lambda: judging.rests
        self.purse.grading.ungraded = lambda: (
            judging.waiting + sum(pool.ungraded for pool in pools.values())
        )
        return crew

    def seat(self, judging: Judging, *, anew: bool = False) -> None:
        """Give the judging its judges; those it has make room once they have no work left.

        Args:
            judging: The judging.
            anew: Whether they come while the run goes on, so that their limits are told.
        """
        judges = self.session.judges
        self.purse.bound(self.session.bounds())
        asked = asked_judges(self.session.suite)
        specs = [spec for spec in self.session.suite.judges if spec.name in judges]
        self.purse.grading.by({one.name: one.batch_size for one in specs if one.name in asked})
        doors = Doors(judges)
        self.opened.push_async_callback(doors.close)
        seated = judging.benches
        benches = {name: self._bench(name, doors, judging, seated.get(name)) for name in judges}
        identities = {name: judge.identity() for name, judge in judges.items()}
        suite = self.session.suite
        gold = GoldRound(
            self.run,
            self.session.gold(),
            benches,
            identities,
            self.reading,
            self.writer,
            reuse=suite.run.cache and not self.session.settings.fresh,
            ask=judging.ask,
            on_low=self.on_low,
        )
        auditing = Auditing(
            self.run,
            suite,
            self._marks,
            benches,
            identities,
            self.reading,
            self.writer,
            self.on_idle,
        )
        judging.seat(benches, identities, gold, auditing, self.session.seating)
        if anew:
            for bench in benches.values():
                bench.limiter.tell("start")

    async def _marks(self, of: Judged) -> Marks | Failure:
        session = self.session
        try:
            return await session.off_loop.bounded(
                session.marks, session.columns[of.col], of.case, of.output, ()
            )
        except AbandonedError:
            return Failure("stopped", "the engine is ending")

    def _bench(self, name: str, doors: Doors, judging: Judging, before: Bench | None) -> Bench:
        judge = self.session.judges[name]
        suite = self.session.suite
        (spec,) = (spec for spec in suite.judges if spec.name == name)
        rpm, tpm = getattr(spec, "rpm", None), getattr(spec, "tpm", None)
        ceiling = judge.default_concurrency
        if before is not None and before.spec.concurrency == spec.concurrency:
            # what a person has set stays, as long as the suite says nothing else
            ceiling = None if before.limiter.auto else before.limiter.concurrency
        # left alone before any batch has used up its retries
        gone_after = min(GONE_AFTER, max(1, spec.retries))
        limiter = Limiter(
            f"judge {name}", ceiling, self._write_down, rpm=rpm, tpm=tpm, gone_after=gone_after
        )
        return Bench(
            self.run,
            spec,
            judge,
            limiter,
            self.writer,
            self.purse,
            suite.run.patience,
            doors.ready,
            self.session.off_loop,
            doors.forget_failures,
            judging,
            suite.dataset.seed or 0,
        )

    def _journey(self) -> Journey:
        doors = Doors(self.session.targets)
        self.opened.push_async_callback(doors.close)
        run = self.session.suite.run
        return Journey(
            self.session.columns,
            self.session.targets,
            self.session,
            Patience(run.retries),
            run.timeout,
            run.patience,
            doors.ready,
            self.session.off_loop,
            self.purse,
            self.on_fatal,
        )

    def _endpoints(self) -> dict[str, list[Column]]:
        endpoints: dict[str, list[Column]] = {}
        for column in self.session.columns:
            target = self.session.targets[column.target]
            endpoints.setdefault(target.endpoint, []).append(column)
        return endpoints

    def _limiter(self, endpoint: str) -> Limiter:
        """Give the limiter of an endpoint: the widest ceiling and the narrowest budgets named."""
        targets = self.session.targets.values()
        sharing = [target for target in targets if target.endpoint == endpoint]
        chosen = self.session.settings.concurrency
        ceilings = [fixed(chosen or target.default_concurrency) for target in sharing]
        known = [ceiling for ceiling in ceilings if ceiling is not None]
        names = {target.name for target in sharing}
        specs = [
            spec
            for spec in self.session.suite.targets
            if isinstance(spec, ModelTarget) and spec.name in names
        ]
        return Limiter(
            endpoint,
            max(known) if len(known) == len(ceilings) else None,
            self._write_down,
            rpm=min((spec.rpm for spec in specs if spec.rpm is not None), default=None),
            tpm=min((spec.tpm for spec in specs if spec.tpm is not None), default=None),
        )

    def _write_down(self, change: LimitChange) -> None:
        def unit(tx: Tx) -> None:
            runs.add_limit(tx, self.run, change.endpoint, change.concurrency, change.reason)

        self.writer.submit(unit)
