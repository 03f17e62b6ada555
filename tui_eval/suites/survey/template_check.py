"""What a run of a suite would be, and which templates fail for which cases."""

import dataclasses
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from tui_eval.format import many
from tui_eval.model.answer_source import AnswerSource
from tui_eval.model.case import Case, Column
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.conversation import last_user_text, text_of
from tui_eval.model.outputs.output import Failure
from tui_eval.suites.data.attachments import Attachments
from tui_eval.suites.data.dataset import cases
from tui_eval.suites.data.rows import DataProblems
from tui_eval.suites.loading.errors import SuiteError, did_you_mean
from tui_eval.suites.spec import Suite
from tui_eval.suites.survey.mistake_places import mistake
from tui_eval.suites.survey.needed_names import unknown_names
from tui_eval.suites.survey.suite_warnings import odd_orders, several_calls
from tui_eval.suites.survey.tried_templates import TriedTemplate, tried_templates
from tui_eval.suites.templates.renderer import RenderedPrompt, Renderer
from tui_eval.suites.templates.template import RESERVED, VALUES, TemplateError, holds

_CHARS_PER_TOKEN: Final = 4
"""A rule of thumb for English with today's tokenizers; no tokenizer is asked."""
_SHOWN: Final = 3


@dataclass(slots=True)
class TemplateFailure:
    """A template that fails in the same way for some cases."""

    field: str
    """The path of the field in the suite: `prompt.user`."""
    message: str
    hint: str | None
    name: str | None
    """The undefined name, where that is what is wrong."""
    count: int = 0
    """For how many cases it fails."""
    first: list[str] = dataclasses.field(default_factory=list)
    """The ids of the first of them."""

    @property
    def ids(self) -> str:
        """The first ids as a text, with a sign where there are more."""
        return ", ".join(self.first) + (", …" if self.count > len(self.first) else "")

    def __str__(self) -> str:
        plural = "case" if self.count == 1 else "cases"
        hint = f"; {self.hint}" if self.hint else ""
        return f"{self.field}: {self.message}{hint} ({self.count} {plural}: {self.ids})"


@dataclass(frozen=True, slots=True)
class Survey:
    """The size of a run, and what would fail in it."""

    cases: int
    columns: tuple[Column, ...]
    epochs: int
    troubles: tuple[TemplateFailure, ...]
    """What fails for some cases; their trials will be errors."""
    warnings: tuple[str, ...]
    """What runs, but may not be meant so."""
    input_tokens: dict[str, int]
    """For each column the tokens all its trials send, estimated at four characters each."""
    tags: frozenset[str] = frozenset()
    """Those that cases have."""
    calls: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """For each column the calls of all its trials: one a turn of the user; those that tools make
    are not known. A column that is not in it: one a trial."""

    @property
    def trials(self) -> int:
        """Cases × columns × epochs."""
        return self.cases * len(self.columns) * self.epochs


Problem: TypeAlias = Callable[[Column, Case], Failure | None]
"""Says what keeps a case of a column from being asked; None: nothing that is known beforehand."""


def survey(suite: Suite, problem: Problem | None = None, *, rendered: bool = True) -> Survey:
    """Read all cases and try every template on each, without asking anybody.

    Args:
        suite: The suite.
        problem: What a run looks at before it asks, where the caller has it: what it finds beyond
            the templates is a trouble too.
        rendered: False: no template is tried, so there are no troubles and no tokens; everything
            else is the same and takes no longer than reading the data.

    Raises:
        SuiteError: for mistakes in the data, a suite without cases, and templates with a name
            that no case has (see `needed_names`).
    """
    return _Surveyor(suite, problem, rendered).survey()


