"""Parquet files as data."""

import io
import sys
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.data.rows import DataProblems, read_rows
from tui_eval.suites.loading.errors import SuiteError


def packed(table: pa.Table, **options: Any) -> bytes:
    written = io.BytesIO()
    pq.write_table(table, written, **options)
    return written.getvalue()


def read(path: Path) -> list[tuple[int, JsonObject]]:
    problems = DataProblems()
    found = list(read_rows(path, path.name, problems))
    problems.settle()
    return found


def told(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    with pytest.raises(SuiteError) as caught:
        read(path)
    return str(caught.value)


def test_rows_come_with_their_number(tmp_path: Path) -> None:
    rows: list[JsonObject] = [
        {"id": n, "text": f"t{n}", "all": {"of": [n, None]}} for n in range(300)
    ]
    path = tmp_path / "d.parquet"
    path.write_bytes(packed(pa.Table.from_pylist(rows), row_group_size=70))
    assert read(path) == [*enumerate(rows, 1)]


def test_what_json_does_not_have_becomes_what_it_has(tmp_path: Path) -> None:
    columns: dict[str, tuple[object, Json]] = {
        "when": (datetime(2026, 1, 2, 3, tzinfo=UTC), "2026-01-02T03:00:00+00:00"),
        "day": (datetime(2026, 1, 2).date(), "2026-01-02"),  # noqa: DTZ001 - a day
        "took": (timedelta(seconds=1.5), 1.5),
        "price": (Decimal("1.25"), 1.25),
        "raw": (b"\0\xff", "AP8="),
        "nan": (float("nan"), None),
        "big": (2**60, 2**60),
        "no": (None, None),
        "yes": (True, True),
    }
    table = pa.table({name: [given] for name, (given, _) in columns.items()})
    pairs = pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64()))
    path = tmp_path / "d.parquet"
    path.write_bytes(packed(table.append_column("map", pairs)))
    assert read(path) == [
        (1, {name: one for name, (_, one) in columns.items()} | {"map": {"a": 1}})
    ]


def test_a_file_that_is_cut_off_or_none_is_told(tmp_path: Path) -> None:
    whole = packed(pa.table({"a": range(1000)}))
    for content in (whole[: len(whole) // 2], b"hello", b""):
        said = told(tmp_path / "d.parquet", content)
        assert said.startswith("d.parquet: is cut off or no Parquet file: ")


def test_a_damaged_row_is_told_with_its_number(tmp_path: Path) -> None:
    table = pa.table({"a": [str(n * n) for n in range(2000)]})
    whole = bytearray(packed(table, row_group_size=1000, use_dictionary=False))
    at = len(whole) * 3 // 4
    whole[at : at + 60] = b"\xff" * 60
    assert told(tmp_path / "d.parquet", bytes(whole)).startswith(
        "d.parquet, line 961: is damaged, in this row or one of the 63 after it: "
    )


def test_text_that_is_none_is_told_with_its_row(tmp_path: Path) -> None:
    texts = pa.array([b"x"] * 70 + [b"\xff"], pa.binary()).cast(pa.string(), safe=False)
    said = told(tmp_path / "d.parquet", packed(pa.table({"a": texts})))
    assert said == "d.parquet, line 65: is not UTF-8 text, in this row or one of the 63 after it"


def test_a_column_that_is_there_twice_is_told(tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    assert told(tmp_path / "d.parquet", packed(table)) == 'd.parquet: has the column "a" twice'


def test_a_file_made_to_fill_the_memory_is_refused(tmp_path: Path) -> None:
    said = told(
        tmp_path / "d.parquet", packed(pa.table({"a": ["x" * 9_000_000]}), compression="zstd")
    )
    assert said == 'd.parquet: unpacks to more than 100 times its size in column "a"'


def test_without_the_library_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert told(tmp_path / "d.parquet", b"x") == (
        "d.parquet: is Parquet, which needs pyarrow: pip install 'tui-eval[parquet]'"
    )
