"""What a figure depends on beside the code: the machine, the versions, how busy it was."""

import os
import platform
import sqlite3
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.util import cache_from_source, find_spec
from pathlib import Path

from tui_eval import __version__
from tui_eval.model.json import JsonObject

_PACKAGES = ("textual", "openai", "aiohttp", "pydantic", "aiosqlite")


def conditions() -> JsonObject:
    """Give the date, the machine and the versions."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "cores": os.cpu_count(),
        "processor": _processor(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "tui_eval": __version__,
        **{name: _version(name) for name in _PACKAGES},
        "byte_code": has_byte_code(),
    }


def load() -> float:
    """Give how many processes wanted a core, over the last minute."""
    return round(os.getloadavg()[0], 2)


def has_byte_code() -> bool:
    """Whether the libraries were compiled: without, every start takes about a second more."""
    spec = find_spec("textual.app")
    return spec is not None and spec.origin is not None and Path(_cached(spec.origin)).exists()


def _cached(source: str) -> str:
    return cache_from_source(source)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())
