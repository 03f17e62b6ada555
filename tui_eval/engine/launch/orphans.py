"""What an engine that died left of attempts: programs that go on or have ended, and their folders.

An attempt's folder is there from before its program starts until its result is on the disk. So
what is found here belongs to an attempt that was lost, or to one whose result is kept and whose
folder was about to go. Programs of lost attempts go on where the suite says so, and the trial's
next attempt takes them over; all others are ended. What they had printed is the lost attempt's
partial.
"""

import asyncio
import json
import logging
import sqlite3
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tui_eval.engine.grading.program_run import grading_prefix
from tui_eval.engine.run_store import RunStore
from tui_eval.model.states import TrialState
from tui_eval.processes.program import OUT
from tui_eval.processes.running import RunningProgram
from tui_eval.processes.supervisor import Processes
from tui_eval.processes.workspace.removal import remove_folder
from tui_eval.store.location import attempt_folders
from tui_eval.store.write import attempt_writes
from tui_eval.targets.attempt.attempt_context import PROGRAM
from tui_eval.targets.command import printed

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Left:
    """A folder that is left of an attempt."""

    folder: Path
    attempt: int
    trial: int | None
    """Its trial, where it is still to have an output and the attempt was lost; None: nobody needs
    what is in the folder."""
    is_lost: bool
    has_partial: bool


async def take_up(store: RunStore, processes: Processes | None, *, finish: bool) -> dict[int, Path]:
    """Deal with what is left of a run's earlier attempts, before any further one begins.

    Args:
        store: The run's; its engine holds the lease.
        processes: The engine's.
        finish: Whether programs that still run, or ended by themselves, are taken over.

    Returns:
        The folders of those that are, by trial.
    """
    if store.path is None or processes is None:
        return {}
    await _end_gradings(attempt_folders(store.path), store.run, processes)
    names = await asyncio.to_thread(_named, attempt_folders(store.path))
    if not names:
        return {}
    left = await store.reading.call(_of_run, store.run, names)
    orphans: dict[int, Path] = {}
    for one in left:
        if one.is_lost and not one.has_partial:
            said = await asyncio.to_thread(printed.begun, one.folder / PROGRAM / OUT)
            if said is not None:
                unit = partial(attempt_writes.keep_partial, attempt=one.attempt, text=said)
                await store.writer.write(unit)
        if finish and one.trial is not None:
            orphans[one.trial] = one.folder  # the newest, as they come in order
    taken = {*orphans.values()}
    await asyncio.gather(*(_end(one.folder, processes) for one in left if one.folder not in taken))
    if left:
        log.info("%d attempts were left behind, %d are taken over", len(left), len(orphans))
    return orphans


async def _end_gradings(folder: Path, run: int, processes: Processes) -> None:
    """End what still decides about outputs of a run, and take its folders away."""
    left = await asyncio.to_thread(lambda: [*folder.glob(f"{grading_prefix(run)}*")])
    await asyncio.gather(*(_end(one, processes) for one in left))


def _named(folder: Path) -> dict[int, Path]:
    """Return the folders of attempts, by id; those that are kept for people have other names."""
    try:
        return {int(one.name): one for one in folder.iterdir() if one.name.isdecimal()}
    except FileNotFoundError:
        return {}


def _of_run(db: sqlite3.Connection, run: int, names: dict[int, Path]) -> list[_Left]:
    """Return those folders that are of a run's attempts, or of none that is known, in order."""
    rows = db.execute(
        "SELECT n.value, t.run, t.id, t.state, a.state, a.partial IS NOT NULL FROM json_each(?) n "
        "LEFT JOIN attempts a ON a.id = n.value LEFT JOIN trials t ON t.id = a.trial "
        "WHERE t.run IS NULL OR (t.run = ? AND a.state <> 'sent') ORDER BY n.value",
        (json.dumps(list(names)), run),
    )
    return [
        _Left(
            names[attempt],
            attempt,
            trial if state == "lost" and trial_state == TrialState.QUEUED else None,
            state == "lost",
            bool(has_partial),
        )
        for attempt, _, trial, trial_state, state, has_partial in rows
    ]


async def _end(folder: Path, processes: Processes) -> None:
    """End what still runs in a folder, and take it away."""
    found = await processes.adopt(folder / PROGRAM)
    if isinstance(found, RunningProgram):
        found.cancel()
        await found.followed()
    with suppress(OSError):  # what stays is tried again by the next engine
        await asyncio.to_thread(remove_folder, folder)
