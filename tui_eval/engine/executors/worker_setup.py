"""What a worker is made of: the frozen suite, and those of its own files that are run."""

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from tui_eval.providers.errors import UnavailableError
from tui_eval.suites.data.files import real_path
from tui_eval.suites.spec import Suite
from tui_eval.targets.base import Target

_MOST: Final = 50_000_000
"""Bytes of files that each worker is sent."""


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file of a suite's folder."""

    mode: int
    """Its permissions."""
    data: bytes


@dataclass(frozen=True, slots=True)
class WorkerSetup:
    """What a worker is made of."""

    suite: str
    """The frozen suite, as JSON."""
    usual_concurrency: int | Literal["auto"] | None
    """As `Settings.usual_concurrency`."""
    files: Mapping[str, SentFile] = field(default_factory=dict)
    """Files that its programs and functions are made of, by their paths in the suite's folder: for
    machines that do not have that folder."""

    def packed(self) -> bytes:
        """Return it as it is sent."""
        files = {
            name: [file.mode, base64.b64encode(file.data).decode("ascii")]
            for name, file in self.files.items()
        }
        return json.dumps([self.suite, self.usual_concurrency, files]).encode("ascii")

    @classmethod
    def unpacked(cls, data: bytes) -> "WorkerSetup":
        """Read what `packed` gave."""
        suite, usual, files = json.loads(data)
        read = {
            name: SentFile(mode, base64.b64decode(told)) for name, (mode, told) in files.items()
        }
        return cls(suite, usual, read)

    def at_hand(self, own: Path) -> Suite:
        """Return the suite as it is read on this machine. Blocking.

        Where its folder is not here, it is one in which its files are: no more than those.

        Args:
            own: A folder of the worker's own, not there yet.

        Raises:
            OSError: they cannot be written.
        """
        suite = Suite.model_validate_json(self.suite)
        if suite.file is None or Path(suite.file).parent.is_dir():
            return suite
        own.mkdir(mode=0o700)
        for name, file in self.files.items():
            path = own / name
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.write_bytes(file.data)
            path.chmod(file.mode)
        return suite.model_copy(update={"file": str(own / Path(suite.file).name)})


def worker_setup(
    suite: Suite, targets: Iterable[Target], usual: int | Literal["auto"] | None
) -> WorkerSetup:
    """Return what the workers of a run are made of. Blocking.

    Args:
        suite: Its frozen suite.
        targets: Those that are asked.
        usual: As `Settings.usual_concurrency`.

    Raises:
        UnavailableError: its programs' files cannot be read, or are too many to be sent.
    """
    if suite.file is None:
        return WorkerSetup(suite.model_dump_json(), usual)
    folder = real_path(Path(suite.file).parent)
    named = [path for target in targets for path in target.own_files()]
    named += [folder / name for names in suite.scorer_code.values() for name in names]
    files: dict[str, SentFile] = {}
    left = _MOST
    for path in _regular(named):
        if not path.is_relative_to(folder):
            continue  # it has to be under the same path everywhere
        try:
            files[str(path.relative_to(folder))] = made = SentFile(
                path.stat().st_mode & 0o777, path.read_bytes()
            )
        except OSError as error:
            raise UnavailableError(f"{path} cannot be sent to workers: {error.strerror}") from error
        left -= len(made.data)
        if left < 0:
            raise UnavailableError(
                f"the programs of {suite.name} are made of more than {_MOST:,} bytes of files: put "
                f"{folder} under the same path on every machine, and what they read outside it"
            )
    return WorkerSetup(suite.model_dump_json(), usual, files)


def _regular(named: Iterable[Path]) -> Iterator[Path]:
    """Give files, and those in folders, by their real paths."""
    for path in named:
        found = [path] if not path.is_dir() else sorted(path.rglob("*"))
        yield from (real_path(one) for one in found if one.is_file())
