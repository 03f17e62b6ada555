"""One trial of a program: preparing → running → ending → collecting."""

import asyncio
import errno
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

from tui_eval.model.outputs.attempt_record import AttemptProgress
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.processes.isolation.images import ImageFacts
from tui_eval.processes.program import (
    EndCause,
    NotStarted,
    Orphans,
    Program,
    ProgramEnding,
    ProgramLimits,
    ResourceSample,
    Sandbox,
    StartFailure,
)
from tui_eval.processes.running import RunningProgram
from tui_eval.processes.supervisor import Processes
from tui_eval.processes.workspace.bounds import WorkspaceError
from tui_eval.processes.workspace.image_source import image_files
from tui_eval.processes.workspace.manifest import Manifest, take_manifest
from tui_eval.processes.workspace.removal import remove_folder
from tui_eval.processes.workspace.source import FolderSource, WorkspaceSource, make_workspace
from tui_eval.store.files import FileStore
from tui_eval.suites.spec import CommandTargetSpec
from tui_eval.targets.attempt.attempt_context import AttemptContext
from tui_eval.targets.command import printed
from tui_eval.targets.command.collecting import EndedProgram, collect
from tui_eval.targets.command.command_request import CommandRequest
from tui_eval.targets.command.conversation import keep_so_far
from tui_eval.targets.command.live_transcript import LiveTranscript, live_transcript
from tui_eval.targets.command.trial_folder import TrialFolder
from tui_eval.targets.command.trial_image import ImageStock

P = ParamSpec("P")
T = TypeVar("T")

_ABOUT_ALL: Final = (
    StartFailure.NOT_FOUND,
    StartFailure.NOT_EXECUTABLE,
    StartFailure.ISOLATION,
)
"""What keeps every trial of a target from starting."""
_OWN_ENDS: Final = (EndCause.EXITED, EndCause.LIMIT)
"""Ends by which a program's result is whole, or as whole as its limits let it be."""


@dataclass(frozen=True)
class TrialSurroundings:
    """What the trials of a target share."""

    spec: CommandTargetSpec
    processes: Processes
    pool: Executor
    """Threads for what blocks: files of workspaces, which may be many."""
    sandbox: Sandbox
    """What its programs may reach, on the level that was found to work."""
    env: dict[str, str]
    """Of every program, its keys among it."""
    secrets: tuple[bytes, ...] = ()
    """What no kept file may hold."""
    setup: tuple[tuple[str, ...], ...] = ()
    """Commands that are run in a workspace before the program."""
    orphans: Orphans = Orphans.END
    images: ImageStock | None = None
    """Has the images of their containers; None: they run in none."""


