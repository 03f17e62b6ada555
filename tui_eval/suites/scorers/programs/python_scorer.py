"""The scorer that calls a function: `python`."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field, StrictStr

from tui_eval.suites.function_source import (
    CallableName,
    OfferedNames,
    call_permissions,
    callable_mistakes,
    local_code,
    names_callable,
)
from tui_eval.suites.loading.toml_lines import Path as FieldPath
from tui_eval.suites.scorers.programs.program import ProgramScorer
from tui_eval.suites.trust.permissions import Permission

SEEN: Final = ("case", "output", "messages", "fields", "workspace")
"""What a function may take, by name."""


class PythonScorer(ProgramScorer):
    """A function of a module beside the suite, or of an installed one, grades."""

    TEMPLATED: ClassVar[tuple[str, ...]] = ProgramScorer.TEMPLATED

    kind: Literal["python"]
    callable: CallableName = Field(
        description='The function, sync or async: "module:function". The module lies beside the '
        "suite, or is installed. It takes what it needs by name, of " + ", ".join(SEEN) + "."
    )
    python: Annotated[StrictStr, Field(min_length=1)] | None = Field(
        default=None,
        description="The interpreter: a name on the PATH, or a path relative to the suite. "
        "Default: tui-eval's own.",
    )
    isolation: Literal["none"] = Field(
        default="none", description="Nothing keeps a function from the rest of the machine."
    )
    network: Literal["full"] = Field(default="full", description="It reaches the network.")

    @classmethod
    def permissions(cls, table: Mapping[str, object], folder: Path | None) -> Iterator[Permission]:
        """Yield the call itself, the code beside the suite that it runs, and what goes with it."""
        yield from call_permissions(table, folder, "grade by", " to grade outputs")
        kept_in = {"network": "none", "isolation": "auto"}  # whoever allows the call knows
        yield from super().permissions({**table, **kept_in}, folder)

    @classmethod
    def files_read(
        cls, table: Mapping[str, object], folder: Path
    ) -> Iterator[tuple[FieldPath, Path]]:
        """Yield its files, and the modules beside the suite: one may be a link that leads away."""
        yield from super().files_read(table, folder)
        for code in local_code(_module(table), folder):
            yield ("callable",), code.path

    @classmethod
    def file_mistakes(
        cls, table: Mapping[str, object], folder: Path
    ) -> Iterator[tuple[FieldPath, str, str | None]]:
        """Yield which files are not there, and why its function cannot be called."""
        for at, path in super().files_read(table, folder):
            if path.is_relative_to(folder) and not path.exists():
                yield at, "no such file or folder", f"there is no {path}"
        wanted = table.get("callable")
        if isinstance(wanted, str) and names_callable(wanted):
            own = table.get("python") is None
            for found in callable_mistakes(wanted, OfferedNames(SEEN), folder, own_interpreter=own):
                yield found.path, found.message, found.hint

    @classmethod
    def code(cls, table: Mapping[str, object], folder: Path | None) -> Iterator[Path]:
        """Yield the modules beside the suite that it is made of, and what is laid over."""
        if folder is not None:
            for code in local_code(_module(table), folder):
                yield from code.files
        yield from super().code(table, folder)


def _module(table: Mapping[str, object]) -> str:
    return str(table.get("callable")).partition(":")[0]
