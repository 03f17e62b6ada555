"""What becomes of an endpoint's limit: an event with its kind, its figures, and its words."""

from enum import StrEnum

from tui_eval.model.frozen import frozen


class EndpointEventKind(StrEnum):
    """Why a limit is what it is, or what is said beside it."""

    START = "start"
    """An engine begins with it."""
    BY_HAND = "by-hand"
    """A person has set it."""
    CLEAN_ROUND = "clean-round"
    """A round of calls went well: more at once."""
    SLOWER = "slower"
    """Calls take `seconds`, and `before_s` when there were fewer at once: fewer."""
    NO_FASTER = "no-faster"
    """Fewer calls at once took as long: as many as before."""
    TIMEOUTS = "timeouts"
    """Calls time out: fewer at once."""
    RATE_LIMITED = "rate-limited"
    """Calls are refused for their number (429): fewer at once."""
    OVERLOADED = "overloaded"
    """Calls are turned away by a server that is full (503, 529): fewer at once."""
    AS_OVERLOADED = "as-overloaded"
    """Of fewer calls at once as many were turned away: as many as before."""
    REFUSES_ALL = "refuses-all"
    """It answers nobody: it is left alone but for probes."""
    NOTHING_REMAINS = "nothing-remains"
    """Its headers say that nothing remains of `what`: it is left alone for `seconds`."""
    ANSWERS_AGAIN = "answers-again"
    """It has answered after `seconds` of being left alone, and is left alone no more."""
    ANSWERED_OTHERS = "answered-others"
    """It answers others: what it refuses fails by itself, and it is left alone no more."""
    ROOM = "room"
    """The machine has room for more programs: `what` says how much."""
    UNMEASURED = "unmeasured"
    """Nobody knows yet what a program takes: no more begin than there are processors."""
    LOW_MEMORY = "low-memory"
    """The memory that is left, `what`, has no room for one more: as many as run."""
    MEMORY_PRESSURE = "memory-pressure"
    """Programs wait for memory, `what` says how much of the time: as many as run."""
    LOW_DISK = "low-disk"
    """The disk has no room for one more, `what` says why: as many as run."""
    BUSY_PROCESSORS = "busy-processors"
    """More would only wait for a processor, `what` says why: as many as run."""
    ALONE = "alone"
    """A program runs alone that there is no room for, as `what` says."""
    WORKERS = "workers"
    """Workers have joined or were lost: as many as those that are there have processors."""
    PLACING = "placing"
    """No worker has begun: of `EXECUTOR`, as those that follow."""
    PLACED = "placed"
    """A worker has begun, `what` says where."""
    WORKER_LOST = "worker-lost"
    """A worker was lost, `what` says where and how."""
    WITHOUT = "without"
    """A node makes no attempts, or none of a target: `what` says which, and why."""
    SWEEP_LEVEL = "sweep-level"
    """A sweep goes on to its next level."""
    NOTE = "note"
    """`what` is said of a judge; the limit stays as it is."""


_WORDS = {
    EndpointEventKind.START: "start",
    EndpointEventKind.BY_HAND: "set by a person",
    EndpointEventKind.CLEAN_ROUND: "a clean round",
    EndpointEventKind.SLOWER: (
        "calls take {seconds:.2g} s, {before_s:.2g} s when there were fewer"
    ),
    EndpointEventKind.NO_FASTER: "fewer calls are no faster",
    EndpointEventKind.TIMEOUTS: "calls time out",
    EndpointEventKind.RATE_LIMITED: "rate limited (429)",
    EndpointEventKind.OVERLOADED: "overloaded (503)",
    EndpointEventKind.AS_OVERLOADED: "of fewer calls as many are turned away",
    EndpointEventKind.REFUSES_ALL: "refuses everything: paused, one probe at a time",
    EndpointEventKind.NOTHING_REMAINS: (
        "nothing remains of its {what}: paused for {seconds:.3g} s"
    ),
    EndpointEventKind.ANSWERS_AGAIN: "answers again after {seconds:.0f} s",
    EndpointEventKind.ANSWERED_OTHERS: "answered others: what it still refuses fails by itself",
    EndpointEventKind.ROOM: "room for more: {what}",
    EndpointEventKind.UNMEASURED: "one for each processor until it is seen what one takes",
    EndpointEventKind.LOW_MEMORY: "held back by memory: {what}",
    EndpointEventKind.MEMORY_PRESSURE: "held back by memory: something waits for it {what}",
    EndpointEventKind.LOW_DISK: "held back by the disk: {what}",
    EndpointEventKind.BUSY_PROCESSORS: "held back by the processors: {what}",
    EndpointEventKind.ALONE: "a trial runs alone, as there is no room for it: {what}",
    EndpointEventKind.WORKERS: "processors of the workers: {what}",
    EndpointEventKind.PLACING: "being placed on nodes; attempts begin with the first one",
    EndpointEventKind.PLACED: "ready on {what}",
    EndpointEventKind.WORKER_LOST: "lost: {what}",
    EndpointEventKind.WITHOUT: "{what}",
    EndpointEventKind.SWEEP_LEVEL: "the next level of the sweep",
    EndpointEventKind.NOTE: "{what}",
}
EXECUTOR = "workers"
"""In place of an endpoint: those who make a run's attempts elsewhere. Its limit is how many there
are."""
_LEFT_ALONE = frozenset({EndpointEventKind.REFUSES_ALL, EndpointEventKind.NOTHING_REMAINS})
HOLDS_BACK = (
    EndpointEventKind.LOW_MEMORY,
    EndpointEventKind.MEMORY_PRESSURE,
    EndpointEventKind.LOW_DISK,
    EndpointEventKind.BUSY_PROCESSORS,
    EndpointEventKind.ALONE,
)
"""By what this machine lets no more programs begin than run."""


@frozen
class EndpointEvent:
    """Something that happened to an endpoint's limit."""

    kind: EndpointEventKind
    seconds: float | None = None
    before_s: float | None = None
    what: str | None = None
    """May be foreign text."""

    @property
    def leaves_alone(self) -> bool:
        """Whether the endpoint is left alone from then on."""
        return self.kind in _LEFT_ALONE

    @property
    def words(self) -> str:
        """Say it to a person, as after the endpoint's name and a colon."""
        figures = {"seconds": self.seconds or 0.0, "before_s": self.before_s or 0.0}
        return _WORDS[self.kind].format(what=self.what or "", **figures)

    def words_since(self, ago: str) -> str:
        """Say that it has been left alone since so long ago, as after the endpoint's name."""
        if self.kind is EndpointEventKind.REFUSES_ALL:
            return f"has refused everything for {ago}: paused, one probe at a time"
        return f"said {ago} ago that {self.words}"


START = EndpointEvent(EndpointEventKind.START)
BY_HAND = EndpointEvent(EndpointEventKind.BY_HAND)
PLACING = EndpointEvent(EndpointEventKind.PLACING)


def note(what: str) -> EndpointEvent:
    """Return the event that something is said of a judge."""
    return EndpointEvent(EndpointEventKind.NOTE, what=what)
