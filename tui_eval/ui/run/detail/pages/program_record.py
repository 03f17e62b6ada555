"""What a program's attempt went through and took: phases as a bar, figures over time below it."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from tui_eval.format import figure, seconds, size
from tui_eval.model.outputs.attempt_record import AttemptRecord, UsageSample
from tui_eval.reports.programs.program_words import (
    changed,
    done_words,
    exit_words,
    isolation_words,
    taken_words,
)
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.text.prose import Para, marked
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone

_LABEL = 7
"""Cells before a line over time: `memory `."""
_WORDS = 18
"""Cells after it, for the most there was."""
_LEAST = 8


def record_paras(
    record: AttemptRecord, took_s: float, limit: str | None, cells: int, indent: int, glyphs: Glyphs
) -> Iterator[Para]:
    """Yield what is known of an attempt of a program beside its output; nothing of any other.

    Args:
        record: What it left.
        took_s: Seconds it took in all.
        limit: The limit that ended it; None: none did, or that is not known.
        cells: Cells that a bar may have.
        indent: Cells before each line.
        glyphs: The shapes.
    """
    words = list(_ending(record, limit))
    if words:
        yield marked(*_joined(words, glyphs), indent=indent)
    if record.phases:
        yield from _phases(record, took_s, cells, indent, glyphs)
    yield from _over_time(record, took_s, cells, indent, glyphs)
    took = taken_words(record)
    if took:
        yield Para(", ".join(took), "dim", indent=indent)
    done = done_words(record)
    if done:
        listed = f"; {key('run.workspace', 'w')} lists them" if changed(record) else ""
        yield Para(f"{', '.join(done)}{listed}", "dim", indent=indent)


def _ending(record: AttemptRecord, limit: str | None) -> Iterator[tuple[str, Tone]]:
    if limit is not None:
        yield f"limit reached: {limit}", "ungraded"
    ended, words = record.exit, exit_words(record)
    if words is not None:
        fine = ended is not None and ended.code == 0
        yield words, "plain" if fine else "strong"
    isolation = isolation_words(record)
    if isolation is not None:
        yield isolation, "dim"


def _joined(words: Sequence[tuple[str, Tone]], glyphs: Glyphs) -> Iterator[tuple[str, Tone]]:
    for at, word in enumerate(words):
        if at:
            yield f" {glyphs.dot} ", "dim"
        yield word


def _phases(
    record: AttemptRecord, took_s: float, cells: int, indent: int, glyphs: Glyphs
) -> Iterator[Para]:
    """Yield the phases one behind the other, every second one in another shape, and their words."""
    begins = [one.at_s for one in record.phases]
    end = max(took_s, begins[-1])
    spans = [after - begin for begin, after in zip(begins, [*begins[1:], end], strict=True)]
    shapes: list[tuple[str, Tone]] = [
        (glyphs.called, "accent") if one.name == "running" else (glyphs.held, "plain")
        for one in record.phases
    ]
    if end > 0:
        shared = max(cells - len(spans), 0)  # each has a cell, however short it was
        edges = [round(begin / end * shared) for begin in begins] + [shared]
        bars = [
            (shape * (after - before + 1), tone)
            for (shape, tone), (before, after) in zip(shapes, pairwise(edges), strict=True)
        ]
        yield marked(*bars, indent=indent)
    words = (
        ((f"{shape} ", tone), (f"{one.name} {seconds(span)}  ", "dim"))
        for one, span, (shape, tone) in zip(record.phases, spans, shapes, strict=True)
    )
    yield marked(*(piece for pair in words for piece in pair), indent=indent)  # type: ignore[arg-type]


def _over_time(
    record: AttemptRecord, took_s: float, cells: int, indent: int, glyphs: Glyphs
) -> Iterator[Para]:
    samples = record.samples
    if len(samples) < 2:
        return
    end = max(took_s, samples[-1].at_s)
    cores = _cores(samples)
    memory = [(one.at_s, float(one.rss_bytes)) for one in samples if one.rss_bytes is not None]
    lines: tuple[tuple[str, list[tuple[float, float]], Callable[[float], str]], ...] = (
        ("CPU", cores, lambda most: f"{figure(round(most, 1))} cores at most"),
        ("memory", memory, lambda most: f"{size(round(most))} at most"),
    )
    for name, values, words in lines:
        if values:
            most = max(value for _, value in values)
            drawn = sparkline(values, end, max(cells - _LABEL - _WORDS, _LEAST), glyphs)
            yield marked(
                (f"{name:<{_LABEL}}", "dim"),
                (drawn, "accent"),
                (f"  {words(most)}", "dim"),
                indent=indent,
            )


def _cores(samples: Sequence[UsageSample]) -> list[tuple[float, float]]:
    """Return how much processor time was taken a second, at each sample but the first."""
    known = [(one.at_s, one.cpu_s) for one in samples if one.cpu_s is not None]
    return [
        (at, max(taken - before, 0.0) / (at - then))
        for (then, before), (at, taken) in pairwise(known)
        if at > then
    ]


def sparkline(values: Sequence[tuple[float, float]], end: float, cells: int, glyphs: Glyphs) -> str:
    """Return values over a time from 0 as one line: in each cell the largest that falls into it.

    A cell into which none falls has the one before; before the first it is empty.
    """
    if cells < 1 or end <= 0:
        return ""
    most = max(value for _, value in values)
    largest: list[float | None] = [None] * cells
    for at, value in values:
        cell = min(int(at / end * cells), cells - 1)
        largest[cell] = max(value, largest[cell] or 0.0)
    last = max(min(int(at / end * cells), cells - 1) for at, _ in values)
    line: list[str] = []
    for level in largest[: last + 1]:
        if level is not None:
            line.append(_level(level, most, glyphs))
        else:
            line.append(line[-1] if line else " ")
    return "".join(line)


def _level(value: float, most: float, glyphs: Glyphs) -> str:
    if most <= 0:
        return glyphs.levels[0]
    return glyphs.levels[min(int(value / most * len(glyphs.levels)), len(glyphs.levels) - 1)]
