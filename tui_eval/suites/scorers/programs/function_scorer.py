"""The scorer that is a function of the Python program that starts the run."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, StrictStr

from tui_eval.suites.given_functions import NOT_IN_FILES, why_missing
from tui_eval.suites.loading.toml_lines import Path as FieldPath
from tui_eval.suites.scorers.programs.bounded import BoundedScorer
from tui_eval.suites.trust.permissions import Permission

SEEN_BY_FUNCTIONS = ("case", "output", "messages", "fields")
"""What a function may take, by name."""


class FunctionScorer(BoundedScorer):
    """A function of the Python program grades, where that runs."""

    TEMPLATED: ClassVar[tuple[str, ...]] = BoundedScorer.TEMPLATED

    kind: Literal["function"]
    function: Annotated[StrictStr, Field(min_length=1)] = Field(
        description="The function, sync or async; what a run keeps is its name. It takes what it "
        "needs by name, of " + ", ".join(SEEN_BY_FUNCTIONS) + "."
    )
    digest: StrictStr = Field(
        default="",
        description="That of its code: part of the key. Written by the program.",
    )
    version: Annotated[StrictStr, Field(min_length=1)] | None = Field(
        default=None,
        description="Part of the key: bump it when what the function uses has changed and its "
        "code has not.",
    )
    memory: None = Field(default=None, description="No limit: it is called in the program.")
    isolation: Literal["none"] = Field(
        default="none", description="Nothing keeps a function from the rest of the program."
    )

    @classmethod
    def permissions(cls, table: Mapping[str, object], folder: Path | None) -> Iterator[Permission]:
        """Yield nothing: it is the code of whoever starts the run."""
        yield from ()

    @classmethod
    def file_mistakes(
        cls, table: Mapping[str, object], folder: Path
    ) -> Iterator[tuple[FieldPath, str, str | None]]:
        """Yield that no file can name one."""
        if not table.get("digest"):
            yield (("kind",), *NOT_IN_FILES)

    def given_functions(self) -> Mapping[str, str]:
        """Return the function."""
        return {self.digest: self.function}

    def missing_program(self, folder: Path) -> str | None:
        """Say that it cannot be called from here; None: it can."""
        return why_missing(self.function, self.digest)
