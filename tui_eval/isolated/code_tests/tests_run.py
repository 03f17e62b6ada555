"""Running a suite's tests against a solution, and saying what came of it."""

from __future__ import annotations

import ast
import builtins
import linecache
import sys
import types
from typing import Any, Dict, List, NamedTuple, Sequence, Set

from tui_eval.isolated.code_tests.crossing_exceptions import text_of
from tui_eval.isolated.code_tests.python_code import NoCodeError, defined, given_code
from tui_eval.isolated.code_tests.solution_link import SolutionGoneError
from tui_eval.isolated.code_tests.tested import TestedSolution

TESTS = "tests.py"
CHECK = "check"
"""A function of the tests that takes the solution's."""


class TestsResult(NamedTuple):
    """What came of the tests."""

    verdict: str
    """`pass`, `fail` or `ungraded`."""
    reason: str


class UnusableTestsError(Exception):
    """The tests cannot be run, whatever the solution."""


class TestsRun:
    """The tests of one case, and what they are run against."""

    def __init__(self, tests: str, given: str, entry_point: str) -> None:
        """Read the tests.

        Raises:
            UnusableTestsError: they are no Python.
        """
        linecache.cache[TESTS] = (len(tests), None, tests.splitlines(True), TESTS)
        self._tree = _parsed(tests, "the tests")
        self._entry_point = entry_point.strip()
        self._entry_names = _loaded(_parsed(self._entry_point or "None", "entry_point"))
        self._given = given_code(given)
        self._helpers = defined(self._given) - self._entry_names
        own = defined(tests) | set(dir(builtins)) | self._helpers
        used = {name for name in _loaded(self._tree) - own if not name.startswith("__")}
        self._used = sorted(used | self._entry_names)
        self.wanted = sorted(self._entry_names) or self._used
        """The names by which a reply's code is known."""

    def result(self, solution: TestedSolution, reply: str) -> TestsResult:
        """Load the solution and run the tests; nothing is raised.

        Args:
            solution: To be loaded.
            reply: Of the model, which holds the code.
        """
        try:
            solution.load(self._given, reply, self.wanted)
        except NoCodeError as error:
            return TestsResult("fail", str(error))
        except SolutionGoneError as error:
            return TestsResult("fail", f"the solution could not be loaded: {error}")
        except BaseException as error:  # noqa: BLE001 - what the solution's code raised
            return TestsResult("fail", f"the solution's code raised {_told(error, solution)}")
        try:
            self._run(solution)
        except UnusableTestsError as error:
            return TestsResult("ungraded", str(error))
        except BaseException as error:  # noqa: BLE001 - of the tests, or of the solution
            return _failed(error, solution)
        return _passed(solution)

    def _run(self, solution: TestedSolution) -> None:
        names = self._names(solution)
        exec(compile(self._tree, TESTS, "exec"), names)  # noqa: S102 - the suite's own
        check = names.get(CHECK)
        if callable(check) and CHECK in defined_functions(self._tree):
            if not self._entry_point:
                raise UnusableTestsError(
                    "the tests define check(…) and call nothing: name what it is given in "
                    "entry_point"
                )
            check(self._entry(solution, names))
        for name in defined_functions(self._tree):
            if name.startswith("test_") and _takes_nothing(names.get(name)):
                names[name]()
        _run_cases(names)

    def _names(self, solution: TestedSolution) -> Dict[str, Any]:
        """Return what the tests see before they define anything themselves."""
        names: Dict[str, Any] = {"__name__": "tests", "__builtins__": builtins}
        if self._helpers:
            try:
                exec(compile(self._given, "given.py", "exec"), names)  # noqa: S102 - the suite's
            except Exception as error:
                said = f"{type(error).__name__}: {text_of(error)}"
                raise UnusableTestsError(f"the code that was given raised {said}") from error
            for name in self._entry_names:
                names.pop(name, None)
        return {**names, **solution.look_up(self._used)}

    def _entry(self, solution: TestedSolution, names: Dict[str, Any]) -> Any:
        found = solution.look_up(sorted(self._entry_names))
        missing = sorted(self._entry_names - found.keys() - names.keys() - set(dir(builtins)))
        if missing:
            raise NameError(f"name {missing[0]!r} is not defined")
        return eval(self._entry_point, {**names, **found})  # noqa: S307 - the suite's own


