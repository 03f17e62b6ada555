"""Whatever facts come in whatever order, trials move as the table says and tallies stay true."""

import itertools
import sqlite3
from collections.abc import Callable
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from tests.sampling import examples
from tests.store.recounting import recount
from tests.support import Staged, do, key, output, score, staged, writing
from tui_eval.model.outputs.output import Failure
from tui_eval.model.score import tally
from tui_eval.model.states import TRIAL_MOVES, TrialState
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.tx import Tx
from tui_eval.store.write import attempt_writes, run_writes, score_writes, trial_moves, trial_verbs

N = 3
trials = st.integers(0, N - 1)
verdicts = st.sampled_from([True, False, None])
costs = st.sampled_from([None, 0.0, 0.25, 0.1])
sources = st.sampled_from(["code", "human", "judge"])


class Lives(RuleBasedStateMachine):
    """Three trials to which anything happens at any time."""

    path: Path

    @initialize()
    def begin(self) -> None:
        self.opened = writing(self.path)
        self.db: sqlite3.Connection = self.opened.__enter__()
        self.db.execute("PRAGMA synchronous = OFF")
        self.made: Staged = staged(self.db, N)
        self.sent: dict[int, list[int]] = {trial: [] for trial in self.made.trials}
        self.states = self.standing()

    def teardown(self) -> None:
        self.opened.__exit__(None, None, None)

    def standing(self) -> dict[int, TrialState]:
        return {row.id: row.state for row in trial_rows.trials_from(self.db, self.made.run, 0, N)}

    def check(self, fact: Callable[[Tx], object]) -> object:
        """Do it, and see that each trial moved as the table says, or not at all."""
        result = do(self.db, fact)
        now = self.standing()
        for trial, state in now.items():
            before = self.states[trial]
            assert state is before or state in TRIAL_MOVES[before], f"{before} → {state}"
        self.states = now
        return result

    @rule(place=trials)
    def start(self, place: int) -> None:
        trial = self.made.trials[place]
        number = self.check(
            lambda tx: attempt_writes.start_attempt(tx, trial, queue_s=None, wait_s=None)
        )
        if isinstance(number, int):
            self.sent[trial].append(number)

    @rule(place=trials, cost=costs)
    def answer(self, place: int, cost: float | None) -> None:
        trial = self.made.trials[place]
        if self.sent[trial]:
            number = self.sent[trial].pop()
            said = output(cost=cost)
            self.check(lambda tx: attempt_writes.answer(tx, number, trial, key(place), said, 0.5))

    @rule(place=trials)
    def fail(self, place: int) -> None:
        trial = self.made.trials[place]
        if self.sent[trial]:
            number = self.sent[trial].pop()
            self.check(
                lambda tx: attempt_writes.fail_attempt(tx, number, Failure("timeout", ""), 1.0)
            )
            self.check(lambda tx: trial_moves.wait(tx, trial, "again", tx.now + 1))

    @rule(place=trials, passed=verdicts, source=sources, settle=st.booleans())
    def score(self, place: int, passed: bool | None, source: str, settle: bool) -> None:
        trial = self.made.trials[place]
        given = score(passed, source=source)
        self.check(lambda tx: score_writes.add_scores(tx, trial, [given], fresh=False))
        if settle:
            self.check(lambda tx: trial_moves.settle(tx, trial, tally([given])))

    @rule(place=trials)
    def end_in_error(self, place: int) -> None:
        self.check(
            lambda tx: trial_moves.fail_trial(tx, self.made.trials[place], Failure("bug", "a bug"))
        )

    @rule(place=trials)
    def cancel(self, place: int) -> None:
        self.check(lambda tx: trial_verbs.cancel(tx, self.made.trials[place]))

    @rule(place=trials)
    def retry(self, place: int) -> None:
        self.check(lambda tx: trial_verbs.retry(tx, self.made.trials[place]))

    @rule(place=trials, scorers=st.sampled_from([(), ("exact",), ("other",)]))
    def rescore(self, place: int, scorers: tuple[str, ...]) -> None:
        self.check(lambda tx: trial_verbs.rescore(tx, self.made.trials[place], scorers))

    @rule(place=trials)
    def give_back(self, place: int) -> None:
        self.check(lambda tx: trial_moves.give_back(tx, self.made.trials[place]))

    @rule()
    def crash(self) -> None:
        self.check(lambda tx: run_writes.recover(tx, self.made.run))
        assert TrialState.RUNNING not in self.states.values()
        assert not self.db.execute("SELECT 1 FROM attempts WHERE state = 'sent'").fetchall()
        for numbers in self.sent.values():
            numbers.clear()

    @invariant()
    def tallies_are_what_counting_gives(self) -> None:
        if hasattr(self, "made"):
            recount(self.db)

    @invariant()
    def what_is_kept_of_a_trial_fits_its_state(self) -> None:
        for row in (
            trial_rows.trials_from(self.db, self.made.run, 0, N) if hasattr(self, "made") else ()
        ):
            assert (row.verdict is not None) == (row.state is TrialState.DONE)
            assert (row.error_kind is not None) == (row.state is TrialState.ERROR)
            if row.state in (TrialState.SCORING, TrialState.DONE):
                assert row.output is not None
            if row.state in (TrialState.QUEUED, TrialState.RUNNING):
                assert row.output is None
            assert row.attempts == len(trial_rows.attempts(self.db, row.id))

    @invariant()
    def one_score_of_a_scorer_counts_at_most(self) -> None:
        if hasattr(self, "made"):
            assert not self.db.execute(
                "SELECT 1 FROM scores WHERE current = 1 GROUP BY trial, scorer HAVING count(*) > 1"
            ).fetchall()
            assert not self.db.execute(
                "SELECT 1 FROM scores WHERE current = 1 AND superseded = 1"
            ).fetchall()


def test_no_order_of_facts_leaves_the_table_of_moves(tmp_path: Path) -> None:
    numbers = itertools.count()

    class Fresh(Lives):
        def __init__(self) -> None:
            super().__init__()
            self.path = tmp_path / f"{next(numbers)}.sqlite3"

    run_state_machine_as_test(
        Fresh, settings=settings(max_examples=examples(30), stateful_step_count=40)
    )
