"""What whoever runs programs says of them: environment, keys, limits, isolation."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import ClassVar, Final, Literal

from pydantic import Field, StrictStr

from tui_eval.suites.program_fields import ByteCount, EnvName, Isolation, own_files, shown_command
from tui_eval.suites.spec.asked.asked_spec import AskedSpec
from tui_eval.suites.spec.table import Positive, Spec, Text, Whole
from tui_eval.suites.templates.marks import is_template
from tui_eval.suites.trust.permissions import Permission

DOCKERFILE: Final = "Dockerfile"


class Limits(Spec):
    """What one trial may take. What ends at a limit is an output that was cut short."""

    wall: Positive | None = None
    """Seconds; default: the case's timeout, else that of [run]."""
    cpu_s: Positive | None = None
    """Seconds of processor time, of all its processes."""
    memory: ByteCount | None = None
    """Memory of all its processes together."""
    disk: ByteCount | None = None
    """What its workspace may occupy."""
    processes: Whole = 512
    """Processes at once."""
    output: ByteCount = 10_000_000
    """What is kept of each of its streams; it may print more."""
    tokens: Whole | None = None
    """Tokens, read and produced, by its own word."""
    cost_usd: Positive | None = None
    """US dollars, by its own word."""
    turns: Whole | None = None
    """Replies of the model, by its own word."""
    tool_calls: Whole | None = None
    """Calls of tools, by its own word."""

    TOLD: ClassVar[tuple[str, ...]] = ("tokens", "cost_usd", "turns", "tool_calls")
    """The limits that only a transcript shows."""

    @property
    def told(self) -> tuple[str, ...]:
        """Those of them that are set."""
        return tuple(name for name in self.TOLD if getattr(self, name) is not None)


class RunsProcesses(AskedSpec):
    """Who has processes run that are not its own."""

    key_names: tuple[EnvName, ...] = Field(default=(), alias="keys")
    """The environment variables with keys that are handed on to it."""
    limits: Limits = Limits()
    """What one trial may take."""

    @classmethod
    def environment_permissions(
        cls, table: Mapping[str, object], whom: str
    ) -> Iterator[Permission]:
        """Yield what a person has to allow for keys to be handed on, and variables to be set.

        Args:
            table: The fields as written.
            whom: Who gets them, in words.
        """
        keys = table.get("keys")
        for key in keys if isinstance(keys, list | tuple) else ():
            yield Permission(f"hand {key} to {whom}", f"hand {key} to programs")
        env = table.get("env")
        if isinstance(env, Mapping) and env:
            words = shown_command(f"{name}={value}" for name, value in env.items())
            exactly = f"environment {sorted((str(n), str(v)) for n, v in env.items())!r}"
            yield Permission(f"give {whom} the environment {words}", exactly)


class RunsPrograms(RunsProcesses):
    """Who runs a program, or many."""

    env: dict[EnvName, StrictStr] = Field(default_factory=dict)
    """Variables of its environment beside PATH, HOME, LANG and TMPDIR: templates."""
    isolation: Isolation = "auto"
    """What keeps it from the rest of the machine: none, landlock, bwrap, podman, docker. Default:
    the strongest of bwrap, landlock, none that works here."""
    network: Literal["full", "none"] = "full"
    """Whether it reaches the network."""
    image: Text | None = None
    """The image of its container, for podman and docker: a name, or the path of a Dockerfile, whose
    folder it is built from."""

    @classmethod
    def program_permissions(
        cls,
        table: Mapping[str, object],
        commands: Iterable[list[str]],
        folder: Path | None,
        workspace: Path | None = None,
    ) -> Iterator[Permission]:
        """Yield what a person has to allow for programs to run.

        Args:
            table: The fields as written.
            commands: Every command that is run, as far as it is known.
            folder: The suite's own; None: it has none.
            workspace: What their workspaces are copies of; None: that is unknown, or no folder.
        """
        for command in commands:
            yield Permission(f"run {shown_command(command)}", f"run {command!r}")
            own = {**own_files(command, folder), **own_files(command, workspace)}
            for path in own.values():
                shown = os.path.relpath(path, folder)
                yield Permission(f"run what {shown} holds", f"program {path}", path)
        yield from cls.environment_permissions(table, "the programs it runs")
        if isinstance(image := table.get("image"), str) and not is_template(image):
            yield from _image_permissions(image, folder)
        if table.get("network") != "none":
            yield Permission("let its programs reach the network", "programs: network")
        if table.get("isolation") == "none":
            yield Permission("run its programs without isolation", "programs: isolation none")


def is_dockerfile(image: str) -> bool:
    """Say whether an image is named by what it is built from; no image's name has capitals."""
    return PurePosixPath(image).name == DOCKERFILE


def _image_permissions(image: str, folder: Path | None) -> Iterator[Permission]:
    if is_dockerfile(image) and folder is not None:
        context = (folder / image).parent
        yield Permission(f"build an image from {image}", f"build {context}", context / "**/*")
    else:
        yield Permission(f"start containers of the image {image}", f"image {image}")
