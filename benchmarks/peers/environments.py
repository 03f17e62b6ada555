"""Environments of their own for the other tools, made once in a folder that is kept."""

import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

_STAMP = "installed.json"
_INSTALL_S = 1800


class UnavailableError(Exception):
    """A tool cannot be installed here; the message says why."""


def python(folder: Path, packages: Sequence[str]) -> None:
    """Make a virtual environment with pinned packages, unless it is there.

    Raises:
        UnavailableError: pip could not install them.
    """
    if _is_there(folder, packages):
        return
    venv.create(folder, with_pip=False, clear=True)
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python")]
    _install([*pip, "install", "--quiet", "--disable-pip-version-check", *packages])
    _stamp(folder, packages)


def node(folder: Path, packages: Sequence[str]) -> None:
    """Make a folder with pinned packages of npm, unless it is there.

    Raises:
        UnavailableError: there is no npm, or it could not install them.
    """
    if _is_there(folder, packages):
        return
    npm = shutil.which("npm")
    if npm is None:
        raise UnavailableError("there is no npm")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    options = ["--no-audit", "--no-fund", "--loglevel", "error"]
    _install([npm, "install", "--prefix", str(folder), *options, *packages])
    _stamp(folder, packages)


def _install(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_INSTALL_S, env=_plain(), check=False
        )
    except subprocess.TimeoutExpired:
        raise UnavailableError(f"installing took longer than {_INSTALL_S} s") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if "error" in line.lower()] or lines or ["no message"]
        raise UnavailableError(errors[-1].strip()[:200])


def _plain() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _is_there(folder: Path, packages: Sequence[str]) -> bool:
    stamp = folder / _STAMP
    return stamp.exists() and json.loads(stamp.read_text("utf-8")) == list(packages)


def _stamp(folder: Path, packages: Sequence[str]) -> None:
    (folder / _STAMP).write_text(json.dumps(list(packages)), "utf-8")
