"""On which level of isolation the programs of a target run, and what they are started with."""

import os
import tempfile
from dataclasses import replace
from pathlib import Path

from tui_eval.processes.isolation.choice import choose
from tui_eval.processes.isolation.levels import LEVELS
from tui_eval.processes.program import Program, Sandbox
from tui_eval.processes.supervisor import Processes
from tui_eval.providers.errors import UnavailableError


def base_environment() -> dict[str, str]:
    """Return what every program's environment begins with."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": os.environ.get("LANG", "C.UTF-8"),
    }


async def with_level(processes: Processes, sandbox: Sandbox, executable: str) -> Sandbox:
    """Return a sandbox with the level that works for it: the one it names, or the strongest.

    Raises:
        UnavailableError: there is none; the message says why, with the remedy.
    """
    with tempfile.TemporaryDirectory(prefix="tui-eval-isolation-") as place:
        program = Program(
            command=(executable,),
            cwd=Path(place),
            env={**base_environment(), "HOME": place, "TMPDIR": place},
            folder=Path(place),
            sandbox=sandbox,
        )
        choice = await choose(processes, program)
    if choice.level is None:
        why = "; ".join(f"{one.level}: {one.why}" for one in choice.tried)
        raise UnavailableError(f"its isolation cannot be had: {why}")
    return replace(sandbox, level=choice.level)


def no_level(sandbox: Sandbox) -> str | None:
    """Say why the level that is named cannot be had, as far as that is known beforehand."""
    level = LEVELS.get(sandbox.level)
    if level is None:
        return None
    probe = Program(("/bin/sh",), Path("/"), base_environment(), Path("/"), sandbox=sandbox)
    why = level.available(probe)
    return None if why is None else f"isolation {level.name}: {why}"
