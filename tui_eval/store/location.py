"""Where a store is when nobody says so, and what stands beside it."""

import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path

import platformdirs


def usual_store() -> Path:
    """Return the store in the user's data directory, whether it is there or not."""
    return platformdirs.user_data_path("tui-eval") / "store.sqlite3"


def naming(store: Path, environ: Mapping[str, str] = os.environ) -> str:
    """Return what a command that is to be typed ends with, for it to find a store.

    It is empty where the store is found without, else ` --store FILE`, from the folder one is in.
    """
    shown = _named(store, environ)
    return "" if shown is None else f" --store {shlex.quote(str(shown))}"


def naming_in_python(store: Path, environ: Mapping[str, str] = os.environ) -> str:
    """Return what the call of a function ends with, likewise: empty or `, store="FILE"`."""
    shown = _named(store, environ)
    return "" if shown is None else f", store={json.dumps(str(shown), ensure_ascii=False)}"


def _named(store: Path, environ: Mapping[str, str]) -> Path | None:
    """Return a store's path from the folder one is in; None where it is found without."""
    named = environ.get("TUI_EVAL_STORE")
    found = Path(named) if named else usual_store()
    if found.absolute() == store.absolute():
        return None
    here = Path.cwd()
    shown = store.absolute()
    return shown.relative_to(here) if here in shown.parents else shown


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
