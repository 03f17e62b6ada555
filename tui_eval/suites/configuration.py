"""The user's own configuration: `config.toml`, which this program reads and never writes.

    [keys]
    MY_KEY = ["api.example.org", ".internal.example"]

A key that stands there goes to the hosts named, and anywhere else only with trust. An entry that
starts with a dot stands for every host below it.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import platformdirs

from tui_eval.providers import presets
from tui_eval.suites import toml_lines
from tui_eval.suites.errors import Mistake, SuiteError, did_you_mean
from tui_eval.suites.files import open_regular, read_whole

_TABLES: Final = ("keys",)
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HOST: Final = re.compile(r"\.?[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?|[0-9a-f:]*:[0-9a-f:.]*")


def config_dir(environ: Mapping[str, str] | None = None) -> Path:
    """Give the folder of the user's configuration: `TUI_EVAL_CONFIG`, else the system's place."""
    named = (os.environ if environ is None else environ).get("TUI_EVAL_CONFIG")
    return Path(named) if named else platformdirs.user_config_path("tui-eval")


def config_file() -> Path:
    """Give the configuration's file, whether it is there or not."""
    return config_dir() / "config.toml"


def bound_hosts(variable: str) -> frozenset[str] | None:
    """Give the hosts a key is for: a preset's, and those of the user's configuration.

    Args:
        variable: The environment variable that holds the key.

    Returns:
        The hosts (see `presets.host_fits`); None: nobody has said where the key belongs.

    Raises:
        SuiteError: the configuration has mistakes; all of them, with their lines.
    """
    own = key_hosts().get(variable)
    preset = presets.key_hosts(variable)
    if own is None:
        return preset or None
    return preset | own


def key_hosts(file: Path | None = None) -> dict[str, frozenset[str]]:
    """Read the user's own bindings: hosts by the variable of the key; none without a file.

    Args:
        file: Instead of the user's `config.toml`.

    Raises:
        SuiteError: with every mistake in it.
    """
    path = file or config_file()
    try:
        with open_regular(path) as opened:
            text = read_whole(opened).decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except UnicodeDecodeError:
        raise SuiteError([Mistake(str(path), None, "", "is not UTF-8 text")]) from None
    except OSError as error:
        raise SuiteError(
            [Mistake(str(path), None, "", f"cannot be read: {error.strerror}")]
        ) from None
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise SuiteError([_syntax(path, error)]) from None
    return _Reader(path, text, data).keys()


def _syntax(path: Path, error: Exception) -> Mistake:
    found = re.search(r"\(at line (\d+)", str(error))
    line = int(found[1]) if found else None
    return Mistake(str(path), line, "", f"is not TOML: {error or 'nests too deeply'}")


class _Reader:
    def __init__(self, path: Path, text: str, data: dict[str, object]) -> None:
        self._path = path
        self._data = data
        self._lines = toml_lines.lines(text)
        self._mistakes: list[Mistake] = []

    def keys(self) -> dict[str, frozenset[str]]:
        """Give the bindings, or raise all mistakes."""
        for name in self._data:
            if name not in _TABLES:
                self._wrong((name,), "unknown table", did_you_mean(name, _TABLES))
        table = self._data.get("keys", {})
        found: dict[str, frozenset[str]] = {}
        if isinstance(table, dict):
            for name, hosts in table.items():
                found[name] = self._hosts(name, hosts)
        else:
            self._wrong(("keys",), "must be a table", 'write [keys], then MY_KEY = ["host"]')
        if self._mistakes:
            raise SuiteError(self._mistakes)
        return found

    def _hosts(self, name: str, hosts: object) -> frozenset[str]:
        at = ("keys", name)
        if not _VARIABLE.fullmatch(name):
            self._wrong(at, "is no name of an environment variable", "use letters, digits and _")
        if not isinstance(hosts, list):
            self._wrong(at, "must be a list of hosts", 'write ["api.example.org"]')
            return frozenset()
        found = set()
        for index, host in enumerate(hosts):
            plain = host.strip("[]").rstrip(".").lower() if isinstance(host, str) else ""
            if _HOST.fullmatch(plain):
                found.add(plain)
            else:
                meant = presets.host_of(host) if isinstance(host, str) else ""
                hint = f'write "{meant}"' if meant else 'write it as "api.example.org"'
                self._wrong((*at, index), f"must be a host, not {host!r}", hint)
        return frozenset(found)

    def _wrong(self, at: toml_lines.Path, message: str, hint: str | None) -> None:
        line = next(
            (self._lines[at[:end]] for end in range(len(at), 0, -1) if at[:end] in self._lines),
            None,
        )
        field = "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in at)[1:]
        self._mistakes.append(Mistake(str(self._path), line, field, message, hint))
