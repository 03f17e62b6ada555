"""Options and arguments that several commands share."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar, cast, get_type_hints

import click

from tui_eval.model.bounds import LOG_LEVELS, MOST_CALLS
from tui_eval.model.runs.executor_choice import LOCAL, ExecutorChoice, NamedExecutor
from tui_eval.model.runs.run_part import RunPart

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from tui_eval.cli.running.reporter import OutputForm

F = TypeVar("F", bound=Callable[..., Any])


def grouped(parameter: str, group: type["DataclassInstance"]) -> Callable[[F], F]:
    """Give a command the options of a group, which reach it as one value.

    Args:
        parameter: The command's parameter that takes the value.
        group: A dataclass, each field annotated with its option; options and fields have one name.
    """
    hints = get_type_hints(group, include_extras=True)
    options = {member.name: hints[member.name].__metadata__[0] for member in fields(group)}

    def decorate(command: F) -> F:
        @wraps(command)
        def call(**values: object) -> object:
            given = {name: values.pop(name) for name in options}
            return command(**{parameter: group(**given)}, **values)

        for option in reversed(options.values()):
            option(call)
        return cast("F", call)

    return decorate


_STORE: Final[dict[str, Any]] = {
    "type": click.Path(dir_okay=False, path_type=Path),
    "metavar": "FILE",
    "help": "The store's file (also TUI_EVAL_STORE).  [default: in your data directory]",
}


first_store_option: Callable[[F], F] = click.option("--store", envvar="TUI_EVAL_STORE", **_STORE)
"""Before the command's name; the environment speaks here, so that it outranks no `--store`."""
store_option: Callable[[F], F] = click.option("--store", **_STORE)


log_level_option: Callable[[F], F] = click.option(
    "--log-level",
    type=click.Choice(LOG_LEVELS),
    envvar="TUI_EVAL_LOG_LEVEL",
    help="How much engines write into a run's log, beside the store.  [default: info]",
)
"""Before the command's name."""
json_option: Callable[[F], F] = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document."
)
run_argument: Callable[[F], F] = click.argument("name", metavar="RUN")
trust_option: Callable[[F], F] = click.option(
    "--trust", is_flag=True, help="Let the suite do what it asks for."
)


class _Concurrency(click.ParamType[int | Literal["auto"]]):
    """A whole number ≥ 1, or `auto`."""

    name = "concurrency"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | Literal["auto"]:
        """Read it; anything else is a mistake on the command line."""
        if value == "auto":
            return "auto"
        if not (value.isascii() and value.isdecimal() and value.strip("0")):
            self.fail(f"{value!r} is neither a whole number ≥ 1 nor auto", param, ctx)
        if len(value) > 9 or int(value) > MOST_CALLS:
            self.fail(f"{value[:20]} is more than {MOST_CALLS}", param, ctx)
        return int(value)


CONCURRENCY = _Concurrency()


class _Whole(click.ParamType[int]):
    """A whole number ≥ 1."""

    name = "whole number"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read it; anything else is a mistake on the command line."""
        if not (value.isascii() and value.isdecimal() and value.strip("0")):
            self.fail(f"{value!r} is no whole number ≥ 1", param, ctx)
        if len(value) > 15:
            self.fail(f"{value[:20]}… is too large", param, ctx)
        return int(value)


WHOLE = _Whole()


class _Part(click.ParamType[RunPart]):
    """One of the parts that a run is divided into."""

    name = "part"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> RunPart:
        """Read it; anything else is a mistake on the command line."""
        try:
            return RunPart.parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


PART = _Part()


class _SharedFolder(click.ParamType[Path]):
    """A folder that may be on a network file system, and need not be there yet."""

    name = "directory"
    _ANSWER_S = 2.0
    """Seconds to wait for the file system; one that hangs is no mistake on the command line."""

    def convert(
        self, value: str | Path, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path:
        """Read it; a file is a mistake on the command line."""
        folder, files = Path(value), list[Path]()

        def look() -> None:
            files.extend(path for path in (folder, *folder.parents) if path.is_file())

        looking = threading.Thread(target=look, daemon=True)
        looking.start()
        looking.join(self._ANSWER_S)
        if files:
            self.fail(f"directory {str(folder)!r}: {files[0]} is a file", param, ctx)
        return folder


SHARED_FOLDER = _SharedFolder()


class _Dollars(click.ParamType[float]):
    """A sum above 0."""

    name = "dollars"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read it; anything else is a mistake on the command line."""
        try:
            sum_ = float(value.removeprefix("$"))
        except ValueError:
            sum_ = 0.0
        if not 0 < sum_ < float("inf"):
            self.fail(f"{value!r} is no number above 0", param, ctx)
        return sum_


