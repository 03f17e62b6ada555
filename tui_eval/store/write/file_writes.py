"""Which kept files the store names, and for whom: rows are looked up, no counter can drift."""

import json
import sqlite3
from collections.abc import Collection, Sequence

from tui_eval.model.outputs.attempt_record import KeptFile
from tui_eval.store.tx import Tx


def name_files(tx: Tx, workspace: bytes, files: Sequence[KeptFile]) -> None:
    """Name the files that a workspace needs; they are on the disk.

    Args:
        tx: The transaction.
        workspace: The digest of its list of changes.
        files: All of them, the list included.
    """
    tx.db.executemany(
        "INSERT OR IGNORE INTO kept_files VALUES (?, ?)",
        [(file.digest, file.size) for file in files],
    )
    tx.db.executemany(
        "INSERT OR IGNORE INTO workspace_files VALUES (?, ?)",
        [(workspace, file.digest) for file in files],
    )


def workspaces_of(
    db: sqlite3.Connection, trials: Collection[int], outputs: Collection[int]
) -> Collection[bytes]:
    """Return the workspaces that attempts of trials left, and those of outputs."""
    rows = db.execute(
        "SELECT workspace FROM attempt_records WHERE workspace IS NOT NULL "
        "AND trial IN (SELECT value FROM json_each(?1)) "
        "UNION SELECT workspace FROM outputs WHERE workspace IS NOT NULL "
        "AND id IN (SELECT value FROM json_each(?2))",
        (json.dumps([*trials]), json.dumps([*outputs])),
    )
    return [workspace for (workspace,) in rows]


def forget_unused(tx: Tx, workspaces: Collection[bytes]) -> Collection[bytes]:
    """Name no more what only these workspaces needed, as far as nobody has them any more.

    Returns:
        The digests of files that are named no more: to be removed once this is committed.
    """
    gone = [
        workspace
        for workspace in workspaces
        if tx.db.execute(
            "SELECT 1 WHERE EXISTS (SELECT 1 FROM outputs WHERE workspace = ?1) "
            "OR EXISTS (SELECT 1 FROM attempt_records WHERE workspace = ?1)",
            (workspace,),
        ).fetchone()
        is None
    ]
    unnamed: list[bytes] = []
    for workspace in gone:
        rows = tx.db.execute(
            "DELETE FROM workspace_files WHERE workspace = ? RETURNING file", (workspace,)
        ).fetchall()
        unnamed += (
            file
            for (file,) in rows
            if tx.db.execute("SELECT 1 FROM workspace_files WHERE file = ?", (file,)).fetchone()
            is None
        )
    tx.db.executemany("DELETE FROM kept_files WHERE digest = ?", [(file,) for file in unnamed])
    return unnamed
