"""Functions in a suite that is given as a mapping: `target`, and those among its scorers."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from tui_eval.api.code_digest import code_digest
from tui_eval.isolated.function_worker import (
    RefusedCallableError,
    names_taken,
)
from tui_eval.model.json import digest
from tui_eval.suites import given_functions
from tui_eval.suites.given_functions import FunctionHolder
from tui_eval.suites.loading.errors import Mistake, SuiteError
from tui_eval.suites.scorers.programs.function_scorer import SEEN_BY_FUNCTIONS

MAPPING: Final = "(mapping)"
"""What mistakes name in place of a file, where a suite is given as a mapping."""
_UNNAMED: Final = "suite"


class GivenFunction(FunctionHolder):
    """A function of this program, known to suites as long as somebody has this."""

    def __init__(
        self, function: Callable[..., Any], beside: Iterable["GivenFunction"] = ()
    ) -> None:
        """Take a function; its code is looked at.

        Args:
            function: The function.
            beside: Others that the same engine calls: two may differ in what is not seen of them
                alone, as methods of two clients do, and each is to be called for itself.
        """
        self.function = function
        self.name = name_of(function)
        """As people read it."""
        self.seen = code_digest(function)
        """The digest of its code."""
        alike = {id(one.function): one.code for one in beside if one.seen == self.seen}
        numbered = digest([self.seen, len(alike)]).hex() if alike else self.seen
        self.code: str = alike.get(id(function), numbered)
        """What it is called by: the digest, with a number where others of the suite have it too."""
        given_functions.offer(self.code, self)

    @property
    def is_async(self) -> bool:
        """Whether a call gives something to be awaited, and does nothing else."""
        called = getattr(self.function, "__call__", None)  # noqa: B004 - of an object
        return any(map(inspect.iscoroutinefunction, (self.function, called)))

    def offered(self) -> frozenset[str]:
        """Return which of the names that scorers are offered it takes.

        Raises:
            RefusedCallableError: none.
        """
        wanted = {"function": self.name, "keywords": [*SEEN_BY_FUNCTIONS], "positional": 0}
        return frozenset(names_taken(self.function, {**wanted, "offered": True}))

    def see_that_it_takes(self, args: object) -> None:
        """See that it can be called with a target's `args`.

        Raises:
            RefusedCallableError: it cannot.
        """
        by_name, by_place = isinstance(args, Mapping), isinstance(args, list | tuple)
        wanted = {
            "function": self.name,
            "keywords": list(args) if isinstance(args, Mapping) else [],
            "positional": 0 if by_name else len(args) if by_place else 1,  # type: ignore[arg-type]  # it is a list or tuple
        }
        names_taken(self.function, {**wanted, "offered": False})


def name_of(function: Callable[..., Any]) -> str:
    """Return what a function is called: `quote`, `Shop.quote`, `lambda`."""
    inner = getattr(function, "func", function)  # of a partial one
    name = getattr(inner, "__qualname__", None) or type(inner).__qualname__
    return str(name).rpartition("<locals>.")[2].strip("<>") or "function"


def held(functions: Iterable[Callable[..., Any]]) -> list[GivenFunction]:
    """Take the functions of one suite, in its order."""
    taken: list[GivenFunction] = []
    for function in functions:
        taken.append(GivenFunction(function, taken))
    return taken


def known_functions(codes: Iterable[str]) -> dict[str, GivenFunction]:
    """Return those functions of this program that somebody still has, by the digests of code."""
    found = {code: given_functions.holder_of(code, GivenFunction) for code in codes}
    return {code: one for code, one in found.items() if one is not None}


def with_names(given: Mapping[str, Any]) -> tuple[dict[str, Any], list[GivenFunction]]:
    """Return a suite in which functions stand by name and digest, and the functions.

    `target` is the only one of `targets`. Wherever a target or a scorer stands may be a function,
    or a table whose `function` is one.

    Raises:
        SuiteError: a function does not take what it would be called with.
    """
    reading = _Reading()
    suite = dict(given)
    if "target" in suite:
        if "targets" in suite:
            message = "stands beside targets"
            raise SuiteError([Mistake(MAPPING, None, "target", message, "put it among those")])
        suite["targets"] = [suite.pop("target")]
        reading.only = True
    for field in ("targets", "scorers"):
        if field in suite:
            suite[field] = reading.listed(field, suite[field])
    if reading.mistakes:
        raise SuiteError(reading.mistakes)
    suite.setdefault("name", reading.name or _UNNAMED)
    return suite, reading.functions


class _Reading:
    """One suite, as it is read."""

    def __init__(self) -> None:
        self.functions: list[GivenFunction] = []
        self.mistakes: list[Mistake] = []
        self.only = False
        """Whether `target` was given, so that mistakes name that."""
        self.name: str | None = None
        """The first function among the targets."""

    def listed(self, field: str, given: object) -> object:
        """Return what stands in `targets` or `scorers`."""
        if not isinstance(given, Sequence) or isinstance(given, str):
            return [self._table(field, field, given)] if _function_in(given) else given
        named = self.only and field == "targets"
        places = ["target"] if named else [f"{field}[{at}]" for at in range(len(given))]
        return [self._table(field, place, one) for place, one in zip(places, given, strict=True)]

    def _table(self, field: str, place: str, given: object) -> object:
        function = _function_in(given)
        if function is None:
            return given
        held = GivenFunction(function, self.functions)
        table = {**given} if isinstance(given, Mapping) else {}
        shown = held.name.rpartition(".")[2]
        if field == "targets" and self.name is None:
            self.name = shown
        try:
            if field == "targets":
                held.see_that_it_takes(table.get("args"))
            else:
                held.offered()
        except RefusedCallableError as error:
            self.mistakes.append(Mistake(MAPPING, None, place, str(error)))
        self.functions.append(held)
        named = {"kind": "function", "function": held.name, "digest": held.code}
        return {"name": shown, **table, **named}


def _function_in(given: object) -> Callable[..., Any] | None:
    if isinstance(given, Mapping):
        given = given.get("function")
    return given if callable(given) else None
