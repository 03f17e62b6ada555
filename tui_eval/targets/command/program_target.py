"""Runs a program for each trial, in a workspace and a sandbox of its own."""

import asyncio
import os
import shlex
import shutil
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tui_eval.format import size
from tui_eval.model.case import Case, Column
from tui_eval.model.home import from_home
from tui_eval.model.json import Json, JsonObject, digest
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.processes.isolation.sweep import sweep
from tui_eval.processes.machine import Machine
from tui_eval.processes.program import (
    ERR,
    OUT,
    EndCause,
    NotStarted,
    Orphans,
    Program,
    ProgramLimits,
    Sandbox,
)
from tui_eval.processes.supervisor import Processes
from tui_eval.processes.workspace.bounds import WorkspaceError
from tui_eval.processes.workspace.image_source import image_files
from tui_eval.processes.workspace.source import WorkspaceSource
from tui_eval.providers import keys
from tui_eval.providers.errors import UnavailableError
from tui_eval.suites.program_fields import CONTAINERS
from tui_eval.suites.spec import CommandTargetSpec
from tui_eval.suites.templates.marks import is_template
from tui_eval.suites.templates.template import TemplateError
from tui_eval.suites.trust.capabilities import Folder
from tui_eval.targets.attempt.attempt_context import AttemptContext
from tui_eval.targets.attempt.attempt_view import AttemptView
from tui_eval.targets.base import NothingToSendError, Target
from tui_eval.targets.build_context import BuildContext, fixed
from tui_eval.targets.command import printed
from tui_eval.targets.command.command_request import (
    CommandRenderer,
    CommandRequest,
    file_digests,
)
from tui_eval.targets.command.level_choice import base_environment, no_level, with_level
from tui_eval.targets.command.live_transcript import live_transcript
from tui_eval.targets.command.trial_folder import TrialFolder
from tui_eval.targets.command.trial_image import ImageStock
from tui_eval.targets.command.trial_run import (
    TrialRun,
    TrialSurroundings,
)

_THREADS: Final = 4
"""Threads for the files of workspaces: more would only wait for the disk."""
_VERSION_S: Final = 60.0
"""Seconds that a program may take to print its version."""
_VERSION_BYTES: Final = 10_000
_LINES_SAID: Final = 20
"""Lines that an engine has printed last, shown where the one image of a target cannot be had."""


