"""A suite's cases as a stream: read, checked, filtered, drawn."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from pydantic import ConfigDict, TypeAdapter, ValidationError

from tui_eval.model.bounds import LEAST_WEIGHT, MOST_WEIGHT
from tui_eval.model.case import Case
from tui_eval.model.frozen import frozen
from tui_eval.model.json import Json, JsonObject, digest, dotted
from tui_eval.model.outputs.conversation import from_text, read_messages
from tui_eval.model.score import OF_OUTPUT
from tui_eval.suites import judge_choice
from tui_eval.suites.data import seeded_sampling
from tui_eval.suites.data.files import is_glob, matches
from tui_eval.suites.data.hub.hub_rows import hub_rows
from tui_eval.suites.data.recordings import Recordings, id_digest, row_id
from tui_eval.suites.data.rows import DataProblems
from tui_eval.suites.data.session_files import read_session
from tui_eval.suites.data.spool import Spool
from tui_eval.suites.data.tasks.task_formats import FOLDERS, RowReader
from tui_eval.suites.loading.errors import Mistake, SuiteError, did_you_mean
from tui_eval.suites.loading.source_map import named_from, shown
from tui_eval.suites.loading.validation import explain
from tui_eval.suites.scorers import AS_WRITTEN, ScorerSpec
from tui_eval.suites.spec import Dataset, Suite
from tui_eval.suites.templates.template import NestedTemplate, Template, TemplateError
from tui_eval.suites.trust.capabilities import Folder

_SCORERS: Final[TypeAdapter[tuple[ScorerSpec, ...]]] = TypeAdapter(
    tuple[ScorerSpec, ...], config=ConfigDict(defer_build=True)
)
SESSION: Final = "initial_session"
"""The column of what was said before a case is asked: the messages, or a file that holds them."""
_ROW_ID_LENGTH: Final = 16
"""Hexadecimal digits of a digest that stands for an id."""


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
            yield DatasetRow(_file_name(suite), None, f"cases[{index}]", fields)
        return
    folder, repos = Folder.of(suite), suite.dataset.repos
    reader = RowReader(
        suite.dataset.format, None if repos is None else Path(repos), _folder(suite), folder.open
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
        name = named_from(_folder(suite), file)
        for line, fields in reader.rows(file, name, problems):
            yield DatasetRow(name, line, "", fields)


def _folder(suite: Suite) -> Path | None:
    return Path(suite.file).parent if suite.file else None


def _file_name(suite: Suite) -> str:
    return Path(suite.file).name if suite.file else suite.name


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
    recordings = Recordings(suite.recordings, suite.dataset.path, _folder(suite), problems, opener)
    with closing(recordings):
        reader = _Reader(suite, recordings)
        for row in rows(problems):
            try:
                case = reader.case(row.fields)
            except _BadRowError as error:
                for field, message, hint in error.found:
                    path = ".".join(part for part in (row.field, field) if part)
                    problems.add(Mistake(row.file, row.line, path, message, hint))
                continue
            except _TwiceError as error:
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


class _BadRowError(Exception):
    """A row is not a valid case: field, message and hint or None of each mistake."""

    def __init__(self, *found: tuple[str, str, str | None]) -> None:
        self.found = found
        super().__init__(found)


class _TwiceError(Exception):
    """A row has the id of an earlier one."""

    def __init__(self, column: str, case_id: str) -> None:
        self.column = column
        self.case_id = case_id
        super().__init__(column, case_id)


class _Reader:
    """The rows of a suite, read into cases."""

    def __init__(self, suite: Suite, recordings: Recordings) -> None:
        self._dataset = suite.dataset
        self._filter = _compiled_filter(suite)
        self._scorers = [scorer.name for scorer in suite.scorers]
        self._judges = [judge.name for judge in suite.judges]
        self._targets = {target.name for target in suite.targets}
        self._asks = bool(suite.targets)
        self._given = suite.parts_given
        self._recordings = recordings
        self._folder = _folder(suite)
        self._opener = Folder.of(suite).open
        self._sessions: dict[str, tuple[JsonObject, ...]] = {}
        """Those that rows have named, by path."""
        self._seen: set[bytes] = set()
        self._alike: dict[str, int] = {}
        """How often a row without an id came, for those that came more than once."""
        self._seq = 0

    def case(self, fields: JsonObject) -> Case | None:
        """Return the case of a row; None where the filter leaves it out.

        Raises:
            _BadRowError: when it cannot be one.
            _TwiceError: when its id is not its own.
        """
        case_id = self._id(fields)
        if self._filter is not None and not self._keeps(fields):
            return None
        scorers = self._own_scorers(fields) if "scorers" in fields else ()
        try:
            said = self._recordings.of(case_id, fields)
        except ValueError as error:
            raise _BadRowError(("", str(error), None)) from None
        case = Case(
            seq=self._seq,
            id=case_id,
            fields=fields,
            tags=self._tags(fields),
            scorers=scorers,
            skip=self._skip(fields) if "skip" in fields else (),
            weight=_weight(fields),
            timeout=_number(fields, "timeout"),
            limits=self._limits(fields),
            recorded=said,
            session=self._session(fields) if SESSION in fields else None,
        )
        self._seq += 1
        return case

    def _session(self, fields: JsonObject) -> tuple[JsonObject, ...] | None:
        """Return what was said before a case is asked, as its row carries or names it."""
        given = from_text(fields[SESSION])
        if given is None or given == "":
            return None
        try:
            if not isinstance(given, str):
                return tuple(read_messages(given))
            if given not in self._sessions:
                file = (self._folder or Path.cwd()) / given
                self._sessions[given] = tuple(read_session(file, self._opener))
        except ValueError as error:
            named = f'"{given}" ' if isinstance(given, str) else ""
            raise _BadRowError((SESSION, f"{named}{error}", None)) from None
        return self._sessions[given]

    def _limits(self, fields: JsonObject) -> dict[str, int]:
        """Return what a task may take; in other data a column of that name is a column."""
        found = fields.get("limits") if self._dataset.format in FOLDERS else None
        given = found if isinstance(found, dict) else {}
        return {name: most for name, most in given.items() if isinstance(most, int)}

    def _id(self, fields: JsonObject) -> str:
        column = self._dataset.id
        try:
            case_id = row_id(fields, column or "id")
        except ValueError as error:
            raise _BadRowError((column or "id", str(error), None)) from None
        if case_id is None:
            if column is not None:
                hint = did_you_mean(column, fields)
                raise _BadRowError((column, "the column of the id is missing", hint))
            case_id = self._id_of_row(fields)
        key = id_digest(case_id)
        if key in self._seen:
            raise _TwiceError(column or "id", case_id)
        self._seen.add(key)
        return case_id

    def _id_of_row(self, fields: JsonObject) -> str:
        """Return the digest of a row; equal rows are told apart by their number."""
        name = digest(fields).hex()[:_ROW_ID_LENGTH]
        if id_digest(name) not in self._seen:
            return name
        self._alike[name] = self._alike.get(name, 1) + 1
        return f"{name}-{self._alike[name]}"

    def _keeps(self, fields: JsonObject) -> bool:
        assert self._filter is not None
        try:
            kept = self._filter.value({**fields, "case": fields})
        except TemplateError as error:
            raise _BadRowError(("", f"dataset.filter: {error.message}", error.hint)) from None
        if not isinstance(kept, bool):
            message = f"dataset.filter gives {_short(kept)}, not true or false"
            raise _BadRowError(("", message, 'write one expression: "{{ level > 3 }}"'))
        return kept

    def _tags(self, fields: JsonObject) -> tuple[str, ...]:
        if not self._dataset.tags and "tags" not in fields:
            return ()
        tags = _texts(fields, "tags") if "tags" in fields else []
        for column in self._dataset.tags:
            try:
                value = dotted(fields, column)
            except KeyError:
                continue
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, dict | list):
                    raise _BadRowError((column, "a tag must be a text or a number", None))
                if item is not None and item != "":
                    tags.append(item if isinstance(item, str) else _plainly(item))
        return tuple(dict.fromkeys(tags))

    def _skip(self, fields: JsonObject) -> tuple[str, ...]:
        names = _texts(fields, "skip")
        wrong = [name for name in names if name not in self._scorers]
        if wrong:
            raise _BadRowError(
                *(
                    ("skip", f'no scorer is called "{name}"', did_you_mean(name, self._scorers))
                    for name in wrong
                )
            )
        return tuple(names)

    def _own_scorers(self, fields: JsonObject) -> tuple[JsonObject, ...]:
        given = fields["scorers"]
        if given is None or given == "":
            return ()
        try:
            specs = _SCORERS.validate_python(given, context=AS_WRITTEN)
        except ValidationError as error:
            raise _BadRowError(
                *(
                    (shown(found.path), found.message, found.hint)
                    for found in explain(error, given, ("scorers",))
                )
            ) from None
        names = [*self._scorers, OF_OUTPUT]
        own: list[JsonObject] = []
        for index, spec in enumerate(specs):
            field = f"scorers[{index}]"
            if spec.name in names:
                message = f'a scorer called "{spec.name}" is there already'
                raise _BadRowError((field, message, "give it another name"))
            names.append(spec.name)
            missing = spec.missing_part(spec.of, self._given)
            if self._asks and missing is not None:
                inner, message, hint = missing
                raise _BadRowError((f"{field}.{inner}", message, hint))
            for name in set(spec.targets or ()) - self._targets if self._asks else ():
                why = f'no target is called "{name}"'
                known = did_you_mean(name, sorted(self._targets))
                raise _BadRowError((f"{field}.targets", why, known))
            unfit = spec.unfit_for_a_case()
            if unfit is not None:
                raise _BadRowError((field, *unfit))
            try:
                for name, template in spec.templates().items():
                    NestedTemplate(template, name)
            except TemplateError as error:
                path = f"{field}.{error.field}"
                raise _BadRowError((path, error.message, error.hint)) from None
            own.append(spec.model_dump(mode="json", by_alias=True))
            if spec.asks_judge:
                self._with_judge(own[-1], field)
        return tuple(own)

    def _with_judge(self, scorer: JsonObject, field: str) -> None:
        wrong = [
            (".".join(filter(None, (field, shown(at)))), message, hint)
            for at, message, hint in judge_choice.judge_mistakes(scorer, self._judges)
        ]
        if wrong:
            raise _BadRowError(*wrong)
        judge_choice.name_judge(scorer, self._judges)


def _compiled_filter(suite: Suite) -> Template | None:
    if suite.dataset.filter is None:
        return None
    try:
        return Template(suite.dataset.filter, "dataset.filter")
    except TemplateError as error:
        mistake = Mistake(_file_name(suite), None, error.field, error.message, error.hint)
        raise SuiteError([mistake]) from None


def _texts(fields: JsonObject, column: str) -> list[str]:
    """Return a text or a list of texts as a list; nothing and the empty text are an empty list."""
    value = fields[column]
    if value is None or value == "":
        return []
    items = value if isinstance(value, list) else [value]
    if not all(isinstance(item, str) for item in items):
        raise _BadRowError((column, "must be a text or a list of texts", None))
    return [str(item) for item in items]


def _weight(fields: JsonObject) -> float:
    weight = _number(fields, "weight")
    if weight is None:
        return 1.0
    if not LEAST_WEIGHT <= weight <= MOST_WEIGHT:
        said = f"must be from {LEAST_WEIGHT:g} to {MOST_WEIGHT:g}, not {weight:g}"
        raise _BadRowError(("weight", said, None))
    return weight


def _number(fields: JsonObject, column: str) -> float | None:
    value = fields.get(column)
    if value is None or value == "":
        return None
    try:
        number = float(value) if isinstance(value, int | float | str) else 0.0
    except (ValueError, OverflowError):
        number = 0.0
    if isinstance(value, bool) or not 0 < number < float("inf"):
        raise _BadRowError((column, f"must be a number above 0, not {_short(value)}", None))
    return number


def _plainly(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _short(value: Json) -> str:
    text = f'"{value}"' if isinstance(value, str) else _plainly(value)
    return text if len(text) <= 60 else text[:59] + "…"


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
