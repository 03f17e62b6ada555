"""What an attempt of a program left beside its output, in words: in the app and on the terminal."""

from tui_eval.format import many, number, seconds, size
from tui_eval.model.outputs.attempt_record import AttemptRecord


def exit_words(record: AttemptRecord) -> str | None:
    """Return how the program ended; None: nobody knows, or there was none."""
    ended = record.exit
    if ended is None or (ended.signal is None and ended.code is None):
        return None
    return f"exit code {ended.code}" if ended.signal is None else f"ended by signal {ended.signal}"


def isolation_words(record: AttemptRecord) -> str | None:
    """Return how it was kept from the rest of the machine; None: there was no program."""
    if record.isolation is None:
        return None
    return f"isolation {record.isolation}{' (no sandbox)' if record.isolation == 'none' else ''}"


def taken_words(record: AttemptRecord) -> list[str]:
    """Return what it took, as far as that was measured."""
    took = record.resources
    if took is None:
        return []
    cpu, wall, memory = took.cpu_s, took.wall_s, took.peak_rss_bytes
    at_once, disk, printed = took.peak_processes, took.disk_bytes, took.output_bytes
    words = (
        None if cpu is None else f"{seconds(cpu)} CPU",
        None if wall is None else f"{seconds(wall)} wall",
        None if memory is None else f"{size(memory)} memory at most",
        None if at_once is None else f"{many(at_once, 'process', 'processes')} at most",
        None if disk is None else f"{size(disk)} on disk",
        None if printed is None else f"{size(printed)} printed",
    )
    return [one for one in words if one is not None]


def done_words(record: AttemptRecord) -> list[str]:
    """Return how many steps it took, tools it called and files it changed, as far as it told."""
    words = []
    if record.steps is not None:
        words.append(many(record.steps, "step"))
    if record.tool_calls is not None:
        words.append(many(record.tool_calls, "tool call"))
    if record.changes is not None:
        words.append(_changes(record) or "nothing changed in its workspace")
    return words


def changed(record: AttemptRecord) -> bool:
    """Say whether anything was changed in its workspace."""
    return bool(_changes(record))


def _changes(record: AttemptRecord) -> str:
    of = record.changes
    if of is None:
        return ""
    counted = ((of.added, "added"), (of.changed, "changed"), (of.removed, "removed"))
    found = [f"{number(count)} {what}" for count, what in counted if count]
    return f"files: {', '.join(found)}" if found else ""
