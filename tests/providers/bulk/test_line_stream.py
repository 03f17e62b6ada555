import tracemalloc
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_eval.providers.bulk.line_stream import HEAD, NumberedLine, lines_of


async def parts_of(parts: list[bytes]) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def lines(parts: list[bytes], most: int = 100) -> list[NumberedLine]:
    return [line async for line in lines_of(parts_of(parts), most)]


@given(st.lists(st.text("ab\n\r", max_size=12).map(str.encode), max_size=8))
async def test_lines_are_the_same_wherever_parts_end(parts: list[bytes]) -> None:
    whole = b"".join(parts)
    numbered = enumerate(whole.split(b"\n"), 1)
    expected = [(n, line.strip()) for n, line in numbered if line.strip()]
    got = await lines(parts)
    assert [(line.number, line.content) for line in got] == expected
    ends = whole.endswith(b"\n")
    assert [line.whole for line in got] == [
        ends or line.number <= whole.count(b"\n") for line in got
    ]


async def test_of_a_line_that_is_too_long_its_beginning_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tui_eval.providers.bulk.line_stream.HEAD", 70)
    long = [b"x" * 60, b"z" * 60 + b"\nnext\n", b"y" * 101, b"y" * 50]
    assert await lines(long) == [
        NumberedLine(1, b"x" * 60 + b"z" * 10, cut=120),
        NumberedLine(2, b"next"),
        NumberedLine(3, b"y" * 70, whole=False, cut=151),
    ]
    assert await lines([b"x" * 100 + b"\n"]) == [NumberedLine(1, b"x" * 100)]


async def test_a_line_without_an_end_takes_no_memory() -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(200):
            yield bytes(100_000)

    tracemalloc.start()
    got = [line async for line in lines_of(endless(), 1_000_000)]
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert got == [NumberedLine(1, bytes(HEAD), whole=False, cut=20_000_000)]
    assert most < 3_000_000
