"""The trials of one part of a run, and what the whole run wants."""

import hashlib
from collections.abc import Generator, Iterable
from dataclasses import replace

from tui_eval.engine.launch.plan import PlannedTrial
from tui_eval.model.runs.run_part import RunPart


class WholeRun:
    """What a run wants whose parts are run apart, as far as its trials were seen.

    Two runs that want the same trials, in the same order, have the same digest, wherever their
    files lie: parts of the same whole are known by it.
    """

    def __init__(self) -> None:
        """Begin."""
        self.cases = 0
        """How many cases it has."""
        self._sum = hashlib.sha256()

    def add(self, want: PlannedTrial) -> None:
        """Take the next trial."""
        self.cases = max(self.cases, want.case.seq + 1)
        name = want.case.id.encode("utf-8", "surrogatepass")
        where = b"%d %d %d %d " % (want.case.seq, want.column.index, want.epoch, len(name))
        self._sum.update(where + name)
        self._sum.update(want.key or hashlib.sha256(repr(want.failure).encode()).digest())

    def digest(self, scoring: bytes) -> bytes:
        """Return what tells it from other runs (32 bytes).

        Args:
            scoring: What decides beside the requests: names of columns, scorers, judges.
        """
        return hashlib.sha256(self._sum.digest() + scoring).digest()


def in_part(
    portions: Iterable[list[PlannedTrial]], part: RunPart, whole: WholeRun
) -> Generator[list[PlannedTrial], None, None]:
    """Yield those trials whose cases are in a part, their cases numbered anew from 0.

    Args:
        portions: All trials of the whole run: how often equal requests came before is known by now,
            so that the keys are those of the whole run.
        part: The part.
        whole: Told of each trial.
    """
    mine = 0
    last = -1
    inside = False
    for portion in portions:
        kept = []
        for want in portion:
            whole.add(want)
            if want.case.seq != last:
                last, inside = want.case.seq, part.has(want.case.id)
                mine += inside
            if inside:
                kept.append(want._replace(case=replace(want.case, seq=mine - 1, number=last)))
        if kept:
            yield kept
