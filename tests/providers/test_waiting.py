"""What headers say of waiting, in every dialect, and nothing where they make no sense."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_eval.model.outputs.output import ExhaustedQuota
from tui_eval.providers.waiting import LONGEST_WAIT_S, exhausted, retry_after

NOW = datetime(2025, 1, 1, tzinfo=UTC)
FAMILIES = {
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"): "requests",
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"): "tokens",
    ("x-ratelimit-remaining", "x-ratelimit-reset"): "calls",
    ("ratelimit-remaining", "ratelimit-reset"): "calls",
    ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"): "requests",
    (
        "anthropic-ratelimit-input-tokens-remaining",
        "anthropic-ratelimit-input-tokens-reset",
    ): "input-tokens",
}
RESETS: list[tuple[str, float | None]] = [
    ("1s", 1.0),
    ("6m0s", LONGEST_WAIT_S),
    ("1m30s", 90.0),
    ("20ms", 0.02),
    ("59.5s", 59.5),
    ("1m0.25s", 60.25),
    ("1h0m0s", LONGEST_WAIT_S),
    ("1d", LONGEST_WAIT_S),
    ("7", 7.0),
    ("0.5", 0.5),
    ("2025-01-01T00:00:12Z", 12.0),
    ("2025-01-01T01:00:12+01:00", 12.0),
    ("2025-01-01T00:00:12.5", 12.5),
    ("Wed, 01 Jan 2025 00:00:30 GMT", 30.0),
    (str(int(NOW.timestamp()) + 9), 9.0),
    (str((int(NOW.timestamp()) + 9) * 1000), 9.0),
    ("2026-01-01T00:00:00Z", LONGEST_WAIT_S),
    ("2024-01-01T00:00:00Z", None),
    ("0", None),
    ("0s", None),
    ("-3", None),
    ("-3s", None),
    ("500us", None),
    ("nan", None),
    ("inf", None),
    ("1e400", None),
    ("soon", None),
    ("", None),
    ("6 m", None),
    ("m", None),
    ("9999-12-31T23:59:59-23:59", LONGEST_WAIT_S),
    ("1" * 400 + "s", None),
]


@pytest.mark.parametrize(("text", "seconds"), RESETS)
@pytest.mark.parametrize("names", FAMILIES)
def test_nothing_remains_until_the_reset(
    names: tuple[str, str], text: str, seconds: float | None
) -> None:
    remaining, reset = names
    said = {remaining: "0", reset: text, "content-type": "application/json"}
    got = exhausted(said, NOW)
    if seconds is None:
        assert got is None
    else:
        assert got is not None
        assert got.what == FAMILIES[names]
        assert got.for_s == pytest.approx(seconds)


@pytest.mark.parametrize("left", ["1", "0.5", "many", "", "nan", "1e400"])
def test_something_remains_where_it_does_not_say_that_nothing_does(left: str) -> None:
    assert exhausted({"ratelimit-remaining": left, "ratelimit-reset": "9"}, NOW) is None


@pytest.mark.parametrize("none", ["0", "0.0", " 0 ", "-1"])
def test_nothing_remains_however_it_is_written(none: str) -> None:
    got = exhausted({"ratelimit-remaining": none, "ratelimit-reset": "9"}, NOW)
    assert got == ExhaustedQuota("calls", 9.0)


def test_without_a_reset_nobody_knows_until_when() -> None:
    assert exhausted({"x-ratelimit-remaining-requests": "0"}, NOW) is None


def test_of_several_the_longest_counts() -> None:
    said = {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "1s",
        "x-ratelimit-remaining-tokens": "0",
        "x-ratelimit-reset-tokens": "6s",
        "x-ratelimit-remaining": "5",
        "x-ratelimit-reset": "60",
    }
    assert exhausted(said, NOW) == ExhaustedQuota("tokens", 6.0)


def test_a_moment_is_measured_against_the_clock_of_the_one_who_named_it() -> None:
    said = {
        "anthropic-ratelimit-tokens-remaining": "0",
        "anthropic-ratelimit-tokens-reset": "2020-01-01T00:00:10Z",
        "date": "Wed, 01 Jan 2020 00:00:00 GMT",
    }
    assert exhausted(said, NOW) == ExhaustedQuota("tokens", 10.0)


@given(st.dictionaries(st.sampled_from(["d", "h", "m", "s", "ms"]), st.integers(0, 99)))
def test_a_duration_is_the_sum_of_its_parts(parts: dict[str, int]) -> None:
    units = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
    text = "".join(f"{parts[unit]}{unit}" for unit in units if unit in parts)
    total = sum(parts[unit] * units[unit] for unit in parts)
    got = exhausted({"ratelimit-remaining": "0", "ratelimit-reset": text}, NOW)
    assert (got is None) == (total == 0)
    assert got is None or got.for_s == pytest.approx(min(total, LONGEST_WAIT_S))


@given(st.datetimes(timezones=st.timezones()))
def test_every_moment_is_read_as_it_was_written(then: datetime) -> None:
    said = {"ratelimit-remaining": "0", "ratelimit-reset": then.isoformat()}
    seconds = (datetime.fromisoformat(then.isoformat()) - NOW) / timedelta(seconds=1)
    got = exhausted(said, NOW)
    assert (got is None) == (seconds <= 0)
    assert got is None or got.for_s == pytest.approx(min(seconds, LONGEST_WAIT_S))


odd = st.one_of(st.text(max_size=40), st.from_regex(r"[0-9.]{1,20}(ms|s|m|h|d){0,2}"))


@given(st.sampled_from(sorted(FAMILIES)), odd, odd)
def test_no_headers_make_a_wait_that_is_negative_or_longer_than_the_ceiling(
    names: tuple[str, str], left: str, reset: str
) -> None:
    got = exhausted({names[0]: left, names[1]: reset}, NOW)
    assert got is None or 0 < got.for_s <= LONGEST_WAIT_S


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "3600"}, LONGEST_WAIT_S),
        ({"retry-after": "Wed, 01 Jan 2025 00:00:30 GMT"}, 30.0),
        ({"retry-after": "Wed, 01 Jan 2025 00:00:30 -0000"}, 30.0),
        (
            {
                "retry-after": "Wed, 01 Jan 2020 00:00:10 GMT",
                "date": "Wed, 01 Jan 2020 00:00:00 GMT",
            },
            10.0,
        ),
        ({}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Wed, 01 Jan 2020 00:00:10 GMT"}, None),
        ({"retry-after": "Wed, 99 Jan 9999999 00:00:10 GMT"}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, datetime(2025, 1, 1, tzinfo=UTC)) == seconds


@given(st.text(max_size=40))
def test_no_retry_after_makes_a_wait_that_is_negative_or_longer_than_the_ceiling(
    text: str,
) -> None:
    seconds = retry_after({"retry-after": text})
    assert seconds is None or 0 <= seconds <= LONGEST_WAIT_S
