"""Where recorded outputs stand."""

from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from tui_eval.suites.spec.table import Spec, Text


class RecordingColumns(Spec):
    """A file of recorded outputs, and the columns that hold what was said."""

    path: Text
    """The recording, a .jsonl, .json, .csv or .tsv file relative to the suite; may be the dataset
    itself."""
    id: Text = "id"
    """The column that holds the case's id."""
    output: Text = "output"
    """The column that holds what was said."""
    latency_s: Text | None = None
    """The column that holds the seconds the call took."""
    finish_reason: Text | None = None
    """The column that holds why it ended: stop, length, …"""
    messages: Text | None = None
    """The column that holds the whole trajectory as a list of messages."""
    epoch: Text | None = None
    """The column that holds which epoch of its case a row is, counted from 0 or from 1. Default:
    `epoch` where rows have one; else the rows of a case are its epochs as they come."""
    record: Text | Annotated[dict[Text, Text], Field(min_length=1)] | None = None
    """The column that holds the recording, in which the others stand: a table, or a list with a
    table for each epoch. Or such a column for each prompt by its name. Default: the row itself."""

    @property
    def columns(self) -> frozenset[str]:
        """The top-level columns of a row that hold what was said."""
        if isinstance(self.record, dict):
            paths: Iterable[str | None] = self.record.values()
        else:
            paths = (self.output, self.messages) if self.record is None else (self.record,)
        return frozenset(path.split(".")[0] for path in paths if path is not None)
