"""What is known of one run: held once, read by everything on its screen."""

from collections.abc import Callable
from typing import TypeAlias

from tui_eval.reports.live_results import LiveResults
from tui_eval.ui.run.figures import ColumnDifferences, Figures
from tui_eval.ui.run.snapshot import Snapshot

Part: TypeAlias = Snapshot | Figures | LiveResults | ColumnDifferences
"""What is read of a run at once, and replaced at once."""


class ObservedRun:
    """The newest snapshot, figures and results of a run, and who is told when one is replaced.

    Each part is immutable and replaced as a whole. Widgets keep no copy of it; what they keep is
    theirs alone: cursor, marks, view, zoom. Watchers are called before `update` returns, in the
    order in which they registered: whatever is read together is derived and painted once.
    """

    def __init__(self, run_id: int) -> None:
        self.id = run_id
        self.snapshot: Snapshot | None = None
        """None: not read yet."""
        self.figures: Figures | None = None
        """None: nothing has been counted yet."""
        self.results: LiveResults | None = None
        """Rates and gate so far; None: not read yet."""
        self.results_before: LiveResults | None = None
        """Those of when all was settled last; None: since then trials have been asked again."""
        self.differences: ColumnDifferences | None = None
        """How its columns differ; None: nobody has compared them."""
        self._watchers: list[tuple[Callable[[], object], tuple[type, ...]]] = []

    @property
    def rescored_from(self) -> LiveResults | None:
        """The results that stand until all that is being scored again is; None: the newest do."""
        now, before = self.results, self.results_before
        if now is None or before is None or now.total.settled == now.total.total:
            return None
        return before

    def watch(self, watcher: Callable[[], object], *parts: type[Part]) -> None:
        """Call a watcher whenever one of these parts has been replaced."""
        self._watchers.append((watcher, parts))

    def update(self, *parts: Part) -> None:
        """Replace some parts; then tell who watches any of them, once."""
        for part in parts:
            self._replace(part)
        for watcher, watched in self._watchers:
            if any(isinstance(part, watched) for part in parts):
                watcher()

    def _replace(self, part: Part) -> None:
        match part:
            case Snapshot():
                self.snapshot = part
            case Figures():
                self.figures = part
            case LiveResults():
                self.results = part
                if part.total.settled == part.total.total:
                    self.results_before = part
                elif part.total.queued or part.total.running:
                    self.results_before = None
            case ColumnDifferences():
                self.differences = part
