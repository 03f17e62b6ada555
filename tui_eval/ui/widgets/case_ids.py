"""Ids of cases in a narrow column: what they share goes before what tells one from the next."""

from itertools import takewhile

from tui_eval.ui.widgets.toned import width_of

_MOST_STEMS = 100
"""Beginnings of ids that are told apart; where there are more, ids are not numbered by them."""


class CaseIds:
    """Remembers what the ids that were seen begin with."""

    def __init__(self) -> None:
        self.longest = 0
        """Cells of the longest id."""
        self._alike: str | None = None
        """What all ids begin with; None: none was seen."""
        self._stems: set[str] = set()
        """What ids begin with, each up to the last sign between its parts."""
        self._cuts: dict[str, int] = {}
        """By stem what `_shared` has found, as long as no other stem comes: it compares each with
        all, and every row that is drawn asks."""

    @property
    def alike(self) -> int:
        """Characters that all ids begin with, up to the last sign between their parts."""
        return len(_stem(self._alike or ""))

    @property
    def telling(self) -> int:
        """Cells that the longest id takes without what all of them begin with."""
        return self.longest - self.alike + 1 if self.alike > 1 else self.longest

    def see(self, case_id: str) -> None:
        """Look at an id; foreign."""
        alike = self._alike
        if alike is None:
            self._alike = case_id
        elif not case_id.startswith(alike):
            self._alike = _same(alike, case_id)
            self._cuts.clear()
        if len(self._stems) <= _MOST_STEMS and (stem := _stem(case_id)) not in self._stems:
            self._stems.add(stem)
            self._cuts.clear()
        self.longest = max(self.longest, width_of(case_id))

    def shortened(self, case_id: str, room: int, cut: str) -> str:
        """Return an id without what it shares with others, where it has no room whole.

        Part of what all ids begin with goes first. Where that does not suffice all that a group of
        ids begins with goes, as long as no two groups become alike.

        Args:
            case_id: The id; foreign.
            room: Cells there are.
            cut: What stands where something was cut; one cell.
        """
        alike = self.alike
        if width_of(case_id) <= room:
            return case_id
        if width_of(case_id[alike:]) + width_of(cut) > room:
            stem = _stem(case_id)
            if (found := self._cuts.get(stem)) is None:
                found = self._cuts[stem] = self._shared(stem, alike)
            alike = found
        if alike < 2:
            return case_id
        tells = case_id[alike:]
        left = max(room - width_of(cut) - width_of(tells), 0)
        return f"{case_id[: min(left, alike)]}{cut}{tells}"

    def _shared(self, stem: str, alike: int) -> int:
        """Return how many characters of a stem go: those of all, or those it shares with any."""
        others = self._stems - {stem}
        if len(self._stems) > _MOST_STEMS or not others:
            return alike
        shared = max(len(_stem(_same(stem, other))) for other in others)
        tells = stem[shared:]
        # an empty rest names no group
        alone = tells and not any(other.endswith(tells) for other in others)
        return max(shared, alike) if alone else alike


def _stem(text: str) -> str:
    """Return a text up to its last sign that is neither letter nor digit."""
    while text and text[-1].isalnum():
        text = text[:-1]
    return text


def _same(one: str, other: str) -> str:
    """Return what two texts begin with."""
    same = takewhile(lambda two: two[0] == two[1], zip(one, other, strict=False))
    return "".join(letter for letter, _ in same)
