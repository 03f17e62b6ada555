"""What engines of several machines have posted in one folder, and what it comes to together."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.runs.board_post import BoardPost
from tui_eval.model.states import RunState

SILENT_S: Final = 60.0
"""Seconds without a word after which an engine may be gone, or its machine."""
_LARGEST: Final = 1 << 16
"""Bytes of a post; larger files are none."""


@dataclass(frozen=True, slots=True)
class BoardEntry:
    """A run on the board."""

    post: BoardPost
    silent_s: float | None
    """Seconds since its engine's last word, where it should have said something; None: all is
    well, or it has ended."""

    @property
    def ended(self) -> bool:
        """Whether it goes on no more."""
        return _ended(self.post)


@dataclass(frozen=True, slots=True)
class Board:
    """All runs of a folder at one moment."""

    entries: Sequence[BoardEntry]
    unreadable: Sequence[str]
    """Files that are no posts, each with the reason."""

    @property
    def ended(self) -> bool:
        """Whether nothing goes on any more."""
        return bool(self.entries) and all(one.ended for one in self.entries)

    def sum(self, name: str) -> int:
        """Return a count over all runs."""
        return sum(int(getattr(one.post, name)) for one in self.entries)

    @property
    def cost_usd(self) -> float | None:
        """What all targets cost; None: some of it is unknown."""
        costs = [one.post.cost_usd for one in self.entries]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None

    def as_json(self) -> JsonObject:
        """Return it as one document."""
        runs: list[Json] = [
            {**one.post.as_json(), "silent_s": one.silent_s} for one in self.entries
        ]
        names = ("total", "settled", "passed", "failed", "ungraded", "errors", "cancelled")
        counts: JsonObject = {name: self.sum(name) for name in names}
        return {
            "runs": runs,
            "counts": counts,
            "cost_usd": self.cost_usd,
            "ended": self.ended,
            "unreadable": list(self.unreadable),
        }


def read_board(folder: Path, now: float) -> Board:
    """Read what is posted.

    Args:
        folder: The folder.
        now: Unix seconds; clocks of machines may differ, so only long silences count.

    Raises:
        OSError: the folder cannot be read; one that is not there yet is empty.
    """
    entries, unreadable = [], []
    try:
        files = sorted(folder.iterdir())
    except FileNotFoundError:
        files = []
    for file in files:
        if file.suffix != ".json" or file.name.startswith("."):
            continue
        try:
            post = _read(file)
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            unreadable.append(f"{file.name}: {error}")
            continue
        silent = now - post.at
        gone = silent > SILENT_S and not _ended(post)
        entries.append(BoardEntry(post, round(silent, 1) if gone else None))
    return Board(sorted(entries, key=_in_order), unreadable)


def _read(file: Path) -> BoardPost:
    if not file.is_file():
        raise ValueError("no regular file")  # a pipe would be waited for
    with file.open("rb") as opened:
        content = opened.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise ValueError("too large for a post")
    return BoardPost.from_json(content)


def _ended(post: BoardPost) -> bool:
    return post.state in (RunState.DONE, RunState.CANCELLED, RunState.INTERRUPTED)


def _in_order(entry: BoardEntry) -> tuple[str, int, str]:
    number = (entry.post.part or "").partition("/")[0]
    return entry.post.suite, int(number) if number.isdecimal() else 0, entry.post.run
