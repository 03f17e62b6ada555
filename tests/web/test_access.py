"""Who is answered: hosts, origins, token and cookie."""

from dataclasses import replace

import pytest

from tui_eval.web.access import Access, WebRequest, host_name, is_loopback, names_of, own_origin

ACCESS = Access(names_of(["127.0.0.1"], ["evals.example.org"]))
HOST = "127.0.0.1:8000"
PAGE = WebRequest(hosts=[HOST], origins=[], cookie=None, token=None)
SOCKET = replace(PAGE, origins=[f"http://{HOST}"], opens_socket=True)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1:8000",
        "127.0.0.1",
        "LOCALHOST:8000",
        "[::1]:8000",
        "localhost:9999",  # through a tunnel, which has a port of its own
        "evals.example.org",
    ],
)
def test_a_host_that_the_server_goes_by_is_answered(host: str) -> None:
    assert ACCESS.refusal(replace(PAGE, hosts=[host])) is None


@pytest.mark.parametrize(
    "hosts",
    [
        [],
        [""],
        ["evil.example"],
        ["127.0.0.1.evil.example:8000"],
        ["localhost.evil.example"],
        ["evil.example@127.0.0.1"],
        ["127.0.0.1:8000/.evil.example"],
        ["127.0.0.1:port"],
        ["[::1"],
        [HOST, "evil.example"],
        [HOST, HOST],
    ],
)
def test_any_other_host_is_refused(hosts: list[str]) -> None:
    assert "host" in str(ACCESS.refusal(replace(PAGE, hosts=hosts)))


@pytest.mark.parametrize(
    "origins",
    [
        ["http://evil.example"],
        ["null"],
        [""],
        ["http://localhost:8000"],  # another name is another origin
        ["http://127.0.0.1:3000"],  # another server of this machine
        ["http://127.0.0.1"],
        ["http://127.0.0.1:8000.evil.example"],
        ["http://127.0.0.1:8000/"],
        ["file://127.0.0.1:8000"],
        [f"http://{HOST}", "http://evil.example"],
    ],
)
def test_a_page_of_another_origin_is_refused(origins: list[str]) -> None:
    for asked in (PAGE, SOCKET):
        assert "origin" in str(ACCESS.refusal(replace(asked, origins=origins)))


def test_the_own_origin_is_answered_whatever_speaks_tls() -> None:
    assert own_origin(f"http://{HOST}", HOST)
    assert own_origin("https://Evals.example.org", "evals.example.org")


def test_a_socket_is_opened_by_a_page_alone() -> None:
    assert ACCESS.refusal(SOCKET) is None
    assert "WebSocket" in str(ACCESS.refusal(replace(SOCKET, origins=[])))


def test_token_and_cookie_are_compared_whole() -> None:
    assert ACCESS.admits(replace(PAGE, token=ACCESS.token))
    assert ACCESS.knows(replace(PAGE, cookie=ACCESS.cookie))
    for wrong in (None, "", ACCESS.token[:-1], f"{ACCESS.token}x", "é", "\udcff"):
        assert not ACCESS.admits(replace(PAGE, token=wrong))
        assert not ACCESS.knows(replace(PAGE, cookie=wrong))
    assert not ACCESS.knows(replace(PAGE, cookie=ACCESS.token))


def test_each_server_draws_its_own_and_shows_neither() -> None:
    other = Access(ACCESS.names)
    assert len({ACCESS.token, ACCESS.cookie, other.token, other.cookie}) == 4
    assert ACCESS.token not in repr(ACCESS)
    assert ACCESS.cookie not in repr(ACCESS)


def test_names_are_read_without_ports_and_zones() -> None:
    assert host_name("Example.org:80") == "example.org"
    assert "fe80::1" in names_of(["fe80::1%eth0"])
    assert is_loopback("127.8.8.8")
    assert is_loopback("::1")
    assert not is_loopback("0.0.0.0")
    assert not is_loopback("name")
