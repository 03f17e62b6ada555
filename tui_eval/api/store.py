"""The store that Python code works on."""

import os
from pathlib import Path

from tui_eval.store.connection import open_writable
from tui_eval.suites.config.configured_store import configured_store

_VARIABLE = "TUI_EVAL_STORE"


def store_of(given: str | os.PathLike[str] | None) -> Path:
    """Return the store's file: the one given, else what the environment and configuration say.

    Raises:
        SuiteError: what the configuration says of the store is wrong.
    """
    named = given or os.environ.get(_VARIABLE)
    return configured_store()[0] if named is None else Path(named).expanduser()


def up_to_date(store: Path) -> Path:
    """Migrate a store that an older version wrote; return it.

    Raises:
        StoreError: it cannot be written, or is damaged or newer; it has not been touched then.
    """
    if store.exists():
        open_writable(store).close()
    return store
