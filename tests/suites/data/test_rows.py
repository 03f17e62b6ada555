import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.data import rows
from tui_eval.suites.data.files import formats
from tui_eval.suites.data.rows import DataProblems, read_json, read_rows
from tui_eval.suites.loading.errors import SuiteError


def read(folder: Path, name: str, content: str | bytes) -> list[tuple[int, JsonObject]]:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    problems = DataProblems()
    found = list(read_rows(path, name, problems))
    problems.settle()
    return found


def told(folder: Path, name: str, content: str | bytes) -> list[str]:
    with pytest.raises(SuiteError) as caught:
        read(folder, name, content)
    return [str(mistake) for mistake in caught.value.mistakes]


def test_json_lines_come_with_their_line(tmp_path: Path) -> None:
    content = '{"a": 1}\n\n  \n{"a": {"b": [null]}}'
    assert read(tmp_path, "d.jsonl", content) == [(1, {"a": 1}), (4, {"a": {"b": [None]}})]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("d.jsonl", b'\xef\xbb\xbf{"a": "1"}\r\n\r\n{"a": "2"}\r\n'),
        ("d.json", b'\xef\xbb\xbf[\r\n{"a": "1"},\r\n{"a": "2"}]\r\n'),
        ("d.csv", b"\xef\xbb\xbfa\r\n1\r\n2\r\n"),
        ("d.tsv", b"\xef\xbb\xbfa\r\n1\r\n2\r\n"),
        ("D.CSV", b"a\n1\n2"),
    ],
)
def test_byte_order_marks_and_windows_line_ends_are_taken(
    tmp_path: Path, name: str, content: bytes
) -> None:
    assert [row for _, row in read(tmp_path, name, content)] == [{"a": "1"}, {"a": "2"}]


def test_every_bad_json_line_is_told_with_its_line(tmp_path: Path) -> None:
    content = b"\n".join(
        [
            b'{"a": 1}',
            b'{"a" 1}',
            b"[1]",
            b'{"a": 1, "b": 2, "a": 3}',
            b'{"a": NaN}',
            b'{"a": "\xff"}',
            b'{"a": 1} x',
            b'{"a": ' + b"9" * 5000 + b"}",
            b"[" * 100_000,
            b"7",
        ]
    )
    assert told(tmp_path, "d.jsonl", content) == [
        "d.jsonl, line 2: is not JSON in column 6: expecting ':' delimiter",
        "d.jsonl, line 3: is a list, not a JSON object",
        'd.jsonl, line 4: has the key "a" twice',
        "d.jsonl, line 5: holds NaN, which JSON does not have",
        "d.jsonl, line 6: is not UTF-8 text",
        "d.jsonl, line 7: is not JSON in column 10: extra data",
        "d.jsonl, line 8: holds a whole number of more than 4,300 digits",
        "d.jsonl, line 9: nests too deeply",
        "d.jsonl, line 10: is a number, not a JSON object",
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_a_line_that_ends_early_is_wrong_at_its_end(tmp_path: Path, end: str) -> None:
    assert told(tmp_path, "d.jsonl", f'{{"a": 1}}\n{{"a": 1,{end}')[0].startswith(
        "d.jsonl, line 2: is not JSON in column 9: "
    )


def test_reading_stops_after_twenty_mistakes(tmp_path: Path) -> None:
    assert len(told(tmp_path, "d.jsonl", "x\n" * 1000)) == rows.MOST_MISTAKES == 20


def test_a_list_of_objects_comes_with_the_line_of_each(tmp_path: Path) -> None:
    content = '[\n {"a": 1},\n\n {"a":\n 2}, {"a": 3}\n]\n'
    assert read(tmp_path, "d.json", content) == [(2, {"a": 1}), (4, {"a": 2}), (5, {"a": 3})]
    assert read(tmp_path, "d.json", " [ ] ") == []


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"a": 1}', "line 1: must hold a list of objects: [{…}, …]"),
        ("", "line 1: must hold a list of objects: [{…}, …]"),
        ('[{"a": 1}\n{"a": 2}]', "line 2: is not JSON: a comma or the end of the list is missing"),
        ('[{"a": 1},\n]', "line 2: is not JSON: expecting value"),
        ('[{"a": 1}', "line 1: is not JSON: a comma or the end of the list is missing"),
        ('[{"a": 1}]\n x', "line 2: goes on after the end of the list"),
        ('[{"a": 1},\n{"a": \n oops}]', "line 3: is not JSON: expecting value"),
        ('[{"a": 1},\n\n{"a": 1, "a": 2}]', 'line 3: has the key "a" twice'),
        ('[{"a": 1},\n"x"]', "line 2: is a text, not a JSON object"),
        ('[{"a": "never ends', "line 1: is not JSON: unterminated string starting at"),
        (b'[{"a": 1},\n{"a": "\xff"}]', "line 2: is not UTF-8 text"),
        (b'[{"a": "\xc3', "line 1: is not UTF-8 text"),
    ],
)
def test_a_bad_list_is_told_with_the_line(
    tmp_path: Path, content: str | bytes, expected: str
) -> None:
    assert told(tmp_path, "d.json", content) == [f"d.json, {expected}"]


