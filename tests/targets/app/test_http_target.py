"""An app is asked with a request out of templates, and its answer is read by JSON paths."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.sampling import one_in
from tests.servers.fake_app import App, AppCall, AppReply, FakeApp, json_app
from tests.targets.making import COLUMN, case, only, suite
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure, Output, Usage
from tui_eval.providers import keys
from tui_eval.providers.app_endpoint import AppEndpoint, AppRequest
from tui_eval.providers.http.event_streams import ServerSentEvents
from tui_eval.targets import Target, build, notes
from tui_eval.targets.attempt.attempt_context import AttemptContext
from tui_eval.targets.base import NothingToSendError

KEY = "sk-7f3a91c24e5d6b80"


def described(origin: str, **more: Any) -> dict[str, Any]:
    return {
        "kind": "http",
        "url": f"{origin}/ask",
        "body": {"question": "{{ question }}"},
        "output": "$.answer",
        **more,
    }


@asynccontextmanager
async def asked(app: App, **more: Any) -> AsyncIterator[tuple[FakeApp, Target]]:
    async with FakeApp(app) as server, only(described(server.origin, **more)) as target:
        yield server, target


async def got(target: Target, timeout_s: float = 20, **fields: Any) -> Output | Failure:
    request = target.request(COLUMN, case(**{"question": "q", **fields}))
    assert not isinstance(request, Failure), request
    return await target.generate(request, AttemptContext(timeout_s))


async def output(app: App, **more: Any) -> Output:
    async with asked(app, **more) as (_, target):
        found = await got(target)
    assert isinstance(found, Output), found
    return found


async def failure(app: App, timeout_s: float = 20, **more: Any) -> Failure:
    async with asked(app, **more) as (_, target):
        found = await got(target, timeout_s)
    assert isinstance(found, Failure), found
    return found


def says(answer: Any) -> App:
    return lambda _: AppReply(answer)


# --- requests ---------------------------------------------------------------------------------


def request(of: dict[str, Any], user: str = "{{ question }}", **fields: Any) -> JsonObject:
    target = only({"kind": "http", "name": "t", **of}, user=user)
    found = target.request(COLUMN, case(**fields))
    assert not isinstance(found, Failure), found
    return found


async def test_values_keep_json_valid_whatever_they_hold() -> None:
    odd = 'a "quote"\nand \\ a line, {{ no }} \u2028 é'
    async with asked(json_app(lambda body: {"answer": body["question"]})) as (server, target):
        found = await got(target, question=odd)
    assert isinstance(found, Output)
    assert found.text == odd
    (call,) = server.calls
    assert (call.method, call.path) == ("POST", "/ask")
    assert call.headers["content-type"] == "application/json"
    assert call.json == {"question": odd}


def test_a_value_keeps_its_type_and_a_list_its_form() -> None:
    body = {"k": "{{ k }}", "tags": ["{{ a }}", "x"], "deep": {"all": "{{ all }}"}, "n": 3}
    found = request(
        {"url": "https://a.example/", "body": body}, k=5, a="é", all=[1, None], question="q"
    )
    assert found["body"] == {"k": 5, "tags": ["é", "x"], "deep": {"all": [1, None]}, "n": 3}


def test_json_in_a_text_takes_values_as_a_table_does() -> None:
    found = request(
        {"url": "https://a.example/", "body": '{"q": "{{ question }}", "k": 1}'},
        question='say "hi"',
    )
    assert found["body"] == {"q": 'say "hi"', "k": 1}
    assert found["headers"] == {"content-type": "application/json"}


def test_a_text_is_sent_as_it_is() -> None:
    found = request({"url": "https://a.example/", "body": "Q: {{ question }}"}, question="é?")
    assert found["text"] == "Q: é?"
    assert found["headers"] == {"content-type": "text/plain; charset=utf-8"}


def test_a_text_that_says_it_is_json_and_is_none_is_refused() -> None:
    of = {
        "kind": "http",
        "url": "https://a.example/",
        "body": '{"q": {{ question }}}',
        "headers": {"Content-Type": "application/json"},
    }
    target = only(of)
    found = target.request(COLUMN, case(question="two words"))
    assert isinstance(found, Failure)
    assert found.kind == "template"
    assert "targets.t.body: is no JSON once it is rendered" in found.message
    assert "tojson" in found.message
    assert (
        request({**of, "body": '{"q": {{ question | tojson }}}'}, question='"')["text"]
        == '{"q": "\\""}'
    )


def test_the_prompt_can_be_put_into_the_body() -> None:
    body = {"messages": "{{ messages }}", "text": "{{ prompt }}"}
    found = request({"url": "https://a.example/", "body": body}, "Say {{ q }}", q="hi")
    assert found["body"] == {
        "messages": [{"role": "user", "content": "Say hi"}],
        "text": "Say hi",
    }


@pytest.mark.parametrize(
    ("url", "value", "sent"),
    [
        ("/a/{{ q }}", "b/../c?x#y", "/a/b%2F..%2Fc%3Fx%23y"),
        ("/a?q={{ q }}&k=1", "1&k=2 é", "/a?q=1%26k%3D2%20%C3%A9&k=1"),
        ("/a?q={{ q | urlencode }}", "a b/c", "/a?q=a%20b/c"),
        ("/a?q={{ q | upper }}{# a comment #}", "é", "/a?q=%C3%89"),
        ("/a/{{ q }}", 7, "/a/7"),
        ("?q={{ q }}", "x", "?q=x"),
    ],
)
def test_a_value_changes_nothing_of_what_a_url_is_made_of(url: str, value: Any, sent: str) -> None:
    found = request({"url": f"https://a.example{url}"}, "x", q=value)
    assert found["url"] == f"https://a.example{sent}"
    assert found["method"] == "GET"


def test_parameters_go_into_a_table_and_else_into_the_query() -> None:
    params = {"k": 3, "mode": "fast", "tags": ["a", "b c"]}
    of = {"url": "https://a.example/x?v=1", "params": params}
    assert request({**of, "body": {"k": 5}}, question="q")["body"] == {**params, "k": 5}
    query = "https://a.example/x?v=1&k=3&mode=fast&tags=a&tags=b%20c"
    assert request(of, question="q")["url"] == query
    assert request({**of, "body": "text"}, question="q")["url"] == query


def test_a_header_takes_values_and_no_line_breaks() -> None:
    of = {"url": "https://a.example/", "headers": {"X-Tenant": "t-{{ question }}"}}
    assert request(of, question="7")["headers"] == {"x-tenant": "t-7"}
    target = only({"kind": "http", "name": "t", **of})
    found = target.request(COLUMN, case(question="7\r\nX-Admin: yes"))
    assert isinstance(found, Failure)
    assert "targets.t.headers.X-Tenant: holds a line break" in found.message


def test_half_a_character_is_refused_where_it_cannot_be_sent() -> None:
    for of in (
        {"url": "https://a.example/{{ q }}"},
        {"url": "https://a.example/", "body": "x{{ q }}"},
    ):
        target = only({"kind": "http", **of}, user="x")
        found = target.request(COLUMN, case(q="\ud800"))
        assert isinstance(found, Failure)
        assert "half a character" in found.message
    assert request({"url": "https://a.example/", "body": ["{{ q }}"]}, "x", q="\ud800")["body"] == [
        "\ud800"
    ]


def test_what_decides_about_an_answer_is_in_the_key() -> None:
    plain = described("https://a.example")
    known = only(plain).identity()
    changed: list[dict[str, Any]] = [
        {"version": "2"},
        {"output": "$.other"},
        {"fields": {"a": "$.a"}},
        {"tool_calls": "$.calls"},
        {"messages": "$.messages"},
        {"finish_reason": "$.why"},
        {"usage": {"input": "$.n"}},
        {"stream": "sse"},
        {"poll": {"url": "/jobs/{{ response.id }}", "until": "{{ response.done }}"}},
        {"api_key_env": "APP_KEY"},
        {"api_key_env": "APP_KEY", "api_key_header": "X-Key"},
    ]
    identities = [known, *(only({**plain, **change}).identity() for change in changed)]
    assert len({json.dumps(one, sort_keys=True) for one in identities}) == len(identities)
    same: list[dict[str, Any]] = [
        {"concurrency": 3},
        {"rpm": 5},
        {"prices": {"input": 1, "output": 2}},
    ]
    assert all(only({**plain, **change}).identity() == known for change in same)


def test_what_polling_names_of_a_case_is_in_its_request() -> None:
    poll = {"url": "/jobs/{{ tenant }}/{{ response.id }}", "until": "{{ response.n >= wanted }}"}
    of = {"url": "https://a.example/", "body": {}, "poll": poll}
    found = request(of, tenant="a", wanted=3, other="x", question="q")
    assert found["poll"] == {"tenant": "a", "wanted": 3}


def test_targets_of_one_origin_and_key_share_a_limiter() -> None:
    made = build(
        suite(
            described("https://a.example", name="a"),
            described("https://A.example:443", name="b"),
            described("https://a.example:8443", name="c"),
            described("https://a.example", name="d", api_key_env="APP_KEY"),
        )
    )
    a, b, c, d = (target.endpoint for target in made.values())
    assert a == b
    assert len({a, c, d}) == 3


def test_a_request_is_shown_and_can_be_repeated_without_its_key() -> None:
    of = described("https://a.example", api_key_env="APP_KEY", headers={"X-A": "it's"})
    target = only(of)
    (shown,) = target.shown(COLUMN, case(question="é?"))
    assert shown["content"] == 'POST https://a.example/ask\n\n{\n  "question": "é?"\n}'
    assert target.as_command(COLUMN, case(question="é?")) == (
        "curl https://a.example/ask -H 'x-a: it'\"'\"'s' -H 'content-type: application/json' "
        '-H "Authorization: Bearer $APP_KEY" --data-binary \'{"question": "é?"}\''
    )
    other = only(described("https://a.example", api_key_env="K", api_key_header="X-Key"))
    assert '-H "X-Key: $K"' in other.as_command(COLUMN, case(question="q"))
    put = only(described("https://a.example", method="PUT", stream="sse"))
    assert put.as_command(COLUMN, case(question="q")).startswith(
        "curl -N -X PUT https://a.example/ask"
    )
    with pytest.raises(NothingToSendError, match="question"):
        target.as_command(COLUMN, case(other="x"))


# --- answers ----------------------------------------------------------------------------------

WHOLE = {
    "answer": "Paris",
    "docs": [{"text": "a", "n": 1}, {"text": "b"}],
    "best": {"id": 7},
    "calls": [
        {"name": "find", "arguments": {"q": "x"}},
        {"id": "c2", "type": "function", "function": {"name": "open", "arguments": '{"n": 1}'}},
        {"name": "stop"},
    ],
    "usage": {"in": 12, "out": 5.0, "cost": 0.25},
    "why": "end_turn",
}


async def test_an_answer_is_read_by_json_paths() -> None:
    found = await output(
        says(WHOLE),
        fields={"contexts": "$.docs[*].text", "best": "$.best", "none": "$.nothing"},
        tool_calls="$.calls",
        usage={"input": "$.usage.in", "output": "$.usage.out", "cost_usd": "$.usage.cost"},
        finish_reason="$.why",
    )
    assert (found.text, found.finish_reason, found.cost_usd) == ("Paris", "stop", 0.25)
    assert found.fields == {"contexts": ["a", "b"], "best": {"id": 7}}
    assert (found.usage.input, found.usage.output) == (12, 5)
    assert found.latency_s is not None
    (message,) = found.messages
    calls: Any = message["tool_calls"]
    assert [call["function"] for call in calls] == [
        {"name": "find", "arguments": '{"q": "x"}'},
        {"name": "open", "arguments": '{"n": 1}'},
        {"name": "stop", "arguments": "{}"},
    ]
    assert (found.record.steps, found.record.tool_calls) == (1, 3)


async def test_a_conversation_is_read_as_messages() -> None:
    said = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "a", "tool_calls": [{"id": "1"}]},
        {"role": "assistant", "content": "b"},
    ]
    found = await output(says({"answer": "b", "trace": said}), messages="$.trace")
    assert list(found.messages) == said
    assert (found.record.steps, found.record.tool_calls) == (2, 1)
    wrong = await failure(says({"answer": "b", "trace": ["x"]}), messages="$.trace")
    assert wrong.kind == "output" and "no message with a role at $.trace" in wrong.message


@pytest.mark.parametrize(
    ("answer", "path", "text"),
    [
        ({"answer": 4.5}, "$.answer", "4.5"),
        ({"answer": True}, "$.answer", "true"),
        ({"answer": {"b": [1]}}, "$.answer", '{"b":[1]}'),
        ({"parts": [{"t": "a"}, {"t": None}, {"t": "b"}]}, "$.parts[*].t", "ab"),
        (["x", "y"], "$[1]", "y"),
        ("plain", "$", "plain"),
        ({"answer": "<think>hm</think>yes"}, "$.answer", "yes"),
    ],
)
async def test_what_is_no_text_is_json(answer: Any, path: str, text: str) -> None:
    assert (await output(lambda _: AppReply(json.dumps(answer)), output=path)).text == text


async def test_without_a_path_the_answer_is_the_output() -> None:
    assert (await output(says("It is\nParis."), output=None)).text == "It is\nParis."


async def test_prices_make_the_cost_of_what_was_counted() -> None:
    prices = {"input": 1_000.0, "output": 2_000.0}
    usage = {"input": "$.usage.in", "output": "$.usage.out"}
    found = await output(says(WHOLE), usage=usage, prices=prices)
    assert found.cost_usd == pytest.approx(0.022)
    assert (await output(says(WHOLE), usage=usage)).cost_usd is None
    assert (await output(says({"answer": "x"}), usage=usage, prices=prices)).cost_usd is None
    free = {"input": 0.0, "output": 0.0}
    assert (await output(says({"answer": "x"}), prices=free)).cost_usd == 0.0


async def test_an_answer_that_was_cut_short_says_so() -> None:
    found = await output(says({"answer": "so f", "why": "max_tokens"}), finish_reason="$.why")
    assert found.cut_short


async def test_a_path_that_leads_nowhere_says_what_there_is() -> None:
    found = await failure(says({"reply": "Paris", "docs": [], "error": "no index"}))
    assert (found.kind, found.retryable) == ("output", True)
    assert found.message == (
        "nothing at $.answer: the answer has reply, docs, error; its error says no index"
    )
    assert found.partial is not None and '"Paris"' in found.partial


async def test_a_path_that_led_nowhere_yet_is_everybodys_mistake() -> None:
    answers = iter([{"a": 1}, {"answer": "x"}, {"a": 1}])
    async with asked(lambda _: AppReply(next(answers))) as (_, target):
        first, then, last = [await got(target) for _ in range(3)]
    assert isinstance(first, Failure) and first.fatal and first.retryable
    assert isinstance(then, Output)
    assert isinstance(last, Failure) and not last.fatal


@pytest.mark.parametrize(
    ("answer", "kind", "said"),
    [
        ({"answer": None}, "empty_output", "empty output"),
        ({"answer": "  "}, "empty_output", "empty output"),
        ("<html>Bad", "bad_answer", "the answer is no valid JSON, it begins with '<html>Bad'"),
        (b"", "bad_answer", "the answer is no valid JSON, it is empty"),
        (b'{"answer": NaN}', "bad_answer", "no valid JSON"),
        (b'{"answer": "\xff"}', "bad_answer", "no valid JSON"),
        (b"[" * 90_000, "bad_answer", "the answer is nested too deeply"),
    ],
)
async def test_what_is_no_answer_is_a_failed_attempt(answer: Any, kind: str, said: str) -> None:
    found = await failure(says(answer))
    assert found.kind == kind
    assert said in found.message


async def test_a_tool_call_without_a_text_is_an_answer() -> None:
    found = await output(says({"calls": [{"name": "f"}]}), tool_calls="$.calls")
    assert found.text is None and len(found.messages) == 1
    wrong = await failure(says({"calls": [{"tool": 1}]}), tool_calls="$.calls")
    assert "no tool call with a name at $.calls" in wrong.message


@pytest.mark.parametrize("path", one_in(3, ["$..[?@..a]", "$..a..a..a..a", "$..*"]))
async def test_a_path_that_takes_long_holds_nobody_up(path: str) -> None:
    nested: Any = "x"
    for _ in range(36):
        nested = {"a": nested, "b": [nested] if isinstance(nested, str) else 0}
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.005)
            ticks += 1

    async with asked(says({"answer": "x", "deep": nested}), fields={"all": path}) as (_, target):
        ticking = asyncio.create_task(tick())
        found = await got(target)
        ticking.cancel()
    assert isinstance(found, Output | Failure)
    assert ticks > 0


async def test_a_long_answer_is_read_in_a_process_of_its_own() -> None:
    docs = [{"text": "x" * 1000} for _ in range(300)]
    found = await output(says({"answer": "y", "docs": docs}), fields={"contexts": "$.docs[*].text"})
    assert found.fields["contexts"] == ["x" * 1000] * 300


# --- failures ---------------------------------------------------------------------------------


async def test_refusals_are_told_as_those_of_models_are() -> None:
    limited = await failure(lambda _: AppReply("slow", 429, {"Retry-After": "7"}))
    assert (limited.kind, limited.retryable, limited.retry_after_s) == ("rate_limit", True, 7.0)
    broken = await failure(lambda _: AppReply({"error": {"message": "it broke"}}, 503))
    assert (broken.kind, broken.retryable) == ("server_error", True)
    assert "answered 503: it broke" in broken.message
    wrong = await failure(lambda _: AppReply({"detail": "question is missing"}, 422))
    assert (wrong.kind, wrong.retryable, wrong.fatal) == ("bad_request", False, False)
    assert "question is missing" in wrong.message
    lost = await failure(lambda _: AppReply("", 404))
    assert lost.fatal and "check `url`" in lost.message


async def test_a_refusal_after_an_answer_is_about_the_case() -> None:
    statuses = iter([200, 403, 401])
    app: App = lambda _: AppReply({"answer": "x"}, next(statuses))  # noqa: E731
    async with asked(app) as (_, target):
        first, of_case, of_all = [await got(target) for _ in range(3)]
    assert isinstance(first, Output)
    assert isinstance(of_case, Failure) and not of_case.fatal
    assert isinstance(of_all, Failure) and of_all.fatal


async def test_an_address_of_a_case_that_is_not_there_is_its_own_failure() -> None:
    async with FakeApp(lambda _: AppReply("", 404)) as server:
        of = {"kind": "http", "url": f"{server.origin}/items/{{{{ question }}}}"}
        async with only(of) as target:
            found = await got(target)
    assert isinstance(found, Failure)
    assert (found.kind, found.fatal) == ("not_found", False)


async def test_a_redirect_takes_no_key_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APP_KEY", KEY)
    async with FakeApp(says({"answer": "stolen"})) as other:
        target = f"{other.origin}/ask"
        found = await failure(
            lambda _: AppReply("", 307, {"Location": target}), api_key_env="APP_KEY"
        )
        assert other.calls == []
    assert found.kind == "redirect"
    assert "set `url` to the final address" in found.message


async def test_no_request_leaves_for_another_origin() -> None:
    async with FakeApp(says({})) as other, AppEndpoint("http://127.0.0.1:9") as endpoint:
        for url in (f"{other.origin}/", "//127.0.0.1:9/", "http://user@127.0.0.1:9/"):
            found = await endpoint.send(AppRequest("GET", url, {}), 5)
            assert isinstance(found, Failure)
            assert found.kind == "bad_request"
        assert other.calls == []


async def test_the_key_goes_in_its_header_and_is_taken_out_of_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("APP_KEY", KEY)

    def echo(call: AppCall) -> AppReply:
        said = call.headers.get("authorization", call.headers.get("x-key"))
        return AppReply({"answer": f"you said {said}", "docs": [{"k": said}], said or "": 1})

    found = await output(echo, api_key_env="APP_KEY", fields={"docs": "$.docs", "all": "$"})
    assert found.text == "you said Bearer [APP_KEY]"
    assert KEY not in json.dumps(found.fields)
    found = await output(echo, api_key_env="APP_KEY", api_key_header="X-Key")
    assert found.text == "you said [APP_KEY]"
    lost = await failure(
        lambda c: AppReply({"x": c.headers["authorization"]}), api_key_env="APP_KEY"
    )
    assert lost.partial is not None and KEY not in lost.partial + lost.message


async def test_a_key_that_is_not_set_is_told_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("APP_KEY", raising=False)
    target = only(described("https://a.example", api_key_env="APP_KEY"))
    said = target.problem()
    assert said is not None and said.startswith("APP_KEY is not set: target 't' (a.example)")
    with pytest.raises(keys.MissingKeyError):
        await target.__aenter__()
    monkeypatch.setenv("APP_KEY", "letmein")
    (note,) = notes(suite(described("https://a.example", api_key_env="APP_KEY")))
    assert "APP_KEY holds an ordinary word" in note and "target 't'" in note


async def test_a_bomb_and_a_body_without_end_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = gzip.compress(b" " * (64 * 1024 * 1024))
    found = await failure(lambda _: AppReply(packed, headers={"Content-Encoding": "gzip"}))
    assert "the answer is larger than 34 MB" in found.message
    piece = b" " * 1_000_000
    async with asked(lambda _: AppReply(b"{", endless=piece)) as (server, target):
        endless = await got(target)
        assert isinstance(endless, Failure)
        assert "the answer is larger than 34 MB" in endless.message
        await asyncio.wait_for(server.closed.wait(), 20)
        assert server.sent < 100_000_000
    told = await failure(lambda _: AppReply(b"", told_length=1_000_000_000))
    assert told.kind == "bad_answer"


async def test_what_hangs_or_drips_meets_its_deadline() -> None:
    for app in (
        lambda _: AppReply(b"", hang=True),
        lambda _: AppReply(b"{", endless=b" ", pause=0.01),
    ):
        found = await failure(app, 0.3)
        assert (found.kind, found.retryable) == ("timeout", True)
        assert "within 0.3 s" in found.message


async def test_nobody_there_is_told() -> None:
    async with FakeApp(says({})) as server:
        origin = server.origin
    async with only(described(origin)) as target:
        found = await got(target)
    assert isinstance(found, Failure)
    assert (found.kind, found.fatal, found.unsent) == ("connection", True, True)
    assert "is `url` right?" in found.message


# --- streams ----------------------------------------------------------------------------------

SSE = (
    b': hello\r\n\r\nevent: delta\r\ndata: {"delta": "Par"}\r\n\r\n'
    b'id: 2\r\ndata: {"delta":\r\ndata: "is \xc3\xa9"}\r\n\r\n: ping\r\n\r\n'
    b'data: {"docs": [{"t": 1}]}\r\n\r\n'
    b'data: {"docs": [{"t": 2}], "usage": {"n": 3}}\r\n\r\n'
    b"data: [DONE]\r\n\r\n"
)
LINES = (
    b'{"delta": "Par"}\n\n{"delta": "is \xc3\xa9"}\n'
    b'{"docs": [{"t": 1}]}\n{"docs": [{"t": 2}], "usage": {"n": 3}}'
)
STREAM: dict[str, Any] = {
    "output": "$.delta",
    "fields": {"docs": "$.docs[*].t", "last": "$.docs"},
    "usage": {"output": "$.usage.n"},
}


def torn(whole: bytes, size: int) -> list[bytes]:
    return [whole[at : at + size] for at in range(0, len(whole), size)]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize(("form", "whole"), [("sse", SSE), ("ndjson", LINES)])
async def test_a_stream_reads_the_same_however_it_is_torn(
    form: str, whole: bytes, size: int
) -> None:
    pieces = torn(whole, size)
    found = await output(lambda _: AppReply(pieces=pieces), stream=form, **STREAM)
    assert found.text == "Paris é"
    assert found.fields == {"docs": [1, 2], "last": [{"t": 2}]}
    assert found.usage.output == 3


async def test_nothing_is_waited_for_behind_the_end() -> None:
    found = await output(lambda _: AppReply(SSE, hang=True), stream="sse", **STREAM)
    assert found.text == "Paris é"


async def test_a_stream_that_breaks_keeps_what_it_said() -> None:
    for reply in (AppReply(SSE[:70], cut=True), AppReply(SSE[:70], hang=True)):
        found = await failure(lambda _, reply=reply: reply, 0.5, stream="sse", **STREAM)  # type: ignore[misc]
        assert found.retryable
        assert found.partial == "Par"


async def test_a_last_event_that_is_half_there_is_no_answer() -> None:
    found = await failure(lambda _: AppReply(pieces=[SSE[:85]]), stream="sse", **STREAM)
    assert (found.kind, found.retryable) == ("bad_answer", True)
    assert "no valid JSON" in found.message


async def test_an_error_in_a_stream_is_one() -> None:
    said = b'data: {"delta": "Par"}\n\nevent: error\ndata: {"message": "overloaded"}\n\n'
    found = await failure(lambda _: AppReply(said), stream="sse", **STREAM)
    assert found.message == 'the stream ended in an error: {"message": "overloaded"}'
    assert found.partial == "Par"


async def test_a_stream_without_events_is_none() -> None:
    found = await failure(says({"answer": "x"}), stream="sse")
    assert found.message == "the answer has no events"


async def test_more_events_than_anybody_means_are_given_up() -> None:
    found = await failure(lambda _: AppReply(b"data: 1\n\n" * 100_001), stream="sse")
    assert "more than 100,000 events" in found.message


async def test_a_cancelled_stream_leaves_what_it_said() -> None:
    held = AppReply(pieces=[SSE[:70]], hang=True)
    async with asked(lambda _: held, stream="sse", **STREAM) as (server, target):
        request = target.request(COLUMN, case(question="q"))
        assert not isinstance(request, Failure)
        attempt = AttemptContext(60)
        with pytest.MonkeyPatch.context() as patch:
            came = asyncio.Event()
            feed = ServerSentEvents.feed

            def fed(self: ServerSentEvents, part: bytes) -> None:
                feed(self, part)
                came.set()

            patch.setattr(ServerSentEvents, "feed", fed)
            task = asyncio.create_task(target.generate(request, attempt))
            await asyncio.wait_for(came.wait(), 20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert attempt.partial == "Par"
        await asyncio.wait_for(server.closed.wait(), 20)


# --- polling ----------------------------------------------------------------------------------

POLL: dict[str, Any] = {
    "url": "{{ response.status_url }}",
    "until": "{{ response.state == 'done' }}",
    "every": 0.01,
}


class Jobs:
    """An app that takes a job and is done after some looks at it."""

    def __init__(self, looks: int, **first: Any) -> None:
        self.looks = looks
        self.first = {"state": "queued", "status_url": "/jobs/1", **first}
        self.between: list[AppReply] = []

    def __call__(self, call: AppCall) -> AppReply:
        if call.method == "POST":
            return AppReply(self.first, 202)
        if self.between:
            return self.between.pop(0)
        self.looks -= 1
        if self.looks > 0:
            return AppReply({"state": "running"})
        return AppReply({"state": "done", "answer": "Paris"})


async def test_a_job_is_asked_for_until_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APP_KEY", KEY)
    more = {"poll": POLL, "api_key_env": "APP_KEY", "headers": {"X-A": "{{ question }}"}}
    async with asked(Jobs(3), **more) as (server, target):
        found = await got(target)
    assert isinstance(found, Output)
    assert found.text == "Paris"
    assert server.paths == ["POST /ask", *["GET /jobs/1"] * 3]
    assert all(call.headers["authorization"] == f"Bearer {KEY}" for call in server.calls)
    assert all(call.headers["x-a"] == "q" for call in server.calls)
    assert "content-type" not in server.calls[-1].headers


async def test_a_job_that_is_done_at_once_is_not_asked_for() -> None:
    jobs = Jobs(1, state="done", answer="x")
    async with asked(jobs, poll=POLL) as (server, target):
        found = await got(target)
    assert isinstance(found, Output)
    assert server.paths == ["POST /ask"]


async def test_a_look_that_fails_is_made_again() -> None:
    jobs = Jobs(1)
    jobs.between = [AppReply("", 503), AppReply("", 429, {"Retry-After": "0"}), AppReply("{")]
    async with asked(jobs, poll=POLL) as (server, target):
        found = await got(target)
    assert isinstance(found, Output)
    assert len(server.calls) == 5
    jobs.between = [AppReply("gone", 410)]
    jobs.looks = 1
    async with asked(jobs, poll=POLL) as (server, target):
        gone = await got(target)
    assert isinstance(gone, Failure)
    assert "410" in gone.message and len(server.calls) == 2


async def test_a_job_that_never_ends_meets_the_deadline() -> None:
    found = await failure(Jobs(10**9), 0.3, poll=POLL)
    assert (found.kind, found.retryable) == ("timeout", True)
    assert found.message == "the job was not done within 0.3 s"
    assert found.partial == '{"state": "running"}'
    until = {**POLL, "until": "{{ response.stat == 'done' }}"}
    typo = await failure(Jobs(10**9), 0.3, poll=until)
    assert 'targets.t.poll.until: "stat" is undefined in a table' in typo.message


async def test_a_job_is_looked_at_nowhere_else() -> None:
    async with FakeApp(says({"state": "done", "answer": "forged"})) as other:
        jobs = Jobs(1, status_url=f"{other.origin}/jobs/1")
        found = await failure(jobs, poll=POLL)
        assert other.calls == []
    assert found.kind == "bad_request"
    assert f"{other.origin}/jobs/1 is not at http://127.0.0.1:" in found.message


async def test_a_first_body_that_says_no_address_is_no_answer() -> None:
    found = await failure(says({"state": "queued"}), poll=POLL)
    assert (found.kind, found.retryable) == ("bad_answer", True)
    assert 'targets.t.poll.url: "status_url" is undefined in a table' in found.message


async def test_cancel_ends_the_looks() -> None:
    async with asked(Jobs(10**9), poll=POLL) as (server, target):
        request = target.request(COLUMN, case(question="q"))
        assert not isinstance(request, Failure)
        attempt = AttemptContext(60)
        task = asyncio.create_task(target.generate(request, attempt))
        while len(server.calls) < 3:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert attempt.partial == '{"state": "running"}'
        asked_so_far = len(server.calls)
        await asyncio.sleep(0.05)
        assert len(server.calls) == asked_so_far


async def test_what_was_used_is_counted_for_no_answer_too() -> None:
    usage = {"input": "$.in", "output": "$.out"}
    answer = {"answer": "", "in": 3, "out": 4}
    found = await failure(says(answer), usage=usage, prices={"input": 1e6, "output": 1e6})
    assert found.usage == Usage(3, 4)
    assert found.cost_usd == 7.0
