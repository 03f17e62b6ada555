"""How the epochs of a case are made one result."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from tui_eval.model.json import JsonObject

_WITH_K: Final = re.compile(r"(at_least_|pass@|pass\^)([1-9][0-9]{0,5})")
_FORMS: Final = "mean, max, majority, at_least_2, pass@2 or pass^2 with any number for the 2"


@dataclass(frozen=True, slots=True)
class Reduce:
    """What makes one result of a case's epochs."""

    kind: Literal["mean", "max", "majority", "at_least", "pass@", "pass^"]
    k: int | None = None
    """The number in `at_least_2`, `pass@2`, `pass^2`; None for the others."""

    @property
    def name(self) -> str:
        """How a suite writes it."""
        if self.k is None:
            return self.kind
        return f"at_least_{self.k}" if self.kind == "at_least" else f"{self.kind}{self.k}"


def parse_reduce(text: str) -> Reduce:
    """Read `mean`, `max`, `majority`, `at_least_2`, `pass@2`, `pass^2`.

    Raises:
        ValueError: when it is none of these.
    """
    match text:
        case "mean" | "max" | "majority":
            return Reduce(text)
    found = _WITH_K.fullmatch(text)
    if found is None:
        raise ValueError(f'must be {_FORMS}; not "{text}"')
    k = int(found[2])
    match found[1]:
        case "at_least_":
            return Reduce("at_least", k)
        case "pass@":
            return Reduce("pass@", k)
        case _:
            return Reduce("pass^", k)


def reducers(value: object) -> list[Reduce]:
    """Read the value of `reduce`: one reducer, or a list of them.

    Raises:
        ValueError: when one of them is none, when none is there, or one stands there twice.
    """
    names = value if isinstance(value, list | tuple) else [value]
    found: list[Reduce] = []
    for name in names:
        if not isinstance(name, str):
            shown = json.dumps(name, default=str)
            raise ValueError(f"must be {_FORMS}, or a list of these; not {shown}")  # noqa: TRY004
        one = parse_reduce(name)
        if one in found:
            raise ValueError(f'"{name}" stands there twice')
        found.append(one)
    if not found:
        raise ValueError("must name at least one reducer; without the line it is mean")
    return found


class CaseRules(Protocol):
    """What a suite says of how trials come to results: `[run]` of a suite, or of a frozen one."""

    @property
    def errors(self) -> Literal["leave_out", "fail"]:
        """What an errored trial is in the rates."""

    @property
    def reductions(self) -> Sequence[Reduce]:
        """All reducers; the first decides."""


@dataclass(frozen=True, slots=True)
class FrozenRules:
    """The rules of a frozen suite, read without the rest of it."""

    errors: Literal["leave_out", "fail"]
    reductions: Sequence[Reduce]

    @classmethod
    def of_table(cls, table: JsonObject) -> "FrozenRules":
        """Read them in the `[run]` table of a frozen suite.

        Raises:
            ValueError: a version that knew other rules has written it.
        """
        match table.get("errors", "leave_out"):
            case "leave_out" | "fail" as errors:
                return cls(errors, reducers(table.get("reduce", "mean")))
            case other:
                raise ValueError(f"errors must be leave_out or fail, not {json.dumps(other)}")