class CommandTarget(Target):
    """A program that is started anew for each trial."""

    def __init__(self, spec: CommandTargetSpec, context: BuildContext) -> None:
        """Put a target together; nothing is run and no key is read.

        Raises:
            TemplateError: one of its fields is no template.
        """
        super().__init__(spec, context.renderer)
        suite = context.suite
        self.default_concurrency = fixed(spec.concurrency or suite.run.concurrency or context.usual)
        self.limits_here = spec.limits
        self._spec = spec
        self._timeout_s = suite.run.timeout
        self._processes = context.processes
        self._folder = context.folder
        self._orphans = Orphans(suite.run.orphans)
        reach = Folder.of(suite)
        self._requests = CommandRenderer(spec, context.renderer, self._folder, reach)
        self._images: ImageStock | None = None
        """None: its programs run in no containers."""
        if spec.isolation in CONTAINERS:
            self._images = context.images(spec.isolation)
        self._version: str | None = None
        self._found: Sandbox | None = None
        """What its programs may reach, once a level was found to work."""
        self._around: TrialSurroundings | None = None

    def problem(self) -> str | None:
        """Say which program, key, folder or level of isolation is missing."""
        try:
            self._keys()
        except UnavailableError as error:
            return str(error)
        for field, path in self._spec.files_read(self._spec.as_written(), self._folder):
            if not path.is_dir():
                return f"target {self.name!r}: its {field} {path} is no folder"
        return self._requests.no_commit() or self._no_isolation() or self._no_program()

    def note(self) -> str | None:
        """Return that a trial may take more memory than there is."""
        wanted, there_is = self._spec.limits.memory, Machine(self._folder).memory()
        if self.default_concurrency is not None or wanted is None or wanted <= there_is:
            return None
        return (
            f"target {self.name!r}: limits.memory is {size(wanted)} and this machine has "
            f"{size(there_is)}: its trials run one at a time; lower it to what they need, or name "
            "a concurrency"
        )

    def identity(self) -> JsonObject:
        """Return what decides about its outputs beside what a case asks.

        The version is not known before `prepare`: keys that are made before are no run's.
        """
        spec = self._spec
        names: list[Json] = [*sorted(spec.key_names)]
        setup: list[Json] = [[*command] for command in spec.setup]
        return {
            "kind": self.kind,
            "keys": names,
            "setup": setup,
            "files": file_digests(self._requests.code),
            "network": spec.network,
            "output": spec.text_of,
            **({"protected": [*spec.protected]} if spec.protected else {}),
            "transcript": None if spec.told is None else spec.told.model_dump(mode="json"),
            "exit_codes": [*spec.exit_codes],
            "version": self._version,
        }

    @property
    def version(self) -> str | None:
        """What its command `version` printed, once it is prepared."""
        return self._version

    async def prepare(self) -> None:
        """See that the level of isolation can be had, and run what prints the program's version.

        Raises:
            UnavailableError: it fails, or the level of isolation cannot be had.
        """
        sandbox = await self._sandbox()
        if not self._requests.version or self._version is not None:
            return
        with tempfile.TemporaryDirectory(prefix="tui-eval-version-") as place:
            folder = Path(place)
            (folder / "work").mkdir()
            (folder / "program").mkdir()
            program = Program(
                command=self._requests.version,
                cwd=folder / "work",
                env={**base_environment(), "HOME": place, "TMPDIR": place},
                folder=folder / "program",
                limits=ProgramLimits(wall=_VERSION_S, output=_VERSION_BYTES),
                sandbox=sandbox,
            )
            self._version = await self._printed(program)

    async def _printed(self, program: Program) -> str:
        name = f"target {self.name!r}: its version"
        started = await self._own_processes.start(program)
        if isinstance(started, NotStarted):
            raise UnavailableError(f"{name}: {started.reason}")
        ending = await started.ended()
        if ending.cause is not EndCause.EXITED or ending.exit_code != 0:
            said = printed.last_lines(program.folder, ending)
            raise UnavailableError(
                f"{name}: {shlex.join(program.command)} did not print it: {said}"
            )
        return printed.text(program.folder / "out", ending.out).strip()

    def request(self, column: Column, case: Case, epoch: int = 0) -> JsonObject | Failure:
        """Return the command, its input, its environment and what its workspace is made of."""
        try:
            return self._requests.request(column, case)
        except TemplateError as error:
            return Failure("template", str(error))
        except WorkspaceError as error:
            return Failure("setup", str(error))

    async def generate(self, request: JsonObject, attempt: AttemptContext) -> Output | Failure:
        """Run the program; nothing of it runs any more when this returns, or is cancelled."""
        assert self._around is not None, "a target is opened before it is asked"
        asked = CommandRequest.of(request, self._folder)
        asked = replace(asked, command=self._requests.located(asked.command))
        return await TrialRun(self._around, asked, digest(request), attempt).outcome()

    def workspace_source(self, column: Column, case: Case) -> WorkspaceSource | None:
        """Return what the workspace of a case is made of; None: of nothing."""
        named = self._requests.source(column, case)
        asked = self._requests.image_of(column, case) if named is None else None
        if self._images is None or asked is None:
            return named
        image = self._images.find(asked)
        if image is None:
            raise WorkspaceError("the image whose files it began with is not here any more")
        return image_files(self._images.engine, image)

    def own_files(self) -> Sequence[Path]:
        """Return the files that its commands name."""
        return [*self._requests.code.values()]

    def source_of(self, request: JsonObject) -> tuple[str, WorkspaceSource] | None:
        """Return what the workspace of a request is made of, and its digest; None: of nothing."""
        source, written = CommandRequest.of(request, self._folder).source, request["workspace"]
        if source is None or not isinstance(written, dict):
            return None
        return str(written["digest"]), source

    def moved(self, request: JsonObject, source: Path) -> JsonObject:
        """Return a request whose workspace is made of a folder."""
        written = request["workspace"]
        assert isinstance(written, dict), "there is a workspace to move"
        return {**request, "workspace": {"folder": str(source), "digest": written["digest"]}}

    @property
    def protected(self) -> tuple[str, ...]:
        """Patterns of paths that whoever grades a workspace finds as they were."""
        return self._spec.protected

    def image_of(self, column: Column, case: Case) -> JsonObject | None:
        """Return the image of a case's container; None: it runs in none."""
        return None if self._images is None else self._requests.image_of(column, case)

    async def graded_in(self, column: Column, case: Case) -> Sandbox | Failure | None:
        """Return a container of the case's image; it is fetched or built where it is not here."""
        if self._images is None:
            return None
        try:
            asked = await asyncio.to_thread(self._requests.image_of, column, case)
        except (TemplateError, WorkspaceError) as error:
            return Failure("setup", str(error))
        assert asked is not None, "a container has an image"
        image = await self._images.ready(asked)
        if isinstance(image, Failure):
            return image
        return Sandbox(
            level=self._spec.isolation,
            image=image.id,
            workdir=None if image.folder is None else Path(image.folder),
            client_env=dict(os.environ),
        )

    def view(self, case: Case, folder: Path) -> AttemptView:
        """Return what the program prints, its transcript, and what it may take.

        Keys that it is given are known from now on, so that they are taken out of what is shown.
        """
        for name in self._spec.key_names:
            keys.keep_secret(os.environ.get(name, ""), name)
        inside = TrialFolder(folder)
        limits = self._spec.limits
        taken: dict[str, float] = {
            name: value
            for name, value in limits.model_dump().items()
            if isinstance(value, int | float)
        }
        taken.setdefault("wall", case.timeout or self._timeout_s)
        return AttemptView(
            {name: inside.program / name for name in (OUT, ERR)},
            live_transcript(self._spec, inside),
            taken,
        )

    def as_command(self, column: Column, case: Case) -> str:
        """Return the program as a shell would start it, in a copy of its workspace.

        Raises:
            NothingToSendError: the case cannot be rendered.
        """
        request = self.request(column, case)
        if isinstance(request, Failure):
            raise NothingToSendError(request.message)
        asked = CommandRequest.of(request, self._folder)
        env = [f"{name}={shlex.quote(value)}" for name, value in asked.env.items()]
        words = [*env, shlex.join(asked.command)]
        if asked.stdin is not None:
            words = [f"printf %s {shlex.quote(asked.stdin)} |", *words]
        return " ".join(words)

    async def __aenter__(self) -> Self:
        """Find the level of isolation that its programs run on; remove containers left there.

        Raises:
            UnavailableError: the one that it names cannot be had, or a key is not set.
        """
        sandbox, secrets = await self._sandbox(), self._keys()
        if sandbox.level in CONTAINERS:
            await sweep(sandbox.level, sandbox.client_env)
        self._around = TrialSurroundings(
            spec=self._spec,
            processes=self._own_processes,
            pool=ThreadPoolExecutor(_THREADS, thread_name_prefix=f"files of {self.name}"),
            setup=self._requests.setup,
            sandbox=sandbox,
            env={**base_environment(), **secrets},
            secrets=tuple(one.encode() for one in secrets.values() if not keys.is_word(one)),
            orphans=self._orphans,
            images=self._images,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wait until what is done with files is done."""
        if self._around is not None:
            await asyncio.to_thread(self._around.pool.shutdown)

    @property
    def _own_processes(self) -> Processes:
        assert self._processes is not None, "programs are run by engines alone"
        return self._processes

    async def _sandbox(self) -> Sandbox:
        """Return what its programs may reach, on a level that works.

        Raises:
            UnavailableError: there is none, with the remedy.
        """
        if self._found is not None:
            return self._found
        spec = self._spec
        sandbox = Sandbox(
            level=spec.isolation,
            network=spec.network,
            readable=tuple(self._requests.code.values()),
            client_env=dict(os.environ) if self._images is not None else {},
        )
        sandbox = await self._tried(sandbox)
        image = await self._one_image()
        if image is not None:
            sandbox = await self._tried(replace(sandbox, image=image))
        self._found = sandbox
        return sandbox

    async def _tried(self, sandbox: Sandbox) -> Sandbox:
        """Return a sandbox with the level that works for it.

        Raises:
            UnavailableError: there is none, with the remedy.
        """
        executable = self._requests.installed or "/bin/sh"
        try:
            return await with_level(self._own_processes, sandbox, executable)
        except UnavailableError as error:
            raise UnavailableError(f"target {self.name!r}: {error}") from error

    async def _one_image(self) -> str | None:
        """Return the image of all its containers; None: it has none, or each case its own.

        Raises:
            UnavailableError: it cannot be had.
        """
        if self._images is None or is_template(self._spec.image):
            return None
        try:
            asked = await asyncio.to_thread(self._requests.image, {})
        except (TemplateError, WorkspaceError) as error:
            raise UnavailableError(f"target {self.name!r}: {error}") from error
        assert asked is not None, "a container has an image"
        ready = await self._images.ready(asked)
        if isinstance(ready, Failure):
            lines = (ready.partial or "").splitlines()[-_LINES_SAID:]
            last = "\n".join(line for line in lines if line.strip() not in ready.message)
            raise UnavailableError(f"target {self.name!r}: {ready.message}\n{last}".rstrip())
        return ready.id

    def _keys(self) -> dict[str, str]:
        """Return its keys.

        Raises:
            UnavailableError: one is not set.
        """
        needed_by = f"target {self.name!r} ({self._spec.in_words()})"
        return {name: keys.resolve(name, needed_by) for name in self._spec.key_names}

    def _no_program(self) -> str | None:
        """Say that a program is not there; None: all are, or nobody knows before they are run."""
        if self._spec.isolation in CONTAINERS:
            return None
        for command in self._requests.setup[:1]:  # the others may be what the first one installs
            if "/" not in command[0] and (why := self._not_there(command[0])) is not None:
                return f"{why}; its `setup` wants it"
        program = self._requests.program
        if program is None:
            return None
        if "/" in program and not program.startswith("/"):
            given = self._spec.workspace  # it is in there, or `setup` makes it
            if self._spec.setup or not isinstance(given, str) or is_template(given):
                return None
            program = str(self._folder / from_home(given) / program)
        return self._not_there(program)

    def _not_there(self, program: str) -> str | None:
        """Say that a program is not there, or not executable; None: it can be run."""
        path = self._spec.env.get("PATH", os.environ.get("PATH"))
        if shutil.which(program, path=path) is not None:
            return None
        if Path(program).is_file() and "/" in program:
            return f"target {self.name!r}: {program} is not executable: chmod +x it"
        where = "" if "/" in program else " on PATH"
        return f"target {self.name!r}: the program {program} is not there{where}: install it"

    def _no_isolation(self) -> str | None:
        """Say why the level that is named cannot be had, as far as that is known beforehand."""
        spec = self._spec
        sandbox = Sandbox(spec.isolation, spec.network, spec.image, client_env=os.environ)
        why = no_level(sandbox)
        return None if why is None else f"target {self.name!r}: {why}"
