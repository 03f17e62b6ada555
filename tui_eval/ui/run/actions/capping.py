"""What a person is asked where a run has paused at a cap, and what the answer asks of the run."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from tui_eval.format import cost, dollars, many, money, number
from tui_eval.model.json import JsonObject
from tui_eval.ui.dialogs.cap_dialog import CapQuestion
from tui_eval.ui.dialogs.menu import Choice
from tui_eval.ui.run.snapshot import Snapshot

After: TypeAlias = Literal["again", "more", "leave"]
"""How a run goes on that has paused because of its errors; `leave`: it stays paused."""


@dataclass(frozen=True, slots=True)
class CapReached:
    """The cap a run has paused at."""

    name: str
    """`max_cost_usd` or `max_tokens`."""
    question: CapQuestion

    def args(self, typed: str) -> JsonObject:
        """Return what is asked of the run with the cap that was typed."""
        value = _number(typed)
        assert value is not None, "the question has looked at it"
        return {self.name: value if self.name == "max_cost_usd" else int(value)}


def capped(run: Snapshot) -> CapReached | None:
    """Return the question for a run that has paused at a cost or token cap; None: it has not."""
    match run.run.stopped_by:
        case "max_cost_usd":
            return CapReached("max_cost_usd", _about_money(run))
        case "max_tokens":
            return CapReached("max_tokens", _about_tokens(run))
        case _:
            return None


def _about_money(run: Snapshot) -> CapQuestion:
    total, limit = run.total, run.caps.cost_usd or 0.0
    spent = total.known_usd if total.about_usd is None else total.about_usd
    said = cost(total)
    expected = run.spending().expected_usd
    more = "" if expected is None else f": about {money(max(expected - spent, 0))} more"

    def problem(typed: str) -> str | None:
        value = _number(typed)
        if value is None:
            return "a number of dollars, like 4 or 2.50"
        return None if value > spent else f"{said} is spent already"

    return CapQuestion(
        title="The run has reached its cap",
        told=f"{said} of ${dollars(limit)} is spent. {_open(run)}{more}.",
        label="new cap, $",
        suggested=dollars(max(limit, spent) * 2),
        problem=problem,
    )


def _about_tokens(run: Snapshot) -> CapQuestion:
    used = run.total.input_tokens + run.total.output_tokens
    limit = run.caps.tokens or 0

    def problem(typed: str) -> str | None:
        value = _number(typed)
        if value is None or value != int(value):
            return "a whole number of tokens, like 50000"
        return None if value > used else f"{number(used)} are used already"

    return CapQuestion(
        title="The run has reached its cap",
        told=f"{number(used)} of {number(limit)} tokens are used. {_open(run)}.",
        label="new cap, tokens",
        suggested=str(max(limit, used) * 2),
        problem=problem,
        whole=True,
    )


def error_choices(run: Snapshot) -> list[Choice[After]]:
    """Return how a run can go on that has paused because of its errors."""
    higher = _more_errors(run)
    words = f"{higher:g} errors" if higher >= 1 else f"{higher * 100:.3g}% errors"
    return [
        Choice(f"try the {number(run.total.error)} errored again, and resume", "again"),
        Choice(f"leave them, resume and pause at {words}", "more"),
        Choice("leave the run paused", "leave", chosen=True),
    ]


def error_args(run: Snapshot, after: After) -> JsonObject:
    """Return what is asked of a run that goes on in spite of its errors."""
    return {"errored": "leave", "max_errors": _more_errors(run)} if after == "more" else {}


def _more_errors(run: Snapshot) -> float:
    limit = run.caps.errors or 0.0
    return min(limit * 2, 0.999) if limit < 1 else max(limit * 2, run.total.error + 1.0)


def _open(run: Snapshot) -> str:
    waiting = run.total.total - run.total.settled
    return f"{number(waiting)} of {many(run.total.total, 'trial')} are queued or running"


def _number(typed: str) -> float | None:
    try:
        value = float(typed.strip().removeprefix("$").replace(",", "").replace("_", ""))
    except ValueError:
        return None
    return value if 0 < value < float("inf") else None
