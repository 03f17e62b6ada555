"""What is kept of what an attempt tells while it runs."""

from tests.support import output
from tui_eval.model.outputs.attempt_record import AttemptProgress, AttemptRecord, ProgramExit
from tui_eval.model.outputs.output import Output
from tui_eval.targets.attempt.attempt_context import AttemptContext
from tui_eval.targets.attempt.attempt_history import AttemptHistory


def test_each_phase_has_its_beginning_and_each_sample_its_moment() -> None:
    history = AttemptHistory()
    history.add(AttemptProgress("preparing"), 0.0)
    history.add(AttemptProgress("running"), 0.5)
    history.add(AttemptProgress("running", turn=1, cpu_s=0.2, rss_bytes=1_000), 1.0)
    history.add(AttemptProgress("running", turn=2, cpu_s=0.9), 2.0)
    history.add(AttemptProgress("collecting"), 2.5)
    made = history.beside(AttemptRecord(exit=ProgramExit(0), steps=2))
    assert [(one.name, one.at_s) for one in made.phases] == [
        ("preparing", 0.0),
        ("running", 0.5),
        ("collecting", 2.5),
    ]
    assert [(one.at_s, one.cpu_s, one.rss_bytes) for one in made.samples] == [
        (1.0, 0.2, 1_000),
        (2.0, 0.9, None),
    ]
    assert made.turns == (1.0, 2.0)
    assert (made.exit, made.steps) == (ProgramExit(0), 2)


def test_a_long_attempt_leaves_a_few_hundred_samples() -> None:
    history = AttemptHistory()
    for second in range(10_000):
        history.add(AttemptProgress("running", cpu_s=float(second)), float(second))
    made = history.beside(AttemptRecord())
    assert len(made.samples) <= 240
    assert len(made.phases) == 1


def test_what_told_nothing_is_as_it_was() -> None:
    context = AttemptContext(1.0)
    reply = output("said")
    assert context.recorded(reply) is reply
    context.progress(AttemptProgress("running"))
    told = context.recorded(reply)
    assert isinstance(told, Output)
    assert [one.name for one in told.record.phases] == ["running"]
    assert told.digest() == reply.digest()
