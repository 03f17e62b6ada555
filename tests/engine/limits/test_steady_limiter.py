from tests.engine.limits.test_limiter import BROKEN, FULL, GOOD, LATE
from tui_eval.engine.limits.started_call import LimitChange
from tui_eval.engine.limits.steady_limiter import SteadyLimiter
from tui_eval.model.runs.endpoint_event import EndpointEventKind


def test_nothing_but_the_next_level_moves_it() -> None:
    changes: list[LimitChange] = []
    of = SteadyLimiter("e", changes.append, most=10)
    assert of.set(8)
    calls = [of.begin(0.0) for _ in range(8)]
    assert not of.may_start(0.0)
    for reply in (GOOD, FULL, FULL, BROKEN, LATE, LATE, LATE, FULL):
        of.heard(reply, 1.0, begun=calls[-1], call_s=1.0)
        of.end(calls.pop())
    assert of.successes == 1
    assert of.concurrency == 8
    assert of.paused_since is None
    assert all(of.may_start(1.0) and of.begin(1.0) for _ in range(8))
    assert not of.set(11)
    assert [change.event.kind for change in changes] == [EndpointEventKind.SWEEP_LEVEL]
