"""What of a trial can be copied."""

import sqlite3
from enum import StrEnum

from tui_eval.store.browse import WholeTrial
from tui_eval.ui.run import requests
from tui_eval.ui.run.requests import NothingToCopyError
from tui_eval.ui.screens.menu import Choice
from tui_eval.ui.words import number

__all__ = ["Copy", "NothingToCopyError", "copied", "copy_choices"]


class Copy(StrEnum):
    """The lines of the copy menu."""

    OUTPUT = "output"
    PROMPT = "prompt"
    ID = "case id"
    CURL = "request as curl"


def copy_choices(found: WholeTrial) -> list[Choice[Copy]]:
    """Give what there is to copy of a trial."""
    choices = []
    if found.output is not None and found.output.text:
        length = number(len(found.output.text))
        choices.append(Choice(str(Copy.OUTPUT), Copy.OUTPUT, f"{length} characters"))
    choices.append(Choice(str(Copy.PROMPT), Copy.PROMPT))
    choices.append(Choice(str(Copy.ID), Copy.ID))
    choices.append(Choice(str(Copy.CURL), Copy.CURL, "without the key"))
    return choices


def copied(db: sqlite3.Connection, run_id: int, found: WholeTrial, what: Copy) -> str:
    """Give the text to copy.

    Raises:
        NothingToCopyError: there is none; the message says why.
    """
    match what:
        case Copy.OUTPUT:
            return (found.output.text if found.output is not None else None) or ""
        case Copy.PROMPT:
            return requests.prompt_text(db, run_id, found)
        case Copy.ID:
            return found.case.id
        case Copy.CURL:
            return requests.as_curl(db, run_id, found)
