"""Ceilings that follow what the machine has left."""

from pathlib import Path

import pytest

from tui_eval.engine.limits.admission import ProgramShare
from tui_eval.engine.limits.machine_limiter import LASTS_S, MachineLimiter, MachineShares
from tui_eval.engine.limits.started_call import LimitChange, StartedCall
from tui_eval.model.outputs.attempt_record import AttemptProgress, AttemptRecord, ResourceFigures
from tui_eval.model.outputs.output import Output
from tui_eval.model.runs.endpoint_event import EndpointEventKind
from tui_eval.processes.machine import Machine, MachineReading

MB = 1_000_000
K = EndpointEventKind


class Given(Machine):
    """A machine with given readings."""

    def __init__(self, memory: int) -> None:
        super().__init__(Path())
        self.left = memory

    def read(self) -> MachineReading:
        return MachineReading(memory=self.left, idle=2.0)


@pytest.fixture(autouse=True)
def _two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui_eval.engine.limits.machine_limiter.processors", lambda: 2)
    monkeypatch.setattr("tui_eval.engine.limits.machine_limiter.monotonic", lambda: -10.0)


def limiters(
    left: int, *limits: int | None, concurrency: int | None = None, most: int = 10_000
) -> tuple[Given, list[MachineLimiter], list[LimitChange]]:
    given = Given(left)
    shared = MachineShares(given)
    changes: list[LimitChange] = []
    made = [
        MachineLimiter(
            f"e{number}",
            concurrency,
            changes.append,
            machine=shared,
            share=ProgramShare(memory_limit=limit),
            most=most,
        )
        for number, limit in enumerate(limits)
    ]
    return given, made, changes


def nothing(_: LimitChange) -> None:
    """Be told, and do nothing."""


def begun(of: MachineLimiter, now: float, most: int = 1000) -> list[StartedCall]:
    """Begin as many as may begin now."""
    calls: list[StartedCall] = []
    while len(calls) < most:
        of.wanted(now)
        if not of.may_start(now):
            break
        calls.append(of.begin(now))
    return calls


def test_it_begins_with_what_there_is_room_for_and_grows_by_that() -> None:
    given, (of,), changes = limiters(300 * MB, 100 * MB)
    assert of.concurrency == 2
    assert len(begun(of, 0.0)) == 2
    given.left = 1000 * MB
    assert len(begun(of, 1.0)) == 7
    assert [(one.concurrency, one.event.kind) for one in changes] == [
        (2, K.LOW_MEMORY),
        (9, K.ROOM),
        (9, K.LOW_MEMORY),
    ]


def test_what_one_takes_that_was_not_limited_is_learnt_from_those_that_ended() -> None:
    _, (of,), _ = limiters(1000 * MB, None)
    first, _ = begun(of, 0.0)
    record = AttemptRecord(resources=ResourceFigures(peak_rss_bytes=300 * MB, cpu_s=0, wall_s=1))
    of.heard(Output("yes", record=record), 1.0, begun=first)
    of.end(first)
    assert len(begun(of, 1.0)) == 2  # three in all: for a fourth 100 MB are left


def test_targets_of_one_machine_leave_each_other_room() -> None:
    _, (one, other), _ = limiters(1000 * MB, 400 * MB, 100 * MB)
    assert len(begun(one, 0.0)) == 2
    assert len(begun(other, 0.0)) == 1
    assert not one.may_start(0.0)


def test_what_a_case_may_take_is_kept_for_it_where_the_target_names_no_limit() -> None:
    _, (of, named), _ = limiters(1000 * MB, None, 100 * MB)
    large, small = {"memory": 600 * MB}, {"memory": 100 * MB}
    of.wanted(0.0, large)
    first = of.begin(0.0)
    of.wanted(0.0, large)
    assert not of.may_start(0.0)
    of.wanted(0.0, small)
    assert of.may_start(0.0)
    named.wanted(0.0, large)  # its own limit is what is held
    assert named.may_start(0.0)
    of.end(first)
    of.wanted(2.0, {"disk": 1, "memory": 9000 * MB})
    assert of.may_start(2.0)  # alone


def test_a_fixed_ceiling_is_held_by_nothing_and_keeps_room_for_its_own() -> None:
    given = Given(1000 * MB)
    shared = MachineShares(given)
    share = ProgramShare(memory_limit=400 * MB)
    fixed = MachineLimiter("f", 4, nothing, machine=shared, share=share)
    auto = MachineLimiter(
        "a", None, nothing, machine=shared, share=ProgramShare(memory_limit=100 * MB)
    )
    assert not fixed.follows_machine
    assert auto.follows_machine
    assert len(begun(fixed, 0.0)) == 4
    assert not auto.may_start(0.0)


def test_it_falls_to_what_runs_only_where_the_lack_lasts() -> None:
    given, (of,), changes = limiters(1000 * MB, 100 * MB)
    calls = begun(of, 0.0)
    changes.clear()
    given.left = 500 * MB  # others have taken it
    of.end(calls.pop())
    of.wanted(1.0)
    assert not of.may_start(1.0)
    assert changes == []
    of.end(calls.pop())
    of.wanted(1.0 + LASTS_S)
    assert [(one.concurrency, one.event.kind) for one in changes] == [(7, K.LOW_MEMORY)]
    for _ in range(3):
        of.wanted(1.2 + LASTS_S)
    assert len(changes) == 1
    given.left = 5000 * MB
    of.wanted(1.5 + LASTS_S)
    assert of.concurrency == 7
    of.wanted(3.0 + LASTS_S)
    assert [one.event.kind for one in changes] == [K.LOW_MEMORY, K.ROOM]


def test_what_never_fits_runs_alone_and_that_is_said_once() -> None:
    _, (of,), changes = limiters(1000 * MB, 10**12)
    for second in range(5):
        (call,) = begun(of, float(second))
        of.wanted(second + 0.9)
        of.end(call)
    assert [(one.concurrency, one.event.kind) for one in changes] == [(1, K.ALONE)]


def test_a_person_fixes_it_also_where_it_is() -> None:
    _, (of,), changes = limiters(1000 * MB, 400 * MB)
    assert len(begun(of, 0.0)) == 2
    assert of.set(2)
    assert [(one.concurrency, one.event.kind) for one in changes] == [
        (2, K.LOW_MEMORY),
        (2, K.BY_HAND),
    ]
    assert not of.follows_machine
    assert of.set(5)
    assert len(begun(of, 0.0)) == 3


def test_nobody_sets_it_beyond_the_most_there_can_be() -> None:
    _, (of,), _ = limiters(10**12, MB, most=3)
    assert len(begun(of, 0.0)) == 3
    assert not of.set(4)


def test_what_a_program_is_seen_to_take_counts() -> None:
    given, (of,), _ = limiters(1000 * MB, None)
    first, _ = begun(of, 0.0)
    of.seen(first, AttemptProgress("running", rss_bytes=1 * MB), 0.1)
    given.left = 5000 * MB
    assert len(begun(of, 0.2)) > 10
