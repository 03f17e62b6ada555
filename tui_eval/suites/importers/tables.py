"""Plain tables of questions: JSON Lines, JSON, CSV, TSV, and lists of chat messages."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.data.rows import DataProblems, read_rows
from tui_eval.suites.importers.chat import Conversations, as_messages, text_of
from tui_eval.suites.importers.columns import option_columns
from tui_eval.suites.importers.columns.answer_columns import AnswerStatistics, ExpectedAnswer
from tui_eval.suites.importers.columns.nested import expression, tables, value_at
from tui_eval.suites.importers.reading import refuse
from tui_eval.suites.importers.shape import (
    NO_TARGET,
    Imported,
    ImportNotes,
    RowAdapter,
    named,
    simulated_target,
    unique,
)
from tui_eval.suites.loading.errors import Mistake, SuiteError, did_you_mean

INPUTS: Final = ("input", "question", "prompt", "query", "problem", "instruction", "user", "text",
                 "request", "task", "stem", "goal")  # fmt: skip
"""Usual names of the column that is asked, the surest first."""
EXPECTED: Final = ("expected", "expected_output", "expected_answer", "ideal", "target", "answer",
                   "answers", "answerkey", "answer_key", "gold", "ground_truth", "reference",
                   "reference_answer", "correct_answer", "correct", "label", "solution", "output",
                   "completion", "response", "cop")  # fmt: skip
"""Usual names of the column with the right answer, the surest first."""
RECORDED: Final = ("output", "model_output", "prediction", "response", "completion", "generation")
"""Usual names of a column with what a model said, where the right answer is another one."""
_PROGRAMS: Final = frozenset(("entry_point", "test_list", "instruction_id_list"))
"""Columns of well-known datasets whose answers are checked by programs."""
CONTEXTS: Final = ("context", "passage")
"""Usual names of a column that is read before the question."""


@dataclass(frozen=True, slots=True)
class TableChoices:
    """The person's choices, in place of guesses."""

    input: str | None = None
    expected: str | None = None
    scorer: str | None = None
    id: str | None = None
    """Of experiments: what names the case."""


def read_table(path: Path, wanted: TableChoices) -> Imported:
    """Read a table whose columns become the cases' own.

    Raises:
        SuiteError: it cannot be read, or no column is asked.
    """
    losses = ImportNotes()
    problems = DataProblems()
    rows = read_rows(path, path.name, problems)
    first = next(rows, None)
    if first is None:
        problems.settle()
        refuse(str(path), "holds no rows")
    table = _Table(path, list(first[1]), first[1], wanted, losses)
    return Imported(table.cases(itertools.chain([first], rows), problems), table.suite, losses)


