"""Who may ask for anything: rules over a request's headers, and nothing else.

Three attacks are met. *Another person* on the machine or network does not know the token. *Another
page* in the same browser may send requests here: browsers say in `Origin` where it is from, and
keep back a cookie that is `SameSite=Strict`. *A name that is pointed here* (DNS rebinding) makes
such a page look like ours: its `Host` is none of the names we go by.
"""

import ipaddress
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

TOKEN: Final = "token"  # noqa: S105 - the name of a field
"""The field of the address that has the token."""
LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "::1")


def _drawn() -> str:
    return secrets.token_urlsafe(32)


@dataclass(frozen=True, slots=True)
class WebRequest:
    """What of a request decides whether it is answered."""

    hosts: Sequence[str]
    """Its `Host` headers; exactly one is right."""
    origins: Sequence[str]
    """Its `Origin` headers; none where a person follows a link or types an address."""
    cookie: str | None
    """The value of our cookie."""
    token: str | None
    """The token in the address."""
    opens_socket: bool = False
    """Whether it opens a WebSocket, for which every browser says its origin."""


@dataclass(frozen=True, slots=True)
class Access:
    """What a server goes by for as long as it runs."""

    names: frozenset[str]
    """Hosts that requests may be for, in small letters, without a port. Any port is right: a tunnel
    or a proxy has one of its own, and a rebound name is still a wrong name."""
    token: str = field(default_factory=_drawn, repr=False)
    """Drawn at the start: 256 bits."""
    cookie: str = field(default_factory=_drawn, repr=False)
    """What the cookie holds: not the token, so that neither gives the other away."""

    def admits(self, asked: WebRequest) -> bool:
        """Say whether a request brings the token; it is looked at only where `refusal` allows."""
        return asked.token is not None and _same(asked.token, self.token)

    def refusal(self, asked: WebRequest) -> str | None:
        """Return why a request is not answered; None: it may be, its token or cookie aside."""
        if len(asked.hosts) != 1 or host_name(asked.hosts[0]) not in self.names:
            return "this host is none that tui-eval serve answers for; --allow-host NAME adds one"
        if len(asked.origins) > 1 or any(
            not own_origin(origin, asked.hosts[0]) for origin in asked.origins
        ):
            return "the request comes from a page of another origin"
        if asked.opens_socket and not asked.origins:
            return "a WebSocket is opened by the page of tui-eval serve alone"
        return None

    def knows(self, asked: WebRequest) -> bool:
        """Say whether a request brings the cookie."""
        return asked.cookie is not None and _same(asked.cookie, self.cookie)


def host_name(host: str) -> str | None:
    """Return the name of a `Host` header, in small letters, without its port; None: it has none."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port  # raises where it is no port
    except ValueError:
        return None
    if parts.path or parts.query or parts.fragment or "@" in host or "?" in host or "#" in host:
        return None
    return parts.hostname


def own_origin(origin: str, host: str) -> bool:
    """Say whether an origin is the one that a request with this `Host` is for.

    The scheme may be either: what stands before us may speak TLS.
    """
    scheme, separator, authority = origin.partition("://")
    return (
        bool(separator) and scheme in ("http", "https") and authority.casefold() == host.casefold()
    )


def names_of(addresses: Iterable[str], more: Iterable[str] = ()) -> frozenset[str]:
    """Return the names that a server goes by.

    Args:
        addresses: What it listens on, and names of the machine.
        more: Names somebody added.
    """
    return frozenset(
        name.strip("[]").partition("%")[0].casefold()
        for name in (*LOOPBACK_NAMES, *addresses, *more)
    )


def is_loopback(address: str) -> bool:
    """Say whether an IP address is reached from this machine alone."""
    try:
        return ipaddress.ip_address(address.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _same(given: str, wanted: str) -> bool:
    return secrets.compare_digest(given.encode("utf-8", "surrogateescape"), wanted.encode())
