"""What happens to a run, one event after the other."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from tui_eval.reports.results import results
from tui_eval.reports.run_events import RunEvents, look
from tui_eval.store.connection import open_readable
from tui_eval.store.follow import Pulse
from tui_eval.store.read import run_queries

_LOOK_S: Final = 0.05


def follow(store: Path, run_id: int, goes_on: Callable[[], bool]) -> Iterator[dict[str, Any]]:
    """Yield a run's events, from its beginning to its end; the last one is `finished`.

    Args:
        store: The store's file.
        run_id: The run.
        goes_on: Tells whether somebody works on it.
    """
    events = RunEvents()
    known = 0
    db = open_readable(store)
    try:
        while True:
            last = not goes_on()  # looked at before: what is committed until then is told
            change = run_queries.change(db)
            if change != known:
                seen = look(db, run_id, Pulse(known, change), events=True, rated=False)
                known = change
                yield from events.of(seen)
            if last:
                of = results(db, run_id)
                yield from events.finished(of, of.exit_code)
                return
            time.sleep(_LOOK_S)
    finally:
        db.close()
