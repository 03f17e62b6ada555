"""Where a store is when nobody says so, and what stands beside it."""

from pathlib import Path

import platformdirs


def usual_store() -> Path:
    """Return the store in the user's data directory, whether it is there or not."""
    return platformdirs.user_data_path("tui-eval") / "store.sqlite3"


def log_file(store: Path, run_name: str) -> Path:
    """Return where the engine of a run writes its log."""
    return store.parent / "logs" / f"{run_name}.log"


def attempt_folders(store: Path) -> Path:
    """Return where the folders of attempts are, each named by its attempt's id, while they run.

    The path is absolute: programs are started from another folder than the engine's.
    """
    return store.absolute().with_name(f"{store.name}.attempts")


def kept_files(store: Path) -> Path:
    """Return where the files are that attempts have left, each by its digest."""
    return store.with_name(f"{store.name}.files")


def find_file(store: Path, run_name: str) -> Path:
    """Return where the texts of a large run are gathered for those who search it."""
    return store.parent / "find" / f"{run_name}.sqlite3"


def figures_file(store: Path, run_name: str) -> Path:
    """Return where is kept what the parts of a large run came to."""
    return store.parent / "figures" / f"{run_name}.sqlite3"