DOLLARS = _Dollars()


def _pairs(
    ctx: click.Context, option: click.Parameter, values: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    pairs = []
    for value in values:
        path, equals, text = value.partition("=")
        if not path or not equals:
            raise click.BadParameter(
                f"{value!r} is no PATH=VALUE, such as run.epochs=3", ctx, option
            )
        pairs.append((path, text))
    return tuple(pairs)


SET: Final[dict[str, Any]] = {"multiple": True, "callback": _pairs, "metavar": "PATH=VALUE"}


set_option: Callable[[F], F] = click.option(
    "--set", "sets", **SET, help="Set any field of the suite: run.epochs=3."
)


max_cost_option: Callable[[F], F] = click.option(
    "--max-cost",
    type=DOLLARS,
    metavar="USD",
    help="Pause and ask before more than this is spent.",
)
max_tokens_option: Callable[[F], F] = click.option(
    "--max-tokens",
    type=WHOLE,
    metavar="N",
    help="Pause and ask before more tokens than this are used.",
)


executor_option: Callable[[F], F] = click.option(
    "--executor",
    type=click.Choice([LOCAL, "ray"]),
    help="Who makes the attempts.  [default: local]",
)
address_option: Callable[[F], F] = click.option(
    "--address", metavar="HOST:PORT", help="Where the executor's cluster is."
)


@dataclass(frozen=True, slots=True)
class ExecutorOptions:
    """Who makes the attempts of a run that is taken up again."""

    executor: Annotated[
        str | None,
        click.option(
            "--executor",
            type=click.Choice([LOCAL, "ray"]),
            help="Who makes the attempts from now on.  [default: as before]",
        ),
    ]
    address: Annotated[str | None, address_option]

    @property
    def named(self) -> NamedExecutor:
        """What they say."""
        return NamedExecutor(self.executor, self.address)


def executor_after(named: NamedExecutor, before: ExecutorChoice | None) -> ExecutorChoice | None:
    """Return who makes attempts from now on; None: the engine itself.

    Raises:
        UsageError: there is an address, and nobody says of what.
    """
    try:
        return named.in_place_of(before)
    except ValueError:
        raise click.UsageError(
            "--address says where an executor is: name it (--executor)"
        ) from None


def store_file(given: Path | None) -> Path:
    """Return the store a command works on.

    Args:
        given: What the command's own `--store` says; None: nothing. One before the command's
            name, then `TUI_EVAL_STORE`, the user's configuration and data directory, stand in.

    Raises:
        SuiteError: the configuration cannot be read, or what it says of the store is wrong.
    """
    return store_and_source(given)[0]


def store_and_source(given: Path | None) -> tuple[Path, str]:
    """Return the store a command works on, and who says so.

    Raises:
        SuiteError: as `store_file`.
    """
    if given is not None:
        return given, "--store"
    root = click.get_current_context().find_root()
    if isinstance(root.obj, Path):
        spoken = root.get_parameter_source("store")
        from_environment = spoken is click.core.ParameterSource.ENVIRONMENT
        return root.obj, "TUI_EVAL_STORE" if from_environment else "--store"
    from tui_eval.suites.config.configured_store import configured_store

    return configured_store()


@dataclass(frozen=True, slots=True)
class FollowOptions:
    """How a command that works on a run, and sees it to its end, is to do it."""

    trust: Annotated[bool, trust_option]
    as_json: Annotated[bool, json_option]
    events: Annotated[
        bool,
        click.option("--events", is_flag=True, help="Print a line of JSON for all that happens."),
    ]
    store: Annotated[Path | None, store_option]

    @property
    def form(self) -> "OutputForm":
        """What stdout gets.

        Raises:
            UsageError: two forms are asked for.
        """
        return output_form(as_json=self.as_json, events=self.events)


def output_form(*, as_json: bool, events: bool) -> "OutputForm":
    """Return what stdout gets.

    Raises:
        UsageError: two forms are asked for.
    """
    from tui_eval.cli.running.reporter import OutputForm

    if as_json and events:
        raise click.UsageError("--json and --events exclude each other")
    return OutputForm.JSON if as_json else OutputForm.EVENTS if events else OutputForm.TEXT
