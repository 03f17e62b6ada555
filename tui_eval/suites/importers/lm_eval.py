"""Samples of lm-evaluation-harness: a line for each document and filter."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.data.rows import DataProblems, read_rows
from tui_eval.suites.importers.chat import Conversations, as_messages
from tui_eval.suites.importers.columns.answer_columns import AnswerStatistics, ExpectedAnswer
from tui_eval.suites.importers.reading import parse_json, refuse
from tui_eval.suites.importers.recorded import RecordedColumns, verdict
from tui_eval.suites.importers.shape import Imported, ImportNotes, RowAdapter
from tui_eval.suites.loading.errors import SuiteError

_UNFILTERED: Final = "none"
_MOST_FILTERED: Final = 1_000_000
"""Filtered answers that are kept until their documents come by."""


def read_lm_eval(path: Path) -> Imported:
    """Read a `samples_*.jsonl` file.

    Raises:
        SuiteError: it cannot be read, or holds no such samples.
    """
    if path.suffix.lower() != ".jsonl":
        refuse(str(path), "must end in .jsonl to be read as lm-eval")
    losses = ImportNotes()
    made = _Made(path, losses)
    return Imported(made.cases(), made.suite, losses)


class _Made:
    """A suite made from one file of samples, which is read twice."""

    def __init__(self, path: Path, losses: ImportNotes) -> None:
        self._path = path
        self._losses = losses
        self._tracks = RecordedColumns(losses)
        self._conversations = Conversations(losses)
        self._answers = AnswerStatistics()
        self._filters: list[str] = []
        self._filtered: dict[tuple[str, str], tuple[str, JsonObject]] = {}
        self._repeats = 1
        self._by_likelihood = False

    def _rows(self, problems: DataProblems) -> Iterator[tuple[int, JsonObject]]:
        for line, row in read_rows(self._path, self._path.name, problems):
            if "resps" not in row or "doc" not in row:
                refuse(str(self._path), "is no sample of lm-eval: it has no `doc` or no `resps`",
                       line=line)  # fmt: skip
            yield line, row

    def cases(self) -> Iterator[JsonObject]:
        """Yield a case for each document."""
        problems = DataProblems()
        for _, row in self._rows(problems):
            self._look_at_filter(row)
        problems.settle()
        first = self._filters[0] if self._filters else _UNFILTERED
        fitting = RowAdapter(self._losses)
        for line, row in self._rows(problems):
            if _filter(row) == first:
                case = self._case(row, f"line {line}")
                if case is not None:
                    yield fitting.fit(case, f"line {line}")
        problems.settle()

    def _look_at_filter(self, row: JsonObject) -> None:
        name = _filter(row)
        if name not in self._filters:
            self._filters.append(name)
        self._repeats = max(self._repeats, len(_texts(row)))
        text = _first_text(row.get("filtered_resps"))
        if name != _UNFILTERED and text is not None and len(self._filtered) < _MOST_FILTERED:
            self._filtered[name, str(row.get("doc_id"))] = (text, _scores(row))

    def _case(self, row: JsonObject, where: str) -> JsonObject | None:
        asked = _arguments(row.get("arguments"))
        if not asked:
            self._losses.note("does not say what was asked: it was left out", where)
            return None
        doc_id = row.get("doc_id")
        messages = _messages(asked[0][0], self._losses, where)
        case: JsonObject = {"id": doc_id, "chat": self._conversations.see(messages)}
        if isinstance(row.get("doc"), dict):
            case["doc"] = row["doc"]
        options = [text for _, text in asked]
        scores = _scores(row)
        if len(options) > 1 and all(option is not None for option in options):
            self._chosen(case, row, [str(option).strip() for option in options], scores)
        else:
            self._with_target(case, row.get("target"))
            self._said(case, _texts(row), str(doc_id), scores, where)
        return case

    def _chosen(
        self, case: JsonObject, row: JsonObject, options: list[str], scores: JsonObject
    ) -> None:
        """Record the likeliest option as the output."""
        self._by_likelihood = True
        case["options"] = list[Json](options)
        target = str(row.get("target"))
        if target.isdecimal() and int(target) < len(options):
            target = options[int(target)]
        self._with_target(case, target)
        if len(set(options)) < len(options):
            self._losses.note("its options differ in what stands before them, which a text alone "
                              "cannot show: no output was recorded")  # fmt: skip
            return
        known = [_likelihood(one) for one in _list(row.get("resps"))]
        likely = [value for value in known if value is not None]
        if len(known) != len(options) or len(likely) != len(known):
            self._losses.note("holds no likelihood for each option: no output was recorded")
            return
        self._tracks.add("0", self._model())
        chosen = options[likely.index(max(likely))]
        self._tracks.put(case, "0", chosen, scores=scores or None, verdict=_verdict(scores))

    def _said(
        self, case: JsonObject, texts: list[str], doc: str, scores: JsonObject, where: str
    ) -> None:
        """Record each answer: of each repeat, which is an epoch, and of each filter."""
        if not texts:
            self._losses.note("holds no text that was said: no output was recorded", where)
        self._tracks.add("0", self._model())
        # a score is of all repeats together, after the filter
        measured = scores if self._filters == [_UNFILTERED] and self._repeats == 1 else {}
        for n, text in enumerate(texts):
            self._tracks.put(
                case,
                "0",
                text,
                epoch=n if self._repeats > 1 else None,
                scores=measured or None,
                verdict=_verdict(measured),
            )
        for name in self._filters:
            filtered = self._filtered.get((name, doc))
            if filtered is not None:
                key = f"filter {name}"
                self._tracks.add(key, f"{self._model()} {name}")
                self._tracks.put(
                    case,
                    key,
                    filtered[0],
                    scores=filtered[1] or None,
                    verdict=_verdict(filtered[1]),
                )

    def _with_target(self, case: JsonObject, target: Json) -> None:
        self._answers.see(target)
        if target not in (None, "", "None"):
            case["target"] = target

    def _model(self) -> str:
        """Return the model's name by the folder, as the harness names it; else a placeholder."""
        folder = self._path.absolute().parent.name
        return folder.replace("__", "/") if "__" in folder else "recorded"

    def suite(self) -> JsonObject:
        """Return the suite."""
        if not self._answers.rows:
            refuse(str(self._path), "holds no samples of lm-eval")
        suite: JsonObject = {
            "name": _task(self._path),
            "prompt": self._conversations.prompt(),
            "targets": self._tracks.targets(),
        }
        if not suite["targets"]:
            refuse(str(self._path), "holds no outputs: nothing can be replayed")
        if self._answers.given:
            right = ExpectedAnswer("target", "target")
            chosen = "exact" if self._by_likelihood else None
            suite["scorers"] = [self._answers.scorer(right, chosen, self._losses)]
        else:
            self._losses.note("no sample has a target: the suite has no scorer, so every output "
                              "passes")  # fmt: skip
        if self._by_likelihood:
            self._losses.guess("what was said is the option the model found likeliest; lengths are "
                               "not corrected for (acc_norm)")  # fmt: skip
        named = [name for name in self._filters if name != _UNFILTERED]
        if named:
            self._losses.guess(f"beside what was said, what the filters left of it is a target of "
                               f"its own: {', '.join(named)}")  # fmt: skip
        self._losses.note("the task itself (few-shot examples, metrics with their settings) is not "
                          "in the file: questions are as they were asked")  # fmt: skip
        self._losses.note("generation parameters are not carried over: outputs are "
                          "replayed")  # fmt: skip
        run = self._tracks.run()
        if run:
            suite["run"] = run
        return suite


