"""Ceilings that find themselves, and endpoints that are left alone."""

from dataclasses import replace
from itertools import count

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.engine.harness import Harness, suite
from tests.sampling import examples
from tests.servers.fake_model import Call, FakeModel, Reply, refuse
from tui_eval.engine.limits.call_permit import CallHistory, CallPermit, call_permit
from tui_eval.engine.limits.limiter import COOL_DOWN_S, FIRST, GONE_AFTER, MOST, PROBE_S, Limiter
from tui_eval.engine.limits.started_call import LimitChange
from tui_eval.model.outputs.output import ExhaustedQuota, Failure, Output
from tui_eval.model.states import RunState

GOOD = Output("yes")
FULL = Failure("rate_limit", "slow down", retryable=True, status=429)
BROKEN = Failure("server_error", "it broke", retryable=True, status=500)
LATE = Failure("timeout", "no whole answer", retryable=True)


def limiter(concurrency: int | None = None) -> tuple[Limiter, list[LimitChange]]:
    changes: list[LimitChange] = []
    return Limiter("e", concurrency, changes.append), changes


def paused_since(of: Limiter) -> float | None:
    return of.paused_since


def clean_round(of: Limiter, now: float) -> None:
    """Make as many calls at once as may be made; all succeed."""
    calls = [of.begin(now) for _ in range(of.concurrency)]
    for begun in calls:
        of.heard(GOOD, now, begun=begun, call_s=1.0)
        of.end(begun)


def test_auto_doubles_with_each_clean_round_until_the_first_refusal_then_creeps() -> None:
    of, changes = limiter()
    for _ in range(5):  # the first one is of two rounds' calls: four are few
        clean_round(of, 10.0)
    assert [change.concurrency for change in changes] == [8, 16, 32, 64]
    of.heard(FULL, 20.0)
    assert of.concurrency == 32
    of.heard(GOOD, 20.1)
    clean_round(of, 21.0)
    assert of.concurrency == 33
    assert FIRST == 4


def test_many_refusals_of_one_moment_cut_once() -> None:
    of, _ = limiter()
    for _ in range(5):
        clean_round(of, 1.0)
    for _ in range(50):
        of.heard(FULL, 5.0)
    assert of.concurrency == 32
    of.heard(GOOD, 5.1)
    of.heard(FULL, 5.1 + COOL_DOWN_S)
    assert of.concurrency == 24


def test_faults_that_are_no_refusals_neither_cut_nor_grow() -> None:
    of, changes = limiter()
    of.in_flight = of.concurrency
    for _ in range(100):
        of.heard(BROKEN, 2.0)
    assert changes == []


def test_it_grows_only_where_the_limit_was_the_bound() -> None:
    of, changes = limiter()
    for _ in range(100):
        with call_permit(of):
            pass
        of.heard(GOOD, 2.0)
    assert changes == []


def test_a_fixed_ceiling_stays() -> None:
    of, changes = limiter(16)
    clean_round(of, 1.0)
    of.heard(FULL, 2.0)
    assert of.concurrency == 16
    assert changes == []


def test_a_refusal_with_no_success_since_the_last_one_pauses_the_endpoint() -> None:
    of, _ = limiter(16)
    of.heard(FULL, 2.0)
    of.heard(GOOD, 2.5)
    of.heard(FULL, 3.0)
    assert paused_since(of) is None
    of.heard(FULL, 3.1)
    assert paused_since(of) == 3.1
    assert not of.may_start(3.2)
    assert of.may_start(3.7)
    of.in_flight = 1
    assert not of.may_start(9.0), "one probe at a time"
    of.heard(GOOD, 5.0)
    assert paused_since(of) is None
    of.in_flight = 2
    assert not of.may_start(6.0), "no herd after a pause"
    of.heard(GOOD, 6.1)
    assert of.may_start(6.2), "but more with each success"


LAST = Output("yes", exhausted=ExhaustedQuota("requests", 3.0))


