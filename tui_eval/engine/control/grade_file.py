"""Grades that people wrote into a file, one JSON object a line: read whole, or refused whole."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tui_eval.engine.control.output_questions import (
    NoQuestionError,
    OutputQuestion,
    OutputQuestions,
)
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.score import Grade
from tui_eval.store.read import run_queries
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.rows import TrialRow
from tui_eval.store.write.people import notes
from tui_eval.store.write.people.grade_writes import LONGEST_NAME, NewGrade
from tui_eval.suites.data.grade_forms import wrong_grade
from tui_eval.suites.loading.errors import did_you_mean
from tui_eval.texts import json_in_text

CANNOT_TELL: Final = "cannot tell"
"""The grade of an output that a person looked at and could not grade."""
_MOST_SAID: Final = 20
"""Mistakes that are told one by one."""
_NEAR: Final = 2000
"""Trials among which the nearest case is looked for."""


class GradeFileError(Exception):
    """A file of grades has mistakes; the message says which, a line each."""


class _MistakeError(Exception):
    """One thing is wrong with a line."""

    def __init__(self, field: str, what: str, hint: str | None = None) -> None:
        super().__init__(f"{field} {what}{f' ({hint})' if hint else ''}")


@dataclass(frozen=True, slots=True)
class FileGrade:
    """One line of a file of grades."""

    question: OutputQuestion
    new: NewGrade
    grade: Grade | None
    """What it comes to; None: the person cannot tell."""


@dataclass(frozen=True, slots=True)
class GradeFileDefaults:
    """What lines need not say."""

    by: str
    """Who graded."""
    scorer: str | None = None
    """By whose question; None: the run's only one."""


def read_grade_file(
    db: sqlite3.Connection, run: int, file: Path, defaults: GradeFileDefaults
) -> list[FileGrade]:
    """Read grades of a run's outputs from a file.

    Args:
        db: The connection.
        run: The run.
        file: JSON lines with `case_id`, `target`, `epoch` (from 0, as exports have it), `grade`,
            `by`, `note` and `scorer`; what there is only one of need not be said.
        defaults: What lines need not say.

    Raises:
        GradeFileError: any line is wrong; nothing of the file is to be taken.
        NoQuestionError: this version cannot read the run's suite.
        OSError: the file cannot be read.
    """
    lines = list(_lines(file))
    reader = _Reader(db, run, defaults, [row for _, row in lines if isinstance(row, dict)])
    found: list[FileGrade] = []
    wrong: list[str] = []
    seen: dict[tuple[int, str, str], tuple[int, Json]] = {}
    for number, row in lines:
        at = f"{file.name}, line {number}"
        try:
            one = reader.grade(row)
            _see_that_it_is_new(one, number, seen)
            found.append(one)
        except _MistakeError as error:
            wrong.append(f"{at}: {error}")
    if wrong:
        more = len(wrong) - _MOST_SAID
        told = wrong[:_MOST_SAID] + ([f"and {more:,} more"] if more > 0 else [])
        raise GradeFileError("\n".join([*told, "nothing of the file was taken"]))
    if not found:
        raise GradeFileError(f"{file.name} has no grades: one JSON object a line is wanted")
    return found


def _see_that_it_is_new(
    one: FileGrade, line: int, seen: dict[tuple[int, str, str], tuple[int, Json]]
) -> None:
    key = (one.new.trial, one.new.scorer, one.new.person)
    before = seen.setdefault(key, (line, one.new.grade))
    if before[0] != line:
        raise _MistakeError("case_id", f"is graded by {one.new.person} in line {before[0]} already")


def _lines(file: Path) -> "Iterator[tuple[int, Json | _MistakeError]]":
    with file.open("rb") as opened:
        for number, raw in enumerate(opened, 1):
            if raw.strip():
                yield number, _parsed(raw)


