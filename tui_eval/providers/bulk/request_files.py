"""A folder in place of a provider: requests are files in it, and so are their results.

Requests are in OpenAI's batch form, `requests-0001.jsonl`, for whatever reads it: vLLM's
`run-batch`, Ray Data, a Slurm job. Their results are looked for in all `results-*.jsonl` beside
them, by id, whoever wrote them and in whatever order; a file may grow while it is read.
"""

import asyncio
import errno
import json
import os
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from tui_eval.model.outputs.output import Failure
from tui_eval.model.visible import visible_line
from tui_eval.providers.bulk.api import (
    BulkError,
    BulkLimits,
    BulkLine,
    BulkRequest,
    BulkState,
    BulkStatus,
    SoughtConsignment,
    StrayLine,
    id_within,
    token_and_ordinal,
)
from tui_eval.providers.bulk.line_stream import MOST_LINE
from tui_eval.providers.bulk.openai_lines import (
    REPLIES,
    CallForm,
    openai_line,
)
from tui_eval.providers.bulk.result_lines import ResultReader
from tui_eval.providers.bulk.spooling import BulkFraming, SpooledConsignment, spooled
from tui_eval.providers.patience import EndpointIdentity

_NAME: Final = re.compile(r"(requests|cancelled)-([0-9]{4,9})\.jsonl")
_PART: Final = 1024 * 1024
_FIRST: Final = 4096
"""Bytes of a file in which its first id stands: it begins each line."""


@dataclass
class _Progress:
    """How far a file of results was looked through, for one consignment."""

    inode: int
    offset: int = 0
    """Where the first line begins that was not whole."""
    found: set[int] = field(default_factory=set)
    """Which requests have a whole line before."""
    told: int = 0
    """How far its lines were streamed as news."""


@dataclass
class _Known:
    """What is known of a consignment and its results."""

    token: str
    requests: int
    files: dict[str, _Progress] = field(default_factory=dict)