class _Surveyor:
    """One pass over the cases of a suite."""

    def __init__(self, suite: Suite, problem: Problem | None, rendered: bool) -> None:
        self._suite = suite
        self._problem = problem
        self._rendered = rendered
        self._renderer = Renderer(suite)
        self._prompts = list(self._renderer.prompts())
        self._tried = tried_templates(suite)
        self._attachments = Attachments(suite)
        self._asks = any(one.SOURCE is AnswerSource.ASKED for one in suite.targets)
        self._troubles: dict[tuple[str, str], TemplateFailure] = {}
        self._noted = 0
        self._chars: dict[str | None, int] = {prompt.name: 0 for prompt in suite.prompts}
        self._turns: Counter[str | None] = Counter()
        """The user's turns in all cases, by prompt."""
        self._columns: set[str] = set()
        self._tags: set[str] = set()
        replays = suite.recordings
        self._replayed = [one for one in self._renderer.columns if one.target in replays]
        self._unrecorded: dict[str, TemplateFailure] = {}
        self._recorded: dict[str, int] = {}
        """For each column with more recorded epochs than the run asks for: how many."""
        self._undemanding = TemplateFailure("", "nothing is required", None, None)
        """The cases that no required scorer applies to, whatever their outputs."""
        self._required = {scorer.name for scorer in suite.scorers if scorer.required}
        self._cases = 0
        self._unsupported: dict[str, list[str]] = {}
        """What tasks say and nothing here does, by file and field, with the tasks that say it."""
        self._problems = DataProblems()
        """Has the tasks that are left out."""

    def survey(self) -> Survey:
        """Return what a run would be."""
        for case in cases(self._suite, self._problems):
            self._cases += 1
            self._columns.update(case.fields)
            self._tags.update(case.tags)
            if self._suite.dataset.format is not None:
                self._note_unsupported(case)
            if self._rendered:
                self._render(case)
            self._look_at(case)
        mistakes = [*unknown_names(self._suite, self._columns)]
        if not self._cases:
            hint = "its filter leaves none" if self._suite.dataset.filter else "its data is empty"
            mistakes.append(mistake(self._suite, "dataset", "no case is left", hint))
        if mistakes:
            raise SuiteError(mistakes)
        epochs = self._suite.run.epochs
        columns = self._renderer.columns
        return Survey(
            cases=self._cases,
            columns=columns,
            epochs=epochs,
            troubles=tuple(self._troubles.values()),
            warnings=tuple(self._warnings()),
            input_tokens={
                column.name: self._chars.get(column.prompt, 0) * epochs // _CHARS_PER_TOKEN
                for column in columns
            },
            tags=frozenset(self._tags),
            calls={
                column.name: self._turns[column.prompt] * epochs
                for column in columns
                if column.prompt in self._turns
            },
        )

    def _render(self, case: Case) -> None:
        names = self._renderer.names(case)
        before = self._noted
        said: list[JsonObject] = []
        for prompt, spec in zip(self._prompts, self._suite.prompts or (None,), strict=True):
            messages = self._messages(case, prompt, names)
            if messages is not None:
                said = said or messages
                self._look_at_files(case, prompt.field, messages)
                if spec is not None:
                    length, calls = self._length(case, prompt, messages)
                    self._chars[spec.name] += length
                    self._turns[spec.name] += calls
            elif spec is not None:
                self._turns[spec.name] += 1
        seen: dict[str, Json] = {**names, "prompt": last_user_text(said), "messages": [*said]}
        asked = seen if self._suite.prompts else names
        for tried in self._tried:
            visible = asked if tried.scorer is None else seen
            if tried.scorer not in case.skip and not tried.waits and self._applies(tried, visible):
                self._try(case, tried, visible)
        if self._noted == before:
            self._try_out(case)

    def _note_unsupported(self, case: Case) -> None:
        found = case.fields.get("unsupported")
        for what in found if isinstance(found, list) else ():
            self._unsupported.setdefault(str(what), []).append(case.id)

    def _look_at(self, case: Case) -> None:
        own = any(scorer.get("required", True) for scorer in case.scorers)
        if not own and self._required <= {*case.skip}:
            self._count(self._undemanding, case)
        for column in self._replayed:
            epochs = range(self._suite.run.epochs)
            if any(case.recording(column, epoch) is None for epoch in epochs):
                missing = TemplateFailure(column.name, "no recording", None, None)
                self._count(self._unrecorded.setdefault(column.name, missing), case)
            recorded = case.epochs_recorded(column)
            if recorded > len(epochs):
                self._recorded[column.name] = max(recorded, self._recorded.get(column.name, 0))

    def _try_out(self, case: Case) -> None:
        """Try what else a run would find: a case's own scorers, settings that make no sense."""
        if self._problem is None:
            return
        for column in self._renderer.columns:
            failure = self._problem(column, case)
            if failure is not None:
                self._note(case, TemplateError("scorers", failure.message))
                return

    def _messages(
        self, case: Case, prompt: RenderedPrompt, names: dict[str, Json]
    ) -> list[JsonObject] | None:
        try:
            return prompt.opening(names, case.session).messages
        except TemplateError as error:
            self._note(case, error)
            return None

    def _length(
        self, case: Case, prompt: RenderedPrompt, messages: list[JsonObject]
    ) -> tuple[int, int]:
        """Return the characters that a case's requests send, replies aside; and their number."""
        try:
            turns = prompt.further_turns(self._renderer.names(case))
        except TemplateError as error:
            self._note(case, error)
            return 0, 1
        opening = sum(len(text_of(one["content"])) for one in messages)
        asked: list[JsonObject] = [{"role": "user", "content": turn} for turn in turns]
        self._look_at_files(case, prompt.field, asked)
        lengths = (len(text_of(turn)) for turn in turns)
        return sum(itertools.accumulate(lengths, initial=opening)), 1 + len(turns)

    def _look_at_files(self, case: Case, field: str, messages: list[JsonObject]) -> None:
        """Note what is wrong with the files that a case's messages name."""
        trouble = self._attachments.trouble(messages) if self._asks else None
        if trouble is not None:
            self._note(case, TemplateError(field, trouble))

    @staticmethod
    def _applies(tried: TriedTemplate, names: dict[str, Json]) -> bool:
        if tried.when is None:
            return True
        try:
            return holds(tried.when.value(names))
        except TemplateError:
            return False  # reported for `when` itself

    def _try(self, case: Case, tried: TriedTemplate, names: dict[str, Json]) -> None:
        try:
            value = tried.template.value(names)
        except TemplateError as error:
            self._note(case, error, tried.field)
            return
        if value is None and tried.scorer is not None and not tried.field.endswith(".when"):
            self._note(case, TemplateError(tried.field, "is null"), tried.field)

    def _note(self, case: Case, error: TemplateError, path: str | None = None) -> None:
        # an undefined name is one trouble, whatever else the cases have
        self._noted += 1
        key = (path or error.field, error.message)
        trouble = self._troubles.setdefault(
            key, TemplateFailure(path or error.field, error.message, error.hint, error.name)
        )
        self._count(trouble, case)

    @staticmethod
    def _count(trouble: TemplateFailure, case: Case) -> None:
        trouble.count += 1
        if len(trouble.first) < _SHOWN:
            trouble.first.append(case.id)

    def _used(self) -> tuple[set[str], set[str]]:
        """Return the names that templates of prompts use, and those that the others use."""
        asked = [one for prompt in self._prompts for one in prompt.templates]
        others = [one for tried in self._tried for one in tried.template.templates()]
        return (
            {name for template in asked for name in template.names},
            {name for template in others for name in template.names},
        )

    def _warnings(self) -> Iterator[str]:
        asked, others = self._used()
        recorded = self._suite.recorded_columns - (asked | others)
        columns_only = asked - others - {"case", "examples"}  # prompts know these by no other name
        for name in RESERVED:
            if name in self._columns - recorded - columns_only:
                yield (
                    f'the column "{name}" has a name that templates may use for something else: '
                    f"write case.{name}"
                )
        for name in VALUES:
            if name in self._columns - recorded:
                yield f'the column "{name}" is called like a value of templates: write case.{name}'
        yield from odd_orders(self._suite)
        yield from several_calls(self._suite)
        for name, why in sorted(self._problems.left_out.items()):
            yield f"{name} is left out: {why}"
        for what, tasks in sorted(self._unsupported.items()):
            yield f"{what} is not supported, in {many(len(tasks), 'task')}: {', '.join(tasks)}"
        undemanding = self._undemanding
        if undemanding.count == self._cases:
            why = "no scorer is required" if self._suite.scorers else "there are no [[scorers]]"
            yield f"nothing is required of the outputs, so every one will pass: {why}"
        elif undemanding.count:
            yield (
                f"nothing is required of the outputs of {undemanding.count} of {self._cases} "
                f"cases, so every one will pass: {undemanding.ids}"
            )
        yield from self._recording_warnings()
        for place, tag in self._gated_tags():
            if tag not in self._tags:
                near = did_you_mean(tag, sorted(self._tags))
                yield f"{place}: no case has this tag" + (f"; {near}" if near else "")

    def _gated_tags(self) -> Iterator[tuple[str, str]]:
        """Yield the tags that the gate names, each with where it does."""
        gate = self._suite.gate
        if gate is None:
            return
        for tag in gate.tags:
            yield f'[gate.tags."{tag}"]', tag
        for tag in () if gate.baseline is None else gate.baseline.never_break:
            yield f'[gate.baseline] never_break "{tag}"', tag

    def _recording_warnings(self) -> Iterator[str]:
        """Say where replays have fewer epochs than the run asks for, and where more."""
        epochs = self._suite.run.epochs
        each = " of every epoch" if epochs > 1 else ""
        for name, missing in self._unrecorded.items():
            yield (
                f'target "{name}" has no recording{each} for {missing.count} of {self._cases}: '
                f"{missing.ids}"
            )
        for name, most in self._recorded.items():
            yield (
                f'target "{name}" has recordings of {most} epochs, and [run] epochs is {epochs}: '
                "those after it are not used"
            )
