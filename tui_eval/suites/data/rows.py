"""Stream rows out of data files of every format, with the line of each invalid one."""

import codecs
import csv
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from json import JSONDecodeError
from pathlib import Path
from typing import IO, Final, NoReturn, TypeAlias

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.data.files import Opener, data_suffixes, formats, open_regular, read_whole
from tui_eval.suites.data.parquet_rows import parquet_rows
from tui_eval.suites.data.unpacking import BrokenFileError, unpacked
from tui_eval.suites.loading.errors import Mistake, SuiteError

MOST_MISTAKES: Final = 20
"""After so many mistakes in data, reading stops."""

_BOM: Final = b"\xef\xbb\xbf"
_CHUNK: Final = 1 << 20
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_LONGEST_CELL: Final = 1 << 28
_LONGEST_TOKEN: Final = 32
"""Characters: a text apart, no part of JSON is longer than this where it can be cut off."""

_Report: TypeAlias = Callable[[int | None, str], None]


@dataclass(slots=True)
class DataProblems:
    """The mistakes found in data so far, and what was left out of it."""

    mistakes: list[Mistake] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    """The files of tasks that cannot be run here, and why."""

    def add(self, mistake: Mistake) -> None:
        """Record a mistake.

        Raises:
            SuiteError: when there are `MOST_MISTAKES`.
        """
        self.mistakes.append(mistake)
        if len(self.mistakes) >= MOST_MISTAKES:
            raise SuiteError(self.mistakes)

    def settle(self) -> None:
        """Raise SuiteError where there are any."""
        if self.mistakes:
            raise SuiteError(self.mistakes)


def read_rows(
    path: Path, name: str, problems: DataProblems, opener: Opener = open_regular
) -> Iterator[tuple[int, JsonObject]]:
    """Yield the rows of a file, each with the line it starts on; bad ones become problems.

    A UTF-8 byte order mark and CRLF line ends are taken as they come. Compressed files are unpacked
    as they are read.

    Args:
        path: The file; its suffix says the format.
        name: How messages name it.
        problems: Where bad rows are noted.
        opener: Opens it; judges whether it may be read.

    Raises:
        SuiteError: when there are too many bad rows, or the file cannot be read at all.
    """

    def report(line: int | None, message: str) -> None:
        problems.add(Mistake(name, line, "", message))

    form, packed = data_suffixes(path)
    try:
        with opener(path) as opened:
            file = unpacked(opened, packed, os.fstat(opened.fileno()).st_size)
            match form:
                case ".jsonl":
                    yield from _json_lines(file, report)
                case ".json":
                    yield from _json_list(file, report)
                case ".csv":
                    yield from _table(file, ",", report)
                case ".tsv":
                    yield from _table(file, "\t", report)
                case ".parquet" if not packed:
                    yield from parquet_rows(file)
                case _:
                    report(None, f'unknown format "{form}{packed}": use {formats()}')
    except BrokenFileError as error:
        report(error.line, str(error))
        problems.settle()
    except OSError as error:
        report(None, f"cannot be read: {error.strerror}")
        problems.settle()


class _TwiceError(ValueError):
    """A JSON object has a key twice."""


def _object(pairs: list[tuple[str, Json]]) -> JsonObject:
    row = dict(pairs)
    if len(row) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _TwiceError(f'has the key "{key}" twice')
            seen.add(key)
    return row


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"holds {text}, which JSON does not have")


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_number)


def _json_lines(file: IO[bytes], report: _Report) -> Iterator[tuple[int, JsonObject]]:
    decode = _DECODER.decode
    for line, raw in enumerate(_lines(file), 1):
        if len(raw) > _LONGEST_CELL:
            report(line, f"is longer than {_LONGEST_CELL // 1_000_000} MB")
            return
        try:
            text = (raw.removeprefix(_BOM) if line == 1 else raw).decode()
            # without its end, which would put what is missing there on the next line
            row = decode(text.rstrip("\r\n"))
        except (ValueError, RecursionError) as error:
            if raw.removeprefix(_BOM).strip():
                report(line, _bad_json(error))
            continue
        if isinstance(row, dict):
            yield line, row
        else:
            report(line, f"is {_kind(row)}, not a JSON object")


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    """Return the lines of a file; one that has no end is cut off."""
    return iter(lambda: file.readline(_LONGEST_CELL + 1), b"")


