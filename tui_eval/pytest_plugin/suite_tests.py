"""Suites as tests: one for the gate, and one for each case where that is asked for."""

import json
import os
import shlex
import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from tui_eval.api import launch
from tui_eval.api.errors import LaunchError, StoreError, SuiteError
from tui_eval.api.run import Run
from tui_eval.api.runs import open_run
from tui_eval.model.case import Case
from tui_eval.model.exit_code import ExitCode
from tui_eval.model.visible import visible, visible_line
from tui_eval.pytest_plugin.case_result import CaseResult, case_result
from tui_eval.pytest_plugin.suite_store import SuiteStore, how_to_trust, suite_store
from tui_eval.reports.terminal.failures import failures
from tui_eval.reports.terminal.tables import AnsiStyle
from tui_eval.store.connection import open_readable
from tui_eval.store.errors import UnknownRunError
from tui_eval.store.read import run_queries
from tui_eval.suites.data.dataset import cases
from tui_eval.suites.loading.suite_file import load, looks_like_a_suite
from tui_eval.suites.trust.needs_trust import NeedsTrust

_FAILURES: Final = 20
"""Failed trials that a gate's report lists."""
_LONGEST_ID: Final = 120
"""Characters of a case's id in the name of its test."""


class SuiteCollection:
    """Collects suites: those that are named, and those in the folders that pytest looks into."""

    def __init__(self, config: pytest.Config) -> None:
        """Take a session's options."""
        self._store = suite_store(config)
        self._cases = bool(config.option.tui_eval_cases)
        worker = getattr(config, "workerinput", None)
        self._session = uuid.uuid4().hex if worker is None else str(worker["testrunuid"])

    def pytest_report_header(self) -> str:
        """Say where the runs are."""
        return f"tui-eval: {self._store.file}"

    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> "CollectedSuite | None":
        """Take a file that is a suite."""
        if file_path.suffix != ".toml":
            return None
        if not parent.session.isinitpath(file_path) and not looks_like_a_suite(file_path):
            return None
        found: CollectedSuite = CollectedSuite.from_parent(parent, path=file_path)
        found.store, found.with_cases = self._store, self._cases
        found.session_id = self._session
        return found


class CollectedSuite(pytest.File):
    """A suite, whose tests share one run."""

    store: SuiteStore
    with_cases: bool
    session_id: str
    """What all processes of a session have in common."""
    _cases = 0
    """How many there are, where they are tests."""
    _run: Run | None = None
    _refused: Exception | None = None
    """Why there is none: looked for once, not again by each test."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the tests: the gate's, then those of the cases."""
        yield GateTest.from_parent(self, name="gate")
        if not self.with_cases:
            return
        taken: set[str] = set()
        for case in self._read():
            shown = name = visible_line(case.id, _LONGEST_ID)
            while name in taken:
                name = f"{shown} ({len(taken)})"
            taken.add(name)
            test: CaseTest = CaseTest.from_parent(self, name=f"case[{name}]")
            test.case_id = case.id
            yield test
        self._cases = len(taken)

    def _read(self) -> Iterator[Case]:
        """Yield the suite's cases.

        Raises:
            CollectError: it has mistakes, or wants to be trusted.
        """
        try:
            yield from cases(load(self.path, trusted=self.store.trust))
        except SuiteError as error:
            raise self.CollectError(_said(error)) from None

    def run(self) -> Run:
        """Return the run of this session, which the first test begins, in whichever process.

        Raises:
            SuiteError: the suite or its data has mistakes, or it wants to be trusted.
            LaunchError: a key or a model is not there.
            StoreError: the store cannot be used.
        """
        if self._refused is not None:
            raise self._refused
        if self._run is None:
            try:
                self._run = self._shared()
            except (SuiteError, LaunchError, StoreError) as error:
                self._refused = error
                raise
        return self._run

    def _shared(self) -> Run:
        chosen = self._chosen()
        told: dict[str, object] = {"session": self.session_id, "cases": [*chosen]}
        with self.store.turn(os.path.realpath(self.path)) as note:
            found = self._of_another(note.read(), told)
            if found is None:
                found = launch.run(
                    self.path, cases=chosen, store=self.store.file, trust=self.store.trust
                )
                note.seek(0)
                note.truncate()
                json.dump({**told, "run": found.name}, note)
            return found

    def _chosen(self) -> Sequence[str]:
        """Return the cases that are run; empty: all, as the gate is about all of them."""
        mine = [item for item in self.session.items if item.parent is self]
        of_cases = [item.case_id for item in mine if isinstance(item, CaseTest)]
        gate = len(of_cases) < len(mine)
        return () if gate or len(of_cases) == self._cases else of_cases

    def _of_another(self, note: str, told: dict[str, object]) -> Run | None:
        """Return the run that another process of this session has made; None: there is none."""
        try:
            known = json.loads(note)
            if {name: known.get(name) for name in told} == told:
                return open_run(known["run"], store=self.store.file)
        except (ValueError, UnknownRunError):  # nothing is there yet, or it was deleted since
            pass
        return None

    def result_of(self, case_id: str) -> CaseResult:
        """Return what a case came to."""
        run = self.run()
        with closing(open_readable(run.store)) as db:
            return case_result(db, run_queries.run_named(db, run.name), case_id)


