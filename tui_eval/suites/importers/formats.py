"""Which format a file has, and the reader of each format."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tui_eval.model.json import Json
from tui_eval.plugins.lookup import is_plugin_name
from tui_eval.suites.data.files import open_regular
from tui_eval.suites.importers.experiments.braintrust import read_braintrust
from tui_eval.suites.importers.experiments.deepeval import read_deepeval
from tui_eval.suites.importers.experiments.langfuse import read_langfuse
from tui_eval.suites.importers.experiments.pydantic_evals import read_pydantic_evals
from tui_eval.suites.importers.inspect.log import read_inspect
from tui_eval.suites.importers.lm_eval import read_lm_eval
from tui_eval.suites.importers.plugin_import import read_by_plugin
from tui_eval.suites.importers.promptfoo.config import read_promptfoo
from tui_eval.suites.importers.reading import not_too_deep, refuse
from tui_eval.suites.importers.shape import Imported
from tui_eval.suites.importers.tables import TableChoices, read_chat, read_table

_TABLES: Final = {"jsonl": (".jsonl",), "json": (".json",), "csv": (".csv", ".tsv")}
_LOOKED_AT: Final = 400_000
"""Bytes of a file that are looked at to see what it is."""


def read(format_name: str, path: Path, wanted: TableChoices | None = None) -> Imported:
    """Begin to import a file; its cases are read lazily.

    Args:
        format_name: One of `importers.catalogue.FORMATS`, or the name of a plugin.
        path: The file.
        wanted: What the person said of a table's columns.

    Raises:
        SuiteError: it cannot be read, or is not of that format.
    """
    if is_plugin_name(format_name):
        return read_by_plugin(format_name, path)
    wanted = wanted or TableChoices()
    if format_name in _TABLES:
        endings = _TABLES[format_name]
        if path.suffix.lower() not in endings:
            refuse(str(path), f"must end in {' or '.join(endings)} to be read as {format_name}")
        return read_table(path, wanted)
    with not_too_deep(str(path)):
        return _READERS[format_name](path, wanted)


def _promptfoo(path: Path, _: TableChoices) -> Imported:
    return read_promptfoo(path)


def _inspect(path: Path, _: TableChoices) -> Imported:
    return read_inspect(path)


def _lm_eval(path: Path, _: TableChoices) -> Imported:
    return read_lm_eval(path)


def _chat(path: Path, wanted: TableChoices) -> Imported:
    if path.suffix.lower() not in (".jsonl", ".json"):
        refuse(str(path), "must end in .jsonl or .json to be read as openai-evals")
    return read_chat(path, wanted)


_READERS: Final[dict[str, Callable[[Path, TableChoices], Imported]]] = {
    "promptfoo": _promptfoo,
    "inspect": _inspect,
    "lm-eval": _lm_eval,
    "openai-evals": _chat,
    "deepeval": read_deepeval,
    "pydantic-evals": read_pydantic_evals,
    "langfuse": read_langfuse,
    "braintrust": read_braintrust,
}


_ROWS: Final = ("deepeval", "langfuse", "braintrust")
"""Formats that may be tables."""
_BY_ENDING: Final[dict[str, tuple[str, ...]]] = {
    ".yaml": ("promptfoo", "pydantic-evals"),
    ".yml": ("promptfoo", "pydantic-evals"),
    ".eval": ("inspect",),
    ".csv": ("csv", *_ROWS),
    ".tsv": ("csv", *_ROWS),
    ".jsonl": ("jsonl", "openai-evals", "lm-eval", *_ROWS),
    ".json": ("json", "promptfoo", "inspect", "openai-evals", "pydantic-evals", *_ROWS),
}

ENDINGS: Final = tuple(_BY_ENDING)
"""Endings of files that can be imported."""


_NAMES_WITHIN: Final = 20_000
"""Characters of a JSON document in which the names of its fields are looked for."""
_WORD: Final = re.compile(r"\w+")
_CASES: Final = re.compile(r"^(evaluators|report_evaluators):|^\s*-?\s+inputs:", re.MULTILINE)
_NAMES: Final[dict[str, frozenset[str]]] = {
    "deepeval": frozenset((
        "testRunData", "metricsData", "conversationalTestCases", "expected_tools",
        "custom_column_key_values",
    )),
    "langfuse": frozenset((
        "experimentItemId", "datasetItemId", "item_results", "itemResults", "datasetRunId",
    )),
    "braintrust": frozenset((
        "_xact_id", "root_span_id", "span_attributes", "dataset_record_id", "span_parents",
    )),
    "pydantic-evals": frozenset((
        "report_evaluators", "evaluator_failures", "report_evaluator_failures",
    )),
}  # fmt: skip
"""Names of fields by which a tool is known."""


def possible(path: Path) -> tuple[str, ...]:
    """Return the formats that a file's ending allows, the likeliest first; empty: none."""
    formats = _BY_ENDING.get(path.suffix.lower(), ())
    guessed = guess(path) if len(formats) > 1 else None
    return formats if guessed is None else tuple(dict.fromkeys((guessed, *formats)))


def guess(path: Path) -> str | None:
    """Return a file's format by its name and beginning; None: it is unknown."""
    match path.suffix.lower():
        case ".jsonl":
            return _of_lines(_beginning(path))
        case ".json":
            return _of_json(_beginning(path))
        case ".csv" | ".tsv":
            return _by_names(_beginning(path).split("\n", 1)[0]) or "csv"
        case ".yaml" | ".yml":
            return "pydantic-evals" if _CASES.search(_beginning(path)) else "promptfoo"
        case ending:
            return next(iter(_BY_ENDING.get(ending, ())), None)


def _beginning(path: Path) -> str:
    try:
        with open_regular(path) as file:
            return file.read(_LOOKED_AT).decode("utf-8-sig", "ignore")
    except OSError:
        return ""


def _by_names(text: str) -> str | None:
    """Return the tool that has such names of fields; None: they may be anybody's."""
    words = frozenset(_WORD.findall(text))
    return next((tool for tool, names in _NAMES.items() if names & words), None)


def _of_lines(text: str) -> str:
    try:
        row: Json = json.loads(text.lstrip().split("\n", 1)[0] or "null")
    except (ValueError, RecursionError):
        return "jsonl"
    if not isinstance(row, dict):
        return "jsonl"
    if (known := _by_names(" ".join(row))) is not None:
        return known
    if "doc" in row and "resps" in row:
        return "lm-eval"
    if isinstance(row.get("messages"), list) or (
        isinstance(row.get("input"), list) and "ideal" in row
    ):
        return "openai-evals"
    return "jsonl"


def _of_json(text: str) -> str:
    """Return the format by the first keys of a document, which may be too large to read whole."""
    if (known := _by_names(text[:_NAMES_WITHIN])) is not None:
        return known
    if text.lstrip().startswith("["):
        return "json"
    if '"eval"' in text and ('"samples"' in text or '"plan"' in text):
        return "inspect"
    return "promptfoo"
