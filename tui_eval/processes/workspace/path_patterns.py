"""Patterns of paths in a workspace."""

import os
import re
from collections.abc import Iterable
from typing import Final

_WILD: Final = {"*": "[^/]*", "?": "[^/]"}


class PathPatterns:
    """Says which paths one of some patterns names, from the workspace's own folder on.

    `*` and `?` stand for signs of one name, `**` for any folders; a pattern that names a folder
    names all that is in it.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        """Read patterns; without one, nothing is named."""
        alternatives = [_expression(one.removesuffix("/").split("/")) for one in patterns]
        self._named = re.compile("|".join(alternatives) or "(?!)", re.DOTALL)

    def match(self, path: bytes) -> bool:
        """Say whether a path is named."""
        return self._named.fullmatch(os.fsdecode(path)) is not None


def _expression(parts: list[str]) -> str:
    folders = "".join("(?:[^/]+/)*" if part == "**" else f"{_name(part)}/" for part in parts[:-1])
    last = ".+" if parts[-1] == "**" else _name(parts[-1])
    return f"{folders}{last}(?:/.*)?"


def _name(part: str) -> str:
    return "".join(_WILD.get(sign) or re.escape(sign) for sign in part)
