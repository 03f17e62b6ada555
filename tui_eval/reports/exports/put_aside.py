"""A file for what is written of a report before its beginning is known."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Final

_CHUNK: Final = 1 << 16


class PutAsideError(OSError):
    """What is put aside cannot be written; the file's name is that of its folder."""


class PutAside:
    """Text that is written first and read once, afterwards."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> None:
        """Append text.

        Raises:
            PutAsideError: it cannot be written.
        """
        with _explained():
            self._file.write(text)

    def pieces(self) -> Iterator[str]:
        """Yield all of it, from its beginning.

        Raises:
            PutAsideError: what was written last cannot be.
        """
        with _explained():
            self._file.seek(0)
        while piece := self._file.read(_CHUNK):
            yield piece


@contextmanager
def put_aside() -> Iterator[PutAside]:
    """Give a file in the folder for temporary files, for as long as it is needed.

    Raises:
        PutAsideError: it cannot be made.
    """
    with _explained():
        file = tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n")  # noqa: SIM115
    try:
        yield PutAside(file)
    finally:
        with suppress(OSError):  # what is left in its buffer is tried again, and told already
            file.close()


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = f"{error.strerror}, for temporary files; TMPDIR names another folder"
        raise PutAsideError(error.errno, why, tempfile.gettempdir()) from error
