"""Orders in any order to a run that asks in bulk: it comes to an end, and keeps to its caps."""

import asyncio
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from tests.engine.bulk.bulk_runs import SOON, killed
from tests.engine.harness import RUBRIC, Harness, suite
from tests.engine.judging.bulk.judged_runs import Grading, open_ones
from tests.engine.judging.bulk.test_call_home import first_lines_usd
from tests.servers.bulk_ledger import BulkFaults
from tests.servers.fake_bulk import BulkCall, Die, FakeBulk, Fault, Refuse
from tui_eval.engine.control.submit import ask
from tui_eval.engine.engine import Engine
from tui_eval.store.requests import Verb
from tui_eval.suites.spec import Suite
from tui_eval.targets.model import model_bulk

N: Final = 24
_LAST_USD: Final = 100.0
"""A cap that is never reached."""
_STANDS_STILL_S: Final = 30.0
"""Seconds after which an engine stands still that nobody has told to wait."""


@dataclass
class Trouble:
    """What a provider meets."""

    draw: random.Random
    share: float

    def __call__(self, call: BulkCall) -> Fault | None:
        if self.draw.random() >= self.share:
            return None
        faults = (Refuse(503), Refuse(429), Die(), Die(after=True))
        return self.draw.choice(faults)


@dataclass
class Orders:
    """What a person asks of a run, at any time."""

    harness: Harness
    run: int
    draw: random.Random
    highest: float
    """The highest cap there was."""
    said: list[str] = field(default_factory=list)

    def say(self, verb: Verb, **args: Any) -> None:
        self.said.append(f"{verb} {args}")
        ask(self.harness.path, self.run, verb, args)

    def cap(self) -> float:
        """Draw one; the run has it from then on, where it takes it."""
        cap = self.draw.choice((0.02, 0.05, 0.1, 0.3, 1.0))
        self.highest = max(self.highest, cap)
        return cap

    async def given(self, engine: Engine, work: "asyncio.Task[None]") -> None:
        """Give some while an engine works."""
        for _ in range(self.draw.randrange(6)):
            await asyncio.sleep(self.draw.random() * 0.06)
            if work.done():
                return
            match self.draw.choice(("pause", "caps", "caps", "cancel", "retry", "stop", "abort")):
                case "pause":
                    self.say(Verb.PAUSE)
                    await asyncio.sleep(self.draw.choice((0.0, 0.1)))
                    self.say(Verb.CONTINUE)
                case "caps":
                    if self.draw.random() < 0.5:
                        self.say(Verb.PAUSE)
                    self.say(Verb.RESUME, max_cost_usd=self.cap())
                case "stop":
                    engine.stop()
                case "abort":
                    engine.abort()
                case verb:
                    trials = [one.id for one in self.harness.trials(self.run)]
                    self.say(Verb(verb), trials=self.draw.sample(trials, min(3, len(trials))))

    async def killed(self) -> None:
        """Have an engine of its own work for a moment, and kill it."""
        async with killed(self.harness, self.run):
            attempts = "SELECT count(*) FROM attempts"
            before = self.harness.sql(attempts)[0][0]
            async with asyncio.timeout(10):
                while self.harness.sql(attempts)[0][0] == before and self.draw.random() < 0.99:
                    await asyncio.sleep(0.01)
            await asyncio.sleep(self.draw.random() * 0.1)

    async def worked(self) -> None:
        """Have an engine work until it leaves, and give it orders."""
        engine = Engine(self.harness.path, self.run, polling=SOON)
        work = asyncio.create_task(engine.run())
        await self.given(engine, work)
        if not work.done():
            self.say(Verb.CONTINUE)  # nobody else would
        async with asyncio.timeout(_STANDS_STILL_S):
            await work


