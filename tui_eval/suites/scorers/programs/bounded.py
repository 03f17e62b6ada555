"""What scorers have in common that run something: its time, its memory, its isolation."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field, StrictStr, field_validator

from tui_eval.model.json import JsonObject
from tui_eval.suites.program_fields import ByteCount
from tui_eval.suites.scorers.scorer import Number, Scorer
from tui_eval.suites.scorers.setting_error import SettingError, named
from tui_eval.suites.templates.marks import is_template
from tui_eval.suites.trust.permissions import Permission


class BoundedScorer(Scorer):
    """Something that runs decides, within limits."""

    RUNS_PROGRAM: ClassVar[bool] = True
    TEMPLATED: ClassVar[tuple[str, ...]] = ("timeout",)

    timeout: Number | StrictStr = Field(
        default=60.0,
        description="Seconds it may take, or a template that gives them. What takes longer is "
        "ungraded.",
    )
    memory: ByteCount | None = Field(
        default=None, description="Memory of all its processes together. Default: no limit."
    )
    isolation: Literal["auto", "none", "landlock", "bwrap"] = Field(
        default="auto",
        description="What keeps it from the rest of the machine: none, landlock, bwrap. Default: "
        "the strongest that works here.",
    )

    @field_validator("timeout")
    @classmethod
    def _timeout_is_above_nothing(cls, timeout: float | str) -> float | str:
        if not is_template(timeout) and not (isinstance(timeout, float) and 0 < timeout < 1e9):
            raise ValueError(f"must be a number of seconds above 0, not {timeout!r}")
        return timeout

    @classmethod
    def settle(cls, settings: JsonObject) -> JsonObject:
        """Return settings with the seconds as a number."""
        seconds = settings["timeout"]
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
            raise SettingError(f"timeout must be seconds, not {named(seconds)}", "timeout")
        return {**settings, "timeout": float(seconds)}

    @classmethod
    def permissions(cls, table: Mapping[str, object], folder: Path | None) -> Iterator[Permission]:
        """Yield that it runs without isolation, where it does."""
        if table.get("isolation") == "none":
            yield Permission("run its programs without isolation", "programs: isolation none")

    def unfit_for_a_case(self) -> tuple[str, str] | None:
        """Say that data brings no program along: nobody would be asked whether it may run."""
        return (
            f"a scorer of kind {self.kind} runs a program, which no case brings along",
            "write it among the suite's [[scorers]], with `when` for the cases it is for",
        )