class RequestFiles:
    """A `BulkApi` over one folder. A consignment's id is the name of its file."""

    limits: BulkLimits = BulkLimits(requests=1_000_000, megabytes=10_000)

    def __init__(self, folder: Path, form: CallForm = "chat") -> None:
        """Describe it; the folder is made when it is first written to.

        Args:
            folder: Where the files are; several engines may use one.
            form: Which API the requests are for.
        """
        self._folder = folder
        self._form = form
        self._reader = ResultReader(REPLIES[form], EndpointIdentity(folder.name))
        self._known: dict[str, _Known] = {}

    async def __aenter__(self) -> Self:
        """Open nothing."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let go of what reads."""
        self._reader.close()

    def encoded(self, request: BulkRequest) -> bytes | Failure:
        """Return a request's line."""
        return openai_line(request, self._form)

    async def send(self, token: str, requests: Iterable[BulkRequest]) -> BulkStatus:
        """Write a file under the next free number, whole or not at all; see `BulkApi`."""
        async with spooled(requests, self.encoded, self.limits, BulkFraming()) as spool:
            name = await self._written(token, spool)
            return BulkStatus(name, BulkState.UNDER_WAY, spool.requests, 0)

    async def _written(self, token: str, spool: SpooledConsignment) -> str:
        part = self._part(token)
        try:
            await asyncio.to_thread(self._folder.mkdir, parents=True, exist_ok=True)
            with await asyncio.to_thread(_private_file, part) as file:
                async for content in spool.parts():
                    await asyncio.to_thread(file.write, content)
                await asyncio.to_thread(_synced, file)
            try:
                return await asyncio.to_thread(_numbered, part, self._folder)
            finally:
                await asyncio.to_thread(part.unlink, missing_ok=True)
        except OSError as error:
            raise self._broken(error) from error

    def _part(self, token: str) -> Path:
        """Return the name of a file of requests that is not whole yet."""
        return self._folder / f".tui-eval-{token}.part"

    async def find(self, sought: SoughtConsignment) -> BulkStatus | None:
        """Look for the file whose ids begin with the token; see `BulkApi`."""
        try:
            name = await asyncio.to_thread(self._file_of, sought.token)
        except OSError as error:
            raise self._broken(error) from error
        return None if name is None else await self.look(name)

    def _file_of(self, token: str) -> str | None:
        if not self._folder.is_dir():
            return None
        for path in self._folder.iterdir():
            if _NAME.fullmatch(path.name):
                found = _first_id(path)
                if found is not None and found[0] == token:
                    self._part(token).unlink(missing_ok=True)  # a kill may have left it
                    return path.name
        return None

    async def look(self, provider_id: str) -> BulkStatus:
        """Count the results that are there; see `BulkApi`."""
        try:
            path, known, done = await asyncio.to_thread(self._counted, provider_id)
        except OSError as error:
            raise self._broken(error) from error
        state = BulkState.UNDER_WAY
        if done >= known.requests:
            state = BulkState.ENDED
        elif path.name.startswith("cancelled"):
            state = BulkState.CANCELLED
        return BulkStatus(provider_id, state, known.requests, done)

    def _counted(self, provider_id: str) -> tuple[Path, _Known, int]:
        """Return a file of requests, what is known of it, and how many have a line."""
        path = self._path(provider_id)
        known = self._known.get(provider_id)
        if known is None:
            known = self._known[provider_id] = _Known(_token_of(path), _count_lines(path))
        files = self._results_files()
        done = set[int]().union(*(_found(one, known) for one in files))
        return path, known, len(done)

    def _path(self, provider_id: str) -> Path:
        """Return where a file of requests is, under its name or that of a cancelled one.

        Raises:
            OSError: it is not there.
        """
        if not _NAME.fullmatch(provider_id):
            raise FileNotFoundError(errno.ENOENT, "no file of requests has this name", provider_id)
        paths = (self._folder / provider_id, self._folder / _cancelled_name(provider_id))
        for path in paths:
            if path.is_file():
                return path
        raise FileNotFoundError(errno.ENOENT, "it is not there", str(paths[0]))

    def _results_files(self) -> list[Path]:
        return sorted(self._folder.glob("results-*.jsonl"))

    async def results(self, provider_id: str) -> AsyncGenerator[BulkLine | StrayLine, None]:
        """Stream the lines of this consignment that are there; see `BulkApi`.

        Lines with ids of other consignments are theirs, and are left to them. A line that the end
        of its file cuts off may still be written: it is not there yet.
        """
        try:
            path = await asyncio.to_thread(self._path, provider_id)
            token = await asyncio.to_thread(_token_of, path)
            files = await asyncio.to_thread(self._results_files)
        except OSError as error:
            raise self._broken(error) from error
        for results in files:
            async for line in self._lines(self._parts(results), results, token):
                yield line

    async def news(self, provider_id: str) -> AsyncGenerator[BulkLine | StrayLine, None]:
        """Stream the whole lines of this consignment that the last look found; see `BulkApi`."""
        known = self._known.get(provider_id)
        if known is None:
            return
        for name, seen in [*known.files.items()]:
            path = self._folder / name
            parts = self._new_parts(path, seen)
            async for line in self._lines(parts, path, known.token):
                if isinstance(line, BulkLine):  # of others a place in the file is not known here
                    yield line

    async def _lines(
        self, parts: AsyncIterator[bytes], path: Path, token: str
    ) -> AsyncIterator[BulkLine | StrayLine]:
        """Read lines, and leave out those of other consignments."""
        async for line in self._reader.lines(parts, path.name, grows=True):
            known = token_and_ordinal(line.custom_id) if isinstance(line, BulkLine) else None
            if known is None or known[0] == token:
                yield line

    async def _parts(self, path: Path) -> AsyncIterator[bytes]:
        try:
            with await asyncio.to_thread(path.open, "rb") as file:
                while part := await asyncio.to_thread(file.read, _PART):
                    yield part
        except OSError as error:
            raise self._broken(error) from error

    async def _new_parts(self, path: Path, seen: _Progress) -> AsyncIterator[bytes]:
        """Yield what a file has of whole lines that were not streamed as news."""
        end = seen.offset
        while seen.told < end:
            start, seen.told = seen.told, min(end, seen.told + _PART)
            try:
                part = await asyncio.to_thread(_part_of, path, seen.inode, start, seen.told)
            except FileNotFoundError:
                return  # whoever does the work has taken it away
            except OSError as error:
                raise self._broken(error) from error
            yield part

    async def cancel(self, provider_id: str) -> None:
        """Rename the file, so that whoever begins later leaves it out; see `BulkApi`."""
        try:
            path = await asyncio.to_thread(self._path, provider_id)
            await asyncio.to_thread(path.rename, path.with_name(_cancelled_name(provider_id)))
        except OSError as error:
            raise self._broken(error) from error

    def _broken(self, error: OSError) -> BulkError:
        what = f"{error.strerror or error}: {error.filename or self._folder}"
        told = visible_line(f"the folder of requests cannot be used: {what}", 300)
        return BulkError(Failure("disk", told, retryable=True))


