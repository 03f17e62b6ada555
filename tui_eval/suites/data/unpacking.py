"""Unpack compressed data as it is read: bounded, and with the line a broken file was read to."""

import gzip
import io
import sys
import zlib
from io import BufferedReader
from typing import TYPE_CHECKING, Final

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

PACKED: Final = (".gz", ".zst")
"""The compressions data may have, as the last part of a file's name."""

_ALWAYS: Final = 64_000_000
"""Bytes that a file may unpack to, however small it is."""
_MOST_TIMES: Final = 200
"""How many times its own size a file may unpack to, beyond that: texts come to 5 to 50 times."""
_CHUNK: Final = 1 << 18


class BrokenFileError(Exception):
    """Data ends early, is damaged or unpacks to too much; the message goes on after its place."""

    def __init__(self, line: int | None, message: str) -> None:
        self.line = line
        """The line, or the row, that was reached; None: none was."""
        super().__init__(message)


def unpacked(file: BufferedReader, suffix: str, size: int) -> BufferedReader:
    """Return what a file holds as it is read; closing it leaves the file open.

    Reading raises BrokenFileError where it cannot be unpacked, or comes to more than 64 MB and 200
    times its size.

    Args:
        file: The file.
        suffix: Its compression, one of `PACKED`; empty: it has none.
        size: Its size in bytes.

    Raises:
        BrokenFileError: it is compressed, and empty.
    """
    if not suffix:
        return file
    if not size:
        raise BrokenFileError(None, "is empty, which no compressed file is")
    return BufferedReader(_Unpacked(file, suffix, size), _CHUNK)


class _Unpacked(io.RawIOBase):
    """The content of a compressed file."""

    def __init__(self, file: BufferedReader, suffix: str, size: int) -> None:
        super().__init__()
        self._content = gzip.GzipFile(fileobj=file) if suffix == ".gz" else zstd.ZstdFile(file)
        self._most = max(_ALWAYS, size * _MOST_TIMES)
        self._lines = 1
        self._bytes = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, into: "WriteableBuffer", /) -> int:
        """Unpack the next bytes.

        Raises:
            BrokenFileError: they cannot be unpacked, or are too many.
        """
        view = memoryview(into)
        try:
            found = self._content.read1(min(len(view), _CHUNK))
        except EOFError:
            raise self._broken("is cut off: the compressed file ends early") from None
        except (OSError, zlib.error, zstd.ZstdError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise self._broken(f"cannot be unpacked: {error}") from None
        view[: len(found)] = found
        self._lines += found.count(b"\n")
        self._bytes += len(found)
        if self._bytes > self._most:
            most = f"{_MOST_TIMES} times its size and {_ALWAYS // 1_000_000} MB"
            raise self._broken(f"unpacks to more than {most}; unpack it yourself if it is meant")
        return len(found)

    def _broken(self, message: str) -> BrokenFileError:
        return BrokenFileError(self._lines, message)