def drawn_suite(server: FakeBulk, draw: random.Random) -> Suite:
    """Describe a run of two targets and a panel of two judges, most of them asked in bulk."""
    prices = {"prices": {"input": 10.0, "output": 10.0}}

    def asked(name: str) -> dict[str, Any]:
        bulk = {"size": draw.choice((1, 3, 10, 1000))}
        return {
            "kind": "model",
            "name": name,
            "base_url": server.base_url,
            "model": name,
            "bulk": bulk if draw.random() < 0.85 else False,
            "params": {"max_tokens": draw.choice((50, 200))},
            **prices,
        }

    batch = draw.choice((1, 4))
    judges = [{**asked(name), "batch_size": batch, "params": {"max_tokens": 400}} for name in "jk"]
    return suite(
        server.base_url,
        N,
        targets=[asked("s"), asked("t")],
        judges=judges,
        scorers=[{**RUBRIC, "judge": ["j", "k"]}],
        run={"max_cost_usd": draw.choice((0.02, 0.1, 0.5))},
    )


def spent_usd(harness: Harness) -> float:
    """Add up what is known of what calls cost."""
    known = "SELECT total(ifnull(cost_usd, 0) + ifnull(about_usd, 0)) FROM "
    return sum(float(harness.sql(known + of)[0][0]) for of in ("attempts", "judge_calls"))


def assert_told(harness: Harness, run: int, server: FakeBulk) -> None:
    """See that nothing is open, nothing was done twice, and all that was done is written down."""
    assert set(server.ledger.executed.values()) <= {1}, "sent twice"
    assert not open_ones(harness)
    for of in ("attempts", "judge_calls"):
        assert harness.sql(f"SELECT count(*) FROM {of} WHERE state = 'sent'") == [(0,)]
    ended = Counter(str(trial.state) for trial in harness.trials(run))
    assert not set(ended) - {"done", "cancelled", "error"}, ended
    in_bulk = [
        harness.sql(f"SELECT total(a.about_usd) FROM {of}")[0][0]
        for of in (
            "attempts a JOIN consigned c ON c.attempt = a.id",
            "judge_calls a JOIN consigned_calls c ON c.call = a.id",
        )
    ]
    assert sum(in_bulk) == pytest.approx(first_lines_usd(server))


async def obeys(harness: Harness, seed: int, kills: float = 0.0) -> None:
    """Give a run orders until it is done, and see what it has come to.

    Args:
        harness: Where it is.
        seed: Draws all there is to draw.
        kills: How likely an engine is killed before another one is given orders.
    """
    draw = random.Random(seed)
    grading = Grading()

    def answer(prompt: str) -> str:
        said = grading(prompt)
        return said if said != prompt else 140 * "x" + said  # near what it may take

    trouble = Trouble(random.Random(seed + 1), draw.choice((0.0, 0.0, 0.05)))
    faults = BulkFaults(shuffle=seed, expire=draw.choice(((), (1,))), only_first=2)
    looks = draw.choice((1, 3, 12))
    async with FakeBulk(answer, script=trouble, faults=faults, looks=looks) as server:
        of = drawn_suite(server, draw)
        run = harness.create(of)
        orders = Orders(harness, run, draw, highest=of.run.max_cost_usd or 0.0)
        for _ in range(draw.randrange(5)):
            if draw.random() < kills:
                await orders.killed()
            await orders.worked()
            assert spent_usd(harness) <= orders.highest * 1.001, orders.said
            if harness.row(run).state == "done":
                break
            orders.say(Verb.RESUME, max_cost_usd=orders.cap())
        trouble.share = 0.0
        while harness.row(run).state != "done":
            ask(harness.path, run, Verb.RESUME, {"max_cost_usd": _LAST_USD})
            async with asyncio.timeout(_STANDS_STILL_S):
                await Engine(harness.path, run, polling=SOON).run()
        assert_told(harness, run, server)


async def test_a_run_in_bulk_keeps_to_orders_and_caps(
    harness: Harness, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_bulk, "SETTLE_S", 0.0)
    await obeys(harness, seed)


@pytest.mark.whole
@pytest.mark.parametrize("further", range(1, 21))
async def test_many_runs_do_and_engines_are_killed(
    harness: Harness, seed: int, further: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_bulk, "SETTLE_S", 0.0)
    await obeys(harness, seed + further, kills=0.4)
