"""What tests are run against: a solution in a process of its own, or in theirs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import ModuleType
from typing import Any, Dict, Sequence

from tui_eval.isolated.code_tests.solution_code import MODULE, load_code, where_in_code


class TestedSolution(ABC):
    """A solution, as tests are run against it."""

    gone: str | None = None
    """Why nothing can be asked of it any more."""
    uncrossed: str | None = None
    """What the tests passed to it that cannot cross."""
    caught: BaseException | None = None
    """An assertion of the tests that failed where the solution may catch what it raises."""
    used = False
    """Whether the tests have asked anything of it."""

    @abstractmethod
    def load(self, given: str, reply: str, wanted: Sequence[str]) -> None:
        """Choose the code of a reply and run it; raise what that raises.

        Raises:
            NoCodeError: there is none.
        """

    @abstractmethod
    def look_up(self, names: Sequence[str]) -> Dict[str, Any]:
        """Return what the solution has under some names; those it does not have are left out."""

    @abstractmethod
    def raised_where(self, error: BaseException) -> str | None:
        """Return the line of the solution that raised something; empty: a line nobody knows.

        None: the solution did not raise it.
        """

    @abstractmethod
    def last_in_words(self) -> str:
        """Return what the last call gave; empty where that cannot be said. Nothing follows it."""


class InProcessSolution(TestedSolution):
    """A solution in the tests' own process: it can do to them what it likes, but end them."""

    def __init__(self) -> None:
        self._module = ModuleType(MODULE)

    def load(self, given: str, reply: str, wanted: Sequence[str]) -> None:
        """Choose the code and run it here."""
        load_code(self._module, given, reply, wanted)

    def look_up(self, names: Sequence[str]) -> Dict[str, Any]:
        """Return what the module has."""
        there = vars(self._module)
        found = {name: there[name] for name in names if name in there}
        self.used = self.used or bool(found)
        return found

    def raised_where(self, error: BaseException) -> str | None:
        """Return the line by the traceback."""
        return where_in_code(error)

    def last_in_words(self) -> str:
        """Return nothing: nobody saw it."""
        return ""
