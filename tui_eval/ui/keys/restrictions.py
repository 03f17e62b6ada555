"""What a session does not permit, whatever could be done: read-only ones, those in a browser."""

from dataclasses import dataclass
from functools import cache
from typing import Final

from textual.binding import Binding

CHANGES: Final = frozenset(
    (
        "compare.export",
        "grade.apply",
        "grade.cannot-tell",
        "grade.fail",
        "grade.give",
        "grade.note",
        "grade.number",
        "grade.pass",
        "import.import",
        "launch.start",
        "run.baseline",
        "run.cancel",
        "run.export",
        "run.grade",
        "run.grading",
        "run.less-concurrency",
        "run.more-concurrency",
        "run.note",
        "run.pause",
        "run.rescore",
        "run.rescore-all",
        "run.resume",
        "run.retry",
        "run.retry-all",
        "run.stop-run",
        "run.undo",
        "runs.baseline",
        "runs.delete",
        "runs.export",
        "runs.pause",
        "runs.resume",
        "runs.stop",
        "settings.as-usual",
        "settings.change",
        "suites.import",
        "suites.launch",
    )
)
"""Ids of actions that change the store, write a file, start something, or lead to nothing else."""
NEEDS_TERMINAL: Final = frozenset(
    ("launch.edit", "run.edit-suite", "settings.edit", "suites.edit", "suspend")
)
"""Ids of actions that hand the terminal to another program."""
_READ_ONLY: Final = "this session is read-only"
_IN_BROWSER: Final = "in a browser there is no terminal for another program"


@dataclass(frozen=True, slots=True)
class Restrictions:
    """What this session does not permit."""

    read_only: bool = False
    """Whether nothing may be changed: neither store nor files, and nothing is started."""
    in_browser: bool = False
    """Whether there is no terminal that an editor or a shell could have."""

    def why_not(self, binding_id: str) -> str | None:
        """Return why an action is not permitted, by its id; None: it is."""
        if self.read_only and (binding_id in CHANGES or binding_id in NEEDS_TERMINAL):
            return _READ_ONLY
        if self.in_browser and binding_id in NEEDS_TERMINAL:
            return _IN_BROWSER
        return None

    def why_not_done(self, node: type, action: str) -> str | None:
        """Return why an action of a node is not permitted; None: it is.

        Args:
            node: The class that has the action's key.
            action: The action's name.
        """
        if not (self.read_only or self.in_browser):
            return None
        for name in _ids(node, action):
            if (reason := self.why_not(name)) is not None:
                return reason
        return None


UNRESTRICTED: Final = Restrictions()


@cache
def _ids(node: type, action: str) -> tuple[str, ...]:
    found = (one for kind in node.__mro__ for one in vars(kind).get("BINDINGS", ()))
    return tuple(
        one.id
        for one in found
        if isinstance(one, Binding)
        and one.id is not None
        and one.action.partition("(")[0] == action
    )
