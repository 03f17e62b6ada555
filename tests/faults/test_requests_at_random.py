"""Requests, kills and bad judges in any order: what a run comes to still follows its rules."""

import asyncio
import json
import random
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.engine.harness import Harness, suite
from tests.faults.processes import Command, resume, staged, unsent
from tests.reports.keeping import keeping, see_that_kept_is_counted
from tests.servers.fake_judge import answers, asked, by_number
from tests.servers.fake_model import Call, FakeModel, Reply, refuse
from tests.support import reading
from tests.waiting import until
from tui_eval.engine.control import verbs
from tui_eval.engine.control.submit import ask
from tui_eval.engine.dispatch import trial_pool
from tui_eval.engine.engine import Engine
from tui_eval.isolated.calls import IsolatedCalls
from tui_eval.model.outputs.output import Output
from tui_eval.model.score import Grade, tally
from tui_eval.model.states import RunState, TrialState, Verdict
from tui_eval.reports.exports.export_choice import ExportChoice
from tui_eval.reports.exports.jsonl import jsonl
from tui_eval.scoring import deciding
from tui_eval.scoring.check import Check
from tui_eval.scoring.judge.item import Item
from tui_eval.store.read import run_queries, suite_queries
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.requests import Verb
from tui_eval.suites import loop_bounds
from tui_eval.suites.loop_bounds import NotAtOnceError
from tui_eval.suites.spec import Suite

N = 24
JUDGED = ("right", "short")
SCORERS = {"exact", *JUDGED}