def _task(path: Path) -> str:
    """Return the task's name in `samples_TASK_2025-01-01T00-00-00.000000.jsonl`."""
    name = path.stem.removeprefix("samples_")
    task, _, date = name.rpartition("_")
    return task if task and date[:4].isdecimal() and "T" in date else name


def _filter(row: JsonObject) -> str:
    name = row.get("filter")
    return name if isinstance(name, str) and name else _UNFILTERED


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _scores(row: JsonObject) -> JsonObject:
    """Return the harness's metrics of a sample by name."""
    return {name: row[name] for name in _names(row.get("metrics")) if name in row}


_MEASURES: Final = ("acc", "exact_match", "em")
"""Metrics that say right or wrong of a sample, the first that is there counts."""


def _verdict(scores: JsonObject) -> str | None:
    """Return the harness's verdict of a sample; None: no metric says right or wrong."""
    value = next((scores[name] for name in _MEASURES if name in scores), None)
    known = isinstance(value, int | float) and value in (0, 1)
    return verdict(bool(value)) if known else None


def _texts(row: JsonObject) -> list[str]:
    """Return the output of each repeat."""
    resps = _list(row.get("resps"))
    answers = resps[0] if resps and isinstance(resps[0], list) else resps
    return [one for one in _list(answers) if isinstance(one, str)]


def _names(value: Json) -> list[str]:
    return [one for one in _list(value) if isinstance(one, str)]


def _first_text(value: Json) -> str | None:
    while isinstance(value, list) and value:
        value = value[0]
    return value if isinstance(value, str) else None


def _arguments(value: Json) -> list[tuple[str, str | None]]:
    """Return each request: the text, and the option whose likelihood is asked."""
    pairs: list[Json] = []
    if isinstance(value, dict):
        for request in value.values():
            if isinstance(request, dict):
                pairs.append([request.get("arg_0"), request.get("arg_1")])
    else:
        pairs = _list(value)
    found: list[tuple[str, str | None]] = []
    for pair in pairs:
        if isinstance(pair, list) and pair and isinstance(pair[0], str):
            option = pair[1] if len(pair) > 1 and isinstance(pair[1], str) else None
            found.append((pair[0], option))
    return found


def _messages(asked: str, losses: ImportNotes, where: str) -> list[JsonObject]:
    """Return a request as messages; a chat may be written as JSON."""
    if asked.lstrip().startswith("[{") and '"role"' in asked:
        try:
            return as_messages(parse_json(asked, where), losses, where)
        except SuiteError:
            losses.note("looks like messages and is none: it is asked as one text", where)
    return [{"role": "user", "content": asked}]


def _likelihood(value: Json) -> float | None:
    """Return an option's log-likelihood: the first item of a list, or a text."""
    while isinstance(value, list) and value:
        value = value[0]
    try:
        return float(value) if isinstance(value, str | int | float) else None
    except ValueError:
        return None
