"""What can be wrong with a store, each with what a person can do about it."""

from pathlib import Path


class StoreError(Exception):
    """The store cannot be used as it is; the message names the file and the remedy."""


class StoreNewerError(StoreError):
    """A newer version of the program wrote the store; it is left untouched."""


class StoreOlderError(StoreError):
    """An older version wrote the store; who only reads cannot bring it up to date."""


class StoreDamagedError(StoreError):
    """The file is no store, or parts of it cannot be read; it is left untouched."""


class StoreRemoteError(StoreError):
    """It is on a network file system, which cannot carry it; nothing was opened or made there."""

    def __init__(self, path: Path, kind: str, point: str) -> None:
        super().__init__(
            f"{path}: on a network file system ({kind}, mounted at {point}), where SQLite's log "
            f"does not work and a store would be damaged. Keep it on a disk of this machine: "
            f"--store FILE, or TUI_EVAL_STORE; one that is there already is copied first. "
            f"`tui-eval merge` unites the stores of several machines"
        )


class StoreFullError(StoreError):
    """There is no room for what would be written; nothing was."""

    def __init__(self, path: Path) -> None:
        self.reason = "database or disk is full"
        super().__init__(f"{path}: {self.reason}; make room there and try again")


class StoreMovedError(StoreError):
    """The file that is open is no more what its name leads to; nothing was written."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path}: moved, removed or replaced while it was in use; put the one that was there "
            f"back with its log ({path.name}-wal), or start again with what is there now"
        )


class LeaseLostError(StoreError):
    """Another engine has taken the run over; nothing more may be written for it here."""


class UnknownRunError(StoreError):
    """No run, or more than one, answers to the name given."""
