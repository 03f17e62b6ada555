"""Ceilings that follow the processors of workers."""

import pytest

from tui_eval.engine.limits.cluster_limiter import ClusterLimiter
from tui_eval.engine.limits.started_call import LimitChange
from tui_eval.model.runs.endpoint_event import EndpointEventKind


class Cluster:
    """Workers with so many processors, and what is told of the limiter's ceiling."""

    def __init__(self, processors: int, most: int = 1000) -> None:
        self.processors = processors
        self.changes: list[LimitChange] = []
        self.limiter = ClusterLimiter(
            "agents", self.changes.append, processors=lambda: self.processors, most=most
        )

    def ready(self, processors: int) -> int:
        """Return the ceiling as a program is ready to begin while there are so many."""
        self.processors = processors
        self.limiter.wanted(0.0)
        return self.limiter.concurrency


def test_it_is_as_many_as_the_workers_have_by_now() -> None:
    of = Cluster(1)
    assert of.limiter.concurrency == 1
    assert [of.ready(there) for there in (1, 5, 3)] == [1, 5, 3]
    assert [one.concurrency for one in of.changes] == [5, 3]
    assert {one.event.kind for one in of.changes} == {EndpointEventKind.WORKERS}
    assert of.changes[0].event.words == "processors of the workers: 5"
    of.ready(5)
    for _ in range(5):
        assert of.limiter.may_start(0.0)
        of.limiter.begin(0.0)
    assert not of.limiter.may_start(0.0)


def test_without_workers_it_stays() -> None:
    assert Cluster(0).limiter.concurrency == 1
    of = Cluster(4)
    assert of.ready(0) == 4
    assert not of.changes


def test_it_ends_where_its_target_s_does() -> None:
    of = Cluster(9, most=3)
    assert of.limiter.concurrency == 3
    assert of.ready(20) == 3


@pytest.mark.parametrize("wanted", [2, 4])
def test_a_person_s_stays(wanted: int) -> None:
    of = Cluster(4)
    assert of.limiter.set(wanted)
    assert of.ready(8) == wanted
    assert [one.event.kind for one in of.changes] == [EndpointEventKind.BY_HAND]