def test_an_endpoint_that_says_that_nothing_remains_is_left_alone_until_then() -> None:
    of, changes = limiter(16)
    of.in_flight = 9
    of.heard(LAST, 10.0)
    assert [change.event.words for change in changes] == [
        "nothing remains of its requests: paused for 3 s"
    ]
    for answered in range(8):
        of.heard(GOOD, 10.0 + answered / 10)
        of.in_flight -= 1
    of.in_flight = 0
    assert not of.may_start(12.9), "those that were under way before prove nothing"
    assert of.again_at(12.0) == 13.0
    assert of.may_start(13.0)
    of.in_flight = 1
    assert not of.may_start(13.1), "one probe"
    of.heard(GOOD, 13.2)
    assert paused_since(of) is None
    assert [change.event.words for change in changes][1:] == ["answers again after 3 s"]
    of.in_flight = 1
    assert of.may_start(13.3)
    of.in_flight = 2
    assert not of.may_start(13.3), "no herd"


def test_a_refusal_that_says_that_nothing_remains_is_everybodys() -> None:
    of, _ = limiter(16)
    of.heard(GOOD, 1.0)
    gone = Failure("rate_limit", "no", retryable=True, exhausted=ExhaustedQuota("tokens", 5.0))
    of.heard(gone, 2.0, own=True)
    assert not of.may_start(6.9)
    assert of.may_start(7.0)


def test_short_pauses_are_kept_and_not_told() -> None:
    of, changes = limiter(16)
    of.heard(Output("yes", exhausted=ExhaustedQuota("requests", 0.02)), 1.0)
    assert not of.may_start(1.01)
    assert of.may_start(1.03)
    of.heard(GOOD, 1.04)
    assert (paused_since(of), changes) == (None, [])


def test_one_call_for_each_time_something_is_back_where_it_is_always_the_last() -> None:
    of, changes = limiter(16)
    of.heard(LAST, 0.0)
    for now in (3.0, 6.0, 9.0):
        assert not of.may_start(now - 0.1)
        assert of.may_start(now)
        of.heard(LAST, now)
    assert len(changes) == 1
    assert of.paused_since == 9.0, "it refuses nobody: no patience is used up"


class Endpoint(RuleBasedStateMachine):
    """Anything an endpoint may do, at any time, to a limiter that finds its ceiling or has one."""

    def __init__(self) -> None:
        super().__init__()
        self.changes: list[LimitChange] = []
        self.now = 0.0
        self.empty_until = 0.0
        self.of = Limiter("e", None, self.changes.append)

    @rule(ceiling=st.integers(1, 40))
    def a_person_sets_the_ceiling(self, ceiling: int) -> None:
        self.of.set(ceiling)

    @rule(seconds=st.floats(0.0, 5.0))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule(calls=st.integers(1, 60))
    def calls_leave(self, calls: int) -> None:
        for _ in range(calls):
            if not self.of.may_start(self.now):
                return
            assert self.of.in_flight < self.of.concurrency
            assert self.now >= self.empty_until, "its headers said that nothing remains"
            assert self.of.paused_since is None or self.of.in_flight == 0, "one probe at a time"
            self.of.begin(self.now)

    @precondition(lambda self: self.of.in_flight)
    @rule(
        reply=st.sampled_from([GOOD, GOOD, GOOD, FULL, BROKEN, LAST]),
        own=st.booleans(),
        retry_after=st.one_of(st.none(), st.floats(0.0, 120.0)),
    )
    def a_call_ends(self, reply: Output | Failure, own: bool, retry_after: float | None) -> None:
        if isinstance(reply, Failure):
            reply = replace(reply, retry_after_s=retry_after)
        if reply.exhausted is not None:
            self.empty_until = max(self.empty_until, self.now + reply.exhausted.for_s)
        self.of.heard(reply, self.now, own=own)
        self.of.in_flight -= 1

    @invariant()
    def the_ceiling_is_one_a_person_can_live_with(self) -> None:
        assert 1 <= self.of.concurrency <= MOST

    @invariant()
    def somebody_can_always_go_on(self) -> None:
        if self.of.in_flight or self.of.may_start(self.now):
            return
        again_at = self.of.again_at(self.now)
        assert again_at is not None, "nothing would ever wake anybody"
        assert self.now < again_at <= self.now + 120.0 + PROBE_S
        assert self.of.may_start(again_at)

    @invariant()
    def every_change_was_told(self) -> None:
        told = [change.concurrency for change in self.changes]
        assert (told or [FIRST])[-1] == self.of.concurrency


