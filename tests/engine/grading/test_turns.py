"""Turns at something of which only so many may be at once."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from tui_eval.engine.grading.turns import Turns


class Line:
    """Tasks that have a turn, or wait for theirs."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.turns = Turns(lambda: self.most)
        self.inside: list[str] = []
        self._leave: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def come(self, *names: str) -> None:
        for name in names:
            self._leave[name] = asyncio.Event()
            self.tasks[name] = asyncio.create_task(self._be(name))
        await settled()

    async def go(self, *names: str) -> None:
        for name in names:
            self._leave[name].set()
        await settled()

    async def _be(self, name: str) -> None:
        async with self.turns:
            self.inside.append(name)
            await self._leave[name].wait()
            self.inside.remove(name)


async def settled() -> None:
    """Let all tasks do what they can."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_those_who_wait_get_theirs_in_their_order() -> None:
    line = Line(2)
    await line.come("a", "b", "c", "d")
    assert line.inside == ["a", "b"]
    await line.go("b")
    assert line.inside == ["a", "c"]
    await line.come("e")
    await line.go("a")
    assert line.inside == ["c", "d"]


async def test_more_and_fewer_at_once() -> None:
    line = Line(0)  # one may, whatever is said
    await line.come("a", "b", "c", "d")
    assert line.inside == ["a"]
    line.most = 3
    await line.come("e")
    assert line.inside == ["a", "b", "c"]
    line.most = 1
    await line.go("a", "b")
    assert line.inside == ["c"]
    await line.go("c")
    assert line.inside == ["d"]


async def test_who_is_cancelled_takes_no_turn() -> None:
    line = Line(1)
    async with line.turns:
        await line.come("a", "b", "c")
        line.tasks["a"].cancel()  # as it waits
        await settled()
    line.tasks["b"].cancel()  # it has been given its turn, of which it does not know yet
    await settled()
    assert line.inside == ["c"]
    await line.go("c")
    assert all(task.done() for task in line.tasks.values())


async def test_a_failure_inside_gives_the_turn_back() -> None:
    turns = Turns(lambda: 1)
    with pytest.raises(RuntimeError):
        async with turns:
            raise RuntimeError
    async with AsyncExitStack() as stack, asyncio.timeout(5):
        await stack.enter_async_context(turns)
