"""What the programs of a run took, ran into and changed: in words, and for the document."""

from tui_eval.format import many, seconds, size
from tui_eval.model.json import Json
from tui_eval.model.visible import visible_line
from tui_eval.reports.json_output import rounded
from tui_eval.store.read.figures.program_figures import ProgramFigures


def program_line(of: ProgramFigures | None) -> str | None:
    """Return the line of a summary, with what is known; None: the run ran no program."""
    if of is None:
        return None
    levels = " and ".join(map(visible_line, of.isolation))
    parts = [f"{many(of.attempts, 'start')}{levels and f' with isolation {levels}'}"]
    if of.cpu_s is not None:
        parts.append(f"{seconds(of.cpu_s)} of processor time")
    if of.peak_rss_bytes is not None:
        parts.append(f"at most {size(of.peak_rss_bytes)} of memory")
    if of.changed_files:
        parts.append(f"{many(of.changed_files, 'file')} changed")
    if of.limits:
        apart = ", ".join(f"{visible_line(name, 40)} {n:,}" for name, n in of.limits.items())
        parts.append(f"{sum(of.limits.values()):,} ended by a limit ({apart})")
    return f"programs: {', '.join(parts)}"


def program_document(of: ProgramFigures | None) -> Json:
    """Return the `programs` of a run's document; null: the run ran none."""
    if of is None:
        return None
    return {
        "starts": of.attempts,
        "cpu_s": rounded(of.cpu_s),
        "peak_rss_bytes": of.peak_rss_bytes,
        "changed_files": of.changed_files,
        "limits": dict(of.limits),
        "isolation": dict(of.isolation),
    }
