"""The hidden command that tries edited scorers in a process of its own, so that the app never lags.

It records nothing. Each line of its standard output is one JSON object; the app reads them.
"""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui_eval.cli import streams
from tui_eval.cli.options import run_argument, store_file, store_option

if TYPE_CHECKING:
    from tui_eval.suites.loading.errors import Mistake


@click.command(hidden=True)
@run_argument
@click.argument("suite", type=click.Path(path_type=Path))
@store_option
def tryout(name: str, suite: Path, store: Path | None) -> int:
    """Say what a run's verdicts would be with the scorers of an edited suite."""
    from tui_eval.engine.control.changed_scorers import edited, edits, rescoring
    from tui_eval.engine.control.tryout import tryout as tried
    from tui_eval.engine.control.verdict_change import VerdictChange
    from tui_eval.store.connection import open_readable
    from tui_eval.store.read import run_queries
    from tui_eval.suites.frozen_suite import frozen_suite
    from tui_eval.suites.loading.errors import SuiteError
    from tui_eval.suites.trust.needs_trust import NeedsTrust

    file = store_file(store)
    db = open_readable(file)
    try:
        run = run_queries.run_named(db, name)
        try:
            args = rescoring(file, run, suite)
        except NeedsTrust as error:
            _say({"wants": list(error.permissions)})
            return 0
        except SuiteError as error:
            _say({"mistake": _told(error.mistakes[0]), "line": error.mistakes[0].line})
            return 0
        frozen = frozen_suite(db, run.id)
        changed = edited(frozen, args)
        found = edits(frozen, changed)
        _say({"changed": list(found.words)})
        if found.words:
            for one in tried(db, run.id, changed, found):
                _say(
                    {"flip": one.as_json()}
                    if isinstance(one, VerdictChange)
                    else {"tried": asdict(one)}
                )
        _say({"end": True})
    finally:
        db.close()
    return 0


def _say(document: object) -> None:
    import json

    streams.say(json.dumps(document))  # ASCII: every string survives, whatever is in it


def _told(mistake: "Mistake") -> str:
    place = Path(mistake.file).name if mistake.line is None else (
        f"{Path(mistake.file).name}:{mistake.line}"
    )  # fmt: skip
    return f"{place}: {mistake.message}"
