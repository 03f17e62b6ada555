"""The image of a trial's container: which one a request means, and that it is here."""

import asyncio
import logging
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Final

from tui_eval.model.json import JsonObject
from tui_eval.model.output import Failure
from tui_eval.processes.isolation.images import ContainerEngine, ImageError, ImageFacts
from tui_eval.processes.workspace.bounds import WorkspaceError
from tui_eval.processes.workspace.source import FolderSource, make_workspace, source_digest
from tui_eval.suites.spec.programs import DOCKERFILE

_BUILT: Final = "localhost/tui-eval"
"""The name of all that is built here; the tag is the digest of what it is made of."""

log = logging.getLogger(__name__)


class ImageStock:
    """Has images at hand for the trials of a target: finds, fetches or builds each once."""

    def __init__(self, engine: ContainerEngine, folder: Path) -> None:
        """Begin with none.

        Args:
            engine: Whose images they are.
            folder: The suite's own.
        """
        self.engine = engine
        self._folder = folder
        self._ready: dict[str, ImageFacts] = {}
        self._making: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def find(self, asked: JsonObject) -> ImageFacts | None:
        """Return the image that a request means; None: it is not here. Blocking."""
        return self.engine.image(_name(asked))

    async def ready(self, asked: JsonObject) -> ImageFacts | Failure:
        """Return the image that a request means, once it is here, or why it cannot be had.

        Whoever needs the same one meanwhile waits for it; after a failure the next one tries again.

        Args:
            asked: As `CommandRenderer.image` gave it.
        """
        name = _name(asked)
        async with self._making[name]:
            if name not in self._ready:
                try:
                    self._ready[name] = await self._made(name, asked)
                except ImageError as error:
                    log.warning("%s\n%s", error, error.said)
                    return Failure("setup", str(error), partial=error.said or None)
                except (OSError, WorkspaceError) as error:
                    return Failure("setup", str(error))
        return self._ready[name]

    async def _made(self, name: str, asked: JsonObject) -> ImageFacts:
        found = await asyncio.to_thread(self.engine.image, name)
        if found is not None:
            return found
        if "dockerfile" in asked:
            await self._build(name, asked)
        elif asked["id"] is None:
            log.info("fetching the image %s", name)
            await self.engine.fetch(name)
        found = await asyncio.to_thread(self.engine.image, name)
        if found is None:
            raise ImageError(f"the image {name} is not here: it was there when the run began")
        return found

    async def _build(self, name: str, asked: JsonObject) -> None:
        context = (self._folder / str(asked["dockerfile"])).parent
        with tempfile.TemporaryDirectory(prefix="tui-eval-build-") as place:
            copy = FolderSource(Path(place) / "context")
            await asyncio.to_thread(make_workspace, copy.path, FolderSource(context))
            if (await asyncio.to_thread(source_digest, copy)).hex() != asked["digest"]:
                raise WorkspaceError(f"{context} has changed since the run began: run it again")
            log.info("building %s of %s", name, context)
            await self.engine.build(name, copy.path, DOCKERFILE)


def _name(asked: JsonObject) -> str:
    """Return by which name an engine has, or will have, an image."""
    if "dockerfile" in asked:
        return f"{_BUILT}:{asked['digest']}"
    return str(asked["id"] or asked["name"])
