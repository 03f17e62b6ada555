"""Images as a container engine has them: found by name, fetched, built, and looked into."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Final

from tui_eval.processes.isolation.containers import LABEL
from tui_eval.processes.isolation.execution import SYSTEM_PATH

_ID: Final = re.compile(r"(?:sha256:)?([0-9a-f]{64})")
_ASKED_S: Final = 30.0
_FACTS: Final = "{{.Id}}\t{{.Config.WorkingDir}}"
_MOST_SAID: Final = 1_000_000


class ImageError(Exception):
    """An image cannot be had, or not be looked into; the message is for people."""

    def __init__(self, message: str, said: str = "") -> None:
        self.said = said
        """All that the engine printed, as far as it is kept."""
        super().__init__(message)


@dataclass(frozen=True)
class ImageFacts:
    """What an engine says of an image."""

    id: str
    """Its digest, in hexadecimal digits: the same as long as nothing of it changes."""
    folder: PurePosixPath | None
    """Its working folder; None: it names none, or the root."""


@dataclass(frozen=True)
class ContainerEngine:
    """`podman` or `docker`, asked through its command line with this process's environment."""

    name: str

    @property
    def client(self) -> str:
        """The path of its command; its name where it is not installed."""
        folders = (os.environ.get("PATH", os.defpath), *SYSTEM_PATH)
        return shutil.which(self.name, path=os.pathsep.join(folders)) or self.name

    def answers(self) -> bool:
        """Say whether the engine is there. Blocking."""
        try:
            self._said("version")
        except ImageError:
            return False
        return True

    def image(self, name: str) -> ImageFacts | None:
        """Return the image that a name means here; None: there is none, or nobody answers.

        Nothing is fetched. Blocking.
        """
        if _is_option(name):
            return None
        command = [self.client, "image", "inspect", f"--format={_FACTS}", name]
        try:
            done = subprocess.run(  # noqa: S603 - the engine's command, and a name that is no option
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_ASKED_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        first, _, folder = done.stdout.decode("utf-8", "replace").strip("\n").partition("\t")
        found = _ID.fullmatch(first)
        if done.returncode != 0 or found is None:
            return None
        path = PurePosixPath(folder)
        return ImageFacts(found[1], path if path.is_absolute() and path.name else None)

    def fetching(self, name: str) -> tuple[str, ...]:
        """Return the command that fetches an image from where its name says.

        Raises:
            ImageError: no image has such a name.
        """
        if _is_option(name):
            raise ImageError(f"{name!r} is no name of an image")
        return (self.client, "pull", name)

    def building(self, name: str, context: Path, file: str) -> tuple[str, ...]:
        """Return the command that builds an image, and gives it a name.

        Args:
            name: Its name from then on.
            context: The folder with all that it is made of.
            file: Of the Dockerfile in it.
        """
        return (
            self.client,
            "build",
            f"--tag={name}",
            f"--file={context / file}",
            "--force-rm",  # of docker's older builder, which else leaves what failed
            os.fspath(context),
        )

    @contextmanager
    def files(self, image: str, path: str) -> Iterator[IO[bytes]]:
        """Give what an image has at a path, as an archive that is read as it comes. Blocking.

        It comes from a container that is made for this, never started, and taken away.

        Args:
            image: An image that is here.
            path: Of a file or folder in it.

        Raises:
            ImageError: there is no such image, or nothing at that path.
        """
        label = f"--label={LABEL}={os.getpid()}"
        container = self._said("create", "--pull=never", label, image, "true").strip()
        try:
            with (
                tempfile.TemporaryFile() as errors,
                subprocess.Popen(  # noqa: S603 - as above
                    [self.client, "cp", f"{container}:{path}", "-"],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                ) as copying,
            ):
                assert copying.stdout is not None
                failure: Exception | None = None
                try:
                    yield copying.stdout
                except Exception as error:  # noqa: BLE001 - raised again, or explained by the engine
                    failure = error
                copying.stdout.close()
                code = copying.wait()
                errors.seek(0)
                said = errors.read(_MOST_SAID).decode("utf-8", "replace").strip()
                if said and code > 0:
                    raise ImageError(f"the image {image}: {said.splitlines()[-1]}", said)
                if failure is not None:
                    raise failure
        finally:
            self._said("rm", "--force", container)

    def _said(self, *words: str) -> str:
        try:
            done = subprocess.run(  # noqa: S603 - as above
                [self.client, *words],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_ASKED_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ImageError(f"{self.name} {words[0]}: {error}") from error
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise ImageError(f"{self.name} {words[0]}: {said or done.returncode}", said)
        return done.stdout.decode("utf-8", "replace")


def _is_option(name: str) -> bool:
    """Say whether a command would take a name for one of its options."""
    return name.startswith("-")
