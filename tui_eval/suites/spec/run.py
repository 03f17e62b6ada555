"""How a suite is run."""

import json
from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, StrictBool, WithJsonSchema

from tui_eval.model.bounds import MOST_CALLS
from tui_eval.model.json import JsonObject
from tui_eval.model.reduction import Reduce, reducers
from tui_eval.suites.spec.table import TEXT_OR_TEXTS, Amount, Count, Positive, Spec, Times, Whole


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
