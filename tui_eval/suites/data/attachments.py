"""Images and files that messages name: looked at, and read only where a request leaves.

In a request, a part that names a file has its digest and media type (`named`), so that these are in
the key; its bytes are put there as the request goes out (`sent`), and are kept nowhere.
"""

import hashlib
import os
from base64 import b64encode
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.conversation import names_file
from tui_eval.suites import loop_bounds
from tui_eval.suites.spec import Suite
from tui_eval.suites.trust.capabilities import Folder

MOST: Final = 20_000_000
"""Bytes that a file may have."""
_AT_ONCE: Final = 200_000
"""Bytes that are read and digested in a few milliseconds."""
_REMEMBERED: Final = 10_000
"""Files whose digests are remembered."""
_IMAGES: Final = (
    (b"\x89PNG\r\n\x1a\n", 0, "image/png"),
    (b"\xff\xd8\xff", 0, "image/jpeg"),
    (b"GIF8", 0, "image/gif"),
    (b"WEBP", 8, "image/webp"),
    (b"BM", 0, "image/bmp"),
    (b"II*\0", 0, "image/tiff"),
    (b"MM\0*", 0, "image/tiff"),
    (b"ftypavif", 4, "image/avif"),
    (b"ftypheic", 4, "image/heic"),
)
"""What images begin with, and where."""
_BEGINNING: Final = 4_096
_CHANGED: Final = '"{path}" has changed since the run began: run it again'


class AttachmentError(Exception):
    """A file that a message names cannot be sent; the message says why."""


class _Seen(NamedTuple):
    """What tells a file from a changed one."""

    path: str
    size: int
    mtime_ns: int
    inode: int


class Attachments:
    """The files that a suite's messages may name: in its folder, or where it may read."""

    def __init__(self, suite: Suite) -> None:
        """Look at nothing yet."""
        self._folder = Path(suite.file).parent if suite.file else Path.cwd()
        self._reach = Folder.of(suite)
        self._known: dict[_Seen, str] = {}
        """The digests of those seen last."""
        self._begun: dict[str, str] = {}
        """The digest that each had at first, by its path: the one that its trials' keys have."""

    def named(self, messages: Sequence[JsonObject]) -> list[JsonObject]:
        """Return messages whose parts that name files have their digests and media types.

        Raises:
            AttachmentError: a file is not there, too large, or not what it should be.
            NotAtOnceError: where it is to be done at once and could take longer.
        """
        return [
            {**one, "content": [self._digested(part) for part in content]}
            if isinstance(content := one.get("content"), list)
            else one
            for one in messages
        ]

    def trouble(self, messages: Iterable[JsonObject]) -> str | None:
        """Return what is wrong with a file that messages name; none is read whole.

        None: nothing is.
        """
        for one in messages:
            content = one.get("content")
            for part in content if isinstance(content, list) else ():
                if not names_file(part):
                    continue
                try:
                    self._looked_at(part)
                except AttachmentError as error:
                    return str(error)
        return None

    def data_url(self, part: JsonObject) -> str:
        """Return what a part that `named` made holds, as it goes out.

        Raises:
            AttachmentError: the file cannot be read, or is another one by now.
        """
        _, raw = self._read(part, MOST)
        if hashlib.sha256(raw).hexdigest() != part["sha256"]:
            raise AttachmentError(_CHANGED.format(path=part["path"]))
        return f"data:{part['media_type']};base64,{b64encode(raw).decode()}"

    def _digested(self, part: Json) -> Json:
        if not names_file(part):
            return part
        seen, media_type = self._looked_at(part)
        known = self._known.get(seen)
        if known is None:
            loop_bounds.allow(seen.size, _AT_ONCE)
            _, raw = self._read(part, MOST)
            known = hashlib.sha256(raw).hexdigest()
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[seen] = known
        if self._begun.setdefault(seen.path, known) != known:
            raise AttachmentError(_CHANGED.format(path=part["path"]))
        return {**part, "sha256": known, "media_type": media_type}

    def _looked_at(self, part: JsonObject) -> tuple[_Seen, str]:
        """Return what tells a file from another, and its media type.

        Raises:
            AttachmentError: it is not there, too large, or not what it should be.
        """
        seen, beginning = self._read(part, _BEGINNING)
        path = part["path"]
        if seen.size > MOST:
            most = f"at most {MOST // 1_000_000} MB are sent"
            raise AttachmentError(f'"{path}" has {seen.size:,} bytes: {most}')
        media_type = media_type_of(beginning)
        if part["type"] == "image" and not media_type.startswith("image/"):
            raise AttachmentError(f'"{path}" is no image: it is {media_type}')
        return seen, media_type

    def _read(self, part: JsonObject, most: int) -> tuple[_Seen, bytes]:
        """Return what a file is, and what it begins with."""
        path = str(part["path"])
        if "\0" in path:
            raise AttachmentError("the path holds a NUL character")
        file = self._folder / path
        try:
            if not self._reach.may_read(file):
                where = "lies outside the suite's folder and what it may read"
                raise AttachmentError(f'"{path}" {where}: name it in the suite, as it is')
            with self._reach.open(file) as opened:
                about = os.fstat(opened.fileno())
                seen = _Seen(str(file), about.st_size, about.st_mtime_ns, about.st_ino)
                return seen, opened.read(most)
        except FileNotFoundError:
            raise AttachmentError(f'no such file "{path}"') from None
        except OSError as error:
            raise AttachmentError(f'"{path}" cannot be read: {error.strerror}') from None


def media_type_of(beginning: bytes) -> str:
    """Return the media type of a file by what it begins with, whatever its name says."""
    for magic, place, media_type in _IMAGES:
        if beginning[place:].startswith(magic):
            return media_type
    if beginning.startswith(b"%PDF-"):
        return "application/pdf"
    try:
        text = beginning.decode()
    except UnicodeDecodeError as error:
        # a character that is cut off at the end is none that is wrong
        if error.start < len(beginning) - 3 or len(beginning) < _BEGINNING:
            return "application/octet-stream"
        text = ""
    return "application/octet-stream" if "\0" in text else "text/plain"
