"""The files that came with what a worker made: whether they are those which its record names."""

import hashlib
from collections.abc import Sequence

from tui_eval.model.outputs.output import Failure, Output
from tui_eval.processes.workspace.bounds import WorkspaceError
from tui_eval.processes.workspace.change_list import load_changes


def damage(reply: Output | Failure, files: Sequence[bytes]) -> str | None:
    """Say why files are not those that a reply names; None: they are. Blocking.

    Args:
        reply: What came.
        files: What the files hold, in the order of its record.
    """
    named = reply.record.files
    if len(named) != len(files):
        return f"reply.record.files names {len(named)} files, and {len(files)} came"
    for index, (one, data) in enumerate(zip(named, files, strict=True)):
        if one.size != len(data):
            return f"reply.record.files[{index}].size is {one.size:,}, and {len(data):,} bytes came"
        if hashlib.sha256(data).digest() != one.digest:
            return f"reply.record.files[{index}].digest is not that of what came"
    if reply.workspace is None:
        return None
    lists = [data for one, data in zip(named, files, strict=True) if one.digest == reply.workspace]
    if not lists:
        return "reply.workspace is the digest of no file that came"
    try:
        load_changes(lists[0])
    except WorkspaceError as error:
        return f"reply.workspace: {error}"
    return None
