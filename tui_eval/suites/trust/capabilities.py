"""What a suite wants beyond its own folder and its own endpoints, which a person has to allow.

Opening a suite is safe: nothing outside its folder is read and no key goes to a host that is not
the key's own, unless somebody said that this suite is trusted.
"""

import errno
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from tui_eval.providers import hub, presets
from tui_eval.providers.hub import HubError
from tui_eval.suites.config.configuration import bound_hosts
from tui_eval.suites.data.files import fixed_part, is_glob, matches, open_regular, real_path
from tui_eval.suites.data.hub.hub_address import HubAddress
from tui_eval.suites.data.tasks.task_formats import FOLDERS
from tui_eval.suites.loading.errors import Mistake, SuiteError
from tui_eval.suites.scorers import is_template
from tui_eval.suites.spec import AskedSpec, Suite
from tui_eval.suites.trust.permissions import Permission, PermissionRequest, PermissionState
from tui_eval.suites.trust.trust_store import Grants

_FAR: Final = "../../.."
"""A path that climbs so far is clearer in full."""


@dataclass(slots=True)
class Folder:
    """A suite's own folder: judges every path the suite names, symbolic links resolved."""

    path: Path
    trusted: bool = False
    """Whether anything outside may be read."""
    grants: Grants | None = None
    """What was allowed before; None: nothing."""
    asks: list[PermissionRequest] = field(default_factory=list)
    """What was asked for outside it, and whether it may be had."""
    outside: set[Path] = field(default_factory=set)
    """Where it may be read outside: real files, and the folders of globs."""

    def __post_init__(self) -> None:
        self.path = real_path(self.path)

    @classmethod
    def of(cls, suite: Suite) -> "Folder":
        """Return the folder of a suite that was loaded: it reads what it was allowed then."""
        if suite.file is None:
            return cls(Path(), trusted=True)  # made by this program, not by a file
        return cls(Path(suite.file).parent, outside={Path(path) for path in suite.outside})

    @property
    def refused(self) -> list[PermissionRequest]:
        """What was asked for and is not allowed."""
        return [ask for ask in self.asks if ask.standing is not PermissionState.TRUSTED]

    @property
    def permissions(self) -> list[Permission]:
        """All that was asked for outside."""
        return [ask.permission for ask in self.asks]

    def holds(self, path: Path) -> bool:
        """Say whether a path, wherever its links lead, lies in the folder."""
        return real_path(path).is_relative_to(self.path)

    def allows(self, path: Path) -> bool:
        """Say whether a file or glob may be read; where it lies outside, ask for the permission."""
        if self.holds(path):
            return True
        permission = self._permission(path)
        ask = next((ask for ask in self.asks if ask.permission == permission), None)
        if ask is None:
            ask = self._judged(permission)
            self.asks.append(ask)
        if ask.standing is not PermissionState.TRUSTED:
            return False
        self.outside.add(real_path(fixed_part(path) if is_glob(path) else path))
        return True

    def files(self, path: Path) -> list[Path] | None:
        """Return the files a path or glob stands for; None where one of them may not be read."""
        if not is_glob(path):
            if not self.allows(path):
                return None
            return [path] if path.is_file() else []
        if not self.holds(fixed_part(path)):
            return matches(path) if self.allows(path) else None  # refused: not even listed
        files = matches(path)
        allowed = [file for file in files if self.allows(file)]
        return allowed if len(allowed) == len(files) else None

    def open(self, path: Path) -> BufferedReader:
        """Open a regular file that may be read, judged by where it really is once it is open.

        So no link that is changed after it was judged leads anywhere else.

        Raises:
            OSError: it cannot be opened, or may not be read.
        """
        opened = open_regular(path)
        try:
            real = path.resolve(strict=True)
            same = os.path.samestat(real.stat(), os.fstat(opened.fileno()))
        except BaseException:
            opened.close()
            raise
        if same and self._may_read(real):
            return opened
        opened.close()
        why = "leads out of the suite's folder" if same else "was replaced while it was opened"
        raise OSError(errno.EACCES, why, str(path))

    def may_read(self, path: Path) -> bool:
        """Say whether a path, wherever its links lead, is one that may be read; nobody is asked."""
        return self._may_read(real_path(path))

    def _may_read(self, real: Path) -> bool:
        near = (self.path, *self.outside)
        return self.trusted or any(real.is_relative_to(allowed) for allowed in near)

    def _judged(self, permission: Permission) -> PermissionRequest:
        if self.trusted:
            return PermissionRequest(permission, PermissionState.TRUSTED)
        return (
            self.grants.judge(permission)
            if self.grants is not None
            else PermissionRequest(permission, PermissionState.NEW)
        )

    def _permission(self, path: Path) -> Permission:
        real = str(real_path(path))
        return Permission(
            f"read {self._named(path)} outside the suite's folder", f"read {real}", path
        )

    def _named(self, path: Path) -> str:
        """Name a path as a person would from the suite's folder."""
        full = Path(os.path.normpath(path.absolute()))
        if full.is_relative_to(self.path):
            return f"{full.relative_to(self.path)} (a link to {real_path(path)})"
        near = os.path.relpath(full, self.path)
        return str(full) if near.startswith(_FAR) else near