def _bad_json(error: ValueError | RecursionError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "is not UTF-8 text"
    if isinstance(error, RecursionError):
        return "nests too deeply"
    if isinstance(error, JSONDecodeError):
        message = f"{error.msg[:1].lower()}{error.msg[1:]}"
        return f"is not JSON in column {error.colno}: {message}"
    if "integer string conversion" in str(error):
        return "holds a whole number of more than 4,300 digits"
    return str(error)


def _kind(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "a list"
        case _:
            return "an object"


class _PlacedError(ValueError):
    """A mistake on a line of a file that is read in pieces."""

    def __init__(self, line: int, message: str) -> None:
        self.line = line
        super().__init__(message)


class _Stream:
    """A window on the text of a file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._ended = False
        self.text = ""
        self.at = 0
        self.line = 1
        """The line `at` is on."""

    def more(self) -> bool:
        """Drop what was consumed and read another piece; return False at the end of the file."""
        if self._ended:
            return False
        raw = self._file.read(max(_CHUNK, len(self.text)))
        self._ended = not raw
        try:
            new = self._decoder.decode(raw, final=self._ended)
        except UnicodeDecodeError as error:
            line = self.line_at(len(self.text)) + error.object.count(b"\n", 0, error.start)
            raise _PlacedError(line, "is not UTF-8 text") from None
        self.text = self.text[self.at :] + new
        self.at = 0
        return True

    def line_at(self, end: int) -> int:
        """Return the line of a place at or after `at`."""
        return self.line + self.text.count("\n", self.at, end)

    def move(self, end: int) -> None:
        """Go on to a place."""
        self.line = self.line_at(end)
        self.at = end

    def next_char(self) -> str:
        """Skip white space; return the next character, empty at the end."""
        while True:
            match = _SPACE.match(self.text, self.at)
            self.move(match.end() if match else self.at)
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.more():
                return ""

    def next_value(self) -> Json:
        """Return one JSON value and move behind it."""
        while True:
            try:
                value, end = _DECODER.raw_decode(self.text, self.at)
            except JSONDecodeError as error:
                if self._is_wrong(error) or not self.more():
                    message = f"is not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
                    raise _PlacedError(self.line_at(error.pos), message) from None
            else:
                if end < len(self.text) or not self.more():
                    self.move(end)
                    row: Json = value
                    return row

    def _is_wrong(self, error: JSONDecodeError) -> bool:
        """Return whether it is invalid whatever follows."""
        cut_off = error.pos >= len(self.text) - _LONGEST_TOKEN
        return not cut_off and not error.msg.startswith("Unterminated string")


def _json_list(file: IO[bytes], report: _Report) -> Iterator[tuple[int, JsonObject]]:
    stream = _Stream(file)
    try:
        if stream.next_char() != "[":
            report(stream.line, "must hold a list of objects: [{…}, …]")
            return
        stream.move(stream.at + 1)
        more = stream.next_char() != "]"
        while more:
            stream.next_char()
            line = stream.line
            row = stream.next_value()
            if isinstance(row, dict):
                yield line, row
            else:
                report(line, f"is {_kind(row)}, not a JSON object")
            more = stream.next_char() == ","
            if more:
                stream.move(stream.at + 1)
        if stream.next_char() != "]":
            report(stream.line, "is not JSON: a comma or the end of the list is missing")
            return
        stream.move(stream.at + 1)
        if stream.next_char():
            report(stream.line, "goes on after the end of the list")
    except _PlacedError as error:
        report(error.line, str(error))
    except (ValueError, RecursionError) as error:
        report(stream.line, _bad_json(error))


def _table(file: IO[bytes], delimiter: str, report: _Report) -> Iterator[tuple[int, JsonObject]]:
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(_decoded(file), delimiter=delimiter, strict=True)
    header: list[str] | None = None
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except UnicodeDecodeError:
            report(reader.line_num + 1, "is not UTF-8 text")
            return
        except csv.Error as error:
            report(line, f"cannot be read as a table: {error}")
            return
        if not cells:
            continue
        if header is None:
            header = cells
            if not _is_good_header(header, line, report):
                return
        elif len(cells) != len(header):
            report(line, f"has {_cells(len(cells))}, the header has {len(header)}")
        else:
            yield line, dict(zip(header, cells, strict=True))


def _decoded(file: IO[bytes]) -> Iterator[str]:
    for number, raw in enumerate(_lines(file)):
        yield (raw if number else raw.removeprefix(_BOM)).decode()


def _is_good_header(header: list[str], line: int, report: _Report) -> bool:
    twice = _repeated(header)
    if twice is not None:
        report(line, f'has the column "{twice}" twice')
    return twice is None


def _repeated(names: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"


def read_json(path: Path, opener: Opener = open_regular) -> Json:
    """Read a JSON file that holds one value.

    Args:
        path: The file.
        opener: Opens it; judges whether it may be read.

    Raises:
        ValueError: when it cannot be read; the message goes on after the file's name.
    """
    try:
        with opener(path) as file:
            raw = read_whole(file)
        value: Json = _DECODER.decode(raw.removeprefix(_BOM).decode())
    except JSONDecodeError as error:
        message = f"{error.msg[:1].lower()}{error.msg[1:]}"
        raise ValueError(
            f"is not JSON in line {error.lineno}, column {error.colno}: {message}"
        ) from None
    except (ValueError, RecursionError) as error:
        raise ValueError(_bad_json(error)) from None
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None
    return value
