"""What the fixture `evaluate` gives."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Unpack

from tui_eval.api import launch
from tui_eval.api.options import RunOptions, SuiteLike
from tui_eval.api.run import Run
from tui_eval.pytest_plugin.suite_store import SuiteStore, how_to_trust
from tui_eval.suites.trust.needs_trust import NeedsTrust


class Evaluator:
    """Runs suites in the store of a project's tests.

    Calls of one suite take turns, in all processes of a session: what the first has asked, the
    others find in the store.
    """

    def __init__(self, store: SuiteStore) -> None:
        """Take the store.

        Args:
            store: The store, and what suites may do.
        """
        self._store = store

    def __call__(self, suite: SuiteLike, **options: Unpack[RunOptions]) -> Run:
        """Run a suite, and return the run once nothing is left to do.

        Args:
            suite: A file, from pytest's root folder on, or a mapping of the same shape.
            options: As `tui_eval.run` has them; `store` and `trust` are the session's.

        Raises:
            SuiteError: the suite or its data has mistakes.
            TrustError: it wants what it was not trusted with; the note says how that is done.
            LaunchError: a key, a model or what was chosen is not there.
        """
        source = self._placed(suite)
        with self._store.turn(_name(source)), _explained():
            return launch.run(source, **self._with_defaults(options))

    async def arun(self, suite: SuiteLike, **options: Unpack[RunOptions]) -> Run:
        """Run a suite in a test that has a loop, which goes on meanwhile."""
        source = self._placed(suite)
        async with self._store.await_turn(_name(source)):
            with _explained():
                return await launch.arun(source, **self._with_defaults(options))

    def _placed(self, suite: SuiteLike) -> Path | Mapping[str, Any]:
        return suite if isinstance(suite, Mapping) else self._store.root / Path(suite)

    def _with_defaults(self, options: RunOptions) -> RunOptions:
        return {"store": self._store.file, "trust": self._store.trust, **options}


def _name(suite: Path | Mapping[str, Any]) -> str:
    """Return what tells a suite from others."""
    if isinstance(suite, Mapping):
        return str(suite.get("name", ""))
    return os.path.realpath(suite)


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except NeedsTrust as error:
        error.add_note(how_to_trust(error))
        raise
