"""Why something that Python code asked for was not done."""

from collections.abc import Sequence

from tui_eval.store.errors import StoreError
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.suites.trust.needs_trust import NeedsTrust

__all__ = ["LaunchError", "RunBusy", "StoreError", "SuiteError", "TrustError"]

TrustError = NeedsTrust


class LaunchError(Exception):
    """A run cannot be started or taken up: a key, a model, a case or a price is not there."""

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__("\n".join(reasons))
        self.reasons = tuple(reasons)
        """What is missing, and what would help; a sentence each."""


class RunBusy(Exception):  # noqa: N818 - a state of the run, as the store's names have it
    """An engine works on the run that cannot do what was asked, or is just leaving."""
