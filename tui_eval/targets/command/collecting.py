"""What comes of a program that has ended: an output, or why there is none."""

import json
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import starmap
from typing import Final

from tui_eval.model.json import Json
from tui_eval.model.outputs.attempt_record import (
    AttemptRecord,
    ProgramExit,
    ResourceFigures,
)
from tui_eval.model.outputs.output import Failure, Output, self_reported
from tui_eval.processes.program import ERR, OUT, EndCause, ProgramEnding
from tui_eval.processes.workspace.changes import WorkspaceChanges, compare
from tui_eval.processes.workspace.manifest import Manifest, ManifestEntry, take_manifest
from tui_eval.processes.workspace.path_patterns import PathPatterns
from tui_eval.providers import keys
from tui_eval.store.files import FileStore
from tui_eval.suites.data import jsonpath
from tui_eval.suites.spec import CommandTargetSpec
from tui_eval.suites.spec.agents import AGENTS
from tui_eval.targets.command import printed
from tui_eval.targets.command.conversation import conversation, said_last
from tui_eval.targets.command.trial_folder import TrialFolder
from tui_eval.targets.command.workspace_diff import patch
from tui_eval.targets.command.workspace_file import content, holds
from tui_eval.targets.transcripts import Reader, reader_of

_MOST: Final = 10_000_000
"""Bytes of a file that becomes an output."""
_MOST_TOLD: Final = 64_000_000
"""Bytes of a transcript in a file."""


class _NothingThereError(Exception):
    """There is no such text in what the program left; the message is for people."""


@dataclass(frozen=True)
class EndedProgram:
    """A program that has ended, and where what it left is."""

    folder: TrialFolder
    ending: ProgramEnding
    before: Manifest
    """The files of its workspace before it ran."""
    limit: str | None = None
    """The limit of its own word that ended it; None: none did."""


def collect(
    spec: CommandTargetSpec, ended: EndedProgram, files: FileStore, secrets: Sequence[bytes] = ()
) -> Output | Failure:
    """Return what came of a trial's program; blocking, and long where it left much.

    What it changed in its workspace is on the disk when this returns.

    Args:
        spec: The target.
        ended: The program.
        files: Where changed files are kept; held.
        secrets: Keys; a changed file that holds one is listed and not kept.

    Raises:
        OSError: what it left cannot be read, or not be kept.
    """
    folder, ending = ended.folder, ended.ending
    folder.see_to_workspace()
    after = take_manifest(folder.workspace, former=ended.before, unlock=True)
    changes = compare(ended.before, after)
    kept = files.keep_workspace(folder.workspace, _without_secrets(folder, changes, secrets))
    reader = _transcript(spec, ended)
    record = AttemptRecord(
        exit=ProgramExit(ending.exit_code, ending.signal),
        isolation=ending.isolation,
        resources=_figures(ending),
        changes=kept.counts,
        steps=None if reader is None else reader.steps,
        tool_calls=None if reader is None else reader.tool_calls,
        files=kept.files,
        printed=printed.both_ends(folder.program / ERR, ending.err),
    )
    limit = ended.limit or (ending.limit if ending.cause is EndCause.LIMIT else None)
    finish = _finish(spec, ended, reader) if limit is None else f"limit:{limit}"
    if ending.out.error is not None:
        why = f"what it printed could not be kept: {ending.out.error}"
        finish = Failure("disk", why, retryable=True)
    text = None
    if isinstance(finish, str):
        try:
            text = _text(spec, ended, changes, reader)
        except _NothingThereError as error:
            if limit is None:
                finish = Failure("output", str(error))
    out = None
    if isinstance(finish, Failure) or not _told_already(spec, reader.failure if reader else None):
        out = printed.both_ends(folder.program / OUT, ending.out)
    if isinstance(finish, Failure):
        failed = replace(finish, record=record, workspace=kept.digest, partial=out)
        return self_reported(failed if reader is None else _so_far(spec, failed, reader))
    return _with_transcript(
        Output(
            text=None if text is None else keys.redact_answer(text),
            finish_reason=finish,
            workspace=kept.digest,
            record=_beside(record, out),
            latency_s=ending.resources.wall_s,
        ),
        reader,
    )


