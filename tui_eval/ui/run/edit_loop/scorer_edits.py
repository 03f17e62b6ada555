"""A suite's file while a run of it is open: what its scorers, as they are now, would change."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tui_eval.engine.control.verdict_change import VerdictChange
from tui_eval.model.states import Verdict
from tui_eval.processes.piped import piped
from tui_eval.ui.suites.suite_list import stamp_of

_LOOK_S = 1.0
_SETTLE_S = 0.2
"""An editor may write a file in several steps."""
MOST_FLIPS = 5000
"""Verdicts that would change which are listed; all are counted."""
_LONGEST_LINE = 2**22


@dataclass(frozen=True, slots=True)
class TriedEdits:
    """What has become of a suite's scorers, as far as it is known."""

    changed: tuple[str, ...] = ()
    """Scorers and judges that differ, in words; empty: none does."""
    problem: str | None = None
    """Why nothing can be said; may be foreign."""
    line: int | None = None
    """Where in the file that is; None: nobody knows."""
    outputs: int = 0
    """Tried so far."""
    judged: int = 0
    """Of them, those whose verdict hangs on judges that are to be asked."""
    judge_calls: int = 0
    """About so many calls to judges it takes to grade those."""
    broken: int = 0
    """Of them, those that the scorers cannot be made for."""
    flips: int = 0
    turns: Mapping[tuple[Verdict, Verdict], int] = field(default_factory=dict)
    """How many of the flips there are of each kind, by what the verdict was and would be."""
    ended: bool = False
    """Whether all outputs have been tried."""

    @property
    def worth_saying(self) -> bool:
        """Whether there is anything to say of it."""
        return bool(self.changed) or self.problem is not None


class Tryout:
    """Tries what a suite's file says now on a run's outputs, in a process of its own."""

    def __init__(self, store: Path, run_name: str, file: Path) -> None:
        self._command = (
            *(sys.executable, "-P", "-m", "tui_eval", "tryout", run_name),
            *(str(file.absolute()), "--store", str(store)),
        )
        self.flips: list[VerdictChange] = []
        """Verdicts that would change, in dataset order; no more than `MOST_FLIPS`."""

    async def tried(self) -> AsyncGenerator[TriedEdits, None]:
        """Yield what is known by and by; the process ends with whoever stops listening."""
        from tui_eval.engine.launch.create_run import own_environment

        command = piped(*self._command, env=own_environment(), limit=_LONGEST_LINE)
        async with command as process:
            assert process.stdout is not None, "it is a pipe"
            assert process.stderr is not None, "likewise"
            complaints = asyncio.create_task(process.stderr.read())
            found = TriedEdits()
            async for line in process.stdout:
                found = self._read(found, json.loads(line))
                yield found
            if await process.wait() or not found.ended:
                said = (await complaints).decode(errors="replace").strip().splitlines()
                why = said[-1] if said else f"exit code {process.returncode}"
                why = f"the suite's scorers could not be tried: {why}"
                yield TriedEdits(problem=why, ended=True)

    def _read(self, found: TriedEdits, said: dict[str, Any]) -> TriedEdits:
        if "mistake" in said:
            return TriedEdits(problem=said["mistake"], line=said["line"], ended=True)
        if "wants" in said:
            wants = "; ".join(said["wants"])
            untrusted = f"not trusted yet, S says more: it wants to {wants}"
            return TriedEdits(problem=untrusted, ended=True)
        if "changed" in said:
            return replace(found, changed=tuple(said["changed"]))
        if "flip" in said:
            flip = VerdictChange.from_json(said["flip"])
            if len(self.flips) < MOST_FLIPS:
                self.flips.append(flip)
            turn = (flip.was, flip.would)
            turns = {**found.turns, turn: found.turns.get(turn, 0) + 1}
            return replace(found, flips=found.flips + 1, turns=turns)
        if "tried" in said:
            counts = said["tried"]
            problem = f"cannot be scored: {counts['problem']}" if counts["problem"] else None
            return replace(
                found,
                outputs=counts["outputs"],
                judged=counts["judged"],
                judge_calls=counts["judge_calls"],
                broken=counts["broken"],
                problem=problem,
            )
        return replace(found, ended=True)


async def changes(file: Path) -> AsyncIterator[None]:
    """Come back whenever a suite's file, or one it may be made of, has changed."""
    known = await asyncio.to_thread(stamp_of, file)
    while True:
        await asyncio.sleep(_LOOK_S)
        now = await asyncio.to_thread(stamp_of, file)
        if now != known:
            await asyncio.sleep(_SETTLE_S)
            known = await asyncio.to_thread(stamp_of, file)
            yield
