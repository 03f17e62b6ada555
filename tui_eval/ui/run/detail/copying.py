"""What of a trial can be copied."""

import sqlite3
from enum import StrEnum

from tui_eval.format import many
from tui_eval.model.visible import visible
from tui_eval.reports.json_output import dumps
from tui_eval.store.read import report_queries
from tui_eval.store.read.trials.trial_queries import WholeTrial
from tui_eval.ui.dialogs.menu import Choice
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.run.detail import rendered_request
from tui_eval.ui.run.detail.comparable import comparable_texts, output_text, text_of
from tui_eval.ui.run.detail.rendered_request import NothingToCopyError
from tui_eval.ui.text.differences import differences

__all__ = ["Copy", "NothingToCopyError", "copied", "copied_words", "copy_choices"]


class Copy(StrEnum):
    """The lines of the copy menu."""

    OUTPUT = "output"
    PROMPT = "prompt"
    REASON = "reasons"
    DIFF = "diff"
    ID = "case id"
    JSON = "trial as JSON"
    CURL = "request as curl"


def copy_choices(found: WholeTrial) -> list[Choice[Copy]]:
    """Return what there is to copy of a trial."""
    choices = []
    if found.output is not None and found.output.text:
        length = many(len(found.output.text), "character")
        choices.append(Choice(str(Copy.OUTPUT), Copy.OUTPUT, length))
    choices.append(Choice(str(Copy.PROMPT), Copy.PROMPT))
    if _reasons(found):
        choices.append(Choice(str(Copy.REASON), Copy.REASON, "what its scorers or its error say"))
    if found.output is not None:
        first = f"as {key('run.diff', 'd')} shows it first"
        choices.append(Choice(str(Copy.DIFF), Copy.DIFF, first))
    choices.append(Choice(str(Copy.ID), Copy.ID))
    choices.append(Choice(str(Copy.JSON), Copy.JSON, "as exports have it"))
    choices.append(Choice(str(Copy.CURL), Copy.CURL, "without the key"))
    return choices


def copied(db: sqlite3.Connection, run_id: int, found: WholeTrial, what: Copy) -> str:
    """Return the text to copy, made visible: what is pasted somewhere does nothing there.

    Raises:
        NothingToCopyError: there is none; the message says why.
    """
    match what:
        case Copy.OUTPUT:
            text = (found.output.text if found.output is not None else None) or ""
        case Copy.PROMPT:
            text = rendered_request.prompt_text(db, run_id, found)
        case Copy.REASON:
            text = _reasons(found)
        case Copy.DIFF:
            text = _diff(db, run_id, found)
        case Copy.ID:
            text = found.case.id
        case Copy.JSON:
            text = _as_json(db, run_id, found)
        case Copy.CURL:
            text = rendered_request.as_curl(db, run_id, found)
    return visible(text)


def copied_words(what: Copy, text: str) -> str:
    """Say what was copied, and on whom it depends that it arrives."""
    return f"{what}: {many(len(text), 'character')} given to the terminal's clipboard"


def _reasons(found: WholeTrial) -> str:
    lines = [
        f"{entry.scorer}: {entry.verdict}: {entry.reason}"
        for entry in found.scores
        if entry.current and entry.withdrawn_at is None
    ]
    trial = found.trial
    if trial.error_kind is not None:
        lines.insert(0, f"{trial.error_kind}: {trial.error_message or ''}")
    return "\n".join(lines)


def _diff(db: sqlite3.Connection, run_id: int, found: WholeTrial) -> str:
    there = comparable_texts(db, run_id, found)
    if not there or found.output is None:
        raise NothingToCopyError(
            "nothing to compare with: no expected text, earlier full run or attempt"
        )
    made = differences(text_of(db, there[0]), output_text(found.output))
    if not made.changes:
        raise NothingToCopyError(f"the output is the same as {there[0].name}")
    return "\n".join([f"--- {there[0].name}", "+++ output", *made.as_text()])


def _as_json(db: sqlite3.Connection, run_id: int, found: WholeTrial) -> str:
    from tui_eval.reports.exports.trial_line import TrialLines

    lines = report_queries.lines_of_case(db, run_id, found.case.id)
    line = next(line for line in lines if line.id == found.trial.id)
    return dumps(TrialLines(db, run_id).json(line), indent=2)
