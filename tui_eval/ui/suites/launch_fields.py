"""The fields of the Launch form: what stands before each, and what it means where it is empty."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tui_eval.format import money, number
from tui_eval.suites.config import configuration

if TYPE_CHECKING:
    from tui_eval.suites.spec import Suite


@dataclass(frozen=True, slots=True)
class LaunchField:
    """One text field."""

    name: str
    """As the form calls it."""
    label: str
    letter: str
    """The key that leads to it."""
    does: str
    """What it is for, as the help says it."""
    numeric: bool = False
    """Whether it holds a number alone: there a letter leads to another field."""

    @property
    def id(self) -> str:
        """Its widget's id."""
        return self.name.replace("_", "-")


LINES: Final[Sequence[Sequence[LaunchField]]] = (
    (LaunchField("cases", "cases", "c", "Only some cases, by their ids"),),
    (LaunchField("tags", "tags", "g", "Only cases with one of these tags"),),
    (
        LaunchField("limit", "limit", "l", "Only the first cases", numeric=True),
        LaunchField("sample", "sample", "s", "Only some cases, drawn", numeric=True),
    ),
    (
        LaunchField("epochs", "epochs", "p", "How often each case is asked", numeric=True),
        LaunchField("concurrency", "concurrency", "n", "Calls in flight at each endpoint"),
    ),
    (LaunchField("parameters", "parameters", "r", "Parameters of the models: temperature=0.2"),),
    (
        LaunchField("max_cost", "max cost", "m", "Dollars at which the run pauses", numeric=True),
        LaunchField(
            "max_tokens", "max tokens", "x", "Tokens at which the run pauses", numeric=True
        ),
    ),
    (LaunchField("baseline", "baseline", "b", "The run or file that it is compared with"),),
    (LaunchField("label", "name", "a", "A name of your own for the run"),),
)
FIELDS: Final = tuple(field for line in LINES for field in line)
NUMERIC: Final = frozenset(field.name for field in FIELDS if field.numeric)


def defaults(suite: "Suite") -> dict[str, str]:
    """Return what an empty field means, by the name of the form's field."""
    run = suite.run
    concurrency = run.concurrency or configuration.read().concurrency or "target's"
    return {
        "cases": "all (default), or ids with commas",
        "tags": "any (default), or some with commas",
        "limit": "all (default)",
        "sample": "all (default)",
        "epochs": f"{run.epochs} (default)",
        "concurrency": f"{concurrency} (default)",
        "parameters": "the suite's (default), or temperature=0.2, …",
        "max_cost": f"{'none' if run.max_cost_usd is None else money(run.max_cost_usd)} (default)",
        "max_tokens": f"{'none' if run.max_tokens is None else number(run.max_tokens)} (default)",
        "baseline": "the suite's (default), or a run, or a file",
        "label": "none (default)",
    }