def _told_already(spec: CommandTargetSpec, failure: Failure | None) -> bool:
    """Say whether what was printed is the output, or the conversation that was read of it."""
    return spec.text_of == "stdout" or _is_read(spec, failure)


def _is_read(spec: CommandTargetSpec, failure: Failure | None) -> bool:
    """Say whether the conversation is all that was printed, as far as it is of its format."""
    is_printed = spec.told is not None and spec.told.from_ == "stdout"
    return is_printed and (failure is None or failure.kind != "transcript")


def _beside(record: AttemptRecord, out: str | None) -> AttemptRecord:
    """Return a record with what was printed on standard output, too."""
    return replace(record, printed="\n".join(filter(None, (record.printed, out))) or None)


def _so_far(spec: CommandTargetSpec, failed: Failure, reader: Reader) -> Failure:
    """Return a failure with the conversation by then, and what it says it took."""
    failed = replace(failed, usage=reader.usage, cost_usd=reader.cost_usd)
    messages = conversation(reader)
    if not messages:
        return failed
    out = None if _is_read(spec, failed) else failed.partial
    return replace(
        failed,
        partial=said_last(reader),
        messages=messages,
        record=_beside(failed.record, out),
    )


def _without_secrets(
    folder: TrialFolder, changes: WorkspaceChanges, secrets: Sequence[bytes]
) -> WorkspaceChanges:
    """Return changes in which no name has a key, and files that hold one are not kept."""
    if not secrets:
        return changes

    def told(path: bytes, entry: ManifestEntry) -> tuple[bytes, ManifestEntry]:
        if entry.target is not None:
            entry = replace(entry, target=_redacted(entry.target))
        if any(secret in path for secret in secrets):
            return _redacted(path), replace(entry, digest=None, error="its name holds a key")
        if entry.digest is not None and holds(folder.workspace, path, secrets):
            entry = replace(entry, digest=None, error="it holds a key")
        return path, entry

    return replace(
        changes,
        added=_by_path(starmap(told, changes.added)),
        changed=_by_path(starmap(told, changes.changed)),
        removed=tuple(sorted(map(_redacted, changes.removed))),
    )


def _by_path(
    entries: Iterable[tuple[bytes, ManifestEntry]],
) -> tuple[tuple[bytes, ManifestEntry], ...]:
    return tuple(sorted(entries, key=lambda one: one[0]))


def _redacted(name: bytes) -> bytes:
    return os.fsencode(keys.redact_answer(os.fsdecode(name)))


def _with_transcript(output: Output, reader: Reader | None) -> Output:
    if reader is None:
        return output
    return self_reported(
        replace(
            output,
            messages=conversation(reader),
            model=reader.model,
            usage=reader.usage,
            cost_usd=reader.cost_usd,
        )
    )


def _finish(spec: CommandTargetSpec, ended: EndedProgram, reader: Reader | None) -> str | Failure:
    """Return the finish reason of a program that ended by itself, or why it failed."""
    preset = None if spec.agent is None else AGENTS[spec.agent]
    code = ended.ending.exit_code
    if preset is not None and code is not None and code in preset.limit_codes:
        return preset.limit_codes[code]
    told = None if reader is None else reader.failure
    reason = None if reader is None else reader.finish_reason
    if told is None and reason is not None and reason.startswith("limit:"):
        return reason  # agents that keep to a limit of their own end with a code that says failure
    fine = code in spec.exit_codes
    if told is not None and (fine or told.kind != "transcript"):
        return told
    if not fine:
        failed = _exit_failure(ended, _said_last(spec, reader))
        if preset is not None and code in preset.auth_codes:
            return replace(failed, kind="auth", fatal=True)
        return failed
    if reader is not None and reader.TELLS_END and reason is None:
        why = f"its transcript breaks off: {reader.FORMAT} says at the end how it ended"
        return Failure("transcript", why, retryable=True)
    return reason or "stop"


