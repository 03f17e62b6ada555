"""No isolation: its own folder, its own environment, and the end of its tree. No sandbox."""

from typing import Final

from tui_eval.processes.isolation.execution import Execution, find_executable
from tui_eval.processes.program import LimitName, Program

WATCHED_TREE: Final[frozenset[LimitName]] = frozenset(
    {"wall", "memory", "cpu_s", "disk", "processes"}
)
"""What can be held where all processes are the warden's descendants."""

NO_MOUNTS: Final = "paths from the root lead to what is there: they take a container or bwrap"


class NoIsolation:
    """The program as it is."""

    name = "none"
    watches = WATCHED_TREE

    def available(self, program: Program) -> str | None:
        """Return why nothing here takes the network away, or puts files elsewhere; None: it may."""
        if program.sandbox.network == "none":
            return 'nothing takes the network away: use another level, or network = "full"'
        return None if not program.sandbox.mounts else NO_MOUNTS

    def explain(self, said: str) -> str:
        """Return it as it is."""
        return said

    def prepare(self, program: Program) -> Execution:
        """Execute the command itself."""
        return Execution(find_executable(program), program.command, program.cwd, program.env)
