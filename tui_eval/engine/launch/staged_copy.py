"""Staging a run that wants what an earlier one wanted: the rows of that one are copied.

What a run wants follows from its frozen suite, the choices of its launch, its data files and what
its targets are, unless a request depends on more (a picture that a message names). A digest of all
that is kept with a run once it is staged. A later run with the same digest has the same cases, in
the same order, with the same keys: nothing is read, rendered or compared again. Which outputs there
are by now is looked up as ever, and what rules have decided about them is copied.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Final

from tui_eval import __version__
from tui_eval.engine.launch.staging import StagingStoppedError, StagingWriter
from tui_eval.engine.session import Session
from tui_eval.model.json import canonical
from tui_eval.store import lease
from tui_eval.store.connection import unhurried
from tui_eval.store.tx import Tx
from tui_eval.store.write import run_writes, staged_copies
from tui_eval.store.write.staged_copies import FormerRun
from tui_eval.suites.data.data_files import DataFile, check_unchanged

_PORTION: Final = 5000
"""Trials of one transaction: some hundredths of a second."""
_DECIDES_NOTHING: Final = {
    *("concurrency", "usual_concurrency", "max_cost_usd", "max_tokens", "max_errors"),
    *("fresh", "board", "permit"),
}
"""Choices of a launch that decide about no case and no key."""


def staging_digest(session: Session, spec: str, files: Sequence[DataFile] | None) -> bytes | None:
    """Return what a run's cases, trials and keys follow from, as far as that can be told before.

    Args:
        session: The run.
        spec: Its frozen suite, as the store has it.
        files: Its data files at launch; None: nobody looked.

    Returns:
        None where they follow from more than that: from verdicts in the store, from files without
        a digest; and where there are judges, which are asked for afterwards.

    Raises:
        UnavailableError: what a target is cannot be known.
    """
    chosen = session.settings
    if chosen.only is not None or chosen.sweep is not None or chosen.part is not None:
        return None
    if session.suite.judges or files is None or any(one.digest is None for one in files):
        return None
    choices = {k: v for k, v in chosen.as_json().items() if k not in _DECIDES_NOTHING}
    names = {column.target for column in session.columns}
    all_of_it = {
        "program": __version__,
        "suite": spec,
        "choices": choices,
        "files": [[one.path, one.size, one.digest] for one in files],
        "columns": [asdict(row) for row in session.column_rows()],
        "targets": {name: session.targets[name].identity() for name in names},
    }
    return hashlib.sha256(canonical(all_of_it)).digest()


def stage_copy(
    writer: StagingWriter, digest: bytes, session: Session, files: Sequence[DataFile]
) -> int | None:
    """Write all trials of a run as an earlier one has them.

    Args:
        writer: The run; anything staged of it before is taken back first.
        digest: Its `staging_digest`.
        session: The run.
        files: Its data files at launch.

    Returns:
        How many trials there are; None: there is no such run, or it has gone meanwhile.

    Raises:
        StagingStoppedError: somebody stopped the run; it stays unstaged.
        sqlite3.Error: the store can be written no more.
        DataChangedError: a data file is not what it was at launch.
    """
    run = writer.run
    former = writer.write(lambda tx: staged_copies.former_run(tx, digest, run))
    if former is None or not session.reuses:
        return None
    check_unchanged(session.suite, files)
    with unhurried(writer.db):
        writer.write(lambda tx: run_writes.unstage(tx, run))
        for first in range(0, former.total, _PORTION):
            if writer.stopped():
                raise StagingStoppedError
            if not writer.write(partial(_copy, run=run, former=former, first=first)):
                return None
    check_unchanged(session.suite, files)
    whole = not former.partial
    writer.write(lambda tx: run_writes.staged(tx, run, whole=whole, staged_as=digest))
    return former.total


def _copy(tx: Tx, run: int, former: FormerRun, first: int) -> bool:
    """Copy a portion; False where the former run does not have all of it any more."""
    end = min(first + _PORTION, former.total)
    came = staged_copies.copy_portion(tx, run, former, first, end)
    lease.beat(tx, run)
    return came == end - first