class _Table:
    """One table: what its columns mean, and what is in them."""

    def __init__(
        self,
        path: Path,
        columns: Sequence[str],
        row: JsonObject,
        wanted: TableChoices,
        losses: ImportNotes,
    ) -> None:
        self._path = path
        self._wanted = wanted
        self._losses = losses
        by_name = {column.lower(): column for column in reversed(columns)}
        self._row = row
        """The first row, by which everything is found."""
        self._input = self._chosen("input", wanted.input) or _among(by_name, INPUTS)
        if self._input is None:
            chat = isinstance(row.get("messages"), list)
            hint = "name it with --input COLUMN"
            refuse(str(path), f"no column is known to be the question; there are "
                   f"{', '.join(columns[:20])}",
                   hint=f"{hint}, or import it as openai-evals" if chat else hint)  # fmt: skip
        rest = {name: column for name, column in by_name.items() if column != self._input}
        self._expected = self._chosen("expected", wanted.expected) or _among(rest, EXPECTED)
        free = [column for column in columns if column not in (self._input, self._expected)]
        self._source = option_columns.source(free, row)
        self._expected = self._expected or self._beside_options()
        self._said = self._recorded(free)
        self._offered = unique("options", columns, "options")
        """The column with the options by their labels."""
        self._options = "" if self._source is None else named(self._offered)
        self._context = _among(rest, CONTEXTS)
        self._system = rest.get("system")
        self._answers = AnswerStatistics()
        self._meant = option_columns.AnswerLabels()

    def _right(self) -> str:
        """Return the expression for the right answer, or for the list in its table `{ text }`."""
        assert self._expected is not None
        reached = expression(self._expected, self._row)
        table = isinstance(value_at(self._row, self._expected), dict)
        return f"{reached}.text" if table else reached

    def _beside_options(self) -> str | None:
        """Return the right answer in the table that holds the options; None: there is none."""
        within = "" if self._source is None else self._source.columns[0].rpartition(".")[0]
        table = value_at(self._row, within) if within else None
        if not isinstance(table, dict):
            return None
        found = _among({column.lower(): column for column in table}, EXPECTED)
        return None if found is None else f"{within}.{found}"

    def _recorded(self, free: Sequence[str]) -> str | None:
        """Return the column with a model's output; None: there is none."""
        found = _among({column.lower(): column for column in free}, RECORDED)
        text = None if found is None else self._row.get(found)
        return found if isinstance(text, str) and text.strip() else None

    def _chosen(self, option: str, column: str | None) -> str | None:
        if column is not None and column not in self._row and value_at(self._row, column) is None:
            hint = did_you_mean(column, [*self._row])
            mistake = Mistake(f"--{option}", None, "", f'no column is called "{column}"', hint)
            raise SuiteError([mistake])
        return column

    def cases(
        self, rows: Iterator[tuple[int, JsonObject]], problems: DataProblems
    ) -> Iterator[JsonObject]:
        """Yield the rows as cases."""
        fitting = RowAdapter(self._losses)
        for line, row in rows:
            where = f"line {line}"
            if value_at(row, self._input or "") in (None, ""):
                self._losses.note("has no question: it was left out", where)
                continue
            answer = None if self._expected is None else _answer(value_at(row, self._expected))
            if self._source is not None:
                options = self._source.of(row)
                if options is None:
                    self._losses.note(f"has no options in {self._where()}: it was left out", where)
                    continue
                self._meant.see(answer, options)
                row = {**row, self._offered: options}
            self._answers.see(answer)
            yield fitting.fit(row, where)
        problems.settle()

    def suite(self) -> JsonObject:
        """Return the suite; record what was guessed."""
        assert self._input is not None
        suite: JsonObject = {"prompt": self._prompt()}
        self._losses.guess(_said("the question", self._input, self._wanted.input))
        if self._expected is None or not self._answers.given:
            self._losses.note("no column is known to be the right answer: the suite has no scorer, "
                              "so every output passes; name it with --expected COLUMN")  # fmt: skip
            answer = "a stand-in"
        else:
            self._losses.guess(_said("the right answer", self._expected, self._wanted.expected))
            right = ExpectedAnswer(
                expression(self._expected, self._row), self._expression(), self._options
            )
            answer = self._answers.simulated(right)
            suite["scorers"] = [self._answers.scorer(right, self._wanted.scorer, self._losses)]
        suite["targets"] = [self._target(answer)]
        self._tell_programs()
        return suite

    def _target(self, answer: str) -> JsonObject:
        """Return the target: what was recorded, else a simulated one that gives such an answer."""
        if self._said is None:
            self._losses.note(NO_TARGET)
            return simulated_target(answer)
        self._losses.guess(f'the column "{self._said}" holds what a model said, and is replayed; '
                           "put a model in the target's place to ask it")  # fmt: skip
        return {"name": "recorded", "kind": "replay", "output": self._said}

    def _tell_programs(self) -> None:
        """Note checks of well-known datasets that only a program can make."""
        for prefix, table in tables(self._row, [*self._row]):
            for column in table:
                if column in _PROGRAMS:
                    self._losses.note(f'answers are checked by a program there (see "{prefix}'
                                      f'{column}"); that is not carried over')  # fmt: skip

    def _prompt(self) -> JsonObject:
        parts = [self._reference(column) for column in (self._context, self._input) if column]
        user = "\n\n".join(parts)
        if self._source is not None:
            user += (
                f"\n\n{{% for label, option in {self._options}.items() %}}"
                "{{ label }}) {{ option }}\n{% endfor %}"
                "\nAnswer with the letter of the right option."
            )
        prompt: JsonObject = {"user": user}
        if self._system is not None:
            prompt["system"] = f"{{{{ {named(self._system)} | default('') }}}}"
        return prompt

    def _reference(self, column: str) -> str:
        if column == self._input:
            return f"{{{{ {expression(column, self._row)} }}}}"
        return f"{{{{ {named(column)} | default('') }}}}"

    def _where(self) -> str:
        """Name the columns with the options."""
        columns = () if self._source is None else self._source.columns
        return ", ".join(f'"{column}"' for column in columns)

    def _expression(self) -> str:
        """Return the expression for the right answer: the column, or the option it counts."""
        if self._source is None:
            return self._right()
        self._losses.guess(f"the options are in {self._where()}, and asked with their letters "
                           f'(column "{self._offered}")')  # fmt: skip
        base = self._meant.base
        if base is None:
            if self._meant.counted and not self._meant.labels:
                self._losses.guess("the right answers were taken for texts of the options, not as "
                                   "counted")  # fmt: skip
            return self._right()
        self._losses.guess(f"the right options were taken as counted from {base}")
        return f"({self._options} | list)[{self._right()} | int{' - 1' if base else ''}]"


