"""Why a request leaves a trial as it is."""

from dataclasses import dataclass

from tui_eval.store.requests import Outcome


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a trial was left as it is."""

    outcome: Outcome
    why: str
    """As after “it”."""