def _parsed(raw: bytes) -> "Json | _MistakeError":
    try:
        return json_in_text.parse(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return _MistakeError("the line", "is no UTF-8 text")
    except (json_in_text.NotJsonError, json_in_text.UnreadableError) as error:
        return _MistakeError("the line", f"is no JSON: {error}")


class _Reader:
    """Reads lines for one run."""

    def __init__(
        self,
        db: sqlite3.Connection,
        run: int,
        defaults: GradeFileDefaults,
        rows: Sequence[JsonObject],
    ) -> None:
        self._db = db
        self._run = run
        self._defaults = defaults
        self._questions = OutputQuestions(db, run)
        self._columns = run_queries.columns(db, run)
        named = [case for row in rows if isinstance(case := row.get("case_id"), str)]
        self._trials: dict[str, list[TrialRow]] = {}
        for trial in trial_rows.trials_of_cases(db, run, named):
            self._trials.setdefault(trial.case_id, []).append(trial)

    def grade(self, row: "Json | _MistakeError") -> FileGrade:
        """Return what a line says."""
        if isinstance(row, _MistakeError):
            raise row
        if not isinstance(row, dict):
            raise _MistakeError("the line", "must be a JSON object")
        trial = self._trial(row)
        question = self._question(row, trial)
        person = _text(row, "by", LONGEST_NAME) or self._defaults.by
        note = _text(row, "note", notes.LONGEST)
        if "grade" not in row or row["grade"] is None:
            raise _MistakeError("grade", "is missing", f'"{CANNOT_TELL}" where nobody can say')
        given = row["grade"]
        if given == CANNOT_TELL:
            return _file_grade(question, person, None, note)
        for message in wrong_grade(given, question.asked):
            raise _MistakeError("grade", message)
        return _file_grade(question, person, given, note)

    def _trial(self, row: JsonObject) -> TrialRow:
        case = row.get("case_id")
        if not isinstance(case, str):
            raise _MistakeError("case_id", "is missing" if case is None else "must be a text")
        if case not in self._trials:
            there = (one.case_id for one in trial_rows.trials_from(self._db, self._run, 0, _NEAR))
            raise _MistakeError(
                "case_id", f'"{case}" is no case of the run', did_you_mean(case, there)
            )
        trials = self._trials[case]
        column = self._column(row)
        trials = [trial for trial in trials if trial.col == column]
        epochs = [trial.epoch for trial in trials]
        epoch = row.get("epoch", epochs[0] if len(epochs) == 1 else None)
        if epoch is None:
            raise _MistakeError("epoch", f"is missing: the case was asked {len(epochs)} times")
        if isinstance(epoch, bool) or epoch not in epochs:
            raise _MistakeError("epoch", f"must be one of {', '.join(map(str, epochs))}")
        return next(trial for trial in trials if trial.epoch == epoch)

    def _column(self, row: JsonObject) -> int:
        target = row.get("target")
        names = [column.name for column in self._columns]
        if target is None:
            if len(self._columns) > 1:
                raise _MistakeError("target", "is missing", f"there are {', '.join(names)}")
            return self._columns[0].index
        exact = [one.index for one in self._columns if one.name == target]
        meant = exact or [one.index for one in self._columns if one.target == target]
        if len(meant) != 1:
            problem = "has several prompts" if meant else "is no target of the run"
            raise _MistakeError("target", f'"{target}" {problem}', did_you_mean(str(target), names))
        return meant[0]

    def _question(self, row: JsonObject, trial: TrialRow) -> OutputQuestion:
        try:
            questions = self._questions.of(trial)
        except NoQuestionError as error:
            raise _MistakeError("case_id", f'"{trial.case_id}" cannot be graded: {error}') from None
        named = row.get("scorer", self._defaults.scorer)
        names = [question.scorer for question in questions]
        if named is None:
            judged = [question for question in questions if question.check.asks_judge]
            several = judged or questions
            if len(several) == 1:
                return several[0]
            hint = f"there are {', '.join(names)}; --scorer says it for all lines"
            raise _MistakeError("scorer", "is missing", hint if names else "nothing scores it")
        for question in questions:
            if question.scorer == named:
                return question
        raise _MistakeError(
            "scorer", f'"{named}" does not score this case', did_you_mean(str(named), names)
        )


def _text(row: JsonObject, field: str, longest: int) -> str:
    value = row.get(field)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _MistakeError(field, "must be a text")
    if len(value) > longest:
        raise _MistakeError(field, f"has {len(value):,} characters, {longest:,} at most")
    return value.strip()


def _file_grade(question: OutputQuestion, person: str, given: Json, note: str) -> FileGrade:
    grade = None if given is None else question.grade(given)
    new = NewGrade(
        trial=question.trial.id,
        output=question.output_id,
        scorer=question.scorer,
        person=person,
        grade=given,
        verdict=None if grade is None else grade.verdict,
        value=None if grade is None else grade.value,
        note=note,
    )
    return FileGrade(question, new, grade)


def counts_by_person(grades: Sequence[FileGrade]) -> Mapping[str, int]:
    """Count the grades of each person, in the order of the file."""
    found: dict[str, int] = {}
    for one in grades:
        found[one.new.person] = found.get(one.new.person, 0) + 1
    return found
