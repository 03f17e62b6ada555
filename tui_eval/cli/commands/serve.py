"""`tui-eval serve`: the app in a browser."""

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui_eval.cli import streams
from tui_eval.cli.errors import FOLDER_GONE, CommandError, folder_is_there
from tui_eval.cli.options import store_file, store_option

if TYPE_CHECKING:
    from tui_eval.web.listening import Place

_TLS = "put TLS before it: what goes over the network can be read and changed on its way"


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path), metavar="PATH…")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="The address to listen on; one that other machines reach needs --read-only or --expose.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="The port to listen on.  [default: one that is free]",
)
@click.option(
    "--read-only",
    is_flag=True,
    help="Permit nothing that changes the store or a file, or starts anything.",
)
@click.option(
    "--expose",
    is_flag=True,
    help="Let other machines start programs here: whoever has the address can launch any suite.",
)
@click.option(
    "--allow-host",
    "allowed",
    multiple=True,
    metavar="NAME",
    help="Answer requests for this name too: that of a proxy before it.",
)
@store_option
def serve(
    paths: tuple[Path, ...],
    host: str,
    port: int,
    read_only: bool,
    expose: bool,
    allowed: tuple[str, ...],
    store: Path | None,
) -> int:
    """Serve the app to browsers: an app a tab, on suites and folders as `tui-eval` itself.

    The address that is printed has a token; who does not have it gets nothing. Closing a tab, and
    Ctrl+C here, end the apps; runs go on.
    """
    from tui_eval.web.access import Access, host_name, names_of
    from tui_eval.web.assets import MissingTerminalError, assets
    from tui_eval.web.listening import ListenError, listen, machine_addresses, place_of
    from tui_eval.web.server import TabCommand, WebServer

    if not folder_is_there():
        raise CommandError(FOLDER_GONE)
    for name in allowed:
        if host_name(name) != name.casefold():
            raise CommandError(
                f"--allow-host {name}: a host's name is wanted, without port or path"
            )
    file = store_file(store).absolute()
    try:
        files = assets()
        place = place_of(host, port)
        _refuse_exposed(place, host, read_only=read_only, expose=expose)
        listening = listen(place)
    except (MissingTerminalError, ListenError) as error:
        raise CommandError(str(error)) from error
    with listening:
        _prepare(file, read_only=read_only)
        bound: int = listening.getsockname()[1]
        addresses = [*machine_addresses()] if place.everywhere else [place.address, host]
        access = Access(names_of(addresses, allowed))
        server = WebServer(
            access,
            TabCommand(
                _tab_words(file, read_only=read_only), _tab_environment(), [*map(str, paths)]
            ),
            files,
            bound,
            streams.tell,
        )
        if not place.loopback:
            streams.tell(f"warning: {_TLS}")

        def ready() -> None:
            streams.say(_address(place, bound, access.token))
            streams.tell("open this address in a browser; Ctrl+C here ends the tabs, runs go on")

        asyncio.run(server.run(listening, ready))
    return 0


def _prepare(store: Path, *, read_only: bool) -> None:
    """Make the store, or bring it up to date, before any tab; where nothing may change, look.

    Raises:
        StoreError: that cannot be done, or there is none to look at.
    """
    from tui_eval.cli.named.runs import readable
    from tui_eval.store.connection import open_writable

    if read_only:
        with readable(store):
            return
    open_writable(store, streams.tell).close()


def _refuse_exposed(place: "Place", host: str, *, read_only: bool, expose: bool) -> None:
    if place.loopback or read_only or expose:
        return
    raise CommandError(
        f"--host {host}: other machines reach it, and whoever has the address can start programs "
        f"here. Say --read-only, or --expose if that is meant; {_TLS}"
    )


def _address(place: "Place", port: int, token: str) -> str:
    """Return the address to open."""
    from tui_eval.web.access import TOKEN
    from tui_eval.web.listening import reachable_address

    address = reachable_address(place)
    shown = f"[{address}]" if ":" in address else address
    return f"http://{shown}:{port}/?{TOKEN}={token}"


def _tab_words(store: Path, *, read_only: bool) -> list[str]:
    words = [sys.executable, "-P", "-m", "tui_eval", "tab", "--store", str(store)]
    return [*words, "--read-only"] if read_only else words


def _tab_environment() -> dict[str, str]:
    """Return what an app in a browser goes by: its terminal has all colours and all of Unicode."""
    environ = {name: value for name, value in os.environ.items() if name != "LC_ALL"}
    return {**environ, "LC_CTYPE": "C.UTF-8", "TERM": "xterm-256color"}
