"""What is asked where a cap or errors have stopped a run."""

from dataclasses import replace
from pathlib import Path

from tests.ui.playing import (
    first_snapshot,
    plain_run,
)
from tests.ui.run.making import with_run
from tui_eval.engine.limits.spend_caps import Caps
from tui_eval.model.states import RunState
from tui_eval.store.read.run_counts import Counts
from tui_eval.ui.run.actions.capping import capped, error_args, error_choices
from tui_eval.ui.run.snapshot import Snapshot


def paused_at(store: Path, kind: str, caps: Caps) -> Snapshot:
    found = first_snapshot(store, plain_run(store, 3).run)
    return replace(
        with_run(found, state=RunState.PAUSED, stopped_by=kind, reason="r"),
        caps=caps,
        total=Counts(
            cost_usd=2.01,
            known_usd=2.01,
            total=900,
            done=640,
            error=2,
            input_tokens=900,
            output_tokens=150,
        ),
    )


def test_a_cap_of_money_suggests_twice_as_much_and_wants_more_than_is_spent(store: Path) -> None:
    found = capped(paused_at(store, "max_cost_usd", Caps(cost_usd=2.0)))
    assert found is not None
    assert found.question.told.startswith(
        "$2.01 of $2 is spent. 258 of 900 trials are queued or running"
    )
    assert found.question.suggested == "4.02"
    problem = found.question.problem
    assert problem("4.02") is None
    assert problem("$3") is None
    assert problem("2") == "$2.01 is spent already"
    for nonsense in ("", "much", "-1", "inf", "nan"):
        assert problem(nonsense) == "a number of dollars, like 4 or 2.50"
    assert found.args("$3.50") == {"max_cost_usd": 3.5}


def test_a_cap_of_tokens_is_a_whole_number(store: Path) -> None:
    found = capped(paused_at(store, "max_tokens", Caps(tokens=1000)))
    assert found is not None
    assert found.question.suggested == "2100"
    assert found.question.problem("1000") == "1,050 are used already"
    assert found.question.problem("1e9999") is not None
    assert found.question.problem("2000.5") is not None
    assert found.args("2,000") == {"max_tokens": 2000}


def test_errors_are_tried_again_or_left(store: Path) -> None:
    found = paused_at(store, "max_errors", Caps(errors=2))
    assert capped(found) is None
    labels = [choice.label for choice in error_choices(found)]
    assert labels == [
        "try the 2 errored again, and resume",
        "leave them, resume and pause at 4 errors",
        "leave the run paused",
    ]
    assert error_args(found, "again") == {}
    assert error_args(found, "more") == {"errored": "leave", "max_errors": 4.0}
    share = replace(found, caps=Caps(errors=0.05))
    assert error_choices(share)[1].label == "leave them, resume and pause at 10% errors"