class TrialRun:
    """Runs a program for one attempt; nothing of it runs any more when `outcome` is left."""

    def __init__(
        self, around: TrialSurroundings, request: CommandRequest, asked: bytes,
        attempt: AttemptContext,
    ) -> None:  # fmt: skip
        """Take over what one trial is.

        Args:
            around: What it shares with the others.
            request: What its case asks.
            asked: The digest of that: an earlier attempt's program goes on for this one alone.
            attempt: The attempt.
        """
        self._around = around
        self._spec = around.spec
        self._request = request
        self._asked = asked
        self._attempt = attempt
        self._folder: TrialFolder | None = None
        """Once it is made."""
        self._limit: str | None = None
        self._live: LiveTranscript | None = None
        self._image: ImageFacts | None = None

    async def outcome(self) -> Output | Failure:
        """Make the attempt, or take over what an earlier one has begun."""
        adopted = await self._adopted()
        if adopted is not None:
            return adopted
        result: Output | Failure | None = None
        try:
            result = await self._made()
            if isinstance(result, Failure) and self._around.images is not None:
                result = await self._off_loop(self._around.images.blamed, result)
            return result
        finally:
            if self._folder is not None:
                leave = partial(self._leave, self._folder, keep=self._keeps(result))
                self._attempt.when_written(leave)

    async def _made(self) -> Output | Failure:
        """Make the attempt from its beginning."""
        self._tell("preparing")
        if self._around.images is not None and self._request.image is not None:
            image = await self._around.images.ready(self._request.image)
            if isinstance(image, Failure):
                return image
            self._image = image
        try:
            folder, before = await self._with_room(self._prepare)
        except WorkspaceError as error:
            return Failure("setup", str(error))
        except OSError as error:
            return _unwritten(error)
        failed = await self._set_up(folder)
        if failed is not None:
            return failed
        if self._spec.text_of == "diff":
            try:
                await self._with_room(self._copy_original, folder)
            except OSError as error:
                return _unwritten(error)
        self._tell("running")
        started = await self._started(self._program(folder))
        if isinstance(started, NotStarted):
            return _not_started(started)
        return await self._follow(folder, started, before)

    def _prepare(self) -> tuple[TrialFolder, Manifest]:
        """Make the folders of a trial, or leave none of them; blocking."""
        folder = TrialFolder(self._attempt.folder())
        with _removed_where_it_fails(folder.root):
            setups = map(folder.setup, range(len(self._around.setup)))
            for path in (folder.home, folder.tmp, folder.program, *setups):
                path.mkdir(mode=0o700)
            make_workspace(folder.workspace, self._source())
            if self._request.stdin is not None:
                folder.stdin.write_text(
                    self._request.stdin, encoding="utf-8", errors="surrogatepass"
                )
            before = take_manifest(folder.workspace)
            if self._around.orphans is Orphans.FINISH:
                folder.note(self._asked, before)
        self._folder = folder
        return folder, before

    def _copy_original(self, folder: TrialFolder) -> None:
        with _removed_where_it_fails(folder.original):
            make_workspace(folder.original, FolderSource(folder.workspace))

    async def _started(self, program: Program) -> RunningProgram | NotStarted:
        """Start a program as soon as there is room for what it prints."""

        async def start() -> RunningProgram | NotStarted:
            started = await self._around.processes.start(program)
            if isinstance(started, NotStarted) and started.failure is StartFailure.NO_ROOM:
                raise OSError(errno.ENOSPC, started.reason)
            return started

        return await self._attempt.room.patiently(start)

    def _source(self) -> WorkspaceSource | None:
        """Return what its workspace is made of: what the suite names, else what its image has."""
        around, image = self._around, self._image
        if self._request.source is None and around.images is not None and image is not None:
            return image_files(around.images.engine, image)
        return self._request.source

    async def _set_up(self, folder: TrialFolder) -> Failure | None:
        """Run the commands of `setup`; what fails there is an error, and no fail."""
        for number, command in enumerate(self._around.setup):
            place = folder.setup(number)
            program = replace(
                self._program(folder),
                command=command,
                folder=place,
                stdin=None,
                orphans=Orphans.END,
            )
            started = await self._started(program)
            name = " ".join(command)
            if isinstance(started, NotStarted):
                everybodys = started.failure in _ABOUT_ALL and "/" not in command[0]
                return Failure("setup", f"{name}: {started.reason}", fatal=everybodys)
            ending = await self._to_its_end(started)
            if ending.cause is EndCause.LIMIT:
                return Failure("setup", f"{name}: it reached the limit {ending.limit}")
            if ending.exit_code != 0:
                how = f"exit code {ending.exit_code}" if ending.signal is None else "a signal"
                return Failure("setup", f"{name}: {how}: {printed.last_lines(place, ending)}")
        return None

    async def _follow(
        self, folder: TrialFolder, running: RunningProgram, before: Manifest
    ) -> Output | Failure:
        self._live = live_transcript(self._spec, folder)
        try:
            async for sample in running.samples():
                await self._look(running, sample)
            ending = await running.ended()
        except asyncio.CancelledError:
            running.cancel()
            await running.followed()
            await self._off_loop(keep_so_far, self._attempt, self._live, folder)
            raise
        return await self._collected(folder, before, ending)

    async def _look(self, running: RunningProgram, sample: ResourceSample) -> None:
        """Tell how far it is, and hold the limits that only its transcript shows."""
        live = self._live
        if live is not None:
            await self._off_loop(live.look)
            over = live.over(self._spec.limits)
            if over is not None and self._limit is None:
                self._limit = over
                running.cancel()
        reader = None if live is None else live.reader
        self._attempt.progress(
            AttemptProgress(
                "running" if self._limit is None else "ending",
                turn=None if reader is None else reader.turn,
                tool=None if reader is None else reader.tool,
                cpu_s=sample.cpu_s,
                rss_bytes=sample.memory,
                processes=sample.processes,
                disk_bytes=sample.disk,
                output_bytes=sample.output,
            )
        )

    async def _collected(
        self, folder: TrialFolder, before: Manifest, ending: ProgramEnding
    ) -> Output | Failure:
        if ending.cause not in _OWN_ENDS and self._limit is None:
            await self._off_loop(keep_so_far, self._attempt, self._live, folder)
            return Failure(
                "lost",
                "it was ended from outside: its supervising process was killed",
                retryable=True,
                partial=self._attempt.partial,
                messages=self._attempt.messages,
            )
        self._tell("collecting")
        ended = EndedProgram(folder, ending, before, self._limit)
        try:
            # its work is done and in its folder: it is not run again, however long there is no room
            return await self._with_room(self._collect, ended)
        except asyncio.CancelledError:
            await self._off_loop(keep_so_far, self._attempt, self._live, folder)
            raise
        except OSError as error:
            return Failure("collect", f"what it left cannot be kept: {_why(error)}")

    def _collect(self, ended: EndedProgram) -> Output | Failure:
        assert self._attempt.kept is not None, "a trial of an engine has a store"
        files = FileStore(self._attempt.kept)
        with ExitStack() as failed:
            hold = failed.enter_context(files.hold())
            result = collect(self._spec, ended, files, self._around.secrets)
            failed.pop_all()
        self._attempt.when_written(hold.release)  # after the commit that names what is kept
        return result

    async def _adopted(self) -> Output | Failure | None:
        """Take over the program of an earlier attempt whose engine has gone; None: there is none.

        What it was asked has to be the same; where it ended otherwise than by itself or at a
        limit, it is begun anew.
        """
        if self._attempt.orphan is None:
            return None
        folder = TrialFolder(self._attempt.orphan)
        self._attempt.when_written(partial(self._leave, folder, keep=False))
        before = await self._off_loop(folder.noted, self._asked)
        found = await self._around.processes.adopt(folder.program)
        if isinstance(found, RunningProgram):
            if before is not None:
                self._tell("running")
                return await self._follow(folder, found, before)
            found.cancel()
            await found.followed()
        elif before is not None and found is not None and found.cause in _OWN_ENDS:
            return await self._collected(folder, before, found)
        return None

    async def _to_its_end(self, running: RunningProgram) -> ProgramEnding:
        try:
            return await running.ended()
        except asyncio.CancelledError:
            running.cancel()
            await running.followed()
            raise

    def _program(self, folder: TrialFolder) -> Program:
        limits = self._spec.limits
        sandbox = self._around.sandbox
        if self._image is not None:
            inside = None if self._image.folder is None else Path(self._image.folder)
            sandbox = replace(sandbox, image=self._image.id, workdir=inside)
        here = sandbox.workdir or folder.workspace
        own = {"HOME": str(folder.home), "TMPDIR": str(folder.tmp), "PWD": str(here)}
        return Program(
            command=self._request.command,
            cwd=folder.workspace,
            env={**self._around.env, **own, **self._request.env},
            folder=folder.program,
            stdin=None if self._request.stdin is None else folder.stdin,
            limits=ProgramLimits(
                wall=limits.wall or self._attempt.timeout_s,
                memory=limits.memory or self._attempt.limits.get("memory"),
                cpu_s=limits.cpu_s,
                disk=limits.disk or self._attempt.limits.get("disk"),
                processes=limits.processes,
                output=limits.output,
            ),
            sandbox=replace(sandbox, writable=(*sandbox.writable, folder.home, folder.tmp)),
            orphans=self._around.orphans,
        )

    def _keeps(self, result: Output | Failure | None) -> bool:
        """Say whether the folder stays; `failed` looks at how it ended, which no rescore changes.

        Args:
            result: What came of it; None: it was cancelled.
        """
        if self._spec.keep != "failed":
            return self._spec.keep == "always"
        return isinstance(result, Failure) or (result is not None and result.cut_short)

    def _leave(self, folder: TrialFolder, *, keep: bool) -> None:
        def leave() -> None:
            with suppress(OSError):  # what stays is taken away by a later engine
                folder.leave(keep=keep, secrets=self._around.secrets)

        try:
            self._around.pool.submit(leave)
        except RuntimeError:  # the pool has ended with the engine
            leave()

    def _tell(self, phase: str) -> None:
        self._attempt.progress(AttemptProgress(phase))

    async def _with_room(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do what blocks and writes in a thread, again where the disk was full."""
        return await self._attempt.room.patiently(partial(self._off_loop, call, *args, **kwargs))

    async def _off_loop(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do what blocks in a thread; whoever is cancelled waits for it all the same."""
        loop = asyncio.get_running_loop()
        future = loop.run_in_executor(self._around.pool, partial(call, *args, **kwargs))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            await asyncio.wait([future])
            raise


def _not_started(why: NotStarted) -> Failure:
    if why.failure in _ABOUT_ALL:
        kind = "isolation" if why.failure is StartFailure.ISOLATION else "program"
        return Failure(kind, why.reason, fatal=True)
    return Failure("start", why.reason, retryable=True)


@contextmanager
def _removed_where_it_fails(folder: Path) -> Iterator[None]:
    """Leave nothing of a folder that could not be made: it would keep others from their room."""
    try:
        yield
    except BaseException:
        with suppress(OSError):  # what stays is removed by the next try, or a later engine
            remove_folder(folder)
        raise


def _unwritten(error: OSError) -> Failure:
    """Return that the machine does not take a trial's files."""
    return Failure("disk", f"the trial's files cannot be written: {_why(error)}", retryable=True)


def _why(error: OSError) -> str:
    where = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
    return f"{where}{error.strerror or error}"
