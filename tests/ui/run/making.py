"""Snapshots of runs that stand otherwise, and what is said of them."""

from dataclasses import replace

from tui_eval.ui.run.head.notice import notices
from tui_eval.ui.run.snapshot import Snapshot


def with_run(found: Snapshot, live: bool | None = None, **changes: object) -> Snapshot:
    """Give a snapshot whose run stands otherwise."""
    run = replace(found.run, **changes)  # type: ignore[arg-type]
    if live is not None:
        run.__dict__["live"] = live
    return replace(found, run=run)


def said(found: Snapshot, now: float) -> str:
    return " | ".join(para.text for para in notices(found, now))