def _parsed(code: str, what: str) -> ast.Module:
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        at = f", line {line}" if line else ""
        said = getattr(error, "msg", None) or str(error)
        raise UnusableTestsError(f"{what} cannot be read as Python: {said}{at}") from error


def _loaded(tree: ast.AST) -> Set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def defined_functions(tree: ast.Module) -> List[str]:
    """Return the names of the functions at the top of a module, in their order."""
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]


def _takes_nothing(function: object) -> bool:
    if not isinstance(function, types.FunctionType):
        return False
    code = function.__code__
    asked = code.co_argcount + code.co_kwonlyargcount
    return asked == len(function.__defaults__ or ()) + len(function.__kwdefaults__ or {})


def _run_cases(names: Dict[str, Any]) -> None:
    """Run the test cases of `unittest` that the tests define; raise what the first one raised."""
    unittest = sys.modules.get("unittest")
    if unittest is None:
        return
    cases = [
        value
        for value in names.values()
        if isinstance(value, type)
        and issubclass(value, unittest.TestCase)
        and value.__module__ == "tests"
    ]
    for case in dict.fromkeys(cases):
        for one in unittest.defaultTestLoader.loadTestsFromTestCase(case):
            _run_case(one)


def _run_case(case: Any) -> None:
    """Run one test case, so that what it raises is raised here."""
    result = _KeptErrors()
    case.run(result)
    if result.error is not None:
        raise result.error


class _KeptErrors:
    """What `unittest` tells of a test case; the first exception is kept."""

    shouldStop = False  # noqa: N815 - unittest's
    failfast = False

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def addError(self, _: Any, error: Any) -> None:  # noqa: N802
        self.error = self.error or error[1]

    addFailure = addError  # noqa: N815

    def addSubTest(self, test: Any, _: Any, error: Any) -> None:  # noqa: N802
        if error is not None:
            self.addError(test, error)

    def addUnexpectedSuccess(self, _: Any) -> None:  # noqa: N802
        self.error = self.error or AssertionError("a test passed that was expected to fail")

    def __getattr__(self, name: str) -> Any:
        return lambda *_: None


def _passed(solution: TestedSolution) -> TestsResult:
    if solution.gone is not None:
        return TestsResult("fail", f"the solution ended itself: {solution.gone}")
    if solution.caught is not None:
        return _failed(solution.caught, solution)
    if not solution.used:
        return TestsResult("ungraded", "the tests never called the solution")
    return TestsResult("pass", "passes the tests")


def _failed(error: BaseException, solution: TestedSolution) -> TestsResult:
    at = where(error.__traceback__)
    beside = f", in the tests at {at}" if at else ""
    if solution.uncrossed is not None:
        return TestsResult("ungraded", f"{solution.uncrossed}{beside}: see in_process")
    if isinstance(error, SolutionGoneError):
        return TestsResult("fail", f"the solution ended itself: {error}{beside}")
    if isinstance(error, ImportError) and solution.raised_where(error) is None:
        return TestsResult("ungraded", f"the tests cannot be run: {text_of(error)}{beside}")
    if isinstance(error, AssertionError) and solution.raised_where(error) is None:
        said = text_of(error).strip()
        facts = [one for one in (said, solution.last_in_words()) if one]
        return TestsResult("fail", "; ".join([f"failed {at}" if at else "failed", *facts]))
    return TestsResult("fail", f"{_told(error, solution)}{beside}")


def _told(error: BaseException, solution: TestedSolution) -> str:
    name, text = type(error).__name__, text_of(error).strip()
    said = f"{name}: {text}" if text else name
    where_raised = solution.raised_where(error)
    return f"{said} (solution, {where_raised})" if where_raised else said


def where(trace: types.TracebackType | None) -> str:
    """Return the innermost line of the tests in a traceback, with its text; empty: none."""
    lines: Sequence[str] = linecache.cache[TESTS][2]  # type: ignore[misc]
    found = 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == TESTS:
            found = trace.tb_lineno
        trace = trace.tb_next
    return line_of(found, lines)


def line_of(number: int, lines: Sequence[str]) -> str:
    """Return a line of the tests in words; empty for none."""
    if not 0 < number <= len(lines):
        return ""
    return f"line {number}: {lines[number - 1].strip()[:160]}"
