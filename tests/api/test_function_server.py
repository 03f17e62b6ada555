"""An engine has functions of this program called: over a socket, with the engine in this process.

That the engine is another process, and this one ends, stands in `test_run.py`.
"""

import asyncio
import contextvars
import json
import socket
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.engine.harness import Harness
from tui_eval.api.function_server import FunctionServer
from tui_eval.api.given import GivenFunction, with_names
from tui_eval.engine.control.submit import ask
from tui_eval.engine.departure import CALLER_GONE
from tui_eval.engine.engine import Engine
from tui_eval.model.states import RunState
from tui_eval.reports.results import results
from tui_eval.reports.terminal.summary import summary
from tui_eval.reports.terminal.tables import AnsiStyle
from tui_eval.store.connection import open_readable
from tui_eval.store.requests import Verb
from tui_eval.suites.loading.suite_file import load
from tui_eval.suites.spec import Suite
from tui_eval.targets.caller.caller_connection import CallerConnection, caller

CASES = [{"id": f"c{n}", "q": f"q{n}"} for n in range(4)]
WHO = contextvars.ContextVar("WHO", default="nobody")


@asynccontextmanager
async def served(
    *functions: Callable[..., Any],
    gone: Callable[[], None] = lambda: None,
    loop: asyncio.AbstractEventLoop | None = None,
) -> AsyncIterator[tuple[CallerConnection, list[str], FunctionServer]]:
    """Give a connection to functions, and the digests of their code."""
    held = [GivenFunction(one) for one in functions]
    server = FunctionServer(held, loop)
    descriptor = server.engine_end.detach()
    server.serve()
    async with caller(descriptor, gone) as connection:
        yield connection, [one.code for one in held], server


