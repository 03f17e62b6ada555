"""Containers that a killed warden, or a machine that went down, has left."""

import asyncio
import os
from asyncio.subprocess import DEVNULL
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tui_eval.processes.isolation.containers import LABEL
from tui_eval.processes.piped import piped
from tui_eval.processes.supervisor import has_warden

_TAKES_S: Final = 30.0
_OWNER: Final = f'{{{{.Id}}}}\t{{{{index .Config.Labels "{LABEL}"}}}}'


async def sweep(client: str, env: Mapping[str, str]) -> list[str]:
    """Remove the containers whose warden, or process, is gone; return their ids.

    Args:
        client: The command, `podman` or `docker`; a full path, or one on the environment's `PATH`.
        env: What the command needs.
    """
    listed = await _said(env, client, "ps", "--all", "--quiet", f"--filter=label={LABEL}")
    containers = listed.split()
    if not containers:
        return []
    # not by `ps`: some versions of podman know no labels there
    told = await _said(env, client, "inspect", f"--format={_OWNER}", *containers)
    removed = []
    for line in told.splitlines():
        container, _, owner = line.partition("\t")
        if owner and not _is_owned(owner):
            await _said(env, client, "rm", "--force", container)
            removed.append(container)
    return removed


def _is_owned(owner: str) -> bool:
    if not owner.isdigit():
        return has_warden(Path(owner))
    try:
        os.kill(int(owner), 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass  # somebody else's, or none of ours: it is let alone
    return True


async def _said(env: Mapping[str, str], *command: str) -> str:
    """Return what a command printed; nothing where it could not be run, or took too long."""
    try:
        async with asyncio.timeout(_TAKES_S), piped(*command, env=env, stderr=DEVNULL) as process:
            printed, _ = await process.communicate()
    except (OSError, TimeoutError):
        return ""
    return printed.decode("utf-8", "replace")