class Moody:
    """What target and judge do to requests: answer at once or late, refuse, break off, lie."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)

    def script(self, call: Call) -> Reply | None:
        """Decide what happens to one request."""
        drawn = self._draw.random()
        if drawn < 0.05:
            return refuse(429, "rate_limit_exceeded", "slow down", retry_after="0")
        if drawn < 0.08:
            return Reply("reset")
        if drawn < 0.12 and asked(call.body):
            return Reply(text="I would rather not say.")
        return Reply(latency=self._draw.random() * 0.04)

    def grade(self, item: Mapping[str, Any]) -> dict[str, Any] | None:
        """Grade an output, or leave it out."""
        return None if self._draw.random() < 0.1 else by_number(item)


def described(target: str, judge: str) -> Suite:
    """Give a suite whose trials are scored by code and, twice, by a judge that batches."""
    judges = [{"kind": "model", "name": "j", "base_url": judge, "model": "fake-judge"}]
    scorers = [
        {"kind": "judge", "name": name, "rubric": f"Is it {name}?", "scale": [0, 9], "judge": ["j"]}
        for name in JUDGED
    ]
    return suite(
        target,
        N,
        scorers=[{"kind": "exact", "name": "exact", "expected": "{{ q }}"}, *scorers],
        judges=[{**judges[0], "concurrency": 3, "batch_size": 3, "linger": 0.01}],
        run={"concurrency": 6, "retries": 3},
    )


class Story:
    """A run to which things happen; an engine works on it whenever one is needed."""

    def __init__(self, harness: Harness, run: int, seed: int, *, processes: bool) -> None:
        self.harness, self.run = harness, run
        self.draw = random.Random(seed)
        self.told: list[str] = []
        self.after_each: Callable[[], None] = lambda: None
        """Looked at after each thing that happened."""
        self._processes = processes
        self._task: asyncio.Task[None] | None = None
        self._command: Command | None = None

    async def goes_on(self, steps: int) -> None:
        """Let so many things happen."""
        await self.work()
        await until(staged(self.harness, self.run))
        acts = (
            *(self.cancel, self.cancel, self.burst, self.burst, self.burst),
            *(self.rescore, self.retry, self.undo, self.undo, self.pause, self.die, self.die),
        )
        for _ in range(steps):
            act = self.draw.choice(acts)
            self.told.append(act.__name__)
            await act()
            await self.work()
            await asyncio.sleep(self.draw.random() * 0.06)
            self.after_each()

    async def comes_to_rest(self) -> None:
        """Let nothing further happen, and what there is to do be done."""
        self.say(Verb.CONTINUE)
        open_ = "SELECT 1 FROM requests WHERE outcome IS NULL"
        while self._working or self.harness.sql(open_):
            await self.work()  # an engine that ends as something is asked leaves it to the next
            await until(self._over)

    async def resumes(self) -> None:
        """Have what is not graded judged again."""
        self.say(Verb.RESUME)
        await self.work()
        await until(self._over)

    def _over(self) -> bool:
        if self._working:
            return False
        if self._task is not None:
            self._task.result()  # an engine that broke says how
        return True

    async def work(self) -> None:
        """Have an engine at work, where none is."""
        if self._working:
            return
        self._task = self._command = None
        if self._processes and self.draw.random() < 0.5:
            self._command = await resume(self.harness, self.run)
        else:
            self._task = asyncio.create_task(Engine(self.harness.path, self.run).run())
        await until(lambda: not self._working or self.harness.row(self.run).live)

    @property
    def _working(self) -> bool:
        if self._command is not None:
            return self._command.process.returncode is None
        return self._task is not None and not self._task.done()

    async def die(self) -> None:
        """Kill the engine: by SIGKILL where it is a process, else where it happens to wait."""
        if self._command is not None:
            await self._command.killed()
            self._command = None
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
            self._task = None
            # its process goes on: that is all that tells it from a dead one
            self.harness.write("UPDATE runs SET lease_pid = NULL WHERE id = ?", self.run)

    def say(self, verb: Verb, **args: Any) -> None:
        ask(self.harness.path, self.run, verb, args)

    def some(self) -> list[int]:
        """Draw a few trials."""
        trials = [trial.id for trial in self.harness.trials(self.run)]
        return self.draw.sample(trials, self.draw.randrange(1, N))

    async def cancel(self) -> None:
        self.say(Verb.CANCEL, trials=self.some())

    async def burst(self) -> None:
        """Cancel and rescore the same trials, again and again, at once."""
        trials = self.some()
        for _ in range(self.draw.randrange(1, 4)):
            self.say(Verb.CANCEL, trials=trials)
            self.say(Verb.RESCORE, trials=trials)

    async def rescore(self) -> None:
        specs = {}
        if self.draw.random() < 0.5:  # with scorers that say otherwise
            spec = Suite.model_validate_json(self.harness._read(suite_queries.spec, self.run))
            scorers = spec.model_dump(mode="json")["scorers"]
            changed = [
                {**scorer, "rubric": f"{scorer['rubric']} Really?"}
                if scorer["kind"] == "judge"
                else {**scorer, "ignore_case": not scorer.get("ignore_case", True)}
                for scorer in scorers
            ]
            specs = {"scorer_specs": changed}
        self.say(Verb.RESCORE, which="all", **specs)

    async def retry(self) -> None:
        self.say(Verb.RETRY, trials=self.some())

    async def undo(self) -> None:
        done = self.harness._read(verbs.last_done, self.run)
        if done is not None:
            self.say(done.undone_by, request=done.id)

    async def pause(self) -> None:
        self.say(Verb.PAUSE)
        await asyncio.sleep(self.draw.random() * 0.02)
        self.say(Verb.CONTINUE)


def assert_rules(harness: Harness, run: int) -> None:
    """Check what a run's export says against the rules of states, scores and verdicts."""
    lines = harness._read(_exported, run)
    counts = harness.counts(run)
    told = {state.value: getattr(counts, state.value) for state in TrialState}
    assert Counter(line["state"] for line in lines) == +Counter(told), "the board counts otherwise"
    assert len(lines) == counts.total == N
    verdicts = Counter(line["verdict"] for line in lines if line["state"] == "done")
    graded = {"pass": counts.passed, "fail": counts.failed, "ungraded": counts.ungraded}
    assert verdicts == +Counter(graded)
    for line, trial in zip(lines, harness.trials(run), strict=True):
        history = harness._read(trial_rows.scores, trial.id)
        counting = [score for score in history if score.current]
        assert not any(s.superseded or s.withdrawn_at is not None for s in counting)
        if line["state"] != "done":
            assert line["verdict"] is None
            continue
        scorers = sorted(score["scorer"] for score in line["scores"])
        assert scorers == sorted(SCORERS), f"{line['case_id']}: scores lost or doubled"
        come_to = tally([score.as_score() for score in counting])
        assert (line["verdict"], line["score"]) == (come_to.verdict, come_to.score)
        assert all(score.reason for score in counting if score.verdict is Verdict.UNGRADED)
        assert {score.output for score in counting} == {trial.output}, "scores of another output"
    assert harness.sql("SELECT 1 FROM attempts WHERE state = 'sent'") == []
    assert harness.sql("SELECT 1 FROM judge_calls WHERE state = 'sent'") == []
    written = sum(trial.attempts for trial in harness.trials(run))
    assert written == counts.attempts + counts.lost + unsent(harness, run)


_RESCORED = (
    "moves m JOIN requests r ON r.id = m.request AND r.verb IN ('rescore', 'resume') "
    "WHERE m.trial = t.id AND m.undone_by IS NULL ORDER BY m.id DESC LIMIT 1"
)
"""The last rescore of a trial `t` that stands."""


