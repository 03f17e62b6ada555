import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_eval.model.outputs.output import ExhaustedQuota, Failure
from tui_eval.providers.patience import (
    EndpointIdentity,
    Patience,
    of_status,
    of_timeout,
    of_wire,
)

WHERE = EndpointIdentity("api.example.com", "MY_KEY", "some-model")


def refused(status: int, error: object = None, **headers: str) -> Failure:
    body = b"" if error is None else json.dumps({"error": error}).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return of_status(status, named, body, WHERE)


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_a_passing_refusal_is_retried(status: int) -> None:
    got = refused(status, {"message": "not now"})
    assert got.retryable and not got.fatal and got.status == status
    assert "not now" in got.message


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 410, 413, 418, 422, 307])
def test_any_other_refusal_is_not(status: int) -> None:
    assert not refused(status, {"message": "never"}).retryable


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_stops_the_run_and_names_variable_and_host(status: int) -> None:
    got = refused(status, {"message": "Incorrect API key"})
    assert got.kind == "auth" and got.fatal
    assert "MY_KEY" in got.message and "api.example.com" in got.message


def test_a_key_that_was_never_sent_is_advised_differently() -> None:
    got = of_status(401, {}, b"{}", EndpointIdentity("api.example.com"))
    assert "api_key_env" in got.message


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (404, {"code": "model_not_found", "message": "The model `x` does not exist"}),
        (404, {"message": "model 'x' not found, try pulling it first", "type": "not_found_error"}),
        (400, {"message": "Invalid model: x", "type": "invalid_model", "code": "1500"}),
        (403, {"code": "model_not_found", "message": "no access"}),
    ],
)
def test_an_unknown_model_stops_the_run_and_is_named(status: int, error: object) -> None:
    got = refused(status, error)
    assert got.kind == "unknown_model" and got.fatal and not got.retryable
    assert "some-model" in got.message


def test_a_path_that_is_not_there_stops_the_run() -> None:
    got = refused(404, "Not Found")
    assert got.kind == "not_found" and got.fatal and "base_url" in got.message


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (429, {"code": "insufficient_quota", "message": "You exceeded your current quota"}),
        (402, {"message": "Insufficient Balance"}),
        (400, {"message": "Your credit balance is too low to access the API."}),
    ],
)
def test_an_exhausted_quota_stops_the_run_and_is_not_retried(status: int, error: object) -> None:
    got = refused(status, error, retry_after="1", x_should_retry="true")
    assert got.kind == "quota" and got.fatal and not got.retryable


def test_a_limit_that_only_speaks_of_quota_is_retried() -> None:
    got = refused(429, {"status": "RESOURCE_EXHAUSTED", "message": "exceeded your current quota"})
    assert got.kind == "rate_limit" and got.retryable and not got.fatal


def test_too_many_tokens_a_minute_is_a_limit_not_a_long_prompt() -> None:
    assert refused(429, {"message": "Too many tokens, please wait"}).kind == "rate_limit"


