"""A run's frozen suite with all that is made of it: columns, targets, judges, scorers."""

from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from tui_eval.engine.executors.kinds import executor_problems
from tui_eval.engine.executors.worker_setup import WorkerSetup, worker_setup
from tui_eval.engine.journey.off_loop import OffLoop
from tui_eval.engine.journey.trial_scoring import GoldJudgeCheck, ScoringOutcome, TrialScoring
from tui_eval.engine.launch.part_of_run import WholeRun, in_part
from tui_eval.engine.launch.plan import ChosenCases, PlannedTrial, wanted
from tui_eval.engine.limits.spend_cap import CallBound, Payer
from tui_eval.engine.limits.spend_caps import Caps
from tui_eval.engine.settings import Settings, caps_in_force
from tui_eval.isolated.calls import IsolatedCalls
from tui_eval.model.case import Case, Column
from tui_eval.model.json import JsonObject, canonical
from tui_eval.model.outputs.output import Failure, Output, Usage
from tui_eval.model.score import Grade, Score
from tui_eval.processes.supervisor import Processes
from tui_eval.providers.errors import UnavailableError
from tui_eval.scoring.check import Check
from tui_eval.scoring.judge.item import Item
from tui_eval.store.read.figures.call_spending import USER
from tui_eval.store.rows import ColumnRow
from tui_eval.suites.data.dataset import cases, reads_more_files
from tui_eval.suites.judge_choice import asked_judges, judges_of
from tui_eval.suites.spec import AskedSpec, Suite
from tui_eval.suites.templates.renderer import Renderer
from tui_eval.suites.trust.capabilities import Folder
from tui_eval.targets import Connections, build, build_judges, problems

_NO_VERDICT: Final = {
    *("concurrency", "timeout", "patience", "retries", "cache", "orphans"),
    *("max_cost_usd", "max_tokens", "max_errors"),
}
"""Fields of `[run]` that decide how calls are made, and no verdict."""
_QUOTED: Final = 80
"""Characters of a version that a message has."""