def _cancelled_name(name: str) -> str:
    return name.replace("requests-", "cancelled-")


def _private_file(path: Path) -> IO[bytes]:
    """Open a file to be written anew, which nobody else may read: it holds what is asked."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")


def _synced(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _numbered(part: Path, folder: Path) -> str:
    """Give a whole file the next free name, and never one that another has."""
    taken = [int(found[2]) for one in folder.iterdir() if (found := _NAME.fullmatch(one.name))]
    number = max(taken, default=0)
    while True:
        number += 1
        path = folder / f"requests-{number:04}.jsonl"
        with suppress(FileExistsError):
            _named(part, path)
            break
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    return path.name


def _named(part: Path, path: Path) -> None:
    """Give a whole file a second name.

    Raises:
        FileExistsError: the name is taken.
    """
    try:
        os.link(part, path)
    except FileExistsError:
        raise
    except OSError:
        # no links here (exFAT, some shares): the name is taken first, for a moment without content
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        part.replace(path)


def _first_id(path: Path) -> tuple[str, int] | None:
    """Return the first id of a file of requests; None: it has none of ours."""
    with path.open("rb") as file:
        return _known_id(file.read(_FIRST))


def _count_lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(part.count(b"\n") for part in iter(lambda: file.read(_PART), b""))


def _token_of(path: Path) -> str:
    """Return the token of a file of requests.

    Raises:
        OSError: it cannot be read, or is none of ours.
    """
    found = _first_id(path)
    if found is None:
        raise FileNotFoundError(errno.ENOENT, "it holds no requests of tui-eval", str(path))
    return found[0]


def _part_of(path: Path, inode: int, start: int, end: int) -> bytes:
    """Return bytes of a file; none where it is another file by now, or a shorter one."""
    with path.open("rb") as file:
        about = os.fstat(file.fileno())
        if about.st_ino != inode or about.st_size < end:
            return b""
        file.seek(start)
        return file.read(end - start)


def _found(path: Path, known: _Known) -> set[int]:
    """Return which requests have a line in a file of results; only what is new is read."""
    with path.open("rb") as file:
        about = os.fstat(file.fileno())
        seen = known.files.get(path.name)
        if seen is None or seen.inode != about.st_ino or about.st_size < seen.offset:
            seen = known.files[path.name] = _Progress(about.st_ino)
        at = file.seek(seen.offset)
        rest = b""
        while part := file.read(_PART):
            *lines, rest = (rest + part).split(b"\n")
            if lines:
                seen.offset = at + part.rindex(b"\n") + 1
            at += len(part)
            rest = rest[: MOST_LINE + 1]  # of a longer one nothing else is wanted
            seen.found.update(_ordinals(lines, known.token))
    # the last line may be whole without an end; what is not is no JSON
    return seen.found | {*_ordinals([rest] if _is_json(rest) else [], known.token)}


def _ordinals(lines: list[bytes], token: str) -> Iterator[int]:
    for line in lines:
        found = _known_id(line)
        if found is not None and found[0] == token:
            yield found[1]


def _known_id(line: bytes) -> tuple[str, int] | None:
    """Return the token and the ordinal that a line names; None: it names none."""
    found = id_within(line)
    return None if found is None else token_and_ordinal(found)


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True
