"""The trials of a target, as what is consigned and as what comes home."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from tui_eval.engine.bulk.arrivals import Arrivals
from tui_eval.engine.bulk.forming import Forming
from tui_eval.engine.bulk.request_file import RequestFile
from tui_eval.engine.bulk.result_lines import ASKED_AGAIN, LineCounts
from tui_eval.engine.limits.spend_caps import SpendCaps
from tui_eval.engine.run_store import RunStore
from tui_eval.model.outputs.output import Failure
from tui_eval.providers.bulk.api import BulkApi, BulkLine, StrayLine
from tui_eval.store.read import consignment_queries
from tui_eval.store.read.consignment_queries import ConsignedTrial, ConsignmentRow
from tui_eval.store.tx import Tx
from tui_eval.store.write import attempt_writes, trial_moves

_PORTION: Final = 64
"""Trials that are written down in one transaction."""
_GIVEN_UP: Final = Failure(
    "expired", f"the provider lost it in {ASKED_AGAIN + 1} consignments: retry asks it live"
)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TrialHome:
    """Forms consignments of queued trials, and settles each trial with its line."""

    forming: Forming
    arrivals: Arrivals
    store: RunStore
    spend_caps: SpendCaps

    @property
    def ready(self) -> bool:
        """Whether a consignment can be formed: of trials, whenever some are queued."""
        return True

    async def form(self, api: BulkApi, most: int) -> tuple[ConsignmentRow, RequestFile] | None:
        """Write down the next consignment, see `Forming.form`."""
        return await self.forming.form(api, most)

    async def again(self, row: ConsignmentRow, api: BulkApi) -> RequestFile:
        """Return the requests of one that was perhaps never sent, see `Forming.again`."""
        return await self.forming.again(row, api)

    async def take(
        self, row: ConsignmentRow, lines: Sequence[BulkLine | StrayLine], seen: LineCounts
    ) -> bool:
        """Write down what came of some lines; return whether outputs are left to be scored."""
        return await self.arrivals.take(row, lines, seen)

    def settle(self, row: ConsignmentRow, tx: Tx) -> bool:
        """Write nothing: each trial was settled with its line, and none waited for the others."""
        return False

    async def never_came(self, row: ConsignmentRow) -> None:
        """Have asked again what the results have no line for."""
        while portion := await self._untold(row):
            log.warning("results of %s lack %d requests", row.provider_id, len(portion))
            await self.arrivals.never_came(portion)

    async def give_back(self, row: ConsignmentRow) -> None:
        """Put the trials of a consignment back into the queue of which nothing comes."""
        ended = "lost" if row.state == "lost" else "cancelled"
        while portion := await self._untold(row):
            trials = list(portion.values())
            await self.store.writer.write(partial(_dropped, trials=trials, ended=ended))
            if ended == "lost":
                for trial in trials:
                    self.spend_caps.unanswered(trial.work.col)
                    if _given_up(trial):
                        self.spend_caps.errored()

    async def _untold(self, row: ConsignmentRow) -> dict[int, ConsignedTrial]:
        return await self.store.reading.call(
            consignment_queries.nothing_came_for, row.id, -1, _PORTION
        )


def _dropped(tx: Tx, trials: Sequence[ConsignedTrial], ended: str) -> None:
    for trial in trials:
        attempt_writes.drop_attempt(tx, trial.attempt, ended, None)
        if not trial_moves.stands(tx, trial.work.trial, trial.work.opening):
            continue
        if ended == "lost" and _given_up(trial):
            trial_moves.fail_trial(tx, trial.work.trial, _GIVEN_UP)
        else:
            trial_moves.give_back(tx, trial.work.trial)


def _given_up(trial: ConsignedTrial) -> bool:
    """Return whether a trial that waits was sent in vain as often as it may be."""
    return trial.waits and trial.never_done >= ASKED_AGAIN
