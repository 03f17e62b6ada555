"""Where a server listens."""

import pytest

from tui_eval.web.listening import (
    ListenError,
    Place,
    listen,
    machine_addresses,
    place_of,
    reachable_address,
)


def test_loopback_is_told_from_the_rest() -> None:
    assert place_of("127.0.0.1", 0).loopback
    assert place_of("localhost", 0).loopback
    assert not place_of("0.0.0.0", 0).loopback
    assert place_of("0.0.0.0", 0).everywhere
    assert not place_of("192.0.2.1", 0).loopback


def test_an_address_to_open_is_one_that_a_browser_can_reach() -> None:
    assert reachable_address(place_of("127.0.0.1", 0)) == "127.0.0.1"
    assert reachable_address(place_of("0.0.0.0", 0)) != "0.0.0.0"
    assert "127.0.0.1" in [*machine_addresses()]


def test_what_cannot_be_listened_on_is_a_reason() -> None:
    with pytest.raises(ListenError, match="no address"):
        place_of("no name at all", 0)
    with listen(place_of("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        place = Place(taken.family, "127.0.0.1", port)
        with pytest.raises(ListenError, match=rf"127\.0\.0\.1, port {port}: .*in use"):
            listen(place)
    with pytest.raises(ListenError, match="cannot listen on 192"):
        listen(place_of("192.0.2.1", 0))
