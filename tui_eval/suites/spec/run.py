"""How a suite is run."""

import json
import re
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, StrictBool, WithJsonSchema

from tui_eval.model.bounds import MOST_CALLS
from tui_eval.model.json import JsonObject
from tui_eval.suites.spec.base import TEXT_OR_TEXTS, Amount, Count, Positive, Spec, Times, Whole

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


def _known_reduce(value: object) -> object:
    """One validator, so that a mistake is reported once and not once a type."""
    reducers(value)
    return tuple(value) if isinstance(value, list) else value


def _calls(value: object) -> object:
    """One validator, so that a mistake is reported once and not once a type."""
    if value == "auto":
        return value
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        if value > MOST_CALLS:
            raise ValueError(f"must be at most {MOST_CALLS}, not {value}")
        return value
    raise ValueError(f'must be a whole number ≥ 1 or "auto", not {json.dumps(value, default=str)}')


_CALLS: Final[JsonObject] = {"type": "integer", "minimum": 1, "maximum": MOST_CALLS}
Concurrency = Annotated[
    int | Literal["auto"],
    BeforeValidator(_calls),
    WithJsonSchema({"anyOf": [_CALLS, {"const": "auto"}]}),
]
"""How many calls are in flight at once; `auto` finds out."""


class RunSettings(Spec):
    """How the trials are run; everything has a default."""

    concurrency: Concurrency | None = None
    """Calls in flight at each endpoint: a whole number ≥ 1, or "auto", which starts low and grows
    until the endpoint refuses calls, queues them or lets them time out. Default: auto; for local
    presets a fixed few."""
    epochs: Times = 1
    """How often each case is asked, to see how much the target varies."""
    timeout: Positive = 300.0
    """Seconds for one attempt."""
    patience: Amount = 600.0
    """Seconds to wait for an endpoint that pauses everybody."""
    retries: Count = 5
    """Further attempts after a passing fault."""
    max_cost_usd: Positive | None = None
    """US dollars that the run may take, those of judges among them: before a call that could take
    more it pauses and asks. It needs known prices. Default: no cap."""
    max_tokens: Whole | None = None
    """Tokens, read and produced, that the run may take: before a call that could take more it
    pauses and asks. Default: no cap."""
    max_errors: (
        Annotated[
            Positive,
            WithJsonSchema(
                {
                    "anyOf": [
                        {"type": "integer", "minimum": 1},
                        {"exclusiveMinimum": 0, "exclusiveMaximum": 1, "type": "number"},
                    ]
                }
            ),
        ]
        | None
    ) = None
    """Errored trials after which the run pauses and asks: a number from 1 on, or a share of all
    trials below 1. Default: no cap."""
    cache: StrictBool = True
    """Whether outputs and scores that have the same key are used again."""
    reduce: Annotated[
        str | tuple[str, ...], BeforeValidator(_known_reduce), WithJsonSchema(TEXT_OR_TEXTS)
    ] = "mean"
    """What makes one result of a case's epochs: mean, max, majority, at_least_k, pass@k, pass^k
    with a number for k. Of a list the first decides, and the others are reported beside it."""
    truncated: Literal["ungraded", "grade"] = "ungraded"
    """What a cut-short output is to every scorer but `finish`."""
    filtered: Literal["ungraded", "fail"] = "ungraded"
    """What an output is to every scorer but `finish` that the endpoint's content filter took
    away."""
    errors: Literal["leave_out", "fail"] = "leave_out"
    """What an errored trial is in the rates; it is always counted beside them."""

    orphans: Literal["end", "finish"] = "end"
    """What becomes of programs whose engine was killed: they end, or go on to their end or limit,
    and the next engine takes what they gave."""

    @property
    def reduction(self) -> Reduce:
        """The reducer that decides."""
        return self.reductions[0]

    @property
    def reductions(self) -> list[Reduce]:
        """All reducers; the first decides."""
        return reducers(self.reduce)
