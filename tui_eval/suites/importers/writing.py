"""Write an imported suite and its dataset: both whole and checked, or neither."""

import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import tomli_w

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.visible import visible_line
from tui_eval.suites.importers.reading import not_too_deep
from tui_eval.suites.importers.shape import Imported, ImportNote
from tui_eval.suites.loading.errors import Mistake, SuiteError
from tui_eval.suites.loading.suite_file import look
from tui_eval.suites.spec import TARGETS, Suite
from tui_eval.suites.survey import template_check
from tui_eval.suites.survey.template_check import Survey

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_LISTED: Final = 60
"""Things not carried over that the suite itself lists."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A verdict of the file that differs from the suite's for the same output."""

    case: str
    column: str
    epoch: int
    """From 1."""
    scorer: str
    """Empty: the verdict of the whole result."""
    there: str
    """`pass` or `fail`."""
    here: str
    """`pass`, `fail`, `ungraded`, or `error` where there is no output to grade."""
    reason: str
    """Why it is so here."""

    def __str__(self) -> str:
        scorer = f", {self.scorer}" if self.scorer else ""
        epoch = f", epoch {self.epoch}" if self.epoch > 1 else ""
        said = (
            f"case {self.case}, {self.column}{epoch}{scorer}: {self.there} there, {self.here} here"
        )
        return visible_line(f"{said} ({self.reason})" if self.reason else said, 400)


@dataclass(slots=True)
class Comparison:
    """The suite's verdicts compared with those of the file."""

    alike: int = 0
    differing: list[Difference] = field(default_factory=list)
    uncompared: int = 0
    """Verdicts that hang on a judge, or on a scorer that was not carried over."""

    def lines(self, most: int) -> Iterator[str]:
        """Return it as lines, with at most so many differences; empty: there were no verdicts."""
        total = self.alike + len(self.differing)
        if total:
            yield (f"of {total:,} verdicts that the file holds the suite comes to the same in "
                   f"{self.alike:,}")  # fmt: skip
        if self.uncompared:
            yield (f"{self.uncompared:,} verdicts were not compared: they hang on a judge, or on a "
                   "scorer that was not carried over")  # fmt: skip
        yield from map(str, self.differing[:most])
        if len(self.differing) > most:
            yield f"and {len(self.differing) - most:,} more that differ"


@dataclass(frozen=True, slots=True)
class WrittenSuite:
    """The suite and dataset that an import wrote."""

    suite: Path
    dataset: Path
    cases: int
    lost: tuple[ImportNote, ...]
    """Everything that was not carried over, or not as it was."""
    troubles: tuple[str, ...]
    """What `tui-eval check` says of the suite: cases that will be errors, and warnings."""
    verdicts: Comparison
    """How the suite grades what the file holds graded outputs of."""


def dataset_of(suite: Path) -> Path:
    """Return the file that holds the cases of an imported suite."""
    return suite.with_name(f"{suite.stem}.cases.jsonl")


def in_the_way(suite: Path) -> list[Path]:
    """Return the files that importing into a suite would replace."""
    return [path for path in (suite, dataset_of(suite)) if path.exists() or path.is_symlink()]


def why_not(suite: Path, source: Path) -> str | None:
    """Return why a suite cannot be written there; None: it can."""
    if suite.suffix != ".toml":
        return "a suite's name ends in .toml"
    if suite.is_dir():
        return "is a folder"
    if any(path.exists() and source.exists() and path.samefile(source)
           for path in (suite, dataset_of(suite))):  # fmt: skip
        return "would replace the file that is imported"
    return None


def write(
    imported: Imported,
    suite: Path,
    source: Path,
    *,
    replacing: bool = False,
    survey: Callable[[Suite], Survey] = template_check.survey,
    compare: Callable[[Suite], Iterable[Difference | bool]] = lambda _: (),
) -> WrittenSuite:
    """Write a suite and its dataset beside it, once both have been checked together.

    Args:
        imported: What was read.
        suite: The suite's file.
        source: The file that was imported, for the suite's first line.
        replacing: Whether files that are there may be replaced.
        survey: Checks what was written.
        compare: Gives, for each verdict that the cases hold, where the suite differs from it, or
            else whether it could be compared.

    Raises:
        SuiteError: the data has mistakes, or a file is in the way; nothing was written.
        OSError: there is no room, or no right to write there; nothing was written.
    """
    wrong = why_not(suite, source)
    if wrong is not None:
        raise SuiteError([Mistake(str(suite), None, "", wrong)])
    there = [] if replacing else in_the_way(suite)
    if there:
        raise SuiteError(Mistake(str(path), None, "", "is there already") for path in there)
    suite.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=".import-", dir=suite.parent))
    try:
        made = aside / suite.name
        with not_too_deep(str(source)):
            cases = _write_cases(dataset_of(made), imported.cases)
            if not cases:
                raise SuiteError([Mistake(str(source), None, "", "holds no cases")])
            text = _text(imported, made)
            made.write_text(text, encoding="utf-8")
            troubles, verdicts = _checked(made, suite, survey, compare)
            head = _head(imported, source, verdicts)
            made.write_text(_with_head(head, text), encoding="utf-8")
        dataset_of(made).replace(dataset_of(suite))
        made.replace(suite)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return WrittenSuite(suite, dataset_of(suite), cases, imported.losses.listed(), troubles,
                   verdicts)  # fmt: skip