_VALUES: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=5,
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.dictionaries(st.text(max_size=2), _VALUES, max_size=3), max_size=6),
    st.integers(1, 40),
    st.sampled_from([None, 1]),
    st.booleans(),
)
def test_a_list_read_in_small_pieces_is_the_same_list(
    tmp_path_factory: pytest.TempPathFactory,
    data: list[JsonObject],
    piece: int,
    indent: int | None,
    ascii_only: bool,
) -> None:
    folder = tmp_path_factory.mktemp("pieces")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "_CHUNK", piece)
        text = json.dumps(data, indent=indent, ensure_ascii=ascii_only)
        assert [row for _, row in read(folder, "d.json", text)] == data


def test_tables_give_texts_and_the_line_each_row_starts_on(tmp_path: Path) -> None:
    content = 'a,b\n1,"x\n""y"""\n\n2,\n'
    assert read(tmp_path, "d.csv", content) == [
        (2, {"a": "1", "b": 'x\n"y"'}),
        (5, {"a": "2", "b": ""}),
    ]
    assert read(tmp_path, "d.tsv", "a\tb\n1\tx, y\n") == [(2, {"a": "1", "b": "x, y"})]


def test_long_cells_are_taken(tmp_path: Path) -> None:
    assert read(tmp_path, "d.csv", f"a\n{'x' * 300_000}\n") == [(2, {"a": "x" * 300_000})]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a,b\n1\n2,3\n4,5,6\n", ["line 2: has 1 cell, the header has 2",
                                  "line 4: has 3 cells, the header has 2"]),
        ("a,b,a\n1,2,3\n", ['line 1: has the column "a" twice']),
        ('a\n"x\n', ["line 2: cannot be read as a table: unexpected end of data"]),
        ('a\n"x"y\n', ["line 2: cannot be read as a table: ',' expected after '\"'"]),
        (b"a\nx\n\xff\n", ["line 3: is not UTF-8 text"]),
    ],
)  # fmt: skip
def test_bad_tables_are_told_with_the_line(
    tmp_path: Path, content: str | bytes, expected: list[str]
) -> None:
    assert told(tmp_path, "d.csv", content) == [f"d.csv, {one}" for one in expected]


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    problems = DataProblems()
    with pytest.raises(SuiteError, match=r"x\.jsonl: cannot be read: No such file"):
        list(read_rows(tmp_path / "x.jsonl", "x.jsonl", problems))


def test_a_line_without_end_is_told_and_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "_LONGEST_CELL", 1_000_000)
    with (tmp_path / "d.jsonl").open("wb") as file:
        file.write(b'{"id": 1}\n')
        file.truncate(1 << 40)  # a terabyte that takes no room
    problems = DataProblems()
    assert [row for _, row in read_rows(tmp_path / "d.jsonl", "d.jsonl", problems)] == [{"id": 1}]
    assert [str(one) for one in problems.mistakes] == ["d.jsonl, line 2: is longer than 1 MB"]


def test_an_unknown_format_is_told_with_those_there_are(tmp_path: Path) -> None:
    expected = f'd.xlsx: unknown format ".xlsx": use {formats()}'
    assert told(tmp_path, "d.xlsx", "") == [expected]


def test_a_json_file_is_read_or_says_why_not(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b'\xef\xbb\xbf{"a": [1]}')
    assert read_json(path) == {"a": [1]}
    path.write_text('{"a":\n oops}')
    with pytest.raises(ValueError, match="is not JSON in line 2, column 2: expecting value"):
        read_json(path)
    path.write_text('{"a": 1, "a": 2}')
    with pytest.raises(ValueError, match='has the key "a" twice'):
        read_json(path)
