"""From a session to the pools and judges that work on its run."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tui_eval.engine.coordination import Coordination
from tui_eval.engine.dispatch.trial_pool import TrialPool
from tui_eval.engine.dispatch.work_queue import WorkQueue
from tui_eval.engine.executors.executor import Executor, journey_targets
from tui_eval.engine.executors.remote_attempts import RemoteAttempts
from tui_eval.engine.executors.remote_grader import remote_graders
from tui_eval.engine.grading.grader import GradingMeans
from tui_eval.engine.grading.graders import GRADERS
from tui_eval.engine.grading.program_scoring import ProgramScoring
from tui_eval.engine.grading.turns import Turns
from tui_eval.engine.journey.attempt_contexts import AttemptContexts
from tui_eval.engine.journey.conversation_calls import ConversationSurroundings
from tui_eval.engine.journey.journey import Journey
from tui_eval.engine.journey.journey_parts import AttemptLimits, JourneyColumns, OutputScoring
from tui_eval.engine.journey.lazy_open import LazyOpen
from tui_eval.engine.journey.progress_writer import ProgressWriter
from tui_eval.engine.journey.trial_in_flight import TrialInFlight
from tui_eval.engine.journey.trial_scoring import ScoringOutcome
from tui_eval.engine.judging.judge_panel import JudgePanel
from tui_eval.engine.judging.judging import Judging
from tui_eval.engine.judging.pool.judge_interfaces import BulkQuestions, PooledJudge
from tui_eval.engine.judging.pool.judge_pool import JudgePool
from tui_eval.engine.judging.quality.audit import Auditing
from tui_eval.engine.judging.quality.gold_round import GoldRound
from tui_eval.engine.limits.admission import ProgramShare
from tui_eval.engine.limits.cluster_limiter import ClusterLimiter
from tui_eval.engine.limits.limiter import GONE_AFTER, Limiter
from tui_eval.engine.limits.machine_limiter import MachineLimiter, MachineShares
from tui_eval.engine.limits.spend_caps import SpendCaps
from tui_eval.engine.limits.started_call import LimitChange
from tui_eval.engine.limits.steady_limiter import SteadyLimiter
from tui_eval.engine.limits.user_limit import UserLimit
from tui_eval.engine.run_store import RunStore
from tui_eval.engine.session import Session
from tui_eval.isolated.calls import AbandonedError
from tui_eval.model.case import Column
from tui_eval.model.outputs.attempt_record import ResourceFigures
from tui_eval.model.outputs.output import Failure
from tui_eval.model.runs import endpoint_event
from tui_eval.processes.machine import Machine
from tui_eval.providers.patience import Patience
from tui_eval.store.location import attempt_folders, kept_files
from tui_eval.store.read.figures.call_spending import USER
from tui_eval.store.read.trials.open_trials import ByRetried
from tui_eval.store.write import run_writes
from tui_eval.store.write.judges.measured_judges import JudgedTrial
from tui_eval.suites.judge_choice import asked_judges
from tui_eval.suites.spec.asked.programs import Limits
from tui_eval.targets.build_context import fixed


@dataclass(frozen=True, slots=True)
class Assembly:
    """Makes the pools and the judges of a run; targets and judges are opened as they are asked."""

    session: Session
    store: RunStore
    opened: AsyncExitStack
    """Closes what was opened."""
    flights: dict[int, TrialInFlight]
    """The trials that are taken, by their ids."""
    spend_caps: SpendCaps
    coordination: Coordination
    took: Mapping[int, ResourceFigures]
    """What programs of each column took so far: the most of each, and all of the time."""
    executor: Executor | None = None
    """Who makes the attempts; None: the targets, here."""

    def judging(self) -> Judging:
        """Return the judging, without judges."""
        return Judging(
            self.store,
            self.flights,
            self.spend_caps,
            self.coordination,
            reuse=self.session.reuses,
        )

    def user_limit(self) -> UserLimit | None:
        """Return the limit of the simulated user; None: the suite has none."""
        spec = self.session.suite.user
        if spec is None or not self.session.with_user():
            return None
        rates = spec.call_rates()
        limiter = Limiter(
            f"user {spec.name}",
            self._share_of(fixed(spec.concurrency)),
            self._write_down,
            rpm=self._share_of(rates.rpm),
            tpm=self._share_of(rates.tpm),
        )
        return UserLimit(USER, limiter)

    def pools(
        self, judging: Judging, journey: Journey, in_bulk: frozenset[int]
    ) -> dict[str, TrialPool]:
        """Return the pool of each endpoint.

        Args:
            judging: Grades outputs.
            journey: Takes trials from one state to the next.
            in_bulk: The columns of which a pool takes only what a person has asked again.
        """
        folder = Path.cwd() if self.store.path is None else attempt_folders(self.store.path)
        machine = MachineShares(Machine(folder))
        return {
            endpoint: TrialPool(
                WorkQueue(
                    self.store.reading,
                    self.store.run,
                    tuple(column.index for column in columns),
                    self.flights,
                    ByRetried(in_bulk, retried=True),
                ),
                self._limiter(endpoint, machine),
                journey,
                self.store.writer,
                judging,
                self.spend_caps,
                self.coordination,
            )
            for endpoint, columns in self._endpoints().items()
        }

    def use_judges(
        self, judging: Judging, in_bulk: Mapping[str, BulkQuestions], *, anew: bool = False
    ) -> None:
        """Give the judging its judges; those it has make room once they have no work left.

        Args:
            judging: The judging.
            in_bulk: Those that are asked in bulk, by name.
            anew: Whether they come while the run goes on, so that their limits are told.
        """
        session = self.session
        judges = session.judges
        self.spend_caps.bound(session.bounds())
        self.spend_caps.with_others = session.with_user()
        asked = asked_judges(session.suite)
        specs = [spec for spec in session.suite.judges if spec.name in judges]
        self.spend_caps.grading.by({one.name: one.batch_size for one in specs if one.name in asked})
        opened = LazyOpen(judges)
        self.opened.push_async_callback(opened.close)
        panel = JudgePanel(
            {name: self._judge_pool(name, opened, judging) for name in judges},
            {name: judge.identity() for name, judge in judges.items()},
            session.scoring_version,
        )
        gold = GoldRound(self.store, session.gold(), panel, self.coordination, reuse=session.reuses)
        auditing = Auditing(self.store, session.suite, panel, self._outcome, self.coordination)
        for name, questions in in_bulk.items():
            panel.pools[name].bulk = questions
        judging.use_judges(panel, gold, auditing)
        if anew:
            for judge_pool in panel.pools.values():
                judge_pool.limiter.tell(endpoint_event.START)

    async def _outcome(self, of: JudgedTrial) -> ScoringOutcome | Failure:
        session = self.session
        try:
            return await session.off_loop.bounded(
                session.outcome, session.columns[of.col], of.case, of.output, ()
            )
        except AbandonedError:
            return Failure("stopped", "the engine is ending")

    def _judge_pool(self, name: str, opened: LazyOpen, judging: Judging) -> JudgePool:
        before = judging.judge_pools.get(name)
        judge = self.session.judges[name]
        suite = self.session.suite
        (spec,) = (spec for spec in suite.judges if spec.name == name)
        ceiling = self._share_of(judge.default_concurrency)
        if before is not None and before.spec.concurrency == spec.concurrency:
            # what a person has set stays, as long as the suite says nothing else
            ceiling = None if before.limiter.auto else before.limiter.concurrency
        # left alone before any batch has used up its retries
        gone_after = min(GONE_AFTER, max(1, spec.retries))
        limiter = Limiter(
            f"judge {name}",
            ceiling,
            self._write_down,
            rpm=self._share_of(judge.rates.rpm),
            tpm=self._share_of(judge.rates.tpm),
            gone_after=gone_after,
        )
        return JudgePool(
            PooledJudge(spec, judge, opened, suite.run.patience, suite.dataset.seed or 0),
            limiter,
            self.store,
            self.spend_caps,
            self.session.off_loop,
            judging,
        )

    def journey(self, user: UserLimit | None) -> Journey:
        """Return what takes trials from one state to the next."""
        targets = journey_targets(self.executor, self.session.targets)
        opened = LazyOpen(targets)
        self.opened.push_async_callback(opened.close)
        progress = ProgressWriter(self.store.writer)
        self.opened.callback(progress.close)
        run = self.session.suite.run
        shared = ConversationSurroundings(
            self.store, self.spend_caps, lambda: self.coordination.dispatching, user
        )
        return Journey(
            JourneyColumns(self.session.columns, targets, opened),
            OutputScoring(self.session, self._programs()),
            AttemptLimits(Patience(run.retries), run.timeout, run.patience),
            self.session.off_loop,
            self.spend_caps,
            self.coordination,
            AttemptContexts(shared, progress),
        )

    def _programs(self) -> ProgramScoring | None:
        """Return what has programs decide; None: nothing is run here."""
        session, store = self.session, self.store
        if session.processes is None or store.path is None:
            return None
        means = GradingMeans(
            session.processes,
            session.folder,
            lambda: session.reach,
            lambda: session.targets,
            attempt_folders(store.path),
            kept_files(store.path),
            lambda scorer: session.suite.scorer_code.get(scorer, {}),
            store.run,
            store.room,
        )
        workers = None if self.executor is None else self.executor.attempts
        programs = ProgramScoring(
            means,
            store.reading,
            reuse=lambda: session.reuses,
            stopping=lambda: self.coordination.stopping,
            graders=remote_graders(GRADERS, workers),
            elsewhere=None if workers is None else Turns(lambda: workers.cpus),
        )
        self.opened.push_async_callback(programs.close)
        return programs

    def _endpoints(self) -> dict[str, list[Column]]:
        endpoints: dict[str, list[Column]] = {}
        for column in self.session.columns:
            target = self.session.targets[column.target]
            endpoints.setdefault(target.endpoint, []).append(column)
        return endpoints

    def _limiter(self, endpoint: str, machine: MachineShares) -> Limiter:
        """Return the limiter of an endpoint: the widest ceiling and the narrowest budgets named."""
        targets = self.session.targets.values()
        sharing = [target for target in targets if target.endpoint == endpoint]
        most = min(target.most_concurrency for target in sharing)
        if self.session.settings.sweep is not None:
            return SteadyLimiter(endpoint, self._write_down, most=most)
        chosen = self.session.settings.concurrency
        ceilings = [fixed(chosen or target.default_concurrency) for target in sharing]
        known = [ceiling for ceiling in ceilings if ceiling is not None]
        ceiling = self._share_of(min(most, max(known)) if len(known) == len(ceilings) else None)
        rates = [target.rates for target in sharing]
        rpm = self._share_of(min((r.rpm for r in rates if r.rpm is not None), default=None))
        tpm = self._share_of(min((r.tpm for r in rates if r.tpm is not None), default=None))
        limits = [target.limits_here for target in sharing if target.limits_here is not None]
        if limits and self.executor is None:
            share = self._share(endpoint, limits[0])
            return MachineLimiter(
                *(endpoint, ceiling, self._write_down),
                machine=machine,
                share=share,
                rpm=rpm,
                tpm=tpm,
                most=most,
            )
        if limits and self.executor is not None and ceiling is None:
            there = partial(self._processors, self.executor.attempts)
            return ClusterLimiter(
                endpoint, self._write_down, processors=there, rpm=rpm, tpm=tpm, most=most
            )
        return Limiter(endpoint, ceiling, self._write_down, rpm=rpm, tpm=tpm, most=most)

    def _processors(self, attempts: RemoteAttempts) -> int:
        """Return those of the workers that this run may use; 0: there is no worker."""
        return (self._share_of(attempts.cpus) or 0) if attempts.cpus else 0

    def _share_of(self, whole: int | None) -> int | None:
        """Return what of a limit (None: there is none) this run may use, one part of several."""
        part = self.session.settings.part
        return whole if whole is None or part is None else part.share(whole)

    def _share(self, endpoint: str, limits: Limits) -> ProgramShare:
        """Return what a program of an endpoint takes, as its limits and those before it say."""
        share = ProgramShare(limits.memory, limits.disk)
        for column in self._endpoints()[endpoint]:
            if (figures := self.took.get(column.index)) is not None:
                share.learn(figures)
        return share

    def _write_down(self, change: LimitChange) -> None:
        unit = partial(
            run_writes.add_limit,
            run=self.store.run,
            endpoint=change.endpoint,
            concurrency=change.concurrency,
            event=change.event,
        )
        self.store.writer.submit(unit)