@pytest.mark.parametrize(
    "error",
    [
        {"code": "context_length_exceeded", "message": "This model's maximum context length is 8"},
        {"type": "exceed_context_size_error", "message": "request (9) exceeds the context size"},
        {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum"},
    ],
)
def test_a_context_that_is_too_long_ends_that_trial_only(error: object) -> None:
    got = refused(400, error)
    assert got.kind == "context_length" and not got.retryable and not got.fatal


def test_a_content_filter_ends_that_trial_only() -> None:
    got = refused(400, {"code": "content_filter", "message": "filtered"})
    assert got.kind == "content_filter" and not got.retryable and not got.fatal
    assert refused(403, {"message": "input was flagged"}).kind == "content_filter"


def test_the_endpoint_may_overrule_its_status() -> None:
    assert not refused(503, x_should_retry="false").retryable
    assert refused(400, x_should_retry="true").retryable
    assert not refused(401, x_should_retry="true").retryable


@pytest.mark.parametrize(
    "body",
    [
        b'{"error": {"message": "it says"}}',
        b'{"error": "it says"}',
        b'[{"error": {"message": "it says"}}]',
        b'{"message": "it says"}',
        b'{"detail": "it says"}',
        b"it says",
        b"<html><body>it says</body></html>",
    ],
)
def test_every_dialect_of_error_is_understood(body: bytes) -> None:
    said = of_status(418, {}, body, WHERE).message
    assert "it says" in said and "<" not in said and "{" not in said


@given(st.binary(max_size=300))
def test_no_error_body_is_too_strange_to_be_told_on_one_safe_line(body: bytes) -> None:
    said = of_status(500, {}, body, WHERE).message
    assert "\n" not in said and "\x1b" not in said


def test_nonsense_nested_deeply_is_survived() -> None:
    assert of_status(500, {}, b"[" * 60000, WHERE).retryable


def test_an_unknown_host_stops_the_run_unless_it_has_answered_before() -> None:
    first = of_wire("unknown_host", "no such name", WHERE, reached_before=False)
    assert first.kind == "unknown_host" and first.fatal and not first.retryable
    assert "api.example.com" in first.message and "base_url" in first.message
    later = of_wire("unknown_host", "no such name", WHERE, reached_before=True)
    assert later.kind == "connection" and later.retryable and not later.fatal


def test_a_port_where_nobody_listens_is_retried_and_then_stops_the_run() -> None:
    first = of_wire("refused", "refused", WHERE, reached_before=False)
    assert first.retryable and first.fatal and "running" in first.message
    later = of_wire("refused", "refused", WHERE, reached_before=True)
    assert later.retryable and not later.fatal


def test_a_certificate_that_does_not_fit_stops_the_run() -> None:
    got = of_wire("tls", "self-signed", WHERE, reached_before=False)
    assert got.fatal and not got.retryable


def test_a_timeout_says_how_long_it_was_waited() -> None:
    got = of_timeout(1.5, WHERE)
    assert got.kind == "timeout" and got.retryable and "1.5 s" in got.message


PASSING = Failure("server_error", "x", retryable=True)


def test_as_many_further_attempts_as_the_suite_says() -> None:
    patience, rng = Patience(retries=3), random.Random(0)
    pauses = [patience.pause_before_next(PASSING, n, rng) for n in range(1, 6)]
    assert [pause is not None for pause in pauses] == [True, True, True, False, False]
    assert Patience(retries=0).pause_before_next(PASSING, 1, rng) is None


def test_what_does_not_pass_is_never_tried_again() -> None:
    assert Patience(5).pause_before_next(Failure("auth", "x"), 1, random.Random(0)) is None


def test_what_the_endpoint_asked_for_wins() -> None:
    asked = Failure("rate_limit", "x", retryable=True, retry_after_s=17.0)
    assert Patience(5).pause_before_next(asked, 4, random.Random(0)) == 17.0


@given(st.integers(1, 10_000), st.integers(0, 2**32))
def test_a_pause_is_drawn_between_nothing_and_the_capped_doubling(n: int, seed: int) -> None:
    patience = Patience(retries=10_000, base_s=0.5, cap_s=30.0)
    pause = patience.pause_before_next(PASSING, n, random.Random(seed))
    assert pause is not None
    assert 0 <= pause <= min(30.0, 0.5 * 2 ** min(n - 1, 60))


def test_pauses_are_spread_so_that_no_herd_comes_back() -> None:
    rng = random.Random(1)
    pauses = [Patience(9).pause_before_next(PASSING, 5, rng) or 0.0 for _ in range(1000)]
    assert min(pauses) < 0.8 and max(pauses) > 7.2  # of 0..8 s


def test_a_refused_request_waits_for_the_limit_its_headers_name() -> None:
    gone = {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "2s"}
    got = of_status(429, gone, b"", WHERE)
    assert (got.retry_after_s, got.exhausted) == (2.0, ExhaustedQuota("tokens", 2.0))
    assert of_status(429, {**gone, "retry-after": "7"}, b"", WHERE).retry_after_s == 7.0
    broken = of_status(500, gone, b"", WHERE)
    assert (broken.retry_after_s, broken.exhausted) == (None, ExhaustedQuota("tokens", 2.0))


@pytest.mark.parametrize(
    "error",
    [
        {"message": "Invalid parameter: 'response_format' of type 'json_schema' is not supported"},
        {"message": "Unsupported value", "param": "text.format"},
        {"message": "x" * 5000 + " response_format"},
    ],
)
def test_a_form_of_reply_that_is_not_taken_is_told_apart(error: object) -> None:
    got = refused(400, error)
    assert (got.kind, got.fatal, got.retryable) == ("response_format", False, False)
    assert refused(422, error).kind == "bad_request"
