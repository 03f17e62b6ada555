"""Runs whose judge is asked in bulk, on a simulated provider; the target is asked live there."""

from typing import Any

from tests.engine.bulk.bulk_runs import SOON
from tests.engine.harness import Harness, judged
from tests.servers.fake_bulk import FakeBulk
from tests.servers.fake_judge import Grader, asked, by_number, reply
from tui_eval.engine.control.submit import ask
from tui_eval.engine.engine import Engine
from tui_eval.store.connection import open_readable
from tui_eval.store.read.judges.judge_figures import JudgeFigures, judge_figures
from tui_eval.store.requests import Verb
from tui_eval.suites.spec import Suite


class Grading:
    """What a provider's model answers: a grade for each item, or what a target is asked."""

    def __init__(self, grader: Grader = by_number) -> None:
        self.grader = grader
        self.items: list[list[str]] = []
        """The outputs of each request for grades, in their order of arrival."""

    def __call__(self, prompt: str) -> str:
        request = asked({"messages": [{"content": prompt}]})
        if request is None:
            return prompt
        self.items.append([str(item["output"]) for item in request["items"]])
        return reply(request, self.grader)

    @property
    def graded(self) -> list[str]:
        """Every output that was graded, as often as it was."""
        return sorted(output for items in self.items for output in items)


def bulk_judged(server: FakeBulk, n: int, /, **changes: Any) -> Suite:
    """Give a suite of n questions whose judge is asked in bulk."""
    bulk = {"size": changes.pop("size", 10_000)}
    judge = {"bulk": bulk, "batch_size": 5, **changes.pop("judge", {})}
    return judged(server.base_url, server.base_url, n, judge=judge, **changes)


def open_ones(harness: Harness) -> int:
    """Count the consignments of which something may be left to take."""
    return int(harness.sql("SELECT count(*) FROM consignments WHERE taken_at IS NULL")[0][0])


def assert_graded(harness: Harness, run: int, n: int) -> None:
    """See that each trial is graded once, by a finding of its own."""
    assert {str(trial.state) for trial in harness.trials(run)} == {"done"}
    assert harness.counts(run).done == n
    of_run = "superseded = 0 AND trial IN (SELECT id FROM trials WHERE run = ?)"
    found = f"SELECT count(*), count(DISTINCT trial) FROM findings WHERE {of_run}"
    assert harness.sql(found, run) == [(n, n)]
    assert harness.sql(f"SELECT count(*) FROM scores WHERE {of_run}", run) == [(n,)]
    assert harness.sql("SELECT count(*) FROM judge_calls WHERE state = 'sent'") == [(0,)]
    assert not open_ones(harness)


async def again(harness: Harness, run: int, verb: Verb, **args: Any) -> None:
    """Ask something of a run nobody works on, and work on it until it settles."""
    ask(harness.path, run, verb, args)
    await Engine(harness.path, run, polling=SOON).run()


def figures(harness: Harness, run: int) -> JudgeFigures:
    """Return the figures of the only judge of a run, for its only scorer."""
    db = open_readable(harness.path)
    try:
        (only,) = judge_figures(db, run)
        return only
    finally:
        db.close()
