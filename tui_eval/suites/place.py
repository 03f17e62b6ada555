"""Where the user's own configuration is."""

import os
from collections.abc import Mapping
from pathlib import Path

import platformdirs


def config_dir(environ: Mapping[str, str] | None = None) -> Path:
    """Give the folder of the user's configuration: `TUI_EVAL_CONFIG`, else the system's place."""
    named = (os.environ if environ is None else environ).get("TUI_EVAL_CONFIG")
    return Path(named) if named else platformdirs.user_config_path("tui-eval")


def config_file() -> Path:
    """Give the configuration's file, whether it is there or not."""
    return config_dir() / "config.toml"
