"""Compressed data: read as plain data is, and where it is broken, told with the line reached."""

import gzip
import json
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from io import BufferedReader, BytesIO
from pathlib import Path

import pytest

from tui_eval.suites.data import unpacking
from tui_eval.suites.data.rows import DataProblems, read_rows
from tui_eval.suites.data.unpacking import BrokenFileError, unpacked
from tui_eval.suites.loading.errors import SuiteError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PACKERS: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".zst": zstd.compress}
LINES = b"".join(json.dumps({"id": n, "text": f"{n * n:x}"}).encode() + b"\n" for n in range(9000))

each = pytest.mark.parametrize("suffix", [".gz", ".zst"])


def read(path: Path) -> Iterator[int | None]:
    problems = DataProblems()
    for line, _ in read_rows(path, path.name, problems):
        yield line
    problems.settle()


def told(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    with pytest.raises(SuiteError) as caught:
        list(read(path))
    return str(caught.value)


@each
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("d.jsonl", b'{"a": "1"}\n\n{"a": "2"}'),
        ("d.json", b'[\n{"a": "1"},\n\n{"a": "2"}]'),
        ("d.csv", b"a\n1\n\n2\n"),
        ("D.TSV", b"a\n1\n\n2\n"),
    ],
)
def test_every_format_is_read_as_it_is_unpacked(
    tmp_path: Path, suffix: str, name: str, content: bytes
) -> None:
    packed = tmp_path / (name + suffix)
    packed.write_bytes(PACKERS[suffix](content))
    plain = tmp_path / name
    plain.write_bytes(content)
    assert list(read(packed)) == list(read(plain))


@each
def test_several_parts_one_after_the_other_are_one_file(tmp_path: Path, suffix: str) -> None:
    packed = tmp_path / f"d.jsonl{suffix}"
    packed.write_bytes(PACKERS[suffix](b'{"a": 1}\n') + PACKERS[suffix](b'{"a": 2}\n'))
    assert list(read(packed)) == [1, 2]


@each
def test_a_bad_line_is_told_with_its_number(tmp_path: Path, suffix: str) -> None:
    packed = PACKERS[suffix](b'{"a": 1}\n\n{"a" 1}\n')
    assert told(tmp_path / f"d.jsonl{suffix}", packed).startswith(
        f"d.jsonl{suffix}, line 3: is not"
    )


@each
def test_a_file_that_is_cut_off_is_told_with_the_line_reached(tmp_path: Path, suffix: str) -> None:
    packed = PACKERS[suffix](LINES)
    name = f"d.jsonl{suffix}"
    said = told(tmp_path / name, packed[: len(packed) * 3 // 4])
    place, _, why = said.partition(": ")
    assert why == "is cut off: the compressed file ends early"
    line = int(place.removeprefix(f"{name}, line "))
    assert 1 <= line < 9000
    assert told(tmp_path / name, b"") == f"{name}: is empty, which no compressed file is"


@each
def test_a_file_that_is_damaged_or_something_else_is_told(tmp_path: Path, suffix: str) -> None:
    packed = bytearray(PACKERS[suffix](LINES))
    packed[-8] ^= 1  # of the checksum
    name = f"d.jsonl{suffix}"
    assert ": cannot be unpacked: " in told(tmp_path / name, bytes(packed))
    assert told(tmp_path / name, b"[1, 2]").startswith(f"{name}, line 1: cannot be unpacked: ")


@each
def test_a_file_made_to_fill_the_memory_is_stopped(
    suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "_ALWAYS", 1_000_000)
    bomb = PACKERS[suffix](b"x" * 8_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(BrokenFileError, match="unpacks to more than 200 times its size and 1"):
            for _ in unpacked(BufferedReader(BytesIO(bomb)), suffix, 10):
                pass
        assert tracemalloc.get_traced_memory()[1] < 6_000_000
    finally:
        tracemalloc.stop()


def test_an_unknown_format_lists_those_there_are(tmp_path: Path) -> None:
    assert told(tmp_path / "d.parquet.gz", b"x") == (
        'd.parquet.gz: unknown format ".parquet.gz": '
        "use .jsonl, .json, .csv, .tsv (also .gz or .zst of these) or .parquet"
    )
