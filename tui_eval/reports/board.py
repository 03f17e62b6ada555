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
    run_again: bool
    """Whether it was lost or left, and its part was run by another since: it counts no more."""

    @property
    def over(self) -> bool:
        """Whether nothing is waited for any more."""
        return self.run_again or _ended(self.post)


@dataclass(frozen=True, slots=True)
class Board:
    """All runs of a folder at one moment."""

    entries: Sequence[BoardEntry]
    unreadable: Sequence[str]
    """Files that are no posts, each with the reason."""

    @property
    def ended(self) -> bool:
        """Whether nothing goes on any more."""
        return bool(self.entries) and all(one.over for one in self.entries)

    def sum(self, name: str) -> int:
        """Return a count over all runs, each part once."""
        return sum(int(getattr(one.post, name)) for one in self.entries if not one.run_again)

    @property
    def cost_usd(self) -> float | None:
        """What all targets cost, those of lost runs too; None: some of it is unknown."""
        return self.known_usd if all(one.cost_usd is not None for one in self._posts) else None

    @property
    def known_usd(self) -> float:
        """What is known of it."""
        return sum(_known_usd(one) for one in self._posts)

    @property
    def about_usd(self) -> float | None:
        """That, and estimates where no endpoint told; None: nothing is estimated."""
        if all(one.about_usd is None for one in self._posts):
            return None
        return sum(
            _known_usd(one) if one.about_usd is None else one.about_usd for one in self._posts
        )

    @property
    def unestimated(self) -> bool:
        """Whether some of what is unknown is not in `about_usd` either."""
        return any(
            one.cost_usd is None and (one.unestimated or one.about_usd is None)
            for one in self._posts
        )

    @property
    def _posts(self) -> Sequence[BoardPost]:
        return [one.post for one in self.entries]

    def as_json(self) -> JsonObject:
        """Return it as one document."""
        runs: list[Json] = [
            {**one.post.as_json(), "silent_s": one.silent_s, "run_again": one.run_again}
            for one in self.entries
        ]
        names = ("total", "settled", "passed", "failed", "ungraded", "errors", "cancelled")
        counts: JsonObject = {name: self.sum(name) for name in names}
        return {
            "runs": runs,
            "counts": counts,
            "cost_usd": self.cost_usd,
            "known_usd": self.known_usd,
            "about_usd": self.about_usd,
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
    posts: list[BoardPost] = []
    unreadable: list[str] = []
    try:
        files = sorted(folder.iterdir())
    except FileNotFoundError:
        files = []
    for file in files:
        if file.suffix != ".json" or file.name.startswith("."):
            continue
        try:
            posts.append(_read(file))
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            unreadable.append(f"{file.name}: {error}")
    posts.sort(key=lambda post: post.at)
    # a run that goes on elsewhere is one run: its former machine's word is older
    runs = {(post.suite, post.run, post.part): post for post in posts}.values()
    newest = {(post.suite, post.part): post.at for post in posts}
    entries = [_entry(post, now, newest[post.suite, post.part]) for post in runs]
    return Board(sorted(entries, key=_in_order), unreadable)


def _entry(post: BoardPost, now: float, newest: float) -> BoardEntry:
    silent = now - post.at
    gone = silent > SILENT_S and not _ended(post)
    left = gone or post.state in (RunState.CANCELLED, RunState.INTERRUPTED)
    again = left and post.part is not None and newest > post.at
    return BoardEntry(post, round(silent, 1) if gone else None, again)


def _known_usd(post: BoardPost) -> float:
    return post.known_usd if post.cost_usd is None else post.cost_usd


def _read(file: Path) -> BoardPost:
    if not file.is_file():
        raise ValueError("no regular file")  # a pipe would be waited for
    with file.open("rb") as opened:
        content = opened.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise ValueError("larger than what an engine writes (64 kB)")
    return BoardPost.from_json(content)


def _ended(post: BoardPost) -> bool:
    return post.state in (RunState.DONE, RunState.CANCELLED, RunState.INTERRUPTED)


def _in_order(entry: BoardEntry) -> tuple[str, int, str]:
    number = (entry.post.part or "").partition("/")[0]
    return entry.post.suite, int(number) if number.isdecimal() else 0, entry.post.run
