import tracemalloc
from collections.abc import AsyncIterator

from hypothesis import given
from hypothesis import strategies as st

from tui_eval.providers.bulk.line_stream import NumberedLine, lines_of


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


async def test_of_a_line_that_is_too_long_only_that_it_is_there_is_kept() -> None:
    long = [b"x" * 60, b"x" * 60 + b"\nnext\n", b"y" * 101]
    assert await lines(long) == [
        NumberedLine(1, None),
        NumberedLine(2, b"next"),
        NumberedLine(3, None, whole=False),
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
    assert got == [NumberedLine(1, None, whole=False)]
    assert most < 3_000_000
