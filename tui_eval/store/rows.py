"""What readers get: one frozen class for each table that is shown."""

from dataclasses import dataclass
from functools import cached_property

from tui_eval.model.answer_source import AnswerSource
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.runs.endpoint_event import EndpointEvent
from tui_eval.model.score import Grade, Score
from tui_eval.model.states import RunState, TrialState, Verdict
from tui_eval.store.lease import BEAT_S, Lease
from tui_eval.store.sent_in_bulk import SentInBulk


@dataclass(frozen=True)
class RunRow:
    """A run as it stands."""

    id: int
    name: str
    suite: str
    path: str | None
    label: str | None
    settings: JsonObject
    """What was chosen at launch, see `engine.settings`."""
    partial: bool
    state: RunState
    reason: str | None
    """Why it is paused or interrupted, for a person."""
    stopped_by: str | None
    staged: bool
    """Whether all its trials are there yet."""
    total: int
    """Trials; 0 until staged."""
    created_at: float
    started_at: float | None
    ended_at: float | None
    wall_s: float
    """Seconds of all engines that have ended."""
    active_since: float | None
    active_s: float
    """Seconds that the present engine, or one that died, had worked by its last heartbeat."""
    change: int
    lease: Lease

    @property
    def is_sweep(self) -> bool:
        """Whether it measures what an endpoint bears, and evaluates nothing."""
        return "sweep" in self.settings

    @cached_property
    def live(self) -> bool:
        """Whether an engine works on it; looked up once for each row read."""
        return self.lease.alive()

    def wall(self, now: float) -> float:
        """Return the seconds that engines worked on it.

        Of one that died, up to its last heartbeat, until somebody takes the run over or resumes
        it and counts what it did after that (`lease.count_dead`).

        Args:
            now: Unix seconds.
        """
        whole = self.wall_s + self.active_s
        if self.active_since is None or self.lease.beat is None or not self.live:
            return whole
        # whoever sets the clock moves it by no more than what passes between heartbeats
        return whole + min(max(now - self.lease.beat, 0.0), 2 * BEAT_S)


@dataclass(frozen=True, slots=True)
class ColumnRow:
    """A column of a run."""

    index: int
    name: str
    target: str
    prompt: str | None
    kind: str
    model: str | None
    endpoint: str
    source: AnswerSource
    """Where its answers come from."""
    version: str | None = None
    """What its target printed as its version when the run was staged; None: it tells none."""

    @property
    def names_prompt(self) -> bool:
        """Whether its name says a prompt beside the target: the run has several."""
        return self.name != self.target


@dataclass(frozen=True, slots=True)
class TallyRow:
    """How many trials of a column are in one state (and, if done, of one verdict)."""

    col: int
    state: TrialState
    verdict: Verdict | None
    n: int
    score: float
    """Sum of the trials' scores."""
    input_tokens: int
    output_tokens: int
    cost_usd: float
    """Sum of what is known."""
    unpriced: int
    """Trials whose cost is unknown."""
    attempts: int
    retries: int
    cached: int
    about_usd: float
    """Sum of what is known or estimated."""
    unestimated: int
    """Trials whose cost is unknown, and some of it not even estimated."""


@dataclass(frozen=True, slots=True)
class TrialRow:
    """A row of the live table."""

    id: int
    place: int
    """In dataset order, from 0."""
    seq: int
    col: int
    epoch: int
    case_id: str
    column: str
    state: TrialState
    verdict: Verdict | None
    score: float | None
    generation_key: bytes | None
    output: int | None
    cached: bool
    attempts: int
    error_kind: str | None
    error_message: str | None
    waiting: str | None
    waiting_until: float | None
    latency_s: float | None
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    """None: some of it is unknown."""
    about_usd: float | None
    """That with estimates for what no endpoint told; None: it is known, or some has none."""
    since: float | None
    change: int
    note: str | None
    """What a person wrote on it; None: nothing, or it was taken away."""
    left_at: str | None
    """Of a cancelled one, where its request is in bulk that may still be done (an endpoint, or a
    folder, as limiters know it); None: there is none."""


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One try at getting a trial's output."""

    id: int
    number: int
    state: str
    sent_at: float
    queue_s: float | None
    wait_s: float | None
    call_s: float | None
    error_kind: str | None
    error_message: str | None
    status: int | None
    retry_after_s: float | None
    partial: str | None
    printed: str | None
    """What it printed beside its output: the beginning and the end."""
    output: int | None
    """What it gave; of one that came to none, its conversation by then, where it had one."""
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    about_usd: float | None
    """An estimate, where the endpoint did not tell."""
    bulk: SentInBulk | None = None
    """The consignment that it went out with; None: it was a call of its own."""

    @property
    def ending(self) -> str:
        """How it stands, in a word: what a provider refused, nobody cancelled."""
        refused = self.bulk is not None and self.bulk.refused and self.state == "cancelled"
        return "refused" if refused else self.state


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One score in a trial's history."""

    id: int
    output: int | None
    scorer: str
    verdict: Verdict
    value: float | None
    raw: Json
    reason: str
    source: str
    weight: float
    required: bool
    current: bool
    superseded: bool
    withdrawn_at: float | None
    superseded_by: int | None
    """The request that has replaced it; None: none, or none that is known."""
    superseded_at: float | None
    """When that was, for a person; None: it is not superseded, or nobody knows."""
    at: float

    def as_score(self) -> Score:
        """Return it as scorers give scores."""
        grade = Grade(self.verdict, self.value, self.reason, self.raw)
        return Score(self.scorer, grade, self.weight, self.required, self.source)


@dataclass(frozen=True, slots=True)
class RequestRow:
    """Something a person or a script asked of a run."""

    id: int
    verb: str
    args: JsonObject
    asked_by: str
    asked_at: float
    outcome: str | None
    """None: pending."""
    detail: str | None
    answered_at: float | None


@dataclass(frozen=True, slots=True)
class LimitRow:
    """A limit in force from `at` on, and why."""

    endpoint: str
    concurrency: int
    event: EndpointEvent
    at: float
