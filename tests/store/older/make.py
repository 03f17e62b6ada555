"""Make the store that is kept of the present version: `python -m tests.store.older.make`."""

import asyncio
import json
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.engine.harness import Harness, suite
from tests.servers.fake_judge import answers, asked, by_number
from tests.servers.fake_model import FakeModel, Reply, hangs
from tests.store.older.kept import HERE, dumped, told
from tests.waiting import until
from tui_eval.engine.control import verbs
from tui_eval.engine.control.submit import ask
from tui_eval.engine.limits.limiter import Limiter
from tui_eval.engine.limits.started_call import LimitChange
from tui_eval.model.outputs.output import ExhaustedQuota, Failure, Output
from tui_eval.store import requests, schema
from tui_eval.store.connection import open_readable
from tui_eval.store.requests import Verb
from tui_eval.store.tx import Tx
from tui_eval.store.write import run_writes
from tui_eval.store.write.people import notes
from tui_eval.store.writer import once

WRONG: dict[str, Any] = {
    "scorer_specs": [{"kind": "exact", "name": "exact", "expected": "never"}],
    "judge_specs": [],
}


async def main() -> None:
    """Make a store in which something of everything has happened, and keep what it tells."""
    with tempfile.TemporaryDirectory() as folder:
        harness = Harness(Path(folder) / "store.sqlite3")
        async with FakeModel(answers(by_number)) as server:
            await cancelled(harness, server)
            await judged(harness, server)
            await overlapping(harness, server)
            await rescored_from_cancelled(harness, server)
            await killed(harness, server)
        version = len(schema.MIGRATIONS)
        with closing(open_readable(harness.path)) as db:
            text = json.dumps(told(db), indent=1, sort_keys=True)
        (HERE / f"schema-{version}.json").write_text(text + "\n", encoding="utf-8")
        kept = dumped(harness.path, server.base_url)
        (HERE / f"schema-{version}.sql.gz").write_bytes(kept)


async def judged(harness: Harness, server: FakeModel) -> None:
    """Two targets, a judge with gold; a retry, a rescore that was undone, one that was not."""
    described = {"kind": "model", "name": "j", "base_url": server.base_url, "model": "fake-judge"}
    gold = [{"input": f"q{i}", "output": f"q{i}", "grade": i} for i in (1, 2, 8)]
    target = {"kind": "model", "base_url": server.base_url}
    rubric = {"kind": "judge", "name": "good", "rubric": "Good?", "scale": [0, 10], "judge": ["j"]}
    made = suite(
        server.base_url,
        5,
        name="judged",
        targets=[
            {**target, "name": "paid", "model": "a", "prices": {"input": 3.0, "output": 15.0}},
            {**target, "name": "unpriced", "model": "b"},
        ],
        scorers=[{"kind": "exact", "name": "exact", "expected": "{{ q }}"}, rubric],
        judges=[{**described, "gold": gold, "audit": 0.4, "prices": {"input": 1.0, "output": 2.0}}],
    )
    run = await harness.run(made)
    first = harness.trials(run)[0].id
    once(harness.path, lambda tx: notes.write(tx, {first: "first thought"}))
    once(harness.path, lambda tx: notes.write(tx, {first: "looked at by a person"}))
    await harness.again(run, Verb.RETRY, trials=[harness.trials(run)[2].id])
    undone = await harness.again(run, Verb.RESCORE, which="all")
    ask(harness.path, run, Verb.WITHDRAW, {"request": undone.id})
    await harness.again(run, Verb.RESCORE, which="all", **WRONG)


async def overlapping(harness: Harness, server: FakeModel) -> None:
    """A rescore of three trials; one of them scored again since, one retried."""
    run = await harness.run(suite(server.base_url, 3, name="overlapping"))
    ids = [trial.id for trial in harness.trials(run)]
    await harness.again(run, Verb.RESCORE, which="all", **WRONG)
    await harness.again(run, Verb.RESCORE, trials=ids[:1])
    await harness.again(run, Verb.RETRY, trials=ids[1:2])


async def rescored_from_cancelled(harness: Harness, server: FakeModel) -> None:
    """Trials that were cancelled while a judge was asked about them, and then scored."""
    server.script = lambda call: Reply("hang") if asked(call.body) else None
    judge = {"kind": "model", "name": "j", "base_url": server.base_url, "model": "slow-judge"}
    rubric = {"kind": "judge", "name": "good", "rubric": "Good?", "scale": [0, 10], "judge": ["j"]}
    made = suite(server.base_url, 2, name="stood", scorers=[rubric], judges=[judge])
    sent = server.requests
    async with harness.working(made) as (run, _):
        await until(lambda: server.requests > sent and harness.counts(run).scoring == 2)
        await harness.asked(run, Verb.CANCEL, which="all")
    server.script = None
    await harness.again(run, Verb.RESCORE, which="all")


async def killed(harness: Harness, server: FakeModel) -> None:
    """A rescore whose engine was killed when it had moved one of three trials."""
    run = await harness.run(suite(server.base_url, 3, name="killed"))

    def begun(tx: Tx) -> None:
        request = requests.ask(tx, run, Verb.RESCORE, {"which": "all"})
        first = verbs.selected(tx.db, run, {"which": "all"})[:1]
        verbs.move_trials(tx.db, run, Verb.RESCORE, {"which": "all"}, request=request)(tx, first)

    once(harness.path, begun)


async def cancelled(harness: Harness, server: FakeModel) -> None:
    """Two trials cancelled by a request each, and endpoints that are left alone, or were."""
    server.script = hangs("q0", "q1")
    async with harness.working(suite(server.base_url, 4, name="cancelled")) as (run, _):
        await until(lambda: harness.row(run).staged and harness.counts(run).done == 2)
        for case in ("c0", "c1"):
            await harness.asked(run, Verb.CANCEL, trials=[harness.trial(run, case).id])
    server.script = None
    heard: list[LimitChange] = []
    refused = Failure("rate_limit", "no", retryable=True, retry_after_s=9.0, status=429)
    empty = Failure("rate_limit", "no", exhausted=ExhaustedQuota("requests", 30.0), status=429)
    stories: dict[str, Sequence[Failure | Output | None]] = {
        "refuses": [refused] * 3,
        "answered-others": [*[refused] * 3, None],
        "answers-again": [*[refused] * 3, Output("yes")],
        "empty": [empty],
    }
    for endpoint, replies in stories.items():
        limiter = Limiter(endpoint, 8, heard.append)
        for second, reply in enumerate(replies):
            if reply is None:
                limiter.lift()
            else:
                limiter.heard(reply, float(second))

    def write(tx: Tx) -> None:
        for change in heard:
            run_writes.add_limit(tx, run, change.endpoint, change.concurrency, change.event)

    once(harness.path, write)


if __name__ == "__main__":
    asyncio.run(main())
