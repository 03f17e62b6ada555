"""Which programs may begin, by given readings: no machine is looked at."""

from hypothesis import given
from hypothesis import strategies as st

from tui_eval.engine.limits.admission import (
    A_PROCESSOR,
    ASSUMED,
    LITTLE,
    MOST,
    MOST_PRESSURE,
    NO_LIMITS,
    SPARE,
    Admission,
    ProgramHold,
    ProgramShare,
)
from tui_eval.model.outputs.attempt_record import AttemptProgress, ResourceFigures
from tui_eval.model.runs.endpoint_event import EndpointEventKind
from tui_eval.processes.machine import MachineReading

MB = 1_000_000
K = EndpointEventKind
IDLE = MachineReading(memory=10_000 * MB, pressure=0.0, disk=10_000 * MB, idle=2.0)

shares = st.builds(
    ProgramShare,
    memory_limit=st.none() | st.integers(1, 400 * MB),
    disk_limit=st.none() | st.integers(1, 400 * MB),
    largest_memory=st.integers(0, 400 * MB),
    largest_disk=st.integers(0, 400 * MB),
    ended=st.integers(0, 2),
)
readings = st.builds(
    MachineReading,
    memory=st.integers(0, 2000 * MB),
    pressure=st.floats(0, 40),
    disk=st.integers(0, 2000 * MB),
    idle=st.floats(0, 8),
)
looks = st.tuples(st.integers(0, 30), st.integers(0, 500 * MB), st.integers(0, 500 * MB))
steps = st.one_of(
    st.tuples(st.just("read"), readings),
    st.tuples(st.just("begin"), st.integers(0, 1)),
    st.tuples(st.just("look"), looks),
    st.tuples(st.just("end"), st.integers(0, 30)),
)


def told(admission: Admission, hold: ProgramHold, cpu_s: float, ran_s: float, memory: int) -> None:
    """Tell what a program has taken so many seconds after it began to run."""
    admission.seen(hold, AttemptProgress("running"), 0.0)
    progress = AttemptProgress("running", cpu_s=cpu_s, rss_bytes=memory)
    admission.seen(hold, progress, ran_s)


def limited(memory: int) -> ProgramShare:
    """Give a share by a limit."""
    return ProgramShare(memory_limit=memory)


@given(st.tuples(shares, shares), st.lists(steps, max_size=40))
def test_none_begins_where_the_sum_would_exceed_and_one_always_where_nothing_runs(
    kinds: tuple[ProgramShare, ProgramShare], moves: list[tuple[str, object]]
) -> None:
    admission = Admission(4, IDLE)
    running: list[ProgramHold] = []
    reading = IDLE
    for move, given_ in moves:
        match move, given_:
            case "read", MachineReading() as reading:
                admission.look(reading)
            case "look", (int(which), int(memory), int(disk)) if running:
                progress = AttemptProgress("running", rss_bytes=memory, disk_bytes=disk)
                admission.seen(running[which % len(running)], progress, 1.0)
            case "end", int(which) if running:
                admission.end(running.pop(which % len(running)))
            case "begin", int(which):
                share = kinds[which]
                more = admission.room(share).more
                if not running:
                    assert more >= 1
                elif more:
                    assert reading.memory is not None
                    assert reading.disk is not None
                    kept = sum(one.memory_left for one in running)
                    assert reading.memory - kept >= (1 + SPARE) * share.memory(NO_LIMITS) - 1
                    kept = sum(one.disk_left for one in running)
                    assert reading.disk - kept >= (1 + SPARE) * share.disk(NO_LIMITS) - 1
                    assert (reading.pressure or 0.0) < MOST_PRESSURE
                if more:
                    running.append(admission.begin(share))
    assert admission.running == len(running)


@given(st.integers(1, 500 * MB), st.integers(0, 5000 * MB))
def test_as_many_begin_as_are_said_to_have_room(share: int, memory: int) -> None:
    admission = Admission(4, MachineReading(memory=memory))
    of = limited(share)
    said = admission.room(of).more
    begun = 0
    while admission.room(of).more and begun < MOST + 1:
        admission.begin(of)
        begun += 1
    assert begun == said


