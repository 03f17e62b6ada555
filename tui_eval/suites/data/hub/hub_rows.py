"""The rows of a dataset of the Hub, at a commit that a run is pinned to."""

import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

from tui_eval.model.json import JsonObject
from tui_eval.providers import hub
from tui_eval.providers.hub import HubError, HubRepo
from tui_eval.suites.data.files import open_regular
from tui_eval.suites.data.hub.hub_address import MAIN, SCHEME, HubAddress
from tui_eval.suites.data.hub.split_files import split_files, splits_there
from tui_eval.suites.data.parquet_rows import parquet_rows
from tui_eval.suites.data.unpacking import BrokenFileError
from tui_eval.suites.loading.errors import Mistake, SuiteError
from tui_eval.suites.spec import Suite

_CONVERTED: Final = "refs/convert/parquet"
"""The branch where the Hub keeps as Parquet what a dataset has in another format."""
_KEPT_S: Final = 600
"""Seconds for which a branch is what it was: a look before a launch and the launch agree."""
_LISTED: Final = 12


def pinned(suite: Suite) -> Suite:
    """Return a suite whose dataset, where it is one of the Hub, is at a commit.

    Raises:
        SuiteError: the Hub cannot be reached, or has no such dataset.
    """
    if suite.dataset.hub is None:
        return suite
    at = str(_pinned(_address(suite.dataset.hub)))
    return suite.model_copy(update={"dataset": suite.dataset.model_copy(update={"path": at})})


def hub_rows(path: str) -> Iterator[tuple[str, int, JsonObject]]:
    """Yield the rows of a dataset: each with the name of its file and its number in it.

    Files are fetched one after the other as rows are asked for, and read from disk piece by piece.

    Raises:
        SuiteError: the Hub cannot be reached, has no such dataset, or a file of it is damaged.
    """
    address = _pinned(_address(path))
    place = str(_address(path))
    for file in _listed(address):
        try:
            local = hub.fetched(address.repo, address.revision, file)
        except HubError as error:
            raise _told(place, error) from None
        except OSError as error:
            raise SuiteError([Mistake(place, None, "", f"cannot be kept: {error}")]) from None
        yield from _rows(local, f"{SCHEME}{address.repo}/{file}")


def _rows(local: Path, name: str) -> Iterator[tuple[str, int, JsonObject]]:
    try:
        with open_regular(local) as opened:
            for number, row in parquet_rows(opened):
                yield name, number, row
    except BrokenFileError as error:
        raise SuiteError([Mistake(name, error.line, "", str(error))]) from None
    except OSError as error:
        message = f"cannot be read: {error.strerror}"
        raise SuiteError([Mistake(name, None, "", message)]) from None


def _address(path: str) -> HubAddress:
    try:
        return HubAddress.of(path)
    except ValueError as error:
        raise SuiteError([Mistake(path, None, "", str(error))]) from None


def _told(place: str, error: HubError) -> SuiteError:
    return SuiteError([Mistake(place, None, "", str(error), error.hint)])


def _generation() -> int:
    return int(time.monotonic() // _KEPT_S)


def _pinned(address: HubAddress) -> HubAddress:
    if address.is_pinned:
        return address
    try:
        return _resolved(address, hub.endpoint(), hub.has_token(), _generation())
    except HubError as error:
        raise _told(str(address), error) from None


@lru_cache(maxsize=64)
def _resolved(address: HubAddress, endpoint: str, as_somebody: bool, kept: int) -> HubAddress:
    """Return an address at a commit that has its split as Parquet."""
    del endpoint, as_somebody, kept  # what an answer depends on
    own = hub.look_up(address.repo, address.revision)
    if split_files(address, own.files, own.card):
        return address.at(own.commit)
    converted = None
    if address.revision == MAIN:
        try:
            converted = hub.look_up(address.repo, _CONVERTED)
        except HubError:
            converted = None  # nothing was converted: what there is, is told below
    if converted is not None and split_files(address, converted.files, None):
        return address.at(converted.commit)
    raise _no_split(address, own, converted)


def _no_split(address: HubAddress, own: HubRepo, converted: HubRepo | None) -> HubError:
    there = splits_there(own.files, own.card)
    if converted is not None:
        there = splits_there(converted.files, None)
    if not there:
        why = "the Hub keeps no Parquet of it"
        return HubError(f"cannot be read: {why}", "download it and name its file")
    more = ", …" if len(there) > _LISTED else ""
    return HubError("has no such split as Parquet", f"there are {', '.join(there[:_LISTED])}{more}")


def _listed(address: HubAddress) -> tuple[str, ...]:
    try:
        return _files(address, hub.endpoint(), hub.has_token())
    except HubError as error:
        raise _told(str(address), error) from None


@lru_cache(maxsize=64)
def _files(address: HubAddress, endpoint: str, as_somebody: bool) -> tuple[str, ...]:
    """Return the files of a split at a commit."""
    del endpoint, as_somebody
    repo = hub.look_up(address.repo, address.revision)
    found = split_files(address, repo.files, repo.card)
    if not found:
        raise _no_split(address, repo, None)
    return tuple(found)