def _transcript(spec: CommandTargetSpec, ended: EndedProgram) -> Reader | None:
    """Read a program's transcript from its first byte to its end."""
    told = spec.told
    if told is None:
        return None
    reader = reader_of(told.format)
    head, _, path = told.from_.partition(":")
    if head == "file":
        with suppress(OSError):  # nothing of that format is there, which the reader says
            reader.feed(content(ended.folder.workspace, os.fsencode(path), _MOST_TOLD))
    else:
        for piece in printed.pieces(ended.folder.program / OUT, ended.ending.out):
            reader.feed(piece)
    reader.finish()
    return reader


def _text(
    spec: CommandTargetSpec, ended: EndedProgram, changes: WorkspaceChanges, reader: Reader | None
) -> str | None:
    """Return the text of the output.

    Raises:
        _NothingThereError: there is none.
    """
    head, _, rest = spec.text_of.partition(":")
    folder = ended.folder
    match head:
        case "last_message":
            assert reader is not None, "without a transcript a suite is refused"
            return reader.text
        case "diff":
            return patch(folder.original, folder.workspace, _work(spec, changes))
        case "file":
            return _file(folder, rest)
    said = printed.text(folder.program / OUT, ended.ending.out)
    return _at_path(said, rest) if head == "json" else said.rstrip("\n")


def _work(spec: CommandTargetSpec, changes: WorkspaceChanges) -> WorkspaceChanges:
    """Return changes that are work: not of its transcript, and not of what is protected.

    All of them are listed and kept.
    """
    head, _, path = ("" if spec.told is None else spec.told.from_).partition(":")
    transcript = os.fsencode(os.path.normpath(path)) if head == "file" else None
    protected = PathPatterns(spec.protected)

    def counts(path: bytes) -> bool:
        return path != transcript and not protected.match(path)

    return replace(
        changes,
        added=tuple(one for one in changes.added if counts(one[0])),
        changed=tuple(one for one in changes.changed if counts(one[0])),
        removed=tuple(one for one in changes.removed if counts(one)),
    )


def _file(folder: TrialFolder, path: str) -> str:
    try:
        return content(folder.workspace, os.fsencode(path), _MOST).decode("utf-8", "replace")
    except OSError as error:
        why = error.strerror or str(error)
        raise _NothingThereError(f"its output should be in the file {path}: {why}") from error


def _at_path(said: str, path: str) -> str:
    try:
        value: Json = json.loads(said)
        found = jsonpath.parse(path).find(value)
    except (ValueError, RecursionError) as error:
        raise _NothingThereError("it printed no JSON, and its output is taken from it") from error
    if not found:
        raise _NothingThereError(f"the JSON that it printed has nothing at {path}")
    first = found[0]
    return first if isinstance(first, str) else json.dumps(first, ensure_ascii=False)


def _said_last(spec: CommandTargetSpec, reader: Reader | None) -> str | None:
    """Return what the transcript that was printed says last; None: it says nothing, or is none."""
    if reader is None or reader.text is None or not _is_read(spec, reader.failure):
        return None
    return f"it said last: {reader.text}"


def _exit_failure(ended: EndedProgram, said_last: str | None) -> Failure:
    """Return the failure of a program that ended with an exit code which is none of those named."""
    ending = ended.ending
    how = (
        f"code {ending.exit_code}" if ending.signal is None else f"ended by signal {ending.signal}"
    )
    message = f"{how}: {printed.last_lines(ended.folder.program, ending, said_last)}"
    if ending.oom:
        return Failure("memory", f"the machine ran out of memory; {message}", retryable=True)
    return Failure("exit", message)


def _figures(ending: ProgramEnding) -> ResourceFigures:
    took = ending.resources
    return ResourceFigures(
        cpu_s=took.cpu_s,
        wall_s=took.wall_s,
        peak_rss_bytes=took.peak_memory,
        peak_processes=took.peak_processes,
        disk_bytes=took.disk,
        output_bytes=took.output,
    )