def test_what_a_program_has_taken_is_kept_for_it_until_a_reading_shows_it() -> None:
    admission = Admission(4, MachineReading(memory=250 * MB))
    of = limited(100 * MB)
    one = admission.begin(of)
    assert admission.room(of).more == 1
    admission.begin(of)
    told(admission, one, 0.0, 1.0, 90 * MB)
    assert admission.room(of).more == 0
    admission.look(MachineReading(memory=160 * MB))  # it shows the 90 MB
    assert admission.room(of).more == 0
    admission.look(MachineReading(memory=225 * MB))
    assert admission.room(of).more == 1


def test_a_few_begin_until_one_was_looked_at_and_an_assumed_share_is_kept_until_one_has_ended() -> (
    None
):
    admission = Admission(2, MachineReading(memory=10 * ASSUMED[0], idle=2.0))
    of = ProgramShare()
    assert admission.room(of).more == 2
    first = admission.begin(of)
    admission.begin(of)
    room = admission.room(of)
    assert (room.more, room.why.kind) == (0, K.UNMEASURED)
    told(admission, first, 0.0, 0.1, 1 * MB)
    assert admission.room(of).more == 7  # ten assumed shares, two of them kept, a tenth to spare
    told(admission, first, 0.0, 0.1, 20 * MB)
    assert of.memory(NO_LIMITS) == 32 * 20 * MB
    told(admission, first, 0.0, 0.1, 90 * MB)
    assert of.memory(NO_LIMITS) == ASSUMED[1]
    told(admission, first, 0.0, 0.1, 1200 * MB)
    assert of.memory(NO_LIMITS) == 1200 * MB
    of.learn(ResourceFigures(peak_rss_bytes=5 * MB))
    assert of.memory(NO_LIMITS) == 1200 * MB
    assert ProgramShare(largest_memory=5 * MB, ended=1).memory(NO_LIMITS) == 5 * MB


def test_programs_that_wait_are_not_held_back_by_processors_that_others_keep_busy() -> None:
    admission = Admission(2, MachineReading(memory=10**12, idle=0.0))
    of = limited(MB)
    assert admission.room(of).more == 2 * A_PROCESSOR  # nobody knows yet what they take
    holds = [admission.begin(of) for _ in range(4)]
    assert admission.room(of).why.kind is K.BUSY_PROCESSORS
    for hold in holds:
        told(admission, hold, 0.005, 0.2, MB)
    assert admission.room(of).more == 0
    for hold in holds:
        told(admission, hold, 0.005, 1.0, MB)
    assert admission.room(of).more > 90


def test_programs_that_compute_are_two_for_each_processor() -> None:
    admission = Admission(2, MachineReading(memory=10**12, idle=2.0))
    of = limited(MB)
    holds = [admission.begin(of) for _ in range(2)]
    for hold in holds:
        told(admission, hold, 1.02, 1.0, MB)
    admission.look(MachineReading(memory=10**12, idle=0.0))
    assert admission.room(of).more == 2
    for _ in range(2):
        admission.begin(of)
    room = admission.room(of)
    assert (room.more, room.why.kind) == (0, K.BUSY_PROCESSORS)


def test_programs_that_compute_now_and_then_begin_as_far_as_processors_are_idle() -> None:
    admission = Admission(4, MachineReading(memory=10**12, idle=3.0))
    of = limited(MB)
    for hold in [admission.begin(of) for _ in range(8)]:
        told(admission, hold, 0.52, 2.0, MB)
    admission.look(MachineReading(memory=10**12, idle=2.0))
    assert admission.room(of).more == 8
    for _ in range(4):
        admission.begin(of)
    assert admission.room(of).more == 4  # no reading shows yet what the new ones take
    assert LITTLE * 4 < 8 * 0.25


def test_what_never_fits_begins_where_nothing_runs_of_any_target() -> None:
    admission = Admission(4, MachineReading(memory=100 * MB, pressure=90.0, disk=0))
    large, small = limited(10**12), limited(MB)
    room = admission.room(large)
    assert (room.more, room.why.kind) == (1, K.ALONE)
    hold = admission.begin(large)
    assert admission.room(small).more == 0
    admission.end(hold)
    assert admission.room(small).more == 1


def test_nothing_begins_beside_others_under_memory_pressure() -> None:
    admission = Admission(4, MachineReading(memory=10**12, pressure=MOST_PRESSURE))
    of = limited(MB)
    admission.begin(of)
    assert admission.room(of).why.kind is K.MEMORY_PRESSURE
    admission.look(MachineReading(memory=10**12, pressure=MOST_PRESSURE - 0.1))
    assert admission.room(of).more > 0
