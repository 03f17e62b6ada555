"""Results of another tool as a suite that replays them."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.importers.chat import Conversations, as_messages, text_of
from tui_eval.suites.importers.columns.answer_columns import AnswerStatistics, ExpectedAnswer
from tui_eval.suites.importers.columns.nested import value_at
from tui_eval.suites.importers.experiments.given_scores import GivenScores
from tui_eval.suites.importers.experiments.result_row import ResultRow
from tui_eval.suites.importers.reading import refuse
from tui_eval.suites.importers.recorded import RecordedColumns, verdict
from tui_eval.suites.importers.shape import (
    NO_TARGET,
    Imported,
    ImportNotes,
    RowAdapter,
    simulated_target,
)
from tui_eval.suites.importers.tables import TableChoices

_OURS: Final = frozenset(("id", "chat", "input", "expected", "recorded", "given", "item"))
"""Columns that this gives its cases."""


def experiment_suite(
    path: Path,
    rows: Iterable[ResultRow],
    losses: ImportNotes,
    wanted: TableChoices,
    scorers: list[Json] | None = None,
) -> Imported:
    """Return results as a suite, with their scores as scorers.

    Args:
        path: The file.
        rows: The results, read when the cases are.
        losses: What was noted; more is added.
        wanted: What the person said of the columns.
        scorers: The suite's scorers, where the file has them; None: those that its scores come to.
    """
    made = _Experiment(path, losses, wanted, scorers)
    return Imported(made.cases(rows), made.suite, losses)


def chosen(row: JsonObject, path: str | None, *usual: str) -> Json:
    """Return a value of a row: where the person says it is, else at the first usual path."""
    paths = usual if path is None else (path,)
    found = (value_at(row, one) for one in paths)
    return next((value for value in found if value not in (None, "")), None)


class _Experiment:
    """One experiment, or several that asked the same."""

    def __init__(
        self, path: Path, losses: ImportNotes, wanted: TableChoices, scorers: list[Json] | None
    ) -> None:
        self._path = path
        self._losses = losses
        self._wanted = wanted
        self._own = scorers
        self._columns = RecordedColumns(losses)
        self._conversations = Conversations(losses)
        self._answers = AnswerStatistics()
        self._scores = GivenScores(losses)
        self._targets: dict[str, str] = {}
        """The names of targets by their slots."""
        self._repeated = False

    def cases(self, rows: Iterable[ResultRow]) -> Iterator[JsonObject]:
        """Yield a case for each question; what several targets said of one stands together."""
        cases: list[tuple[ResultRow, JsonObject]] = []
        by_id: dict[str, list[JsonObject]] = {}
        asked_by: set[tuple[int, str]] = set()
        for row in rows:
            same = by_id.setdefault(str(row.case_id), []) if row.case_id is not None else []
            case = next((one for one in same if (id(one), row.target) not in asked_by), None)
            if case is None:
                case = self._case(row)
                if case is None:
                    continue
                if same:
                    self._repeated = True
                cases.append((row, case))
                same.append(case)
            asked_by.add((id(case), row.target))
            self._record(case, row)
        fitting = RowAdapter(self._losses)
        for row, case in cases:
            if self._targets:
                given = case.setdefault("given", {})
                assert isinstance(given, dict)
                case["given"] = {slot: given.get(slot, {}) for slot in self._targets}
            if self._repeated:
                case["item"] = str(case.get("id"))
            fitted = fitting.fit(case, row.where)
            yield {**fitted, "scorers": list[Json](row.scorers)} if row.scorers else fitted

    def _case(self, row: ResultRow) -> JsonObject | None:
        asked = self._messages(row)
        if not asked:
            self._losses.note("asks nothing: it was left out", row.where)
            return None
        case: JsonObject = {} if row.case_id is None else {"id": row.case_id}
        case["chat"] = self._conversations.see(asked)
        case["input"] = row.input
        self._answers.see(row.expected)
        if row.expected not in (None, "", []):
            case["expected"] = row.expected
        for column, value in row.columns.items():
            if value not in (None, "", [], {}):
                case[f"its_{column}" if column in _OURS else column] = value
        return case

    def _messages(self, row: ResultRow) -> list[JsonObject]:
        """Return what was asked as messages; what is neither text nor messages is asked as JSON."""
        given = row.input
        if isinstance(given, dict) and isinstance(given.get("messages"), list):
            given = given["messages"]
        if isinstance(given, list) and given and all(_is_message(one) for one in given):
            return as_messages(given, self._losses, row.where)
        if given in (None, "", [], {}):
            return []
        if not isinstance(given, str):
            self._losses.guess("questions that are tables are asked as JSON; their fields are in "
                               "the column `input`, for a prompt of your own")  # fmt: skip
            given = json.dumps(given, ensure_ascii=False)
        return [{"role": "user", "content": given}]

    def _record(self, case: JsonObject, row: ResultRow) -> None:
        if row.output is None and row.error is None and not row.scores:
            return  # nobody was asked
        self._columns.add(row.target, row.target)
        slot = f"r{len(self._targets) + 1}"
        slot = next((known for known, name in self._targets.items() if name == row.target), slot)
        self._targets[slot] = row.target
        if row.output is None:
            said = "ended with an error" if row.error else "holds no output"
            self._losses.note(f"{said}: the case has no recorded output there", row.where)
        given = case.setdefault("given", {})
        assert isinstance(given, dict)
        given[slot] = {one.name: self._scores.kept(slot, one) for one in row.scores}
        self._columns.put(
            case,
            row.target,
            _said(row.output),
            latency_s=row.latency_s,
            messages=row.messages,
            verdict=verdict(row.passed),
        )

    def suite(self) -> JsonObject:
        """Return the suite."""
        if not self._answers.rows:
            refuse(str(self._path), "holds no results")
        suite: JsonObject = {"prompt": self._conversations.prompt()}
        if self._repeated:
            suite["dataset"] = {"cluster": "item"}
            self._losses.guess("what was asked several times is a case each time; they count as "
                               "one when intervals are computed (`cluster`)")  # fmt: skip
        targets = self._columns.targets()
        names = [str(one["name"]) for one in targets if isinstance(one, dict)]
        scorers = self._own
        if scorers is None:
            scorers = self._scores.scorers(dict(zip(self._targets, names, strict=True)))
        right = ExpectedAnswer("expected", "expected")
        if not targets:
            simulated = self._answers.simulated(right) if self._answers.given else "simulated"
            targets = [simulated_target(simulated)]
            self._losses.note(NO_TARGET)
        suite["targets"] = targets
        if not scorers and self._own is None:
            scorers = self._by_answers(right)
        if scorers:
            suite["scorers"] = scorers
        return suite

    def _by_answers(self, right: ExpectedAnswer) -> list[Json]:
        if self._answers.given:
            return [self._answers.scorer(right, self._wanted.scorer, self._losses)]
        self._losses.note("no row has a right answer or a score: the suite has no scorer, so every "
                          "output passes")  # fmt: skip
        return []


def _is_message(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("role"), str)


def _said(output: Json) -> Json:
    """Return what was said; of a message its text."""
    if isinstance(output, dict) and _is_message(output):
        said = text_of(output.get("content"))
        return output if said is None else said
    return output