def assert_acknowledged(harness: Harness, run: int) -> None:
    """Check that what was accepted was done, and done to what there is now."""
    stale = harness.sql(
        "SELECT t.id FROM trials t JOIN scores s ON s.trial = t.id WHERE t.state = 'done' "
        f"AND s.current = 1 AND s.id <= (SELECT m.last_score FROM {_RESCORED})"
    )
    assert stale == [], "rests on a score from before its last rescore"
    asked_before = harness.sql(
        "SELECT t.id FROM trials t JOIN findings f ON f.trial = t.id "
        "JOIN judge_calls c ON c.id = f.call WHERE t.state = 'done' AND f.superseded = 0 "
        f"AND c.sent_at < (SELECT m.at FROM {_RESCORED})"
    )
    lost = harness.sql("SELECT id FROM attempts WHERE state = 'answered' AND output IS NULL")
    assert lost == [], "an answer was lost"
    last: dict[int, tuple[str, float]] = {}
    anew: set[int] = set()
    every = [trial.id for trial in harness.trials(run)]
    for verb, args, outcome, at in harness.sql(
        "SELECT verb, args, outcome, answered_at FROM requests ORDER BY id"
    ):
        assert outcome is not None, "nobody answered it"
        for trial in json.loads(args).get("trials", every):
            last[trial] = (verb, at)
            if verb == Verb.RESCORE:  # other scorers may take what judges have said before
                (anew.discard if "scorer_specs" in args else anew.add)(trial)
    old = anew.intersection(row[0] for row in asked_before)
    assert not old, "rests on what a judge was asked before its last rescore"
    for trial in harness.trials(run):
        verb, at = last.get(trial.id, ("", 0.0))
        moved = harness.sql("SELECT since FROM trials WHERE id = ?", trial.id)[0][0] > at
        assert not (verb == Verb.CANCEL and moved), "went on after it was cancelled"


def _exported(db: sqlite3.Connection, run: int) -> list[dict[str, Any]]:
    return [json.loads(line) for line in jsonl(db, run_queries.run(db, run), ExportChoice())]


async def told(
    harness: Harness, seed: int, steps: int, *, processes: bool = False, kept: bool = False
) -> None:
    """Tell a story that a seed draws, and check where it ends.

    Args:
        harness: The store.
        seed: The seed.
        steps: How many things happen.
        processes: Whether engines may be processes.
        kept: Whether figures are kept all the while, and are to be what counting gives.
    """
    moody = Moody(seed)
    server: dict[str, Any] = {"script": moody.script, "record": False}
    async with FakeModel(**server) as target, FakeModel(answers(moody.grade), **server) as judge:
        run = harness.create(described(target.base_url, judge.base_url))
        story = Story(harness, run, seed, processes=processes)
        try:
            if kept:
                with keeping(5), reading(harness.path) as db:
                    story.after_each = partial(see_that_kept_is_counted, db, harness.path, run)
                    await story.goes_on(steps)
            else:
                await story.goes_on(steps)
            await story.comes_to_rest()
            assert_rules(harness, run)
            assert_acknowledged(harness, run)
            await story.resumes()
            assert_rules(harness, run)
            assert harness.row(run).state is RunState.DONE
        finally:
            print(f"seed {seed}: {', '.join(story.told)}")
            await story.die()


async def test_whatever_is_asked_in_whatever_order_a_run_follows_its_rules(
    harness: Harness, seed: int
) -> None:
    await told(harness, seed, 20)


async def test_figures_that_are_kept_follow_whatever_is_asked(harness: Harness, seed: int) -> None:
    await told(harness, seed, 12, kept=True)


async def test_the_rules_are_followed_where_nothing_can_be_scored_at_once(
    harness: Harness, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(seed)

    def slowly(check: Check, output: Output, _: IsolatedCalls) -> Grade | Item:
        if loop_bounds.asked():
            raise NotAtOnceError
        time.sleep(draw.random() * 0.02)  # in a thread
        return deciding.decide(check, output)

    monkeypatch.setattr(deciding, "decided", slowly)
    monkeypatch.setattr(trial_pool, "MAX_SCORED", 5)
    await told(harness, seed, 20)


@pytest.mark.whole
@pytest.mark.timeout(900)
async def test_many_stories_of_requests_kills_and_bad_judges_follow_the_rules(
    tmp_path: Path, seed: int
) -> None:
    for number in range(seed, seed + 30):
        harness = Harness(tmp_path / f"store-{number}.sqlite3")
        await told(harness, number, 40, processes=number % 3 == 0, kept=number % 2 == 0)
