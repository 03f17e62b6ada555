"""A Python function as a target."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field, JsonValue, StrictStr, WithJsonSchema

from tui_eval.suites.function_source import (
    CallableName,
    call_permissions,
    callable_mistakes,
    local_code,
    names_callable,
)
from tui_eval.suites.loading.errors import FieldMistake
from tui_eval.suites.program_fields import EnvName
from tui_eval.suites.spec.asked.programs import Limits, RunsProcesses
from tui_eval.suites.spec.table import Text, Whole
from tui_eval.suites.spec.targets.target import TargetSpec
from tui_eval.suites.trust.permissions import Permission

_UNWATCHED: Final = ("cpu_s", "disk", *Limits.TOLD)
"""Limits that nobody can watch for one call of a process that makes many."""


class WorkerTargetSpec(TargetSpec, RunsProcesses):
    """What is called in kept processes, a call at a time in each."""

    workers: Whole | None = None
    """Processes that call it at the same time. Default: `concurrency`."""
    concurrency: Whole | None = None
    """Calls in flight, in place of [run] concurrency; never more than `workers`. Default: one a
    processor."""

    @classmethod
    def written_mistakes(cls, table: Mapping[str, object]) -> Iterator[FieldMistake]:
        """Yield the limits that cannot be watched."""
        limits = table.get("limits")
        given = limits if isinstance(limits, Mapping) else {}
        for name in _UNWATCHED:
            if given.get(name) is not None:
                message = "cannot be watched for one call: its process makes many"
                yield FieldMistake(("limits", name), message, "there are wall, memory, processes")

    @classmethod
    def gives_messages(cls, table: Mapping[str, object]) -> bool:
        """Say that it may return a conversation."""
        return True

    @classmethod
    def gives_fields(cls, table: Mapping[str, object]) -> bool:
        """Say that it may return fields."""
        return True

    def input_tokens(self, estimate: int) -> int | None:
        """Return that nobody knows what models it asks, and how."""
        return None


class PythonTargetSpec(WorkerTargetSpec):
    """A Python function, called in kept processes of its own, a call at a time in each."""

    TEMPLATED: ClassVar[tuple[str, ...]] = ("args",)

    kind: Literal["python"]
    """What it is."""
    callable: CallableName
    """The function, sync or async: "module:function". The module lies beside the suite, or is
    installed."""
    args: (
        Annotated[
            dict[str, JsonValue] | tuple[JsonValue, ...],
            WithJsonSchema({"anyOf": [{"type": "object"}, {"type": "array"}]}),
        ]
        | None
    ) = None
    """What it is called with, templates inside: a table by name, a list by place. Default: the
    prompt's text, or the case where there is no prompt."""
    python: Text | None = None
    """The interpreter: a name on the PATH, or a path relative to the suite. Default: tui-eval's
    own."""
    env: dict[EnvName, StrictStr] = Field(default_factory=dict)
    """Variables of the processes' environment, beside PATH, HOME, LANG and TMPDIR."""
    version: Text | None = None
    """Part of the key: bump it when what the function uses has changed and its files have not."""

    @classmethod
    def hint_for_param(cls, name: str) -> str | None:
        """Return that the function asks its model itself."""
        return f"a function asks its model itself: hand it on, args = {{ {name} = … }}"

    @classmethod
    def file_mistakes(cls, table: Mapping[str, object], folder: Path) -> Iterator[FieldMistake]:
        """Yield why the function cannot be called, as far as the text of its module says so."""
        wanted = table.get("callable")
        if isinstance(wanted, str) and names_callable(wanted):
            own = table.get("python") is None
            yield from callable_mistakes(wanted, table.get("args"), folder, own_interpreter=own)

    @classmethod
    def files_read(cls, table: Mapping[str, object], folder: Path) -> Iterator[tuple[str, Path]]:
        """Yield the modules beside the suite: one may be a link that leads elsewhere."""
        for code in local_code(_module(table), folder):
            yield "callable", code.path

    @classmethod
    def permissions(cls, table: Mapping[str, object], folder: Path | None) -> Iterator[Permission]:
        """Yield the call itself, the code beside the suite that it runs, and keys handed on."""
        yield from call_permissions(table, folder, "call")
        yield from cls.environment_permissions(table, str(table.get("callable")))

    def in_words(self) -> str:
        """Say which function it is."""
        return f"function {self.callable}"


def _module(table: Mapping[str, object]) -> str:
    return str(table.get("callable")).partition(":")[0]
