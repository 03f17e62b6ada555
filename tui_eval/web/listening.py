"""Where a server listens: one address, looked at before anything is opened on it."""

import socket
from collections.abc import Iterator
from dataclasses import dataclass

import psutil

from tui_eval.web.access import is_loopback


class ListenError(Exception):
    """Nothing can be listened on there; the message says why."""


@dataclass(frozen=True, slots=True)
class Place:
    """An address to listen on."""

    family: int
    address: str
    port: int
    """0: any that is free."""

    @property
    def loopback(self) -> bool:
        """Whether only this machine reaches it."""
        return is_loopback(self.address)

    @property
    def everywhere(self) -> bool:
        """Whether it stands for all addresses of the machine."""
        return self.address in ("0.0.0.0", "::")  # noqa: S104 - compared, not bound


def place_of(host: str, port: int) -> Place:
    """Return where a host's name leads: the first of its addresses.

    One only: with port 0 each would get a port of its own.

    Raises:
        ListenError: it leads nowhere.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise ListenError(f"--host {host}: no address of it is known ({error})") from error
    family, _, _, _, address = found[0]
    return Place(family, str(address[0]), port)


def listen(place: Place) -> socket.socket:
    """Return a socket that listens there.

    Raises:
        ListenError: it is taken, not this machine's, or not allowed.
    """
    opened = socket.socket(place.family, socket.SOCK_STREAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((place.address, place.port))
        opened.listen()
    except OSError as error:
        opened.close()
        where = f"{place.address}, port {place.port}"
        raise ListenError(f"cannot listen on {where}: {error.strerror or error}") from error
    return opened


def reachable_address(place: Place) -> str:
    """Return an address by which a browser comes to a place: its own, or one of the machine's."""
    if not place.everywhere:
        return place.address
    found = [one for one in machine_addresses() if not is_loopback(one)]
    return next((one for one in found if one.count(".") == 3), "127.0.0.1")


def machine_addresses() -> Iterator[str]:
    """Yield the names and IP addresses that this machine has."""
    yield socket.gethostname()
    for found in psutil.net_if_addrs().values():
        for one in found:
            if one.family in (socket.AF_INET, socket.AF_INET6):
                yield one.address