TestEndpoint = Endpoint.TestCase
TestEndpoint.settings = settings(max_examples=examples(60), stateful_step_count=60, deadline=None)


@pytest.mark.parametrize("to", [0, -1, 16])
def test_a_limit_below_one_or_the_same_changes_nothing(to: int) -> None:
    of, changes = limiter(16)
    assert not of.set(to)
    assert changes == []


async def test_while_everything_is_refused_two_requests_a_second_leave_and_no_herd_after(
    harness: Harness,
) -> None:
    def script(call: Call) -> Reply | None:
        first = server.first_at or call.at
        return refuse(429, "rate_limit_exceeded") if call.at < first + 2.0 else None

    async with FakeModel(script=script, latency=0.01) as server:
        run = await harness.run(suite(server.base_url, 60, run={"concurrency": 20, "retries": 1}))
    assert harness.counts(run).passed == 60
    assert harness.row(run).state is RunState.DONE
    began = server.calls[0].at
    recovers = began + 2.0
    probes = [call.at for call in server.calls if call.at < recovers][20:]  # after the first ones
    assert 1 <= len(probes) <= 2.0 / PROBE_S
    after = sorted(call.at for call in server.calls if call.at >= recovers)
    assert after[1] - after[0] >= 0.005, "one probe first"
    kinds = [row[0] for row in harness.sql("SELECT kind FROM limits ORDER BY id")]
    assert kinds[:3] == ["start", "refuses-all", "answers-again"]


async def test_when_headers_say_that_nothing_remains_nobody_asks_until_then(
    harness: Harness,
) -> None:
    gone = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1s"}

    def script(call: Call) -> Reply | None:
        return Reply("answer", headers=gone) if call.n == 12 else None

    async with FakeModel(script=script, latency=0.05) as server:
        run = await harness.run(suite(server.base_url, 60, run={"concurrency": 8}))
    assert harness.counts(run).passed == 60
    assert server.requests == 60, "nothing was refused"
    at = sorted(call.at for call in server.calls)
    said = server.calls[11].at + 0.05
    late = [when for when in at if when > said + 0.5]  # what was about to leave has left
    assert late[0] >= said + 0.95
    assert late[1] - late[0] >= 0.045, "one probe first"
    assert sum(when < late[1] + 0.045 for when in late) <= 3, "and no herd after it"
    told = harness.sql("SELECT kind, seconds, what FROM limits ORDER BY id")
    assert [(kind, what) for kind, _, what in told] == [
        ("start", None),
        ("nothing-remains", "requests"),
        ("answers-again", None),
    ]
    assert told[1][1] == pytest.approx(1.0)
    assert told[2][1] >= 1.0


async def test_patience_with_an_endpoint_that_refuses_everything_ends(harness: Harness) -> None:
    async with FakeModel(script=lambda call: refuse(429, "rate_limit_exceeded")) as server:
        run = await harness.run(suite(server.base_url, 10, run={"patience": 1.0, "retries": 2}))
    row = harness.row(run)
    assert (row.state, row.stopped_by) == (RunState.PAUSED, "rate_limit")
    assert server.requests < 20


async def test_trials_that_are_always_refused_hold_up_no_other(harness: Harness) -> None:
    refused = {"q0", "q1", "q2"}

    def script(call: Call) -> Reply | None:
        return refuse(429, "rate_limit_exceeded") if call.prompt in refused else None

    async with FakeModel(script=script) as server:
        given = suite(server.base_url, 12, run={"concurrency": 2, "patience": 6.0, "retries": 1})
        run = await harness.run(given)
    assert harness.row(run).state is RunState.DONE
    assert (harness.counts(run).passed, harness.counts(run).error) == (9, 3)


