"""What was changed in a workspace as bytes, the same for the same changes, and back."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from tui_eval.processes.workspace.bounds import WorkspaceError
from tui_eval.processes.workspace.changes import WorkspaceChanges
from tui_eval.processes.workspace.manifest import EntryKind, ManifestEntry

_FORM: Final = 1


def dump_changes(changes: WorkspaceChanges) -> bytes:
    """Return a list of changes as JSON lines: a head, then each change in order of paths.

    Paths are any bytes: what is no UTF-8 in them is written as lone surrogates.
    """
    base = None if changes.base is None else changes.base.hex()
    lines = [_line({"workspace": _FORM, "incomplete": changes.incomplete, "base": base})]
    lines += (_line(["+", *_facts(path, entry)]) for path, entry in changes.added)
    lines += (_line(["~", *_facts(path, entry)]) for path, entry in changes.changed)
    lines += (_line(["-", _text(path)]) for path in changes.removed)
    return "".join(lines).encode()


def load_changes(data: bytes) -> WorkspaceChanges:
    """Return the changes that were written as bytes.

    Raises:
        WorkspaceError: nobody here wrote this.
    """
    try:
        head, *lines = map(json.loads, data.splitlines())
        if head["workspace"] != _FORM:
            raise WorkspaceError("the list of changes was written by a newer tui-eval")
        return WorkspaceChanges(
            added=tuple(_entries("+", lines)),
            changed=tuple(_entries("~", lines)),
            removed=tuple(_bytes(line[1]) for line in lines if line[0] == "-"),
            incomplete=head["incomplete"],
            base=None if head["base"] is None else bytes.fromhex(head["base"]),
        )
    except (
        *(ValueError, TypeError, KeyError, IndexError),
        *(AttributeError, RecursionError),
    ) as error:
        raise WorkspaceError(f"this is no list of changes: {error!r}") from error


def _facts(path: bytes, entry: ManifestEntry) -> tuple[object, ...]:
    return (
        _text(path),
        entry.kind,
        entry.mode,
        entry.size,
        None if entry.digest is None else entry.digest.hex(),
        None if entry.target is None else _text(entry.target),
        entry.error,
    )


def _entries(sign: str, lines: Iterable[Any]) -> Iterator[tuple[bytes, ManifestEntry]]:
    for line in lines:
        if line[0] != sign:
            continue
        _, path, kind, mode, size, digest, target, error = line
        yield (
            _bytes(path),
            ManifestEntry(
                EntryKind(kind),
                int(mode),
                int(size),
                None if digest is None else bytes.fromhex(digest),
                None if target is None else _bytes(target),
                error,
            ),
        )


def _line(value: object) -> str:
    return json.dumps(value, separators=(",", ":")) + "\n"


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
