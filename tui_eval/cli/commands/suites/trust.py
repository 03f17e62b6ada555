"""`tui-eval trust`: what suites are allowed to do beyond their own folder and their own keys."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui_eval.cli import streams
from tui_eval.cli.errors import CommandError
from tui_eval.cli.options import json_option
from tui_eval.invocation import command_name
from tui_eval.model.exit_code import ExitCode
from tui_eval.model.home import from_home
from tui_eval.model.visible import visible_line
from tui_eval.suites.data.files import real_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tui_eval.model.json import Json, JsonObject
    from tui_eval.suites.loading.suite_file import LoadedSuite
    from tui_eval.suites.trust.trust_store import TrustedPermission, TrustRecord

_suite = click.Path(exists=True, dir_okay=False, path_type=Path)
_suite_or_folder = click.Path(path_type=Path)


@click.group()
def trust() -> None:
    """See and say what suites are trusted with.

    A suite that reads outside its folder, or sends a key to a host that is not the key's own, asks
    first. Trust is by content: what changes is asked for again.
    """


@trust.command(name="list")
@json_option
def list_(as_json: bool) -> None:
    """List trusted folders, and suites with what they may do."""
    from tui_eval.reports import json_output
    from tui_eval.suites.trust.trust_store import TrustStore

    book = TrustStore()
    folders, suites = book.folders(), book.suites()
    if as_json:
        document: JsonObject = {
            "file": str(book.file),
            "folders": [{"path": str(one.path), "at": one.at} for one in folders],
            "suites": [
                {
                    "path": str(one.path),
                    "at": one.at,
                    "wishes": [_known(known) for known in one.permissions],
                }
                for one in suites
            ],
        }
        streams.say(json_output.dumps(document, indent=2))
        return
    if not folders and not suites:
        streams.tell(f"nothing is trusted; `{command_name()} trust add SUITE|FOLDER` changes that")
    for one in folders:
        _say(f"folder {one.path}: everything in it, since {one.at}")
    for one in suites:
        _say(f"suite {one.path}, since {one.at}, may")
        for known in one.permissions:
            _say(f"  {known.does}")


@trust.command()
@click.argument("suite", type=_suite, metavar="SUITE")
@json_option
def show(suite: Path, as_json: bool) -> None:
    """Say what a suite wants, and what is new in that.

    Only what needs trust is told, with what changed since the suite was trusted.
    Nothing outside the suite's folder is read that is not trusted already.
    """
    from tui_eval.reports import json_output
    from tui_eval.suites.loading.suite_file import look
    from tui_eval.suites.trust.trust_store import TrustStore, no_longer_wanted

    found = look(suite)
    book = TrustStore()
    record = book.of(suite)
    folder = book.folder_of(suite)
    # as long as it cannot be read as a whole, nobody knows what it does not want any more
    dropped = (
        no_longer_wanted(record, [ask.permission for ask in found.asks])
        if found.suite is not None
        else []
    )
    if as_json:
        streams.say(json_output.dumps(_document(suite, found, record, folder, dropped), indent=2))
        return
    for line in _told(suite, found, record, folder, dropped):
        _say(line)


@trust.command()
@click.argument("paths", nargs=-1, required=True, type=_suite_or_folder, metavar="SUITE|FOLDER…")
def add(paths: tuple[Path, ...]) -> int:
    """Trust suites with what they want now, or folders as a whole.

    Where a suite includes a file from outside its folder, what that file wants is only known once
    it is trusted: then there is something to trust again.
    """
    code = 0
    for path in paths:
        if path.is_dir():
            _trust_folder(path)
        elif not _trust_suite(path):
            code = ExitCode.NOT_STARTED
    return code


def _trust_folder(folder: Path) -> None:
    from tui_eval.suites.trust.trust_store import TrustStore

    try:
        record = TrustStore().trust_folder(folder)
    except ValueError as error:
        raise CommandError(str(error)) from None
    _say(f"{record.path}: every suite in it is trusted with anything")
    if record.path in (real_path(from_home("~")), Path(record.path.anchor)):
        streams.tell("note: that is a large folder; suites that somebody sends you may land in it")


def _trust_suite(suite: Path) -> bool:
    """Trust a suite with what can be known of it; False: it wants more after that."""
    from tui_eval.suites.loading.suite_file import look
    from tui_eval.suites.trust.trust_store import TrustStore

    found = look(suite)
    if not found.asks:
        _say(f"{suite}: wants nothing that needs trust")
        return True
    TrustStore().trust_suite(suite, [ask.permission for ask in found.asks])
    _say(f"{suite}: trusted to")
    for ask in found.asks:
        _say(f"  {ask.permission.does}")
    more = look(suite).refused
    if more:
        streams.tell(f"{suite}: what it reads now wants more:")
        for ask in more:
            streams.tell(f"  {ask.words}")
        streams.tell(f"look at it, then say `{command_name()} trust add {suite}` again")
    return not more


@trust.command()
@click.argument("paths", nargs=-1, required=True, type=_suite_or_folder, metavar="SUITE|FOLDER…")
def remove(paths: tuple[Path, ...]) -> int:
    """Trust suites or folders no more."""
    from tui_eval.suites.trust.trust_store import TrustStore

    book = TrustStore()
    code = 0
    for path in paths:
        if book.remove(path):
            _say(f"{path}: trusted no more")
        else:
            code = ExitCode.NOT_STARTED
            streams.tell(f"{path} is not trusted; `{command_name()} trust list` says what is")
        folder = book.folder_of(path)
        if folder is not None:
            streams.tell(f"note: {path} lies in {folder.path}, which is trusted as a whole")
    return code


def _told(
    suite: Path,
    found: "LoadedSuite",
    record: "TrustRecord | None",
    folder: "TrustRecord | None",
    dropped: "Sequence[TrustedPermission]",
) -> "Iterator[str]":
    if folder is not None:
        yield f"{suite}: lies in {folder.path}, which is trusted as a whole since {folder.at}"
    if not found.asks:
        yield f"{suite}: wants nothing that needs trust"
    else:
        yield f"{suite}: wants to"
    for ask in found.asks:
        yield f"  {ask.standing:<8} {ask.words}"
    for known in dropped:
        yield f"  gone     {known.does}"
    if found.suite is None:
        yield "  What lies outside the suite's folder was not read: it may want more."
    if record is not None:
        yield f"  trusted since {record.at}"
    if found.refused:
        yield f"`{command_name()} trust add {suite}` trusts it with this"


def _document(
    suite: Path,
    found: "LoadedSuite",
    record: "TrustRecord | None",
    folder: "TrustRecord | None",
    dropped: "Sequence[TrustedPermission]",
) -> "JsonObject":
    asks: list[Json] = [
        {
            "does": ask.permission.does,
            "exactly": ask.permission.exactly,
            "standing": ask.standing.value,
            "difference": ask.difference or None,
        }
        for ask in found.asks
    ]
    return {
        "file": str(suite),
        "wishes": asks,
        "gone": [_known(known) for known in dropped],
        "complete": found.suite is not None,
        "trusted": not found.refused,
        "trusted_since": record.at if record is not None else None,
        "trusted_folder": str(folder.path) if folder is not None else None,
    }


def _known(known: "TrustedPermission") -> "JsonObject":
    return {"does": known.does, "exactly": known.exactly, "content": known.content}


def _say(text: str) -> None:
    streams.say(visible_line(text))