async def test_auto_writes_down_what_it_finds_and_why(harness: Harness) -> None:
    """Where it ends up is tested on a clock of its own, in `test_auto`: here nothing is timed."""

    def script(call: Call) -> Reply | None:
        return refuse(429, "rate_limit_exceeded") if 100 <= next(arrived) < 103 else None

    arrived = count()
    async with FakeModel(script=script) as server:
        run = await harness.run(suite(server.base_url, 200, run={"concurrency": "auto"}))
    assert harness.counts(run).passed == 200
    assert server.requests == 203
    changes = harness.sql("SELECT concurrency, kind FROM limits ORDER BY id")
    assert changes[0] == (4, "start")
    cuts = [n for n, (_, kind) in enumerate(changes) if kind == "rate-limited"]
    assert cuts, "it was refused"
    assert all(changes[n][0] == max(changes[n - 1][0] // 2, 1) for n in cuts)
    grown = [n for n, (_, kind) in enumerate(changes) if kind == "clean-round"]
    assert grown, "before it was refused it had more than it began with"
    assert all(changes[n][0] - changes[n - 1][0] in (1, changes[n - 1][0]) for n in grown)


async def test_a_budget_of_requests_is_kept(harness: Harness) -> None:
    async with FakeModel() as server:
        target = {"base_url": server.base_url, "model": "m", "rpm": 300}
        run = await harness.run(suite(server.base_url, 15, targets=[target]))
    assert harness.counts(run).passed == 15
    arrivals = [call.at for call in server.calls]
    # 5 at once, then one each 0.2 s; the first may be under way for longer than the last
    assert arrivals[-1] - arrivals[0] >= 10 * 0.2 - 0.5


async def test_a_budget_of_tokens_waits_for_the_first_call_to_know_what_one_takes(
    harness: Harness,
) -> None:
    async with FakeModel(latency=0.05) as server:
        target = {"base_url": server.base_url, "model": "m", "tpm": 100_000}
        await harness.run(suite(server.base_url, 20, targets=[target]))
    first, second = (call.at for call in server.calls[:2])
    assert second - first >= 0.05
    assert server.in_flight_max > 1


@pytest.mark.parametrize("gone", [Reply("no_reply"), refuse(503)])
async def test_an_endpoint_that_goes_away_costs_no_retry_and_is_asked_gently(
    harness: Harness, gone: Reply
) -> None:
    begun: list[float] = []

    def script(call: Call) -> Reply | None:
        if call.n == 30:
            begun.append(call.at)
        return gone if begun and call.at < begun[0] + 2.0 else None

    async with FakeModel(script=script, latency=0.01) as server:
        run = await harness.run(suite(server.base_url, 80, run={"concurrency": 20, "retries": 1}))
    assert harness.counts(run).passed == 80
    assert harness.row(run).state is RunState.DONE
    lost = server.requests - 80
    assert lost <= 20 + GONE_AFTER + 2 * 2


async def test_the_last_trials_that_are_always_refused_end_together(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui_eval.engine.limits.call_permit.LAST_ONES_S", 2.0)

    def script(call: Call) -> Reply | None:
        return refuse(429, "rate_limit_exceeded") if int(call.prompt[1:]) >= 10 else None

    async with FakeModel(script=script) as server:
        given = suite(server.base_url, 16, run={"concurrency": 6, "retries": 2})
        run = await harness.run(given)
    assert (harness.counts(run).passed, harness.counts(run).error) == (10, 6)
    [(spread_s,)] = harness.sql("SELECT max(since) - min(since) FROM trials WHERE state = 'error'")
    assert spread_s < 4 * 2.0, "each waited in its turn: that takes five times as long"


async def test_who_is_refused_often_gets_through_where_others_that_were_refused_do(
    harness: Harness,
) -> None:
    """As with a limit on requests a second: no case is to blame, and some are unlucky."""

    def script(call: Call) -> Reply | None:
        unlucky = call.attempt <= (8 if call.prompt == "q3" else call.first % 4 == 0)
        return refuse(429, "rate_limit_exceeded", retry_after="0.05") if unlucky else None

    async with FakeModel(script=script, latency=0.01) as server:
        run = await harness.run(suite(server.base_url, 200, run={"concurrency": 4, "retries": 2}))
    assert harness.counts(run).passed == 200
    assert server.counts["q3"] == 9


def test_the_last_ones_fail_by_themselves_before_a_short_patience_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [1000.0]
    monkeypatch.setattr("tui_eval.engine.limits.call_permit.time.monotonic", lambda: now[0])
    of, _ = limiter(8)
    last, permit = CallHistory(), CallPermit(of, lambda: True)
    permit.heard(GOOD, CallHistory(), 2.0)
    outcomes = []
    for _ in range(6):
        outcomes.append(permit.heard(FULL, last, 2.0))
        assert not permit.waited_out(FULL, 2.0), "the endpoint has answered others"
        now[0] += 0.6
    assert any(outcomes), "at first it is as if everybody were refused"
    assert not outcomes[-1]


def test_a_refusal_uses_up_no_retry_as_long_as_refused_ones_get_through() -> None:
    of, _ = limiter(8)
    unlucky, other = CallHistory(), CallHistory()

    def heard(
        reply: Output | Failure, tries: CallHistory, patience_s: float = 60.0
    ) -> tuple[int, int]:
        permit = CallPermit(of, lambda: False)
        assert not permit.heard(GOOD, CallHistory(), 60.0)  # the endpoint answers all the while
        assert not permit.heard(reply, tries, patience_s)
        return tries.failures, tries.spared

    assert heard(FULL, unlucky) == (1, 0)
    assert heard(FULL, unlucky) == (2, 0), "as far as anybody knows it is refused for ever"
    heard(FULL, other)
    heard(GOOD, other)
    assert heard(FULL, unlucky) == (2, 1)
    assert heard(FULL, unlucky) == (3, 0), "nobody got through since"
    heard(FULL, other)
    heard(GOOD, other)
    assert heard(FULL, unlucky, 0.0) == (4, 0), "nobody waits for ever"


def test_a_pause_that_ends_at_once_is_no_news() -> None:
    of, changes = limiter(8)
    of.heard(FULL, 1.0)
    of.heard(FULL, 1.1)
    of.heard(GOOD, 1.6)
    assert changes == []
    for now in (2.0, 2.1, 2.6):
        of.heard(FULL, now)
    of.heard(GOOD, 4.1)
    reasons = [change.event.words for change in changes]
    assert reasons == ["refuses everything: paused, one probe at a time", "answers again after 2 s"]


def test_an_endpoint_that_still_answers_calls_does_not_refuse_everything() -> None:
    of, changes = limiter(40)
    answered = [of.begin(0.0) for _ in range(30)]
    for now in range(1, 40):
        for begun in [of.begin(float(now)) for _ in range(2) if of.may_start(float(now))]:
            of.heard(FULL, float(now), begun=begun)
            of.end(begun)
        assert of.paused_since is None and changes == []
    assert not of.may_start(40.0), "no more than are under way"
    of.heard(GOOD, 41.0, begun=answered[0])
    of.end(answered[0])
    assert of.may_start(41.1)


@pytest.mark.parametrize(("failure", "times"), [(FULL, 2), (BROKEN, GONE_AFTER)])
def test_it_refuses_everything_once_all_that_left_before_were_turned_away(
    failure: Failure, times: int
) -> None:
    of, _ = limiter(40)
    of.heard(GOOD, 0.0)
    calls = [of.begin(0.5) for _ in range(times + 5)]
    for begun in calls[:-1]:
        of.heard(failure, 1.0, begun=begun)
        of.end(begun)
        assert of.paused_since is None, "one may be answered yet"
    of.heard(failure, 2.0, begun=calls[-1])
    of.end(calls[-1])
    again = of.begin(3.0)
    of.heard(failure, 3.5, begun=again)
    of.end(again)
    assert paused_since(of) is not None


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (Output("long", latency_s=0.25), 0.25),
        (Output("recorded", latency_s=9.0), 3.0),
        (Output("unknown"), 3.0),
        (LATE, 3.0),
    ],
    ids=lambda one: getattr(one, "text", None),
)
def test_the_time_that_reading_an_answer_takes_is_not_the_endpoints(
    reply: Output | Failure, told: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[float | None] = []
    of, _ = limiter()
    monkeypatch.setattr(of, "heard", lambda *_, call_s, **__: heard.append(call_s))
    with call_permit(of) as permit:
        permit.heard(reply, CallHistory(), 60.0, call_s=3.0)
    assert heard == [told]
