"""Where a store is when nobody says so."""

from pathlib import Path

import platformdirs


def usual_store() -> Path:
    """Give the store in the user's data directory, whether it is there or not."""
    return platformdirs.user_data_path("tui-eval") / "store.sqlite3"
