"""How a suite names a dataset of the Hub."""

import re
from dataclasses import dataclass, replace
from typing import Final

SCHEME: Final = "hf://"
FORM: Final = "hf://OWNER/NAME[/CONFIG]/SPLIT[@REVISION]"
MAIN: Final = "main"
"""The revision where none is named."""

_NAME: Final = r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,94}[A-Za-z0-9_])?"
_PART: Final = r"[A-Za-z0-9_][A-Za-z0-9_.+ -]{0,199}"
_ADDRESS: Final = re.compile(
    rf"hf://({_NAME}/{_NAME})(?:/({_PART}))?/({_PART})(?:@([A-Za-z0-9_][A-Za-z0-9_./-]{{0,199}}))?"
)
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")


def is_hub(path: str) -> bool:
    """Return whether a path names a dataset of the Hub, rightly or not."""
    return path.lower().startswith(SCHEME)


@dataclass(frozen=True, slots=True)
class HubAddress:
    """A split of a dataset at a revision."""

    repo: str
    """OWNER/NAME."""
    config: str | None
    """None: the dataset's default one."""
    split: str
    revision: str = MAIN
    """A branch, a tag or a commit."""

    @classmethod
    def of(cls, path: str) -> "HubAddress":
        """Return what a path names.

        Raises:
            ValueError: it is not of the form; the message goes on after the path.
        """
        found = _ADDRESS.fullmatch(path)
        if found is None or ".." in path:
            raise ValueError(f"is no dataset of the Hub: write {FORM}")
        repo, config, split, revision = found.groups()
        return cls(repo, config, split, revision or MAIN)

    @property
    def is_pinned(self) -> bool:
        """Whether it names a commit: what is there never changes."""
        return _COMMIT.fullmatch(self.revision) is not None

    def at(self, commit: str) -> "HubAddress":
        """Return the same at a commit."""
        return replace(self, revision=commit)

    def __str__(self) -> str:
        parts = (self.repo, self.config, self.split)
        revision = "" if self.revision == MAIN else f"@{self.revision}"
        return SCHEME + "/".join(part for part in parts if part) + revision
