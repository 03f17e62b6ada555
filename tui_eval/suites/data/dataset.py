"""A suite's cases as a stream: read, checked, filtered, drawn."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from tui_eval.model.case import Case
from tui_eval.model.frozen import frozen
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.conversation import from_text
from tui_eval.suites.data import seeded_sampling
from tui_eval.suites.data.case_reader import (
    SESSION,
    BadRowError,
    CaseReader,
    RepeatedIdError,
    file_name_of,
    folder_of,
)
from tui_eval.suites.data.files import is_glob, matches
from tui_eval.suites.data.hub.hub_rows import hub_rows
from tui_eval.suites.data.recordings import Recordings, row_id
from tui_eval.suites.data.rows import DataProblems
from tui_eval.suites.data.spool import Spool
from tui_eval.suites.data.tasks.task_formats import RowReader
from tui_eval.suites.loading.errors import Mistake, SuiteError
from tui_eval.suites.loading.source_map import named_from
from tui_eval.suites.spec import Dataset, Suite
from tui_eval.suites.trust.capabilities import Folder


@frozen
class DatasetRow:
    """One row, and where it stands."""

    file: str
    line: int | None
    field: str
    """The path of the case for those that stand in the suite (`cases[3]`); else empty."""
    fields: JsonObject

    @property
    def place(self) -> str:
        """File and line, as messages name them."""
        return self.file if self.line is None else f"{self.file}, line {self.line}"


_Rows: TypeAlias = Callable[[DataProblems], Iterator[DatasetRow]]
"""Reads all rows, from the first one again with each call; bad ones become problems."""


def cases(suite: Suite, problems: DataProblems | None = None) -> Iterator[Case]:
    """Yield the suite's cases in order, each with what was recorded for it.

    Memory does not grow with them, but for 16 bytes an id and 16 a row that is drawn from. Cases
    come while rows are still being read; after the first bad row no more of them do.

    Args:
        suite: The suite.
        problems: Where what is left out is noted.

    Raises:
        SuiteError: with up to 20 mistakes in the data, once all rows (or the first 20 bad ones)
            were read; before the first case where there is no data at all.
    """
    problems = problems or DataProblems()
    yield from _drawn(suite.dataset, _made(suite, partial(rows, suite), problems))
    problems.settle()


def reads_more_files(suite: Suite, case: Case) -> bool:
    """Return whether a case holds what files were that are no data files of the suite.

    Tasks lie in folders of which only one file is data; a row may name the file of its session.
    """
    return suite.dataset.format is not None or (
        case.session is not None and isinstance(from_text(case.fields[SESSION]), str)
    )


def rows(suite: Suite, problems: DataProblems) -> Iterator[DatasetRow]:
    """Yield the rows of the suite's dataset, or those that stand in the suite itself."""
    if suite.dataset.path is None:
        for index, fields in enumerate(suite.cases):
            yield DatasetRow(file_name_of(suite), None, f"cases[{index}]", fields)
        return
    folder, repos = Folder.of(suite), suite.dataset.repos
    reader = RowReader(
        suite.dataset.format, None if repos is None else Path(repos), folder_of(suite), folder.open
    )
    if suite.dataset.hub is not None:
        for name, number, fields in hub_rows(suite.dataset.hub):
            for row in reader.read(name, number, fields, problems):
                yield DatasetRow(name, number, "", row)
        return
    path = Path(suite.dataset.path)
    files = matches(path)
    if not files:
        what = "no file matches" if is_glob(path) else "no such file"
        raise SuiteError([Mistake(str(path), None, "", what)])
    for file in files:
        name = named_from(folder_of(suite), file)
        for line, fields in reader.rows(file, name, problems):
            yield DatasetRow(name, line, "", fields)


def inline_mistakes(suite: Suite, place: Callable[[int], tuple[str, int | None]]) -> list[Mistake]:
    """Return what is wrong with the cases that stand in the suite itself.

    Args:
        suite: The suite.
        place: Gives file and line of a case by its index.
    """
    problems = DataProblems()

    def placed(_: DataProblems) -> Iterator[DatasetRow]:
        for index, fields in enumerate(suite.cases):
            yield DatasetRow(*place(index), f"cases[{index}]", fields)

    alone = suite.model_copy(update={"targets": ()})
    try:
        for _ in _made(alone, placed, problems):
            pass
    except SuiteError as error:
        return list(error.mistakes)
    return problems.mistakes


def _made(suite: Suite, rows: _Rows, problems: DataProblems) -> Iterator[Case]:
    """Yield the cases of valid rows until the first invalid one, without filtered ones."""
    opener = Folder.of(suite).open
    recordings = Recordings(
        suite.recordings, suite.dataset.path, folder_of(suite), problems, opener
    )
    with closing(recordings):
        reader = CaseReader(suite, recordings)
        for row in rows(problems):
            try:
                case = reader.case(row.fields)
            except BadRowError as error:
                for field, message, hint in error.found:
                    path = ".".join(part for part in (row.field, field) if part)
                    problems.add(Mistake(row.file, row.line, path, message, hint))
                continue
            except RepeatedIdError as error:
                message = f'the id "{error.case_id}" is there twice'
                first = _first(rows, error.column, error.case_id)
                if first is not None:
                    message += f", first in {first.place}"
                path = ".".join(part for part in (row.field, error.column) if part)
                problems.add(Mistake(row.file, row.line, path, message))
                continue
            if case is not None and not problems.mistakes:
                yield case


def _first(rows: _Rows, column: str, case_id: str) -> DatasetRow | None:
    """Return the row that had an id first: reading again costs less than keeping every place."""
    for row in rows(DataProblems()):
        try:
            if row_id(row.fields, column) == case_id:
                return row
        except ValueError:
            continue
    return None


def _drawn(dataset: Dataset, found: Iterator[Case]) -> Iterator[Case]:
    """Apply sample, shuffle and limit, in this order."""
    if dataset.sample is None and not dataset.shuffle:
        yield from found if dataset.limit is None else itertools.islice(found, dataset.limit)
        return
    with Spool() as spool:
        lots: dict[str, list[bytes]] = {"sample": [], "shuffle": []}
        for case in found:
            spool.append([case.id, case.as_json()])
            for purpose, drawn in lots.items():
                drawn.append(seeded_sampling.sort_key(dataset.seed, purpose, case.id))
        places = list(range(len(spool)))
        if dataset.sample is not None:
            places = seeded_sampling.sampled(lots["sample"], dataset.sample)
        if dataset.shuffle:
            places = seeded_sampling.shuffled(lots["shuffle"], places)
        for seq, place in enumerate(places[: dataset.limit]):
            yield replace(_read_back(spool[place]), seq=seq)


def _read_back(kept: Json) -> Case:
    match kept:
        case [str(case_id), dict(fields)]:
            return Case.from_json(0, case_id, fields)
    raise TypeError("a spooled case is a pair of id and fields")
