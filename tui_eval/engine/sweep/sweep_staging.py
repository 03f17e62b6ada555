"""Staging a sweep: the cases that it asks, and no trial of theirs yet."""

import heapq
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from tui_eval.engine.launch.plan import ChosenCases
from tui_eval.engine.launch.staging import StagingStoppedError, StagingWriter
from tui_eval.engine.session import Session
from tui_eval.model.case import Case
from tui_eval.model.outputs.output import Failure
from tui_eval.model.runs.sweep_plan import SweepPlan
from tui_eval.store.write import run_writes
from tui_eval.suites.data import seeded_sampling
from tui_eval.suites.data.data_files import DataFile, check_unchanged
from tui_eval.suites.data.dataset import cases


def sweep_cases(session: Session, plan: SweepPlan) -> Iterator[Case]:
    """Yield the cases of a sweep in the order in which they are asked, numbered from 0.

    They are drawn with the dataset's seed: each level asks a sample of the whole, and as long as
    there are enough cases none twice, for what an endpoint has seen it may have kept. Cases without
    a request are left out, and what would score them is not taken along.
    """
    seed = session.suite.dataset.seed or 0
    drawn = heapq.nsmallest(
        plan.calls,
        ChosenCases(cases(session.suite), session.settings, None, seed),
        key=lambda case: seeded_sampling.sort_key(seed, "sweep", case.id),
    )
    asked = (case for case in drawn if _has_request(session, case))
    for seq, case in enumerate(asked):
        yield replace(case, seq=seq, scorers=())


def _has_request(session: Session, case: Case) -> bool:
    return not any(
        isinstance(session.targets[column.target].request(column, case), Failure)
        for column in session.columns
    )


def stage_sweep(
    writer: StagingWriter, session: Session, plan: SweepPlan, files: list[DataFile]
) -> int:
    """Write the cases of a sweep; anything staged of it before is taken back first.

    Args:
        writer: The run.
        session: What it is.
        plan: What was chosen.
        files: The data files as they were at launch.

    Returns:
        How many cases there are.

    Raises:
        StagingStoppedError: somebody stopped the run; it stays unstaged.
        SuiteError: the data has mistakes.
        DataChangedError: a data file is not what it was at launch.
    """
    run = writer.run
    writer.write(partial(run_writes.unstage, run=run))
    check_unchanged(session.suite, files)
    found = [*sweep_cases(session, plan)]
    check_unchanged(session.suite, files)
    if writer.stopped():
        raise StagingStoppedError
    writer.write(partial(run_writes.add_cases, run=run, cases=found))
    if found:
        writer.write(partial(run_writes.staged, run=run))
    return len(found)
