"""A row of data as a case: what each of its columns may hold, and how it is read."""

from pathlib import Path
from typing import Final

from pydantic import ConfigDict, TypeAdapter, ValidationError

from tui_eval.model.bounds import LEAST_WEIGHT, MOST_WEIGHT
from tui_eval.model.case import Case
from tui_eval.model.json import Json, JsonObject, digest, dotted
from tui_eval.model.outputs.conversation import from_text, read_messages
from tui_eval.model.score import OF_OUTPUT
from tui_eval.suites import judge_choice
from tui_eval.suites.data.recordings import Recordings, id_digest, row_id
from tui_eval.suites.data.session_files import read_session
from tui_eval.suites.data.tasks.task_formats import FOLDERS
from tui_eval.suites.loading.errors import Mistake, SuiteError, did_you_mean
from tui_eval.suites.loading.source_map import shown
from tui_eval.suites.loading.validation import explain
from tui_eval.suites.scorers import AS_WRITTEN, ScorerSpec
from tui_eval.suites.spec import Suite
from tui_eval.suites.templates.template import NestedTemplate, Template, TemplateError
from tui_eval.suites.trust.capabilities import Folder

_SCORERS: Final[TypeAdapter[tuple[ScorerSpec, ...]]] = TypeAdapter(
    tuple[ScorerSpec, ...], config=ConfigDict(defer_build=True)
)
SESSION: Final = "initial_session"
"""The column of what was said before a case is asked: the messages, or a file that holds them."""
_ROW_ID_LENGTH: Final = 16
"""Hexadecimal digits of a digest that stands for an id."""


def folder_of(suite: Suite) -> Path | None:
    """Return the folder of a suite's file; None: it was read from none."""
    return Path(suite.file).parent if suite.file else None


def file_name_of(suite: Suite) -> str:
    """Return what messages call a suite's file."""
    return Path(suite.file).name if suite.file else suite.name


class BadRowError(Exception):
    """A row is not a valid case: field, message and hint or None of each mistake."""

    def __init__(self, *found: tuple[str, str, str | None]) -> None:
        self.found = found
        super().__init__(found)


class RepeatedIdError(Exception):
    """A row has the id of an earlier one."""

    def __init__(self, column: str, case_id: str) -> None:
        self.column = column
        self.case_id = case_id
        super().__init__(column, case_id)


class CaseReader:
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
        self._folder = folder_of(suite)
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
            BadRowError: when it cannot be one.
            RepeatedIdError: when its id is not its own.
        """
        case_id = self._id(fields)
        if self._filter is not None and not self._keeps(fields):
            return None
        scorers = self._own_scorers(fields) if "scorers" in fields else ()
        try:
            said = self._recordings.of(case_id, fields)
        except ValueError as error:
            raise BadRowError(("", str(error), None)) from None
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
            raise BadRowError((SESSION, f"{named}{error}", None)) from None
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
            raise BadRowError((column or "id", str(error), None)) from None
        if case_id is None:
            if column is not None:
                hint = did_you_mean(column, fields)
                raise BadRowError((column, "the column of the id is missing", hint))
            case_id = self._id_of_row(fields)
        key = id_digest(case_id)
        if key in self._seen:
            raise RepeatedIdError(column or "id", case_id)
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
            raise BadRowError(("", f"dataset.filter: {error.message}", error.hint)) from None
        if not isinstance(kept, bool):
            message = f"dataset.filter gives {_short(kept)}, not true or false"
            raise BadRowError(("", message, 'write one expression: "{{ level > 3 }}"'))
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
                    raise BadRowError((column, "a tag must be a text or a number", None))
                if item is not None and item != "":
                    tags.append(item if isinstance(item, str) else _plainly(item))
        return tuple(dict.fromkeys(tags))

    def _skip(self, fields: JsonObject) -> tuple[str, ...]:
        names = _texts(fields, "skip")
        wrong = [name for name in names if name not in self._scorers]
        if wrong:
            raise BadRowError(
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
            raise BadRowError(
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
                raise BadRowError((field, message, "give it another name"))
            names.append(spec.name)
            missing = spec.missing_part(spec.of, self._given)
            if self._asks and missing is not None:
                inner, message, hint = missing
                raise BadRowError((f"{field}.{inner}", message, hint))
            for name in set(spec.targets or ()) - self._targets if self._asks else ():
                why = f'no target is called "{name}"'
                known = did_you_mean(name, sorted(self._targets))
                raise BadRowError((f"{field}.targets", why, known))
            unfit = spec.unfit_for_a_case()
            if unfit is not None:
                raise BadRowError((field, *unfit))
            try:
                for name, template in spec.templates().items():
                    NestedTemplate(template, name)
            except TemplateError as error:
                path = f"{field}.{error.field}"
                raise BadRowError((path, error.message, error.hint)) from None
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
            raise BadRowError(*wrong)
        judge_choice.name_judge(scorer, self._judges)


def _compiled_filter(suite: Suite) -> Template | None:
    if suite.dataset.filter is None:
        return None
    try:
        return Template(suite.dataset.filter, "dataset.filter")
    except TemplateError as error:
        mistake = Mistake(file_name_of(suite), None, error.field, error.message, error.hint)
        raise SuiteError([mistake]) from None


def _texts(fields: JsonObject, column: str) -> list[str]:
    """Return a text or a list of texts as a list; nothing and the empty text are an empty list."""
    value = fields[column]
    if value is None or value == "":
        return []
    items = value if isinstance(value, list) else [value]
    if not all(isinstance(item, str) for item in items):
        raise BadRowError((column, "must be a text or a list of texts", None))
    return [str(item) for item in items]


def _weight(fields: JsonObject) -> float:
    weight = _number(fields, "weight")
    if weight is None:
        return 1.0
    if not LEAST_WEIGHT <= weight <= MOST_WEIGHT:
        said = f"must be from {LEAST_WEIGHT:g} to {MOST_WEIGHT:g}, not {weight:g}"
        raise BadRowError(("weight", said, None))
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
        raise BadRowError((column, f"must be a number above 0, not {_short(value)}", None))
    return number


def _plainly(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _short(value: Json) -> str:
    text = f'"{value}"' if isinstance(value, str) else _plainly(value)
    return text if len(text) <= 60 else text[:59] + "…"
