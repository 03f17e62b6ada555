"""The store where nobody names one: the configuration's, or that of the data directory."""

from pathlib import Path

from tui_eval.store.location import usual_store
from tui_eval.suites.config import configuration
from tui_eval.suites.config.config_path import config_file

DEFAULT = "default"


def configured_store() -> tuple[Path, str]:
    """Return the store, and who says so: the configuration's file, or `DEFAULT`.

    Raises:
        SuiteError: the configuration cannot be read, or what it says of the store is wrong.
    """
    if config_file().exists():
        found = configuration.read()
        found.require("store")
        if found.store is not None:
            return found.store, str(found.file)
    return usual_store(), DEFAULT
