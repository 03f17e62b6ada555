"""A suite's cases to page through, and what a run of it would be; read in threads."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tui_eval.model.outputs.conversation import last_user_text
from tui_eval.ui.expected_values import ExpectedValue, expected_values
from tui_eval.ui.suites.suite_list import SuiteEntry

if TYPE_CHECKING:
    import sqlite3

    from tui_eval.engine.preflight.judge_forecast import JudgeRequest
    from tui_eval.engine.preflight.preflight import Preflight
    from tui_eval.engine.settings import Settings
    from tui_eval.model.case import Case, Column
    from tui_eval.model.json import Json
    from tui_eval.suites.loading.errors import SuiteError
    from tui_eval.suites.spec import Suite
    from tui_eval.suites.survey.template_check import Survey
    from tui_eval.suites.templates.renderer import OpeningMessages, Renderer

_MOST = 1000
"""Cases one can page through."""


@dataclass(frozen=True, slots=True)
class PromptPreview:
    """What a prompt sends for a case."""

    opening: "OpeningMessages"
    turns: "Sequence[Json]"
    """What the user says after each reply."""


@dataclass(frozen=True, slots=True)
class CasePreview:
    """One case as it would be asked."""

    index: int
    case: "Case | None"
    """None: the suite has no case, or its data has mistakes."""
    asked: "tuple[tuple[Column, PromptPreview | str], ...]"
    """For each prompt, its first column and what is sent; a text says why that is nothing."""
    last: bool
    """Whether no case follows that can be paged to."""
    expected: tuple[ExpectedValue, ...] = ()
    """What its first target's output is compared with, as far as that can be said beforehand."""
    trouble: str | None = None


class CaseBook:
    """Pages of one suite; reads no further than one has paged. All methods run in a thread."""

    def __init__(self, entry: SuiteEntry) -> None:
        assert entry.suite is not None, "only a suite that can be read has cases to show"
        self._suite = entry.suite
        self._cases: list[Case] = []
        self._rest: Iterator[Case] | None = None
        self._renderer: Renderer | None = None
        self._ended = False
        self._trouble: str | None = None
        self._turn = threading.Lock()
        self._surveyed: Survey | SuiteError | None = None
        self._surveying = threading.Lock()

    def leaf(self, index: int) -> CasePreview:
        """Return the case at an index, or the last there is."""
        with self._turn:
            self._read_to(index + 1)  # one further, to know whether there is one
            if not self._cases:
                return CasePreview(0, None, (), True, (), self._trouble or "no case is left")
            index = min(index, len(self._cases) - 1)
            last = self._ended and index == len(self._cases) - 1
            case = self._cases[index]
            asked = tuple(self._asked(case))
            expected = tuple(self._expected(case, asked))
            return CasePreview(index, case, asked, last, expected, self._trouble)

    def survey(self, suite: "Suite") -> "Survey":
        """Go through all cases of the suite, once, whoever asks.

        Raises:
            SuiteError: its data or templates have mistakes.
        """
        from tui_eval.engine.preflight.survey import surveyed
        from tui_eval.suites.loading.errors import SuiteError

        with self._surveying:
            if self._surveyed is None:
                try:
                    self._surveyed = surveyed(suite)
                except SuiteError as error:
                    self._surveyed = error
            if isinstance(self._surveyed, SuiteError):
                raise self._surveyed
            return self._surveyed

    def expected(self, db: "sqlite3.Connection") -> "Preflight":
        """Say what a run of the whole suite would send and cost at most."""
        from tui_eval.engine.preflight.preflight import Depth, preflight
        from tui_eval.engine.settings import Settings

        return preflight(db, self._suite, Settings(), Depth.RENDERED, self.survey)

    def of_launch(
        self,
        db: "sqlite3.Connection",
        settings: "Settings",
        suite: "Suite | None" = None,
        baseline: str = "",
    ) -> "Preflight":
        """Say what a launch would find in the store, ask and cost.

        Args:
            db: A connection to the store.
            settings: The launch's choices.
            suite: The suite with other parameters; None: as it was read.
            baseline: The run or file that it is compared with; empty: the suite's baseline.
        """
        from tui_eval.engine.preflight.preflight import preflight
        from tui_eval.reports.comparison.baseline.base_choice import BaseRefusedError, checked_base

        suite = suite or self._suite
        found = preflight(
            db,
            suite,
            settings,
            survey=lambda _: self.survey(self._suite),
            has_base=bool(baseline),
        )
        if not baseline or found.mistakes:
            return found
        try:
            base = checked_base(db, baseline, suite, settings)
        except BaseRefusedError as error:
            return replace(found, refused=(*found.refused, f"baseline: {error}"))
        warnings = (*found.warnings, *base.warnings)
        return replace(found, baseline=base.choice.name, warnings=warnings)

    def judged(self, db: "sqlite3.Connection", case: "Case") -> "tuple[JudgeRequest, ...]":
        """Return what judges would be asked about a case; nothing: none is."""
        from tui_eval.engine.preflight.judge_forecast import requests_about
        from tui_eval.engine.session import Session
        from tui_eval.engine.settings import Settings
        from tui_eval.providers.errors import UnavailableError

        if not self._suite.judges:
            return ()
        try:
            with closing(Session(self._suite, Settings())) as session:
                return tuple(requests_about(db, session, case))
        except UnavailableError:
            return ()  # what is not ready says what is wrong

    def _read_to(self, index: int) -> None:
        from tui_eval.suites.data.dataset import cases
        from tui_eval.suites.loading.errors import SuiteError

        if self._rest is None:
            self._rest = cases(self._suite)
        while len(self._cases) <= index and not self._ended:
            try:
                self._cases.append(next(self._rest))
                self._ended = len(self._cases) == _MOST
            except StopIteration:
                self._ended = True
            except SuiteError as error:
                self._ended, self._trouble = True, str(error)

    def _asked(self, case: "Case") -> "Iterator[tuple[Column, PromptPreview | str]]":
        from tui_eval.suites.templates.renderer import Renderer
        from tui_eval.suites.templates.template import TemplateError

        if self._renderer is None:
            self._renderer = Renderer(self._suite)
        seen: set[str | None] = set()
        for column in self._renderer.columns:
            if column.prompt in seen:
                continue
            seen.add(column.prompt)
            try:
                opening = self._renderer.opening(column, case)
                yield column, PromptPreview(opening, self._renderer.turns(column, case))
            except TemplateError as error:
                yield column, f"cannot be rendered: {error}"

    def _expected(
        self, case: "Case", asked: "Sequence[tuple[Column, PromptPreview | str]]"
    ) -> "Sequence[ExpectedValue]":
        """Return what is expected of a case; nothing where only its output could tell."""
        from tui_eval.model.outputs.output import Failure
        from tui_eval.scoring.check import Subject
        from tui_eval.scoring.scorers import Scorers
        from tui_eval.suites.templates.template import TemplateError

        column, sent = next(iter(asked), (None, None))
        if column is None:
            return ()
        messages = () if sent is None or isinstance(sent, str) else tuple(sent.opening.messages)
        subject = Subject(case, last_user_text(messages), messages, None, column.target)
        try:
            checks = Scorers(self._suite.scorers, self._suite.names_of_output).checks(subject)
        except TemplateError:
            return ()  # a launch says what is wrong with it
        return () if isinstance(checks, Failure) else expected_values(checks)
