"""A run's frozen suite with all that is made of it: columns, targets, scorers, the crew."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace

from tui_eval.engine.crew import Crew
from tui_eval.engine.journey import Journey
from tui_eval.engine.limiter import LimitChange, Limiter
from tui_eval.engine.marking import Marking
from tui_eval.engine.plan import Wanted, chosen, wanted
from tui_eval.engine.purse import Caps, Purse
from tui_eval.engine.settings import Settings
from tui_eval.model.case import Column
from tui_eval.model.json import JsonObject
from tui_eval.model.output import Failure, Usage
from tui_eval.providers.errors import UnavailableError
from tui_eval.providers.patience import Patience
from tui_eval.providers.prices import price_of
from tui_eval.store import runs
from tui_eval.store.connection import Connection
from tui_eval.store.rows import ColumnRow
from tui_eval.store.tx import Tx
from tui_eval.store.writer import Writer
from tui_eval.suites.dataset import cases
from tui_eval.suites.prompts import Renderer
from tui_eval.suites.spec import ModelTarget, Suite
from tui_eval.targets import Target, build, fixed, problems


class Session:
    """What an engine, an account and a staging need of a suite; opens nothing by itself."""

    def __init__(self, suite: Suite, settings: Settings) -> None:
        self.suite = suite
        self.settings = settings
        self._renderer = Renderer(suite)
        self._targets = build(suite)
        self._marking = Marking(suite, self._renderer)
        self._journey: Journey | None = None
        self._purse: Purse | None = None
        self.columns = [
            Column(index, column.name, column.target, column.prompt)
            for index, column in enumerate(
                column
                for column in self._renderer.columns
                if not settings.targets or column.target in settings.targets
            )
        ]

    def problems(self) -> list[str]:
        """Say what must be put right first: keys not set, models not there, caps without prices."""
        return [
            *problems({column.target: self._targets[column.target] for column in self.columns}),
            *self._unpriced(),
            *self._unreducible(),
        ]

    def _unreducible(self) -> list[str]:
        epochs = self.settings.epochs or self.suite.run.epochs
        k = self.suite.run.reduction.k
        if k is None or k <= epochs:
            return []
        return [f"reduce = {self.suite.run.reduce!r} needs at least {k} epochs, not {epochs}"]

    def _unpriced(self) -> list[str]:
        if self.caps().cost_usd is None:
            return []
        asked = {column.target for column in self.columns}
        return [
            f"target {spec.name!r}: max_cost_usd needs a known price, and there is none for model "
            f"{spec.model!r}: give the target prices = {{ input = …, output = … }} in US dollars "
            "for a million tokens, or drop the cap"
            for spec in self.suite.targets
            if isinstance(spec, ModelTarget)
            and spec.name in asked
            and spec.prices is None
            and price_of(spec.provider, spec.base_url, spec.model, Usage(0, 0)) is None
        ]

    def caps(self) -> Caps:
        """Give where the run pauses and asks."""
        run, chosen_caps = self.suite.run, self.settings
        return Caps(
            chosen_caps.max_cost_usd or run.max_cost_usd,
            chosen_caps.max_tokens or run.max_tokens,
            chosen_caps.max_errors or run.max_errors,
        )

    def column_rows(self) -> list[ColumnRow]:
        """Give the columns as the store keeps them."""
        return [
            ColumnRow(
                index=column.index,
                name=column.name,
                target=column.target,
                prompt=column.prompt,
                kind=self._targets[column.target].kind,
                model=self._targets[column.target].model,
                endpoint=self._targets[column.target].endpoint,
            )
            for column in self.columns
        ]

    def wanted(self, only: frozenset[str] | None) -> Iterator[Wanted]:
        """Give all trials the run wants.

        Args:
            only: The cases `Settings.only` stands for; None: all.
        """
        seed = self.suite.dataset.seed or 0
        return wanted(
            chosen(cases(self.suite), self.settings, only, seed),
            self.columns,
            self._targets,
            self._marking.problem,
            self.settings.epochs or self.suite.run.epochs,
        )

    def crew(
        self,
        run: int,
        reading: Connection,
        writer: Writer,
        opened: AsyncExitStack,
        purse: Purse,
        on_fatal: Callable[[Failure], None],
        on_idle: Callable[[], None],
    ) -> Crew:
        """Man the run; targets are opened when they are first asked, and closed with `opened`."""
        self._purse = purse
        doors = _Doors(self._targets)
        opened.push_async_callback(doors.close)
        self._journey = Journey(
            self.columns,
            self._targets,
            self._marking,
            Patience(self.suite.run.retries),
            self.suite.run.timeout,
            self.suite.run.patience,
            doors.ready,
            purse,
            on_fatal,
        )

        def write_down(change: LimitChange) -> None:
            def unit(tx: Tx) -> None:
                runs.add_limit(tx, run, change.endpoint, change.concurrency, change.reason)

            writer.submit(unit)

        endpoints: dict[str, list[Column]] = {}
        limiters: dict[str, Limiter] = {}
        for column in self.columns:
            target = self._targets[column.target]
            endpoints.setdefault(target.endpoint, []).append(column)
            limiters.setdefault(target.endpoint, self._limiter(target.endpoint, write_down))
        return Crew(run, reading, writer, self._journey, endpoints, limiters, on_idle)

    def _limiter(self, endpoint: str, write_down: Callable[[LimitChange], None]) -> Limiter:
        """Give the limiter of an endpoint: the widest ceiling and the narrowest budgets named."""
        sharing = [target for target in self._targets.values() if target.endpoint == endpoint]
        ceilings = [
            fixed(self.settings.concurrency or target.default_concurrency) for target in sharing
        ]
        known = [ceiling for ceiling in ceilings if ceiling is not None]
        names = {target.name for target in sharing}
        specs = [
            spec
            for spec in self.suite.targets
            if isinstance(spec, ModelTarget) and spec.name in names
        ]
        rpms = [spec.rpm for spec in specs if spec.rpm is not None]
        tpms = [spec.tpm for spec in specs if spec.tpm is not None]
        return Limiter(
            endpoint,
            max(known) if len(known) == len(ceilings) else None,
            write_down,
            rpm=min(rpms, default=None),
            tpm=min(tpms, default=None),
        )

    def raise_caps(self, args: JsonObject) -> dict[str, object]:
        """Take the caps a person names (`max_cost_usd`, …); give the new settings.

        They hold at once, also for a run that is worked on.
        """
        cost, tokens, errors = map(args.get, ("max_cost_usd", "max_tokens", "max_errors"))
        self.settings = replace(
            self.settings,
            max_cost_usd=self.settings.max_cost_usd if cost is None else float(str(cost)),
            max_tokens=self.settings.max_tokens if tokens is None else int(str(tokens)),
            max_errors=self.settings.max_errors if errors is None else float(str(errors)),
        )
        if self._purse is not None:
            self._purse.caps = self.caps()
        return self.settings.as_json()

    def use_scorers(self, specs: list[object]) -> str:
        """Score with other scorers from now on; give the frozen suite that has them, as JSON."""
        kept = self.suite.model_dump(mode="json")
        self.suite = Suite.model_validate({**kept, "scorers": specs})
        self._marking = Marking(self.suite, self._renderer)
        if self._journey is not None:
            self._journey.marker = self._marking
        return self.suite.model_dump_json()


class _Doors:
    """Opens each target once, when it is first asked."""

    def __init__(self, targets: Mapping[str, Target]) -> None:
        self._targets = targets
        self._opened = AsyncExitStack()
        self._opening: dict[str, asyncio.Task[Failure | None]] = {}
        self._open: set[str] = set()

    async def ready(self, name: str) -> Failure | None:
        """Wait until a target is open; give why it cannot be."""
        if name in self._open:
            return None
        task = self._opening.get(name)
        if task is None:
            task = self._opening[name] = asyncio.ensure_future(self._enter(name))
        return await asyncio.shield(task)  # one trial's cancel must not close the door to others

    async def _enter(self, name: str) -> Failure | None:
        try:
            await self._opened.enter_async_context(self._targets[name])
        except UnavailableError as error:
            return Failure("unavailable", str(error), fatal=True)
        self._open.add(name)
        return None

    async def close(self) -> None:
        """Close what is open; what is just being opened is given up."""
        for task in self._opening.values():
            task.cancel()
        await asyncio.gather(*self._opening.values(), return_exceptions=True)
        await self._opened.aclose()
