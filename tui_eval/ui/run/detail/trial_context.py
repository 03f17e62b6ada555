"""The context of a trial: what was asked, what is expected, what became of its case before."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from tui_eval.model.conversation import last_user_text
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.output import Failure
from tui_eval.store.read import case_history
from tui_eval.store.read.case_history import PastTrial
from tui_eval.store.read.trial_queries import WholeTrial
from tui_eval.ui.run.detail.rendered_request import (
    NothingToCopyError,
    column_of,
    messages,
    shown_suite,
)

_HOW = {
    "includes": "to contain",
    "starts_with": "to begin with",
    "regex": "to match",
    "finish": "to finish with",
}
"""How a scorer of a kind expects, where it is not the whole output that is meant."""


@dataclass(frozen=True, slots=True)
class ExpectedValue:
    """What one scorer expects of a case's output; foreign."""

    scorer: str
    how: str
    """`to contain`, `to match`; empty: it is the output that is compared."""
    texts: tuple[str, ...]
    """Any of them."""
    reference: bool = False
    """Whether it is what a judge compares the output with."""

    @property
    def literal(self) -> bool:
        """Whether its texts are what an output may say: no pattern, no finish reason."""
        return self.how not in (_HOW["regex"], _HOW["finish"])


@dataclass(frozen=True, slots=True)
class TrialContext:
    """What was asked in a trial, what is expected, and what became of its case before."""

    expected: tuple[ExpectedValue, ...] = ()
    """In the suite's order; without scorers that expect nothing in words."""
    pasts: tuple[PastTrial, ...] = ()
    """Newest run first; see `store.history`."""
    asked: tuple[JsonObject, ...] | str = ()
    """The messages of its request; a text says why there are none."""

    @property
    def flaky(self) -> bool:
        """Whether the case flips though the same was asked."""
        return case_history.flaky(self.pasts)


def trial_context(db: sqlite3.Connection, run_id: int, found: WholeTrial) -> TrialContext:
    """Return what was asked in a trial, what is expected, and what became of its case before."""
    said = messages(db, run_id, found)
    asked = said if isinstance(said, str) else tuple(said)
    return TrialContext(
        tuple(_expected(db, run_id, found, asked)),
        tuple(case_history.history(db, run_id, found.trial)),
        asked,
    )


def _expected(
    db: sqlite3.Connection, run_id: int, found: WholeTrial, asked: tuple[JsonObject, ...] | str
) -> Sequence[ExpectedValue]:
    from tui_eval.scoring.check import Subject
    from tui_eval.scoring.scorers import Scorers
    from tui_eval.suites.templates.template import TemplateError

    try:
        suite = shown_suite(db, run_id)
        said = () if isinstance(asked, str) else asked
        target = column_of(db, run_id, found).target
        subject = Subject(found.case, last_user_text(said), said, found.output, target)
        checks = Scorers(suite.scorers, suite.names_of_output).checks(subject)
    except (NothingToCopyError, TemplateError):
        return []  # the Messages tab and the trial's error say what is wrong with the suite
    if isinstance(checks, Failure):
        return []
    given = []
    for check in checks:
        wanted = check.settings.get("expected", check.settings.get("reference"))
        if wanted is not None and not check.negate:
            texts = tuple(_text(one) for one in (wanted if isinstance(wanted, list) else [wanted]))
            how = _HOW.get(check.kind, "")
            given.append(ExpectedValue(check.name, how, texts, check.kind == "judge"))
    return given


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
