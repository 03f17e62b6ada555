"""Recorded outputs as a target."""

from collections.abc import Iterator, Mapping
from typing import ClassVar, Literal

from tui_eval.model.answer_source import AnswerSource
from tui_eval.providers.prices import FREE, Prices
from tui_eval.suites.loading.toml_lines import Path
from tui_eval.suites.spec.recording import RecordingColumns
from tui_eval.suites.spec.targets.target import TargetSpec


class ReplayTargetSpec(TargetSpec, RecordingColumns):
    """Recorded outputs. Columns are dotted paths into the recording's rows."""

    DATA_FIELDS: ClassVar[tuple[str, ...]] = ("path",)
    SOURCE: ClassVar[AnswerSource] = AnswerSource.RECORDED

    kind: Literal["replay"]
    """What it is."""

    @classmethod
    def takes_turns(cls, table: Mapping[str, object]) -> bool:
        """Say that there are no API calls (replay): what was recorded stands."""
        return True

    @classmethod
    def gives_messages(cls, table: Mapping[str, object]) -> bool:
        """Say whether a column holds the messages."""
        return table.get("messages") is not None

    @classmethod
    def prompts_named(cls, table: Mapping[str, object]) -> Iterator[tuple[Path, object]]:
        """Yield those of `prompts`, and those that `record` has a column for."""
        yield from super().prompts_named(table)
        record = table.get("record")
        for name in record if isinstance(record, dict) else ():
            yield ("record", name), name

    def recording(self) -> RecordingColumns:
        """Return its file and columns."""
        return self

    def in_words(self) -> str:
        """Say what its answers are."""
        return "recorded outputs"

    def token_prices(self) -> Prices:
        """Return that it costs nothing: no API calls."""
        return FREE