class _SuiteTest(pytest.Item):
    """A test of a suite."""

    @property
    def suite(self) -> CollectedSuite:
        """The suite."""
        assert isinstance(self.parent, CollectedSuite)
        return self.parent

    def setup(self) -> None:
        """Have the suite run; what prevents that is an error, no failure."""
        try:
            run = self.suite.run()
        except (SuiteError, LaunchError, StoreError) as error:
            # not as what came of it, which would say it twice
            raise pytest.fail.Exception(_said(error), pytrace=False) from None
        self.user_properties.append(("tui_eval_run", run.name))

    def reportinfo(self) -> tuple[Path, None, str]:
        """Name the test in headings."""
        return self.path, None, f"{self.path.stem}: {self.name}"


class GateTest(_SuiteTest):
    """Passes where `tui-eval run` exits with 0."""

    def runtest(self) -> None:
        """Fail where the gate does not hold, or trials errored and no gate speaks of them."""
        run = self.suite.run()
        if run.exit_code != ExitCode.PASSED:
            pytest.fail("\n".join(_report(run)), pytrace=False)


class CaseTest(_SuiteTest):
    """Passes where a case passes in every column."""

    case_id: str
    _result: CaseResult

    def setup(self) -> None:
        """Have the suite run; a trial without output, where none failed, is an error."""
        super().setup()
        self._result = self.suite.result_of(self.case_id)
        if self._result.errors and not self._result.failed:
            pytest.fail("\n".join(self._result.errors), pytrace=False)

    def runtest(self) -> None:
        """Fail where the case failed in a column; what is not graded is skipped."""
        result = self._result
        if result.failed:
            told = (*result.failed, *result.errors, *result.left_out)
            command = _command(self.suite.run(), self.case_id)
            pytest.fail("\n".join((*told, command)), pytrace=False)
        if result.left_out:
            pytest.skip("; ".join(result.left_out))


def _report(run: Run) -> Iterator[str]:
    """Yield the lines of what a gate's test says: why, the summary, the first failures."""
    yield f"{'; '.join(run.gate.failed) or _why(run)}\n"
    yield run.report()
    with closing(open_readable(run.store)) as db:
        listed = failures(db, run_queries.run_named(db, run.name).id, AnsiStyle())
        for number, line in enumerate(listed):
            if number == 0:
                yield "\nfailed:"
            if number == _FAILURES:
                yield "  and more"
                break
            yield f"  {line}"
    yield _command(run, None)


def _why(run: Run) -> str:
    """Say why a run is not right whose gate holds, or that has none."""
    if run.state != "done":
        return f"the run has not finished: it is {run.state}"
    counts = run.document["counts"]
    told = f"errors: {counts['error']}, ungraded: {counts['ungraded']}"
    return f"{told}; a gate may allow some: max_error_rate, max_ungraded_rate"


def _command(run: Run, case_id: str | None) -> str:
    """Return the command that shows the failures, or one case."""
    what = ["--failed"] if case_id is None else ["--case", visible_line(case_id)]
    words = ["tui-eval", "show", run.name, *what, "--store", str(run.store)]
    return f"\nlook at it with `{shlex.join(words)}`"


def _said(error: Exception) -> str:
    """Return what an error says, and how a suite is trusted where that is wanted."""
    told = visible(str(error))
    return f"{told}\n{how_to_trust(error)}" if isinstance(error, NeedsTrust) else told
