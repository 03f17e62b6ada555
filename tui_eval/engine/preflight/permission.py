"""Whether a run may do what its frozen suite wants: its maker was trusted with it, here.

A store may come from somebody else, with a run in it that would send a key away or read a file
once it is resumed. So a run carries a mark that only this user's configuration can make, over all
that needs trust and all it reads; without it, what the suite's file is trusted with has to be the
same, and no file is read at all.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tui_eval.engine.settings import Settings
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.suites.spec import Suite
from tui_eval.suites.trust.capabilities import data_paths, wanted_permissions
from tui_eval.suites.trust.permissions import Permission, PermissionState
from tui_eval.suites.trust.trust_store import TrustStore, permission_request


def permitted(suite: Suite, settings: Settings) -> Settings:
    """Return a run's settings with the mark that it may do what its suite wants."""
    marked = _marked(suite, settings, wanted_permissions(suite))
    return replace(settings, permit=TrustStore().seal(marked)) if marked else settings


def refusal(suite: Suite, settings: Settings, *, staged: bool) -> str | None:
    """Say why a run may not be worked on; None: it may.

    Args:
        suite: Its frozen suite.
        settings: What was chosen when it was made, with its mark.
        staged: Whether its data was read already.
    """
    try:
        wanted = wanted_permissions(suite)
        reads = [] if staged else [str(path) for path in data_paths(suite)]
        elsewhere = _elsewhere(settings)
        if not wanted and not reads and not elsewhere:
            return None
        book = TrustStore()
        if settings.permit is not None and book.is_sealed(
            _marked(suite, settings, wanted), settings.permit
        ):
            return None
        record = book.of(Path(suite.file)) if suite.file is not None else None
    except SuiteError as error:
        return str(error)
    asks = [permission_request(record, permission) for permission in wanted]
    refused = [ask.words for ask in asks if ask.standing is not PermissionState.TRUSTED]
    refused += [f"{what}, for a run that was not made here" for what in elsewhere]
    refused += [f"read {path} for a run that was not made here" for path in reads]
    return f"the run is not trusted to {'; '.join(refused)}" if refused else None


def _elsewhere(settings: Settings) -> list[str]:
    """Return where its suite, with what it reads, is sent: whoever is there runs code for it."""
    return [] if settings.executor is None else [f"have attempts made by {settings.executor}"]


def _marked(suite: Suite, settings: Settings, wanted: Sequence[Permission]) -> list[str]:
    """Return what a mark is over; none: the run needs no mark."""
    reads = [f"read {path}" for path in data_paths(suite)]
    elsewhere = _elsewhere(settings)
    if not wanted and not reads and not elsewhere:
        return []
    exactly = [permission.exactly for permission in wanted]
    return [f"suite {suite.file}", *exactly, *reads, *elsewhere]
