"""What a trial's output can be compared with."""

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from tui_eval.format import many
from tui_eval.model.outputs.output import Output
from tui_eval.store.read import run_queries
from tui_eval.store.read.comparing import case_history
from tui_eval.store.read.comparing.case_history import PastTrial
from tui_eval.store.read.trials import output_queries, trial_queries
from tui_eval.store.read.trials.trial_queries import WholeTrial
from tui_eval.ui.run.detail.moments import moment
from tui_eval.ui.run.detail.trial_context import trial_context

_EXPECTED = 3
"""Expected texts that are offered."""
_ATTEMPTS = 3
_COLUMNS = 12


@dataclass(frozen=True, slots=True)
class ComparableText:
    """Another text for the same case."""

    name: str
    """May be foreign."""
    note: str
    text: str | None = None
    """None: it is that of an output."""
    output: int | None = None


def comparable_texts(
    db: sqlite3.Connection, run_id: int, found: WholeTrial
) -> list[ComparableText]:
    """Return what the output can be compared with: what is expected, what came before, or beside.

    What came before is the output of the run's base, and of the last full run.
    """
    return [
        *_expected(db, run_id, found),
        *_before(db, run_id, found),
        *_beside(db, run_id, found),
        *_attempts(found),
    ]


def _expected(db: sqlite3.Connection, run_id: int, found: WholeTrial) -> Iterator[ComparableText]:
    given = trial_context(db, run_id, found).expected
    texts = dict.fromkeys(text for one in given if one.literal for text in one.texts)
    for text in list(texts)[:_EXPECTED]:
        name = "expected" if len(texts) == 1 else f"expected {text[:30]}"
        yield ComparableText(name, many(len(text), "character"), text=text)


def _before(db: sqlite3.Connection, run_id: int, found: WholeTrial) -> Iterator[ComparableText]:
    from tui_eval.reports.comparison.earlier import earlier_run

    trial, earlier = found.trial, earlier_run(db, run_queries.run(db, run_id))
    pasts = case_history.history(db, run_id, trial)
    same = [past for past in pasts if past.epoch == trial.epoch and past.output is not None]
    last = [past for past in same if past.run < run_id][:1]
    base = earlier if earlier is not None and earlier.is_base else None
    if base is not None:
        # it may be older than all that the history looks at
        of_base = case_history.history_of_run(db, base.id, trial.case_id, trial.column)
        pinned = [past for past in of_base if past.epoch == trial.epoch]
        yield from (_past("baseline", past, found) for past in pinned if past.output is not None)
    for past in last:
        if base is None or past.run != base.id:
            yield _past("last full run", past, found)
    for past in pasts:
        if past.run == run_id and past.epoch != trial.epoch and past.output is not None:
            yield ComparableText(f"epoch {past.epoch + 1}", "of this run", output=past.output)
            return


def _past(kind: str, past: PastTrial, found: WholeTrial) -> ComparableText:
    alike = " the same output" if past.output == found.trial.output else ""
    when = f"{moment(past.created_at)}{alike}"
    return ComparableText(f"{kind} {past.run_name}", when, output=past.output)


def _beside(db: sqlite3.Connection, run_id: int, found: WholeTrial) -> Iterator[ComparableText]:
    """Yield what other columns said of the case."""
    for name, output in trial_queries.outputs_beside(db, run_id, found.trial)[:_COLUMNS]:
        yield ComparableText(f"target {name}", "of this run", output=output)


def _attempts(found: WholeTrial) -> Iterator[ComparableText]:
    earlier = [
        tried
        for tried in reversed(found.attempts)
        if (tried.output is not None and tried.output != found.trial.output) or tried.partial
    ]
    for tried in earlier[:_ATTEMPTS]:
        what = "before it was asked again" if tried.state == "answered" else "broke off"
        output = tried.output if tried.partial is None else None
        yield ComparableText(f"attempt {tried.number}", what, tried.partial, output)


def text_of(db: sqlite3.Connection, other: ComparableText) -> str:
    """Return the text; empty where the output has none."""
    if other.output is None:
        return other.text or ""
    return output_text(output_queries.output(db, other.output))


def output_text(output: Output) -> str:
    """Return what an output says: its text, else its messages as JSON."""
    if output.text is not None:
        return output.text
    messages = list(output.messages)
    return json.dumps(messages, ensure_ascii=False, indent=2) if messages else ""
