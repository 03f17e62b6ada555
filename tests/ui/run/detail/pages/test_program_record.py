"""Phases, figures and the end of a program's attempt, as paragraphs."""

from tests.ui.playing import para_words
from tui_eval.model.outputs.attempt_record import (
    AttemptRecord,
    ChangeCounts,
    PhaseStart,
    ProgramExit,
    ResourceFigures,
    UsageSample,
)
from tui_eval.ui.run.detail.pages.program_record import record_paras, sparkline
from tui_eval.ui.theme.glyphs import ASCII, UNICODE


def said(record: AttemptRecord, took_s: float = 10.0, limit: str | None = None) -> str:
    return para_words(record_paras(record, took_s, limit, 40, 4, UNICODE))


def test_phases_are_bars_with_their_seconds() -> None:
    phases = (PhaseStart("preparing", 0.0), PhaseStart("running", 2.0), PhaseStart("ending", 9.0))
    bar, words = said(AttemptRecord(phases=phases)).splitlines()
    assert bar.strip() == "░" * 8 + "█" * 27 + "░" * 5
    assert words.strip() == "░ preparing 2.00s  █ running 7.00s  ░ ending 1.00s"


def test_what_was_taken_stands_over_the_time_of_the_attempt() -> None:
    samples = (
        UsageSample(0.0, 0.0, 10_000_000),
        UsageSample(5.0, 10.0, 312_000_000),
        UsageSample(10.0, 10.0, None),
    )
    cpu, memory = said(AttemptRecord(samples=samples)).splitlines()
    assert cpu.endswith("2 cores at most")
    assert memory.endswith("312 MB at most")
    assert "█" in cpu
    assert "█" in memory


def test_a_line_over_time_has_a_cell_for_each_stretch_and_no_more() -> None:
    values = [(0.0, 1.0), (1.0, 8.0), (9.9, 4.0)]
    assert sparkline(values, 10.0, 10, UNICODE) == "▂████████▅"
    assert sparkline([(5.0, 0.0)], 10.0, 4, ASCII) == "  _"
    assert sparkline([(0.0, 1.0)], 0.0, 4, ASCII) == ""


def test_how_it_ended_and_what_it_took() -> None:
    record = AttemptRecord(
        exit=ProgramExit(None, 9),
        isolation="none",
        resources=ResourceFigures(34.2, 12.5, 312_000_000, 14, 1_200_000, 45_000),
        changes=ChangeCounts(5, 1, 0, 100),
        steps=12,
        tool_calls=30,
    )
    shown = said(record, limit="memory")
    assert "limit reached: memory · ended by signal 9 · isolation none (no sandbox)" in shown
    assert "34.2s CPU, 12.5s wall, 312 MB memory at most, 14 processes" in shown
    assert "1.2 MB on disk, 45.0 kB printed" in shown
    assert "12 steps, 30 tool calls, files: 5 added, 1 changed; w lists them" in shown


def test_of_a_call_to_a_model_nothing_is_said() -> None:
    assert said(AttemptRecord()) == ""
