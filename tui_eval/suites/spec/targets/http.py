"""An app behind an address as a target: whatever takes a request and answers JSON or text."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, JsonValue, StrictInt, StrictStr

from tui_eval.model.json import Json
from tui_eval.providers import presets
from tui_eval.providers.http.event_streams import StreamForm
from tui_eval.providers.prices import FREE, Prices
from tui_eval.suites.data import jsonpath
from tui_eval.suites.loading.errors import FieldMistake
from tui_eval.suites.spec.asked.asked_spec import CallRates, KeyUse
from tui_eval.suites.spec.asked.model_endpoint import TokenPrices
from tui_eval.suites.spec.run import Concurrency
from tui_eval.suites.spec.table import Positive, Spec, Text
from tui_eval.suites.spec.targets.target import TargetSpec

Method: TypeAlias = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

RESPONSE: Final = "response"
"""What templates of `poll` call the last body."""

_CONVERSATION: Final = re.compile(r"\{[{%](?:(?![}%]\}).)*\bmessages\b")
_MARK: Final = re.compile(r"\{\{|\{%|\{#")
_TOKEN: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_NAME_KEY: Final = "name the variable that holds the key in api_key_env"
_KEY_HEADERS: Final = ("authorization", "proxy-authorization", "x-api-key", "api-key")
"""Headers that hold keys, which stand in no suite."""
_OWN_HEADERS: Final = {
    "host": "`url` says it",
    "content-length": "it follows from the body",
    "transfer-encoding": "it follows from the body",
    "accept-encoding": "answers are asked for as they are",
    "connection": "connections are kept",
}
"""Headers that no suite can set, and why."""


def _is_path(path: str) -> str:
    jsonpath.parse(path)
    return path


JsonPathText: TypeAlias = Annotated[Text, AfterValidator(_is_path)]
"""A JSON path (RFC 9535)."""


class AnswerUsage(Spec):
    """Where an answer says what it took: JSON paths."""

    input: JsonPathText | None = None
    """Tokens read."""
    output: JsonPathText | None = None
    """Tokens produced, reasoning included."""
    reasoning: JsonPathText | None = None
    """The part of them that was reasoning."""
    cached: JsonPathText | None = None
    """The part of `input` that came from a cache."""
    cost_usd: JsonPathText | None = None
    """US dollars; goes before `prices`."""


class Polling(Spec):
    """How the answer of a job that takes its time is waited for."""

    url: Text
    """Where to ask how it stands, a template: `response` is the last body. At the same host."""
    until: Text
    """A template: true once `response` is the answer."""
    every: Positive = 1.0
    """Seconds between two requests."""


class HttpTargetSpec(TargetSpec):
    """An app behind an address: a request with templates, an answer read by JSON paths."""

    TEMPLATED: ClassVar[tuple[str, ...]] = ("url", "headers", "body", "poll")

    kind: Literal["http"]
    """What it is."""
    url: Text
    """Where requests go, a template from the path on; what is put in is encoded."""
    method: Method | None = None
    """Default: POST with a body, else GET."""
    headers: dict[StrictStr, StrictStr] = Field(default_factory=dict)
    """Headers, their values are templates. No keys: those are named in `api_key_env`."""
    body: JsonValue = None
    """What is sent: a table or list of which each text is a template goes out as JSON, a text as
    it is."""
    params: dict[str, JsonValue] = Field(default_factory=dict)
    """What goes along with each request: in a body that is a table, else in the URL's query."""
    api_key_env: Annotated[StrictStr, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    """The environment variable that holds the key. Default: none is sent."""
    api_key_header: Text = "Authorization"
    """The header the key goes in: after "Bearer " in `Authorization`, alone in any other."""
    output: JsonPathText | None = None
    """The JSON path of what was said, also of an event of a stream. Default: the whole answer."""
    fields: dict[Annotated[StrictStr, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], JsonPathText] = (
        Field(default_factory=dict)
    )
    """What else the answer holds, for scorers and judges: JSON paths by name."""
    tool_calls: JsonPathText | None = None
    """The JSON path of the tool calls: `name` and `arguments` each, or as the chat API has them."""
    messages: JsonPathText | None = None
    """The JSON path of the whole conversation, a list of chat messages."""
    finish_reason: JsonPathText | None = None
    """The JSON path of why the answer ended: stop, length, …"""
    usage: AnswerUsage | None = None
    """Where the answer says what it took."""
    prices: TokenPrices | None = None
    """What tokens cost here."""
    version: Text | None = None
    """What is behind the address, in words of your own. Changed where that changes and the address
    does not: what was answered under another version is asked again."""
    stream: StreamForm | None = None
    """The answer comes in events: sse (server-sent events) or ndjson (a JSON value a line)."""
    poll: Polling | None = None
    """The answer is a job's, which is asked for until it is done."""
    concurrency: Concurrency | None = None
    """Requests in flight at this target, in place of [run] concurrency."""
    rpm: Annotated[StrictInt, Field(ge=1)] | None = None
    """Requests in a minute, at most. Default: as many as it takes."""

    @classmethod
    def hint_for_param(cls, name: str) -> str | None:
        """Return that it goes along with each request, in `params`."""
        return f"write params = {{ {name} = … }}"

    @classmethod
    def written_mistakes(cls, table: Mapping[str, object]) -> Iterator[FieldMistake]:
        """Yield what is wrong between its fields, and with its addresses and headers."""
        url = table.get("url")
        if isinstance(url, str) and (wrong := _url_mistake(url)) is not None:
            yield FieldMistake(("url",), *wrong)
        yield from _header_mistakes(table)
        if table.get("method") == "GET" and table.get("body") is not None:
            hint = "name another method, or put it into the url"
            yield FieldMistake(("body",), "stands beside method GET, which has none", hint)
        if table.get("tool_calls") is not None and table.get("messages") is not None:
            hint = "the messages hold their tool calls: leave it out"
            yield FieldMistake(("tool_calls",), "stands beside messages", hint)
        poll = table.get("poll")
        if poll is not None and table.get("stream") is not None:
            hint = "an answer is streamed or asked for again, not both"
            yield FieldMistake(("poll",), "stands beside stream", hint)
        if isinstance(poll, Mapping):
            yield from _poll_mistakes(poll, url)

    @classmethod
    def keys_sent(cls, table: Mapping[str, object]) -> Iterator[KeyUse]:
        """Yield its key, with the one host that it goes to."""
        key, url = table.get("api_key_env"), table.get("url")
        if isinstance(key, str) and isinstance(url, str):
            yield KeyUse(None, literal_origin(url), key)

    @classmethod
    def takes_turns(cls, table: Mapping[str, object]) -> bool:
        """Say whether it is sent the conversation so far, and answers with one reply to that."""
        sent = json.dumps([table.get(name) for name in ("url", "headers", "body")], default=str)
        return _CONVERSATION.search(sent) is not None and table.get("messages") is None

    @classmethod
    def gives_messages(cls, table: Mapping[str, object]) -> bool:
        """Say whether the answer holds a conversation."""
        return table.get("messages") is not None

    @classmethod
    def gives_tool_calls(cls, table: Mapping[str, object]) -> bool:
        """Say whether it takes calls of tools out of the answer."""
        return table.get("tool_calls") is not None or cls.gives_messages(table)

    @classmethod
    def gives_fields(cls, table: Mapping[str, object]) -> bool:
        """Say whether it takes fields out of the answer."""
        return bool(table.get("fields"))

    def templates(self) -> dict[str, Json]:
        """Return what is rendered for each case, by field."""
        found = super().templates()
        poll = found.pop("poll")
        if isinstance(poll, dict):
            found |= {f"poll.{name}": poll[name] for name in ("url", "until")}
        return found

    def late_names(self, field: str) -> frozenset[str]:
        """Return `response` for the templates of `poll`."""
        return frozenset((RESPONSE,)) if field.startswith("poll.") else frozenset()

    def in_words(self) -> str:
        """Return where it is asked."""
        return f"app at {literal_origin(self.url)}"

    def call_rates(self) -> CallRates:
        """Return the requests in a minute that it names."""
        return CallRates(self.rpm)

    def token_prices(self) -> Prices | None:
        """Return its own prices: nobody else knows what an app's tokens cost."""
        own = self.prices
        return None if own is None else Prices.flat(own.input, own.output, own.cached_input)

    def input_tokens(self, estimate: int) -> int | None:
        """Return None: what an app reads beside the question is its own business."""
        return None

    def count_problem(self) -> str | None:
        """Say that no answer tells its tokens, and how one would."""
        if self._counts():
            return None
        return (
            "max_tokens needs to know what an answer takes: give usage = { input = …, output = … },"
            " or drop the cap"
        )

    def price_problem(self) -> str | None:
        """Say that no answer tells what it costs, and how one would."""
        priced = self.prices is not None and (self._counts() or self.token_prices() == FREE)
        if priced or (self.usage is not None and self.usage.cost_usd is not None):
            return None
        return (
            "max_cost_usd needs to know what an answer costs: give usage = { cost_usd = "
            '"$.cost" }, or usage = { input = …, output = … } with prices, or drop the cap'
        )

    def _counts(self) -> bool:
        """Whether its answers tell their tokens."""
        usage = self.usage
        return usage is not None and usage.input is not None and usage.output is not None


def literal_origin(url: str) -> str:
    """Return what stands in a URL before its path: no template does."""
    found = _FIRST.match(url)
    return url if found is None else found[0]


_FIRST: Final = re.compile(r"[A-Za-z]*://[^/?#]*")


def _url_mistake(url: str) -> tuple[str, str | None] | None:
    """Say what is wrong with the address of a request, and what to do."""
    first = _FIRST.match(url)
    if _MARK.match(url) or (first is not None and _MARK.search(first[0])):
        hint = "write scheme, host and port out: only so is it known where requests, and keys, go"
        return "a template stands before the path", hint
    try:
        presets.address(None, literal_origin(url))
    except ValueError as error:
        return str(error).removeprefix("base_url ").replace("api_key_env", "`api_key_env`"), None
    if "{%" in url:
        return "holds more than {{ expressions }}", "put conditions inside them"
    if "#" in _MARK.split(url)[0]:
        return "has a part behind #, which is never sent", "leave it out"
    return None


def _header_mistakes(table: Mapping[str, object]) -> Iterator[FieldMistake]:
    own = str(table.get("api_key_header", "Authorization")).lower()
    if not _TOKEN.fullmatch(own) or own in (*_OWN_HEADERS, "content-type"):
        yield FieldMistake(("api_key_header",), "is no header that a key can go in")
    headers, seen = table.get("headers"), set[str]()
    for name, value in headers.items() if isinstance(headers, Mapping) else ():
        folded = str(name).lower()
        wrong = _header_mistake(folded, value)
        if folded in seen:
            wrong = "is there twice", "upper and lower case make no difference"
        elif folded == own and table.get("api_key_env") is not None:
            wrong = "is the header that the key goes in", "leave it out"
        if wrong is not None:
            yield FieldMistake(("headers", str(name)), *wrong)
        seen.add(folded)


def _header_mistake(name: str, value: object) -> tuple[str, str | None] | None:
    if not _TOKEN.fullmatch(name):
        return "is no name of a header", None
    if name in _KEY_HEADERS:
        return "would put a key into the suite", _NAME_KEY
    if name in _OWN_HEADERS:
        return "cannot be set", _OWN_HEADERS[name]
    if isinstance(value, str) and not can_be_sent(value):
        return "holds a line break or another control character", None
    return None


def can_be_sent(value: str) -> bool:
    """Say whether a text can stand in a header."""
    return all(char >= " " and char != "\x7f" for char in value)


def _poll_mistakes(poll: Mapping[str, object], url: object) -> Iterator[FieldMistake]:
    asked = poll.get("url")
    if not isinstance(asked, str) or asked.startswith("/") or _MARK.match(asked):
        return
    path = ("poll", "url")
    if (wrong := _url_mistake(asked)) is not None:
        yield FieldMistake(path, *wrong)
    elif isinstance(url, str) and literal_origin(asked).lower() != literal_origin(url).lower():
        hint = f"the target's url is at {literal_origin(url)}, and its key goes nowhere else"
        yield FieldMistake(path, "leads to another host", hint)