class Session:
    """What engine, preflight and staging need of a suite; opens nothing by itself."""

    def __init__(
        self,
        suite: Suite,
        settings: Settings,
        scoring_version: int = 0,
        processes: Processes | None = None,
    ) -> None:
        """Describe a run.

        Args:
            suite: Its frozen suite.
            settings: What was chosen beside it.
            scoring_version: The number of its scorers and judges in the store (`runs.spec_change`).
            processes: Runs the programs of an engine; None: nothing is run.
        """
        self.suite = suite
        self.settings = settings
        self.processes = processes
        """Runs the programs of an engine; None: nothing is run."""
        self._renderer = Renderer(suite)
        self._connections: Connections = {}
        self.targets = build(suite, self._connections, settings.usual_concurrency, processes)
        self.scoring_version = scoring_version
        """Which scorers and judges are in force: the change that brought them."""
        self.judges = {} if settings.no_judge else build_judges(suite, self._connections)
        self._calls = IsolatedCalls()
        self.off_loop = OffLoop(self._calls)
        """Does what may take long."""
        self._trial_scoring = TrialScoring(
            suite,
            self._renderer,
            self._calls,
            no_judge=settings.no_judge,
            scoring_version=scoring_version,
        )
        self._gold: list[GoldJudgeCheck] | None = None
        self._chosen: ChosenCases | None = None
        """None: nobody has asked what is wanted."""
        self.depends_on_more = False
        """Whether what is wanted follows from more than the suite, its data and its targets; known
        once all of it was read."""
        self.columns = [
            Column(index, column.name, column.target, column.prompt)
            for index, column in enumerate(
                column
                for column in self._renderer.columns
                if not settings.targets or column.target in settings.targets
            )
        ]

    def problems(self, brought: Collection[str] = ()) -> list[str]:
        """Say what must be put right first: keys not set, models not there, caps without prices.

        Args:
            brought: Judges that scorers of cases name, as far as they are known.
        """
        found = (
            *self.target_problems(),
            *self.judge_problems(brought),
            *self.scorer_problems(),
            *self._unreducible(),
        )
        return list(dict.fromkeys(found))  # a target and a judge may miss the same key

    async def prepare(self) -> None:
        """Let the targets that are asked find out what their keys need, see `Target.prepare`.

        Raises:
            UnavailableError: where that cannot be known, saying what to do.
        """
        for name in dict.fromkeys(column.target for column in self.columns):
            await self.targets[name].prepare()

    async def updated(self, then: Iterable[ColumnRow]) -> str | None:
        """Say which target is another one than the run was staged with; None: none is.

        Args:
            then: The run's columns as they were staged.

        Raises:
            UnavailableError: a target that told its version then does not now.
        """
        for name, was in {row.target: row.version for row in then if row.version}.items():
            target = self.targets[name]
            await target.prepare()
            if target.version != was:
                now = _first_line(target.version or "")
                return f"target {name!r} was {_first_line(was)} and is {now} now"
        return None

    def target_problems(self) -> list[str]:
        """Say what must be put right before targets can be asked."""
        asked = {column.target: self.targets[column.target] for column in self.columns}
        executor = self.settings.executor
        specs: list[AskedSpec] = [spec for spec in self.suite.targets if spec.name in asked]
        if self.suite.user is not None and any(target.has_user for target in asked.values()):
            specs.append(self.suite.user)
        if executor is None:
            return [*problems(asked), *self._uncountable(specs)]
        return [*executor_problems(executor, self.suite, asked.values()), *self._uncountable(specs)]

    def worker_setup(self) -> WorkerSetup:
        """Return what workers that make its attempts are made of. Blocking.

        Raises:
            UnavailableError: files of its programs cannot be sent to them.
        """
        asked = [self.targets[name] for name in {column.target for column in self.columns}]
        return worker_setup(self.suite, asked, self.settings.usual_concurrency)

    def scorer_problems(self) -> list[str]:
        """Say which programs of scorers are not there."""
        found = [(one.name, one.missing_program(self.folder)) for one in self.suite.scorers]
        return [f"scorer {name!r}: {why}" for name, why in found if why is not None]

    def judge_problems(self, brought: Collection[str] = ()) -> list[str]:
        """Say what must be put right before judges can be asked; those nobody names are not.

        Args:
            brought: Judges that scorers of cases name.
        """
        return self._judge_problems(asked_judges(self.suite) | {*brought})

    def _judge_problems(self, names: Collection[str]) -> list[str]:
        asked = {name: judge for name, judge in self.judges.items() if name in names}
        specs = [spec for spec in self.suite.judges if spec.name in asked]
        return [*problems(asked), *self._uncountable(specs)]

    def _unreducible(self) -> list[str]:
        epochs = self.settings.epochs or self.suite.run.epochs
        return [
            f"reduce = {one.name!r} needs at least {one.k} epochs, not {epochs}"
            for one in self.suite.run.reductions
            if one.k is not None and one.k > epochs
        ]

    def _uncountable(self, specs: Sequence[AskedSpec]) -> list[str]:
        """Say whose calls a cap cannot hold, as nobody tells what they take."""
        caps = self.caps()
        found = [(one, one.price_problem()) for one in specs if caps.cost_usd is not None]
        found += [(one, one.count_problem()) for one in specs if caps.tokens is not None]
        found += [(one, one.bound_problem()) for one in specs if caps.of_calls]
        return [f"{one.WHAT} {one.name!r}: {problem}" for one, problem in found if problem]

    def caps(self) -> Caps:
        """Return where the run pauses and asks."""
        return caps_in_force(self.suite.run.model_dump(mode="json"), self.settings.as_json())

    def bounds(self) -> dict[Payer, CallBound]:
        """Return what a call of each column and judge takes at most, as far as the suite says."""
        targets = {target.name: bound_of(target) for target in self.suite.targets}
        found: dict[Payer, CallBound] = {c.index: targets[c.target] for c in self.columns}
        if self.suite.user is not None:
            found[USER] = bound_of(self.suite.user)
        return found | {judge.name: bound_of(judge) for judge in self.suite.judges}

    def with_user(self) -> dict[Payer, tuple[Payer, ...]]:
        """Return the columns in whose trials the simulated user makes calls too."""
        return {c.index: (USER,) for c in self.columns if self.targets[c.target].has_user}

    def column_rows(self) -> list[ColumnRow]:
        """Return the columns as the store keeps them."""
        return [
            ColumnRow(
                index=column.index,
                name=column.name,
                target=column.target,
                prompt=column.prompt,
                kind=self.targets[column.target].kind,
                model=self.targets[column.target].model,
                endpoint=self.targets[column.target].endpoint,
                source=self.targets[column.target].source,
                version=self.targets[column.target].version,
            )
            for column in self.columns
        ]

    def wanted(
        self, only: frozenset[str] | None, whole: WholeRun | None = None
    ) -> Generator[list[PlannedTrial], None, None]:
        """Return all trials the run wants, in portions.

        Args:
            only: The cases `Settings.only` stands for; None: all.
            whole: Told of all trials, where the run wants a part of them.
        """
        seed = self.suite.dataset.seed or 0
        self._chosen = ChosenCases(cases(self.suite), self.settings, only, seed)
        portions = wanted(
            self._looked_at(self._chosen),
            self.columns,
            self.targets,
            self.settings.epochs or self.suite.run.epochs,
            self._depend_on_more,
        )
        if self.settings.part is None:
            return portions
        return in_part(portions, self.settings.part, whole or WholeRun())

    def _looked_at(self, chosen: Iterable[Case]) -> Iterator[Case]:
        """Yield cases on as they come, each looked at for what its row was read with."""
        for case in chosen:
            self.depends_on_more = self.depends_on_more or reads_more_files(self.suite, case)
            yield case

    def _depend_on_more(self) -> None:
        self.depends_on_more = True

    def decided_by(self) -> bytes:
        """Return all that decides verdicts beside requests and outputs, in one form."""
        suite = self.suite.model_dump(mode="json", include={"scorers", "judges", "gold"})
        return canonical(
            {
                "columns": [column.name for column in self.columns],
                "run": self.suite.run.model_dump(mode="json", exclude=_NO_VERDICT),
                **suite,
            }
        )

    @property
    def is_whole(self) -> bool:
        """Whether what is wanted leaves nothing of the suite out; known once all of it was read."""
        settings = self.settings
        narrowed = (
            settings.changed_dataset or settings.sweep is not None or settings.part is not None
        )
        if narrowed or self._chosen is None or self._chosen.left_out:
            return False
        return len(self.columns) == len(self._renderer.columns)

    def judges_ready(self, portions: Iterable[list[PlannedTrial]]) -> Iterator[list[PlannedTrial]]:
        """Yield portions on as they come, each once the judges can be asked that its cases bring.

        Raises:
            UnavailableError: one cannot, saying what to do.
        """
        known = asked_judges(self.suite)
        for portion in portions:
            scorers = [scorer for want in portion for scorer in want.case.scorers]
            brought = {name for scorer in scorers for name in judges_of(scorer, [*self.judges])}
            if not brought <= known:
                if problems_of := self._judge_problems(brought - known):
                    raise UnavailableError("; ".join(problems_of))
                known |= brought
            yield portion

    def problem(self, column: Column, case: Case) -> Failure | None:
        """Say what is wrong with a case's scorers before anything is asked of a target."""
        return self._trial_scoring.problem(column, case)

    def checks(self, column: Column, case: Case, output: Output) -> list[Check] | Failure:
        """Return what an output is scored by; a failure where a scorer cannot be rendered."""
        return self._trial_scoring.checks(column, case, output)

    def outcome(
        self, column: Column, case: Case, output: Output, kept: Sequence[Score]
    ) -> ScoringOutcome | Failure:
        """Give the scores that are still missing, what judges are to say (see `TrialScoring`)."""
        return self._trial_scoring.outcome(column, case, output, kept)

    def decided(self, check: Check, output: Output) -> Grade | Item:
        """Return the grade of an output, or what a judge is to be asked (see `TrialScoring`)."""
        return self._trial_scoring.decided(check, output)

    def gold(self) -> list[GoldJudgeCheck]:
        """Return what judges are asked about the outputs that a person has graded."""
        if self._gold is None:
            self._gold = [ask for judge in self.judges for ask in self._trial_scoring.gold(judge)]
        return self._gold

    @property
    def folder(self) -> Path:
        """The suite's own folder; the current one, where it has no file."""
        return Path(self.suite.file).parent if self.suite.file else Path.cwd()

    @property
    def reach(self) -> Folder:
        """What the suite may read."""
        return Folder.of(self.suite)

    @property
    def reuses(self) -> bool:
        """Whether outputs and findings of other runs may be used."""
        return self.suite.run.cache and not self.settings.fresh

    def close(self) -> None:
        """End what is under way off the loop; nothing is scored from now on."""
        self._calls.close()

    def resumed(self, args: JsonObject) -> dict[str, object]:
        """Take what a person resumes it with: caps (`max_cost_usd`, …), and whether to wait.

        Returns:
            The new settings.
        """
        cost, tokens, errors = map(args.get, ("max_cost_usd", "max_tokens", "max_errors"))
        self.settings = replace(
            self.settings,
            submit=args.get("collect") is True,
            max_cost_usd=self.settings.max_cost_usd if cost is None else float(str(cost)),
            max_tokens=self.settings.max_tokens if tokens is None else int(str(tokens)),
            max_errors=self.settings.max_errors if errors is None else float(str(errors)),
        )
        return self.settings.as_json()

    def score_with(self, suite: Suite, settings: Settings, scoring_version: int) -> None:
        """Score with the scorers and judges of another suite, of this number, from now on."""
        self.suite = suite
        self.settings = settings
        self.judges = build_judges(suite, self._connections)
        self.scoring_version = scoring_version
        self._trial_scoring = TrialScoring(
            suite, self._renderer, self._calls, scoring_version=self.scoring_version
        )
        self._gold = None


def _first_line(printed: str) -> str:
    """Return the beginning of what a program printed as its version, as a message quotes it."""
    line = (printed.splitlines() or ["nothing"])[0]
    return line if len(line) <= _QUOTED else f"{line[:_QUOTED]}…"


def bound_of(spec: AskedSpec) -> CallBound:
    """Return what one call takes at most: its own limit, or its output's at the price of that."""
    prices, most = spec.token_prices(), spec.output_limit()
    if (limit := spec.cost_limit()) is not None:
        return CallBound(limit, most)
    if prices is not None and prices.of(Usage(1, 1)) == 0.0:
        return CallBound(cost_usd=0.0, tokens=most)
    if most is None:
        return CallBound()
    return CallBound(None if prices is None else prices.of(Usage(0, most)), most)