async def test_functions_are_called_in_threads_and_on_loops() -> None:
    here = asyncio.get_running_loop()
    place: list[object] = []

    def plain(x: int, *, y: int = 0) -> dict[str, int]:
        place.append(threading.current_thread() is not threading.main_thread())
        return {"sum": x + y}

    async def awaited(x: int) -> list[object]:
        place.append(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return [x, WHO.get()]

    async with served(plain, awaited, loop=here) as (connection, (first, second), _):
        replies = await asyncio.gather(
            connection.call(first, [1], {"y": 2}),
            connection.call(second, [3], {}),
            connection.call(first, [], {"x": 1, "case": 5}, offered=False),
        )
    assert [one.reply.get("returned") for one in replies] == [{"sum": 3}, [3, "nobody"], None]
    wrong = replies[2].reply["raised"]
    assert isinstance(wrong, dict)
    assert "unexpected keyword argument 'case'" in str(wrong["summary"])
    assert "function_server.py" not in str(wrong["traceback"])
    assert place == [True, here]
    async with served(awaited) as (connection, (second,), _):
        await connection.call(second, [3], {})
    assert place[2] is not here


async def test_a_call_has_the_context_of_whoever_started_the_run() -> None:
    WHO.set("somebody")
    async with served(lambda case: WHO.get()) as (connection, (code,), _):
        assert (await connection.call(code, [0], {})).reply["returned"] == "somebody"


async def test_whatever_a_function_does_is_a_reply() -> None:
    def odd(what: str) -> object:
        if what == "exit":
            raise SystemExit(3)
        return {"object": object(), "infinite": float("inf"), "large": "x" * 300_000}[what]

    async with served(odd) as (connection, (code,), _):
        found = [await connection.call(code, [one], {}) for one in ("exit", "object", "infinite")]
        large = await connection.call(code, ["large"], {})
    raised = found[0].reply["raised"]
    assert isinstance(raised, dict)
    assert raised["summary"] == "SystemExit: 3"
    assert found[1].reply["unsuitable"] == "what it returned is of type object, which is not JSON"
    assert found[2].reply["unsuitable"] == "what it returned is inf, which is not JSON"
    assert large.large


async def test_a_call_that_nobody_waits_for_is_cancelled_there() -> None:
    told = asyncio.Event()

    async def endless(case: object) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            told.set()

    async with served(endless, loop=asyncio.get_running_loop()) as (connection, (code,), _):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await connection.call(code, [0], {})
        await asyncio.wait_for(told.wait(), 10)


def loaded(folder: Path, **parts: Any) -> tuple[Suite, list[GivenFunction]]:
    given, functions = with_names({"cases": CASES, **parts})
    return load(folder / "(mapping)", given=given), functions


async def work(harness: Harness, run: int, functions: list[GivenFunction]) -> None:
    """Work on a run as an engine's process does."""
    engine = Engine(harness.path, run)
    server = FunctionServer(functions, asyncio.get_running_loop())
    descriptor = server.engine_end.detach()
    server.serve()
    async with caller(descriptor, partial(engine.leave, CALLER_GONE)):
        await asyncio.wait_for(engine.run(), 30)


async def test_targets_and_scorers_are_functions(tmp_path: Path) -> None:
    def shout(case: dict[str, Any]) -> str:
        if case["q"] == "q3":
            raise ValueError("no q3")
        return str(case["q"]).upper()

    async def right(output: str, case: dict[str, Any]) -> dict[str, object]:
        if output == "Q2":
            raise RuntimeError("cannot say")
        return {"value": 0.5, "verdict": "pass", "reason": f"{output} for {case['q']}"}

    harness = Harness(tmp_path / "store.db")
    suite, functions = loaded(tmp_path, target=shout, scorers=[right])
    run = harness.create(suite)
    await work(harness, run, functions)
    assert [trial.state.value for trial in harness.trials(run)] == ["done"] * 3 + ["error"]
    assert harness.trial(run, "c3").error_message == "ValueError: no q3"
    scores = dict(harness.sql("SELECT trial, reason FROM scores"))
    assert scores[harness.trial(run, "c0").id] == "Q0 for q0"
    assert "right raised RuntimeError: cannot say" in scores[harness.trial(run, "c2").id]
    assert harness.counts(run).ungraded == 1
    # unchanged code is not called again, changed code is
    called = harness.sql("SELECT count(*) FROM attempts")
    again = harness.create(suite)
    await work(harness, again, functions)
    assert harness.sql("SELECT count(*) FROM attempts WHERE state = 'answered'") == [(3,)]
    assert called == [(4,)]
    changed, others = loaded(tmp_path, target=lambda case: case["q"], scorers=[right])
    await work(harness, harness.create(changed), others)
    assert harness.sql("SELECT count(*) FROM attempts WHERE state = 'answered'") == [(7,)]


async def test_where_the_program_has_ended_the_run_goes_on_in_another(tmp_path: Path) -> None:
    harness = Harness(tmp_path / "store.db")
    suite, functions = loaded(tmp_path, target=lambda case: case["q"])
    run = harness.create(suite)
    engine = Engine(harness.path, run)
    engine_end, program = socket.socketpair()
    program.sendall(json.dumps({"functions": [functions[0].code]}).encode() + b"\n")
    async with caller(engine_end.detach(), partial(engine.leave, CALLER_GONE)):
        working = asyncio.create_task(engine.run())
        assert b'"call": 0' in await asyncio.to_thread(program.recv, 1000)
        program.close()
        await asyncio.wait_for(working, 30)
    left = harness.row(run)
    assert (left.state, left.stopped_by) == (RunState.INTERRUPTED, "caller")
    assert {trial.state.value for trial in harness.trials(run)} == {"queued"}
    with closing(open_readable(harness.path)) as db:  # no command could go on with it
        said = summary(results(db, run), width=100, ink=AnsiStyle(), store=harness.path)
    named = f'te.open("{left.name}", store="{harness.path}")'
    assert f"{named}.resume(functions=[…])" in said
    assert "tui-eval resume" not in said
    ask(harness.path, run, Verb.RESUME)
    await work(harness, run, functions)
    assert harness.row(run).state is RunState.DONE
    assert harness.counts(run).done == len(CASES)