def _among(columns: dict[str, str], names: Sequence[str]) -> str | None:
    return next((columns[name] for name in names if name in columns), None)


def _said(what: str, column: str, chosen: str | None) -> str:
    return f'{what} is the column "{column}"{"" if chosen else ", by its name"}'


def _answer(value: Json) -> Json:
    """Return a right answer: itself, or the list in a table `{ text = […] }`."""
    return value.get("text") if isinstance(value, dict) else value


def read_chat(path: Path, wanted: TableChoices) -> Imported:
    """Read lines of chat: `input` with `ideal`, or `messages` that end with the right answer.

    Raises:
        SuiteError: it cannot be read.
    """
    losses = ImportNotes()
    problems = DataProblems()
    chat = _Chat(path, wanted, losses)
    return Imported(chat.cases(read_rows(path, path.name, problems), problems), chat.suite, losses)


class _Chat:
    """Rows whose question is a conversation."""

    def __init__(self, path: Path, wanted: TableChoices, losses: ImportNotes) -> None:
        self._path = path
        self._wanted = wanted
        self._losses = losses
        self._conversations = Conversations(losses, sent=False)
        self._answers = AnswerStatistics()

    def cases(
        self, rows: Iterator[tuple[int, JsonObject]], problems: DataProblems
    ) -> Iterator[JsonObject]:
        """Yield the rows as cases: `chat` is the question, `expected` the right answer."""
        fitting = RowAdapter(self._losses)
        for line, row in rows:
            where = f"line {line}"
            asked = "input" if "input" in row else "messages"
            messages = as_messages(row.get(asked), self._losses, where)
            if not messages:
                problems.add(Mistake(self._path.name, line, asked, "must hold chat messages",
                                     "a row has `messages`, or `input` and `ideal`"))  # fmt: skip
                continue
            expected = value_at(row, self._wanted.expected or "ideal")
            if asked == "messages" and expected is None and messages[-1]["role"] == "assistant":
                expected = text_of(messages.pop()["content"])
                if not messages:
                    problems.add(Mistake(self._path.name, line, asked, "asks nothing"))
                    continue
            rest = {key: value for key, value in row.items() if key not in (asked, "ideal")}
            self._answers.see(expected)
            case: JsonObject = {**rest, "chat": self._conversations.see(messages)}
            if expected not in (None, "", []):
                case["expected"] = expected
            yield fitting.fit(case, where)
        problems.settle()

    def suite(self) -> JsonObject:
        """Return the suite."""
        suite: JsonObject = {"prompt": self._conversations.prompt()}
        answers = self._answers
        if not answers.given:
            self._losses.note("no row has a right answer: the suite has no scorer, "
                              "so every output passes")  # fmt: skip
            suite["targets"] = [simulated_target("a stand-in")]
        else:
            right = ExpectedAnswer("expected", "expected")
            suite["targets"] = [simulated_target(answers.simulated(right))]
            suite["scorers"] = [answers.scorer(right, self._wanted.scorer, self._losses)]
        self._losses.note(NO_TARGET)
        return suite
