"""What a run came to as a file: to be kept with a suite, and compared with later runs.

Sorted lines of JSON, one for each case of each column, without any text of them; the same run gives
the same bytes.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Set
from pathlib import Path
from typing import Final

from tui_eval.model.visible import visible_line
from tui_eval.reports.comparison.compared_case import ComparedCase
from tui_eval.reports.comparison.comparison import outcome
from tui_eval.reports.comparison.side import RunSide, tags_among

_MOST_BYTES: Final = 1_000_000_000


class BaselineFileError(Exception):
    """A file is no baseline; the message names the file, the line and what is wrong."""


def baseline_lines(side: RunSide) -> Iterator[str]:
    """Yield the lines of a run's baseline file, each with its line break."""
    for column in sorted(side.columns):
        by_hand = side.by_hand(column)
        for case_id, case, score, tags in side.written_cases(column):
            line: dict[str, object] = {
                "column": column,
                "case_id": case_id,
                "digest": side.row_digest(case_id).hex(),
                "verdict": _verdict(case.value),
                "score": None if score is None else round(score, 9),
            }
            if line["verdict"] == "mixed" and case.value is not None:
                line["value"] = round(case.value, 9)
            if case.weight != 1.0:
                line["weight"] = case.weight
            if case_id in by_hand:
                line["by_hand"] = True
            if tags:
                line["tags"] = list(tags)
            if case.cluster is not None:
                line["cluster"] = case.cluster
            yield json.dumps(line, ensure_ascii=True, separators=(",", ":")) + "\n"


def _verdict(value: float | None) -> str | None:
    said = None if value is None else outcome(value)
    return "mixed" if isinstance(said, float) else said


class BaselineFile:
    """A baseline file as a side of a comparison."""

    is_baseline = True
    judged = False
    """It does not say what its verdicts rest on."""
    finished = True

    def __init__(self, path: Path, content: bytes | None = None) -> None:
        """Read a file.

        Args:
            path: Where it is, or was.
            content: What it held when it was kept; None: what it holds now.

        Raises:
            BaselineFileError: it is none.
            OSError: it cannot be read.
        """
        self.name = path.name
        self._cases: dict[str, dict[str, ComparedCase]] = {}
        self._digests: dict[str, bytes] = {}
        self._tags: dict[str, tuple[str, ...]] = {}
        self._by_hand: dict[str, set[str]] = {}
        raw = read_content(path) if content is None else content
        try:
            for number, line in enumerate(raw.decode("utf-8").split("\n"), 1):
                if line.strip():
                    self._read(path, number, line)
        except UnicodeDecodeError:
            raise BaselineFileError(f"{path}: is not UTF-8") from None
        if not self._cases:
            raise BaselineFileError(f"{path}: has no line of a baseline file")

    @property
    def columns(self) -> tuple[str, ...]:
        """Its columns."""
        return tuple(self._cases)

    @property
    def scorers(self) -> Mapping[str, bytes]:
        """None: it has verdicts alone."""
        return {}

    @property
    def frozen_scorers(self) -> str | None:
        """None: it has verdicts alone."""
        return None

    def cases(self, column: str, scorer: str | None = None) -> Iterator[tuple[str, ComparedCase]]:
        """Return what each case came to (see `Side.cases`).

        Raises:
            BaselineFileError: a scorer's verdicts are asked for, which it does not have.
        """
        if scorer is not None:
            raise BaselineFileError(
                f"{self.name} holds the verdicts of cases and none of single scorers: compare two "
                "runs, or leave --scorer out"
            )
        return iter(self._cases[column].items())

    def by_hand(self, column: str, scorer: str | None = None) -> Set[str]:
        """Return the cases of whose verdict a person decided a part (see `Side.by_hand`)."""
        return self._by_hand.get(column, frozenset())

    def row_digest(self, case_id: str) -> bytes:
        """Return the digest of a case's row that the file has."""
        return self._digests[case_id]

    def tags(self, among: Collection[str] | None = None) -> Mapping[str, tuple[str, ...]]:
        """Return the tags of those cases that have any, by the case's id (see `Side.tags`)."""
        return tags_among(self._tags, among)

    def _read(self, path: Path, number: int, line: str) -> None:
        try:
            known = _object(json.loads(line))
            column, case_id, row, case = _case(known)
            tags = tuple(str(tag) for tag in _list(known.get("tags", [])))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            said = visible_line(str(error), 80)
            raise BaselineFileError(
                f"{path}, line {number}: is no line of a baseline file ({said}); "
                "`tui-eval baseline SUITE RUN --write FILE` makes one"
            ) from None
        of_column = self._cases.setdefault(column, {})
        if case_id in of_column:
            raise BaselineFileError(
                f"{path}, line {number}: the case {visible_line(case_id, 60)} is there twice"
            )
        if self._digests.setdefault(case_id, row) != row:
            raise BaselineFileError(
                f"{path}, line {number}: the case {visible_line(case_id, 60)} has two digests"
            )
        of_column[case_id] = case
        if known.get("by_hand") is True:
            self._by_hand.setdefault(column, set()).add(case_id)
        if tags:
            self._tags[case_id] = tags


def read_content(path: Path) -> bytes:
    """Return what a baseline file holds.

    Raises:
        BaselineFileError: it is too large to be one.
        OSError: it cannot be read.
    """
    if path.stat().st_size > _MOST_BYTES:
        raise BaselineFileError(f"{path}: larger than any baseline file is")
    return path.read_bytes()


def _object(line: object) -> dict[str, object]:
    if not isinstance(line, dict):
        raise TypeError("not an object")
    return line


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError("tags are a list")
    return value


def _case(line: dict[str, object]) -> tuple[str, str, bytes, ComparedCase]:
    """Read a line: column, case, its row's digest, and what it came to.

    Raises:
        ValueError: a value is none that it can have.
        KeyError: one is missing.
        TypeError: it is no object, or a value has another type.
    """
    column, case_id, row = line["column"], line["case_id"], line["digest"]
    if not (isinstance(column, str) and isinstance(case_id, str) and isinstance(row, str)):
        raise TypeError("column, case_id and digest are texts")
    verdict = line["verdict"]
    if verdict not in ("pass", "fail", "mixed", None):
        raise ValueError(f"verdict is pass, fail, mixed or null, not {verdict!r}")
    value = line["value"] if verdict == "mixed" else {"pass": 1.0, "fail": 0.0}.get(str(verdict))
    score, cluster = line.get("score"), line.get("cluster")
    if score is not None:
        _number(score, 1.0)
    case = ComparedCase(
        None if value is None else _number(value, 1.0),
        None,
        bytes.fromhex(row),
        _number(line.get("weight", 1.0), 1e9),
        None if cluster is None else str(cluster),
    )
    return column, case_id, bytes.fromhex(row), case


def _number(value: object, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise ValueError(f"{value!r} is no number from 0 to {most:g}")
    return float(value)
