"""Which files of a dataset's repository hold one of its splits."""

import fnmatch
from collections.abc import Iterator, Sequence
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.data.hub.hub_address import HubAddress

_PARQUET: Final = ".parquet"
_DEFAULT: Final = "default"


def split_files(address: HubAddress, files: Sequence[str], card: Json) -> list[str]:
    """Return the Parquet files of a split, in order; none: it is not there as Parquet.

    What the dataset's card says comes first; where it says nothing, folders and names do, as the
    Hub reads them and as it names those that it converts itself.

    Args:
        address: The split.
        files: All files of the repository.
        card: The metadata of its README.
    """
    tables = [path for path in files if path.endswith(_PARQUET)]
    said = _said(address, card)
    if said:
        found = [path for path in files if any(_fits(path, pattern) for pattern in said)]
        if found and all(path.endswith(_PARQUET) for path in found):
            return sorted(found)
    for pattern in _usual(address):
        found = [path for path in tables if fnmatch.fnmatchcase(path, pattern)]
        if found:
            return sorted(path for path in found if path.count("/") == pattern.count("/"))
    return []


def splits_there(files: Sequence[str], card: Json) -> list[str]:
    """Return the splits that can be made out, as CONFIG/SPLIT or SPLIT, to tell a person."""
    found = {
        f"{_name(config)}/{one['split']}"
        for config in _configs(card)
        for one in _data_files(config)
        if isinstance(one.get("split"), str)
    }
    for path in files if not found else ():
        folder, _, file = path.rpartition("/")
        if not file.endswith(_PARQUET):
            continue
        # "main/test/0000.parquet" of a conversion; else "main/test-00000-of-00001.parquet"
        split = file.removesuffix(_PARQUET).partition("-")[0]
        whole = folder if split.isdigit() else f"{folder}/{split}" if folder else split
        found.add(whole.removeprefix("data/"))
    return sorted(found)


def _configs(card: Json) -> list[JsonObject]:
    listed = card.get("configs") if isinstance(card, dict) else None
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _name(config: JsonObject) -> str:
    return str(config.get("config_name", _DEFAULT))


def _data_files(config: JsonObject) -> Iterator[JsonObject]:
    listed = config.get("data_files")
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, dict):
            yield one


def _said(address: HubAddress, card: Json) -> list[str]:
    """Return the patterns that a card has for a split."""
    configs = _configs(card)
    if address.config is not None:
        configs = [one for one in configs if _name(one) == address.config]
    elif len(configs) > 1:
        configs = [one for one in configs if one.get("default") is True or _name(one) == _DEFAULT]
    found: list[str] = []
    for config in configs[:1]:
        for one in _data_files(config):
            paths = one.get("path")
            if one.get("split") == address.split:
                found += [str(path) for path in (paths if isinstance(paths, list) else [paths])]
    return found


def _fits(path: str, pattern: str) -> bool:
    """Return whether a pattern stands for a path; `**` for folders, none too."""
    return fnmatch.fnmatchcase(path, pattern) or fnmatch.fnmatchcase(
        path, pattern.replace("**/", "")
    )


def _usual(address: HubAddress) -> Iterator[str]:
    """Yield the names under which a split is found where nothing is said."""
    config, split = address.config, address.split
    for folder in (config, f"data/{config}") if config is not None else (_DEFAULT, "data"):
        yield f"{folder}/{split}/*{_PARQUET}"
        yield f"{folder}/{split}-*{_PARQUET}"
        yield f"{folder}/{split}{_PARQUET}"
    if config in (None, _DEFAULT):
        yield f"data/{split}-*{_PARQUET}"
        yield f"{split}-*{_PARQUET}"
        yield f"{split}{_PARQUET}"
        yield f"{split}/*{_PARQUET}"
