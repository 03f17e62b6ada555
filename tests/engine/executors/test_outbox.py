"""Messages leave together, few enough and short enough."""

import asyncio

from tui_eval.engine.executors.handful import (
    HANDFUL,
    HANDFUL_BYTES,
    AttemptOrder,
    Order,
    orders,
    packed,
)
from tui_eval.engine.executors.outbox import Outbox


def order(n: int, size: int = 1) -> AttemptOrder:
    return AttemptOrder(n, "t", "id", {"q": "x" * size}, 2.0, {})


async def sent(*messages: AttemptOrder) -> list[bytes]:
    handfuls: list[bytes] = []
    outbox: Outbox[Order] = Outbox(handfuls.append, lambda: 0.0)
    for one in messages:
        outbox.put(one)
    await asyncio.sleep(0)
    assert [one.attempt for data in handfuls for one in orders(data)] == [
        one.attempt for one in messages
    ]
    return handfuls


async def test_many_messages_are_several_handfuls() -> None:
    found = await sent(*map(order, range(HANDFUL + 1)))
    assert [len(orders(data)) for data in found] == [HANDFUL, 1]


async def test_long_messages_are_sent_by_their_bytes() -> None:
    found = await sent(*[order(n, HANDFUL_BYTES // 3) for n in range(7)])
    assert [len(orders(data)) for data in found] == [2, 2, 2, 1]
    assert all(len(data) <= HANDFUL_BYTES for data in found)


async def test_a_message_that_is_too_long_for_others_goes_alone() -> None:
    found = await sent(order(0), order(1, 3 * HANDFUL_BYTES), order(2))
    assert [len(orders(data)) for data in found] == [1, 1, 1]


async def test_what_is_dropped_is_not_sent() -> None:
    handfuls: list[bytes] = []
    outbox: Outbox[Order] = Outbox(handfuls.append, lambda: 0.0)
    outbox.put(order(1))
    outbox.drop()
    await asyncio.sleep(0)
    outbox.put(order(2))
    await asyncio.sleep(0)
    assert handfuls == [packed(order(2))]
