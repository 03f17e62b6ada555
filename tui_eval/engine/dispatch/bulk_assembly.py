"""From a session to the pools that ask targets and judges in bulk."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from tui_eval.engine.bulk.arrivals import Arrivals
from tui_eval.engine.bulk.bulk_pool import BulkPool, ConsignmentOwner
from tui_eval.engine.bulk.forming import Forming
from tui_eval.engine.bulk.polling import BulkPolling
from tui_eval.engine.bulk.trial_home import TrialHome
from tui_eval.engine.coordination import Coordination
from tui_eval.engine.dispatch.trial_pool import TrialPool
from tui_eval.engine.dispatch.work_queue import WorkQueue
from tui_eval.engine.journey.journey import Journey
from tui_eval.engine.journey.trial_in_flight import TrialInFlight
from tui_eval.engine.judging.bulk.bulk_judge import BulkJudge
from tui_eval.engine.judging.bulk.bulk_judge_pools import BulkJudgePools
from tui_eval.engine.judging.bulk.call_home import CallHome
from tui_eval.engine.judging.judging import Judging
from tui_eval.engine.limits.spend_caps import SpendCaps
from tui_eval.engine.run_store import RunStore
from tui_eval.engine.session import Session
from tui_eval.store.read.trials.open_trials import ByRetried
from tui_eval.targets.bulk_access import BulkAccess


@dataclass(frozen=True, slots=True)
class BulkAssembly:
    """Makes what asks in bulk, of the targets and judges of a run."""

    session: Session
    store: RunStore
    flights: dict[int, TrialInFlight]
    """The trials that are taken, by their ids."""
    spend_caps: SpendCaps
    coordination: Coordination
    polling: BulkPolling
    """How often providers are asked how far they are."""

    def columns(self) -> frozenset[int]:
        """Return the columns whose targets are asked in bulk."""
        return frozenset(index for name in self._targets() for index in self._columns_of(name))

    def only_in_bulk(self, endpoint: str) -> bool:
        """Return whether columns ask at an endpoint, and all of them in bulk."""
        targets = self.session.targets
        asking = {
            one.index for one in self.session.columns if targets[one.target].endpoint == endpoint
        }
        return bool(asking) and asking <= self.columns()

    def target_pools(self, pools: Mapping[str, TrialPool], journey: Journey) -> list[BulkPool]:
        """Return the pool of each target that is asked in bulk.

        What a person has asked again is asked live, by the endpoint's own pool, and so are outputs
        scored there that are in the store.
        """
        return [
            self._target_pool(name, access, pools, journey)
            for name, access in self._targets().items()
        ]

    def _target_pool(
        self, name: str, access: BulkAccess, pools: Mapping[str, TrialPool], journey: Journey
    ) -> BulkPool:
        live = self.session.targets[name].endpoint
        endpoint = access.sent_to(live)
        indexes = self._columns_of(name)
        queue = WorkQueue(
            self.store.reading,
            self.store.run,
            indexes,
            self.flights,
            ByRetried(frozenset(indexes), retried=False),
            scores=False,
        )
        caps = self.spend_caps
        forming = Forming(name, endpoint, access, queue, journey, self.store, caps)
        arrivals = Arrivals(self.store, journey, access, caps)
        return BulkPool(
            ConsignmentOwner(name, "target", endpoint),
            access,
            queue,
            TrialHome(forming, arrivals, self.store, caps),
            self.store,
            caps,
            self.coordination,
            partial(pools[live].look_again, calls=False),
            self._patient(),
        )

    def judges(self, judging: Judging) -> dict[str, BulkJudge]:
        """Return the judges that are asked in bulk, by name."""
        specs = {spec.name: spec for spec in self.session.suite.judges}
        seed = self.session.suite.dataset.seed or 0
        made = {}
        for name, judge in self.session.judges.items():
            access = judge.bulk()
            if access is None:
                continue
            calls = CallHome(
                judge,
                access,
                self.store,
                self.spend_caps,
                self.session.off_loop,
                self.coordination.leave,
            )
            made[name] = BulkJudge(calls, specs[name], judging, seed)
        return made

    def judge_pools(self, pools: Mapping[str, TrialPool]) -> BulkJudgePools:
        """Return what sends the consignments of judges.

        Args:
            pools: Score trials anew once grades for them are there.
        """

        def to_score() -> None:
            for pool in pools.values():
                pool.settle()

        def pool_of(judge: BulkJudge) -> BulkPool:
            calls = judge.calls
            return BulkPool(
                ConsignmentOwner(judge.spec.name, "judge", judge.endpoint),
                calls.access,
                judge,
                judge,
                self.store,
                self.spend_caps,
                self.coordination,
                to_score,
                self._patient(),
            )

        return BulkJudgePools(self.store, self.spend_caps, pool_of, self.coordination.judging_idle)

    def _patient(self) -> BulkPolling:
        return replace(self.polling, patience_s=self.session.suite.run.patience)

    def _targets(self) -> dict[str, BulkAccess]:
        """Return how each target is asked that is asked in bulk, by name."""
        asked = {column.target for column in self.session.columns}
        found = {name: self.session.targets[name].bulk() for name in sorted(asked)}
        return {name: access for name, access in found.items() if access is not None}

    def _columns_of(self, target: str) -> tuple[int, ...]:
        return tuple(column.index for column in self.session.columns if column.target == target)
