"""The image of a trial's container: which one a request means, and that it is here."""

import asyncio
import logging
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import psutil

from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure
from tui_eval.processes.isolation.images import ContainerEngine, ImageError, ImageFacts
from tui_eval.processes.program import OUT, NotStarted, Program, ProgramLimits
from tui_eval.processes.supervisor import Processes
from tui_eval.processes.workspace.bounds import WorkspaceError
from tui_eval.processes.workspace.removal import remove_folder
from tui_eval.processes.workspace.source import FolderSource, make_workspace, source_digest
from tui_eval.suites.spec.asked.programs import DOCKERFILE
from tui_eval.targets.command import printed

_BUILT: Final = "localhost/tui-eval"
"""The name of all that is built here; the tag is the digest of what it is made of."""
_BOTH: Final = ("/bin/sh", "-c", 'exec "$@" 2>&1', "sh")
"""What has a command print its errors among the rest."""
_MOST_SAID: Final = 1_000_000
_FOLDER: Final = "tui-eval-image-"
"""How folders are called in which images are made, before the id of the process that does."""

log = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class _Making:
    """An image that is found, fetched or built just now."""

    task: asyncio.Task[ImageFacts | Failure]
    awaited: int = 0
    """By how many."""


class ImageStock:
    """Has images at hand for the trials of all targets: finds, fetches or builds each once."""

    def __init__(self, engine: ContainerEngine, folder: Path, processes: Processes | None) -> None:
        """Begin with none.

        Args:
            engine: Whose images they are.
            folder: The suite's own.
            processes: Run what fetches and builds; None: nothing is.
        """
        self.engine = engine
        self._folder = folder
        self._processes = processes
        self._ready: dict[str, ImageFacts] = {}
        self._making: dict[str, _Making] = {}

    def find(self, asked: JsonObject) -> ImageFacts | None:
        """Return the image that a request means; None: it is not here. Blocking."""
        return self.engine.image(_name(asked))

    async def ready(self, asked: JsonObject) -> ImageFacts | Failure:
        """Return the image that a request means, once it is here, or why it cannot be had.

        Whoever needs the same one meanwhile waits for it, and hears of its failure; after that the
        next one tries again. What nobody waits for any more is ended.

        Args:
            asked: As `CommandRenderer.image` gave it.
        """
        name = _name(asked)
        if name in self._ready:
            return self._ready[name]
        if name not in self._making:
            self._making[name] = _Making(asyncio.create_task(self._tried(name, asked)))
        making = self._making[name]
        making.awaited += 1
        try:
            return await asyncio.shield(making.task)
        finally:
            making.awaited -= 1
            if not making.awaited:
                if self._making.get(name) is making:
                    del self._making[name]
                making.task.cancel()
                await asyncio.wait([making.task])

    def blamed(self, failure: Failure) -> Failure:
        """Return why an attempt failed: where the engine has gone, that, which is no trial's own.

        Blocking.
        """
        if self.engine.answers():
            return failure
        why = f"{self.engine.name}'s engine has gone: {failure.message}"
        return replace(failure, kind="connection", message=why, retryable=True)

    async def _tried(self, name: str, asked: JsonObject) -> ImageFacts | Failure:
        try:
            found = self._ready[name] = await self._made(name, asked)
        except ImageError as error:
            log.warning("%s\n%s", error, error.said)
            return Failure("setup", str(error), partial=error.said or None)
        except (OSError, WorkspaceError) as error:
            return Failure("setup", str(error))
        return found

    async def _made(self, name: str, asked: JsonObject) -> ImageFacts:
        found = await asyncio.to_thread(self.engine.image, name)
        if found is not None:
            return found
        if "dockerfile" in asked:
            await self._build(name, asked)
        elif asked["id"] is None:
            log.info("fetching the image %s", name)
            with _folder() as place:
                command = self.engine.fetching(name)
                await self._done(f"the image {name} cannot be had", command, Path(place))
        found = await asyncio.to_thread(self.engine.image, name)
        if found is None:
            raise ImageError(f"the image {name} is not here: it was there when the run began")
        return found

    async def _build(self, name: str, asked: JsonObject) -> None:
        context = (self._folder / str(asked["dockerfile"])).parent
        with _folder() as place:
            copy = FolderSource(Path(place) / "context")
            await asyncio.to_thread(make_workspace, copy.path, FolderSource(context))
            if (await asyncio.to_thread(source_digest, copy)).hex() != asked["digest"]:
                raise WorkspaceError(f"{context} has changed since the run began: run it again")
            log.info("building %s of %s", name, context)
            command = self.engine.building(name, copy.path, DOCKERFILE)
            await self._done("its image cannot be built", command, Path(place))

    async def _done(self, failed: str, command: tuple[str, ...], place: Path) -> None:
        """Have the engine do something, however long it takes; it ends with this process.

        Raises:
            ImageError: it did not.
        """
        assert self._processes is not None, "images are made by engines alone"
        limits = ProgramLimits(processes=None, output=_MOST_SAID)
        program = Program((*_BOTH, *command), place, dict(os.environ), place, limits=limits)
        running = await self._processes.start(program)
        if isinstance(running, NotStarted):
            raise ImageError(f"{failed}: {running.reason}")
        async with running:
            ending = await running.ended()
        if ending.exit_code != 0:
            said = await asyncio.to_thread(printed.text, place / OUT, ending.out)
            last = next((line for line in reversed(said.splitlines()) if line.strip()), "")
            raise ImageError(f"{failed}: {last or f'exit code {ending.exit_code}'}", said)


def _folder() -> tempfile.TemporaryDirectory[str]:
    """Make a folder for a command of the engine; those of processes that were killed are gone."""
    for left in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*-*"):
        owner = left.name.removeprefix(_FOLDER).partition("-")[0]
        if owner.isdecimal() and not psutil.pid_exists(int(owner)):
            with suppress(OSError):  # another user's
                remove_folder(left)
    return tempfile.TemporaryDirectory(prefix=f"{_FOLDER}{os.getpid()}-")


def _name(asked: JsonObject) -> str:
    """Return by which name an engine has, or will have, an image."""
    if "dockerfile" in asked:
        return f"{_BUILT}:{asked['digest']}"
    return str(asked["id"] or asked["name"])
