"""Places of connections: what the calls to all endpoints share."""

import asyncio
from contextlib import AsyncExitStack

from tui_eval.providers.http.descriptors import CallPlaces


class Kept:
    """A pool with connections that nobody uses."""

    def __init__(self, n: int) -> None:
        self.n = n

    def close_unused(self) -> bool:
        closed, self.n = self.n, 0
        return closed > 0


async def turn() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


class Calls:
    """Calls that end when they are told to."""

    def __init__(self, places: CallPlaces) -> None:
        self.places = places
        self.begun: list[int] = []
        self.tasks: dict[int, asyncio.Task[None]] = {}
        self._end: dict[int, asyncio.Event] = {}

    async def start(self, *numbers: int) -> None:
        for n in numbers:
            self._end[n] = asyncio.Event()
            self.tasks[n] = asyncio.create_task(self._call(n))
        await turn()

    async def end(self, *numbers: int) -> None:
        for n in numbers:
            self._end[n].set()
        await turn()

    async def _call(self, n: int) -> None:
        async with self.places:
            self.begun.append(n)
            await self._end[n].wait()


async def test_no_more_calls_are_under_way_than_there_are_places_and_the_first_goes_first() -> None:
    calls = Calls(CallPlaces(2))
    await calls.start(0, 1, 2, 3)
    assert calls.begun == [0, 1]
    await calls.end(1)
    await calls.start(4)
    assert calls.begun == [0, 1, 2]
    await calls.end(0, 2)
    assert calls.begun == [0, 1, 2, 3, 4]
    await calls.end(3, 4)


async def test_a_call_that_is_cancelled_as_it_gets_its_place_gives_it_on() -> None:
    calls = Calls(CallPlaces(1))
    await calls.start(0, 1, 2, 3)
    calls.tasks[1].cancel()  # while it waits
    await turn()
    calls._end[0].set()
    while not calls.tasks[0].done():
        await asyncio.sleep(0)
    calls.tasks[2].cancel()  # it has its place by now, and perhaps has not begun
    await turn()
    assert calls.begun[-1] == 3
    await calls.end(3)
    await calls.start(4)
    assert calls.begun[-1] == 4, "no place is lost"
    await calls.end(4)


async def test_a_call_without_a_descriptor_has_unused_connections_closed_first() -> None:
    places, kept = CallPlaces(2), [Kept(3), Kept(1)]
    for pool in kept:
        places.join(pool)
    async with places:
        assert await places.short()
    assert [pool.n for pool in kept] == [0, 0]
    async with asyncio.timeout(10), places, places:
        pass  # there are two places yet


async def test_else_it_takes_a_place_away_that_comes_back_with_a_round_of_calls() -> None:
    places = CallPlaces(3)
    async with AsyncExitStack() as held:
        for _ in range(3):
            await held.enter_async_context(places)
        assert await places.short()
    calls = Calls(places)
    await calls.start(0, 1, 2)
    assert calls.begun == [0, 1]
    places.found()
    places.found()
    places.found()
    await calls.end(0, 1, 2)
    await calls.start(3, 4, 5, 6)
    assert calls.begun == [0, 1, 2, 3, 4, 5]
    await calls.end(3, 4, 5, 6)


async def test_one_place_is_always_left_and_who_is_alone_knows_it() -> None:
    places = CallPlaces(2)
    for _ in range(3):
        async with places:
            assert not await places.short()
    async with asyncio.timeout(10), places:
        pass