def _write_cases(file: Path, cases: Iterable[JsonObject]) -> int:
    count = 0
    with file.open("x", encoding="utf-8") as out:
        for row in cases:
            out.write(json.dumps(row, ensure_ascii=_has_surrogate(row), allow_nan=False))
            out.write("\n")
            count += 1
    return count


def _has_surrogate(value: Json) -> bool:
    """Return whether a text in it has a lone surrogate, which UTF-8 cannot hold."""
    if isinstance(value, str):
        return _SURROGATE.search(value) is not None
    if isinstance(value, list):
        return any(map(_has_surrogate, value))
    if isinstance(value, dict):
        return any(map(_has_surrogate, value)) or any(map(_has_surrogate, value.values()))
    return False


def _text(imported: Imported, file: Path) -> str:
    suite = imported.suite()
    if _has_surrogate(suite):
        imported.losses.note("half a character (a lone surrogate) stands as � in the suite")
    dataset = suite.get("dataset", {})
    assert isinstance(dataset, dict)
    name = dataset_of(file).name
    # what its source did not name is called as its file is
    suite = {"name": file.stem, **suite, "dataset": {"path": name, **dataset}}
    targets = suite["targets"]
    assert isinstance(targets, list)
    for target in targets:
        if isinstance(target, dict):
            for column in TARGETS.of(target).DATA_FIELDS:
                target[column] = name  # what was recorded stands in the cases
    body = tomli_w.dumps(_in_order(suite), multiline_strings=_plain_lines(suite))
    return _SURROGATE.sub("�", body)


def _with_head(head: Iterable[str], text: str) -> str:
    lines = "\n".join(f"# {line}" if line else "#" for line in head)
    return _SURROGATE.sub("�", f"{lines}\n\n{text}")


def _head(imported: Imported, source: Path, verdicts: Comparison) -> Iterator[str]:
    yield visible_line(f"Imported from {source.name}.")
    told = imported.losses.listed()
    for guess, title in (
        (False, "Not carried over, or not as it was:"),
        (True, "How it was taken:"),
    ):
        some = [one for one in told if one.guess is guess]
        if some:
            yield title
        for one in some[:_LISTED]:
            yield f"- {one}"
        if len(some) > _LISTED:
            yield f"- and {len(some) - _LISTED} more"
    lines = [*verdicts.lines(_LISTED)]
    if lines:
        yield "How outputs of the file are graded here:"
    for line in lines:
        yield f"- {line}"


def _in_order(suite: JsonObject) -> JsonObject:
    """Return the tables in the order of a suite written by hand, those without a header first."""
    order = ("name", "description", "tags", "dataset", "prompt", "prompts", "targets", "scorers",
             "judge", "judges", "embedding", "run", "gate")  # fmt: skip
    assert suite.keys() <= set(order), suite.keys()
    return {name: suite[name] for name in order if name in suite}


def _plain_lines(value: Json) -> bool:
    """Return whether texts can be written over several lines: TOML may change other line ends."""
    if isinstance(value, str):
        return "\r" not in value
    if isinstance(value, list):
        return all(map(_plain_lines, value))
    return all(map(_plain_lines, value.values())) if isinstance(value, dict) else True


def _checked(
    made: Path,
    suite: Path,
    survey: Callable[[Suite], Survey],
    compare: Callable[[Suite], Iterable[Difference | bool]],
) -> tuple[tuple[str, ...], Comparison]:
    """Check what was written as `tui-eval check` does; return what it says and the comparison.

    Raises:
        SuiteError: with its mistakes, named by the files as they are going to be called.
    """
    found = Comparison()
    try:
        looked = look(made)
        if looked.suite is None:
            return (), found
        seen = survey(looked.suite)
        for one in compare(looked.suite):
            if isinstance(one, Difference):
                found.differing.append(one)
            else:
                found.alike += one
                found.uncompared += not one
    except SuiteError as error:
        raise SuiteError(
            replace(one, file=str(suite.with_name(Path(one.file).name))) for one in error.mistakes
        ) from None
    return (*(str(trouble) for trouble in seen.troubles), *seen.warnings), found