def wanted_permissions(suite: Suite) -> tuple[Permission, ...]:
    """Return what a loaded suite still has to do that needs trust; none: it may simply run."""
    folder = Folder(Path(suite.file).parent, trusted=True) if suite.file is not None else None
    if folder is not None:
        for path in (*data_paths(suite), *_files_read(suite, folder.path)):
            folder.files(path)
    found = [] if folder is None else folder.permissions
    return tuple(dict.fromkeys([*found, *suite_permissions(suite)]))


def suite_permissions(suite: Suite) -> Iterator[Permission]:
    """Yield what a suite's targets, judges and scorers want beside files."""
    folder = None if suite.file is None else Path(suite.file).parent
    data = _data_file(suite)
    yield from _hub_permissions(suite)
    tasks = None
    if data is not None and suite.dataset.format in FOLDERS:
        tasks = (fixed_part(data) if is_glob(data) else data.parent) / "**/*"
    for asked in suite.asked:
        yield from permissions_of(type(asked), asked.as_written(), folder)
        yield from asked.permissions_by_case(data, tasks)
    for scorer in suite.scorers:
        yield from scorer.permissions(scorer.model_dump(mode="json", by_alias=True), folder)
        yield from scorer.permissions_by_case(data, tasks)


def permissions_of(
    kind: type[AskedSpec], table: Mapping[str, object], folder: Path | None
) -> Iterator[Permission]:
    """Yield what a target or judge wants beside files: keys that it sends, programs that it runs.

    Args:
        kind: What it is.
        table: Its fields, checked or not.
        folder: The suite's own; None: it was made by this program, not read from a file.
    """
    for key in kind.keys_sent(table):
        yield from key_permissions(key.provider, key.base_url, key.api_key_env)
    yield from kind.permissions(table, folder)


def data_paths(suite: Suite) -> Iterable[Path]:
    """Yield the paths a loaded suite reads from, globs as they are."""
    data = _data_file(suite)
    if data is not None:
        yield data
    for asked in suite.asked:
        yield from asked.data_paths()


def _data_file(suite: Suite) -> Path | None:
    """Return the file or glob of a suite's data; None: it is no file of this machine."""
    path = suite.dataset.path
    return None if path is None or suite.dataset.hub is not None else Path(path)


def _hub_permissions(suite: Suite) -> Iterator[Permission]:
    """Yield what reading a dataset of the Hub has to be allowed.

    What anybody may read there is read unasked. With a token it may be what only this person may
    read, which the suite could send on to its targets: as files outside its folder are.
    """
    path = suite.dataset.hub
    if path is None or not hub.has_token():
        return
    try:
        origin = urlsplit(hub.endpoint())
    except HubError as error:
        raise SuiteError([Mistake(path, None, "", str(error), error.hint)]) from None
    host = presets.shown_host(origin.hostname or "")
    repo = HubAddress.of(path).repo
    bound = hub.HOSTS | (bound_hosts(hub.TOKEN) or frozenset())
    to = f"host {host}{'' if presets.host_fits(host, bound) else ', which is not its own'}"
    clear = origin.scheme != "https" and not presets.is_loopback(host)
    yield Permission(
        f"read {repo} as you: send {hub.TOKEN}{' unencrypted' if clear else ''} to {to}",
        f"read {repo} with {hub.TOKEN} at {origin.scheme}://{host}{_port(origin.port)}",
    )


def _files_read(suite: Suite, folder: Path) -> Iterable[Path]:
    """Yield the files that messages, targets, judges and scorers name, read as they are used."""
    for prompt in suite.prompts:
        for name in prompt.files_named():
            if not is_template(name):
                yield folder / name
    for asked in suite.asked:
        for _, path in asked.files_read(asked.as_written(), folder):
            yield path
    for scorer in suite.scorers:
        for _, path in scorer.files_read(scorer.model_dump(mode="json", by_alias=True), folder):
            yield path


def key_permissions(
    provider: str | None, base_url: str | None, api_key_env: str | None
) -> tuple[Permission, ...]:
    """Return what who pairs a key with a host that is not the key's own has to be allowed.

    A key that is bound to hosts, by a preset or by the user's configuration, goes to those only:
    even loopback needs trust. Any other goes to loopback freely and elsewhere with trust. Without
    encryption none leaves this machine unasked.

    Raises:
        SuiteError: the user's configuration has mistakes.
    """
    try:
        address = presets.address(provider, base_url, api_key_env)
    except ValueError:
        return ()  # told when the fields are checked
    key = address.api_key_env
    if key is None or address.embedded:
        return ()
    near = presets.is_loopback(address.host)
    bound = bound_hosts(key)
    own = near if bound is None else presets.host_fits(address.host, bound)
    origin = urlsplit(address.base_url or "")
    clear = origin.scheme.lower() != "https" and not near
    if own and not clear:
        return ()
    host = presets.shown_host(address.host)
    exactly = f"send {key} to {origin.scheme.lower()}://{host}{_port(origin.port)}"
    return (Permission(f"send {key}{' unencrypted' if clear else ''} to host {host}", exactly),)


def _port(port: int | None) -> str:
    return "" if port is None else f":{port}"
