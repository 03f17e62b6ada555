"""From a case to the request that an app is sent."""

import json
from typing import Final
from urllib.parse import quote, urlencode, urlsplit

from tui_eval.model.json import Json, JsonObject
from tui_eval.providers.app_endpoint import AppRequest
from tui_eval.suites.spec.targets.http import HttpTargetSpec, can_be_sent
from tui_eval.suites.templates.template import Names, NestedTemplate, Template, TemplateError
from tui_eval.suites.templates.url_template import UrlTemplate

_JSON: Final = "application/json"
_TEXT: Final = "text/plain; charset=utf-8"


class RequestTemplates:
    """The templates of a target's request, compiled once.

    A rendered request is JSON, so that it can be part of a key: `method`, `url`, `headers` with
    their names in lower case, and what is sent as `body` (goes out as JSON) or `text`.
    """

    def __init__(self, spec: HttpTargetSpec) -> None:
        """Compile them.

        Raises:
            TemplateError: when one cannot be read.
        """
        at = f"targets.{spec.name}"
        self._url = UrlTemplate(spec.url, f"{at}.url")
        self._headers = {
            name.lower(): Template(value, f"{at}.headers.{name}")
            for name, value in spec.headers.items()
        }
        self._body_field = f"{at}.body"
        self._body = (
            None if spec.body is None else NestedTemplate(_as_written(spec.body), self._body_field)
        )
        self._params: JsonObject = dict(spec.params)
        self._method = spec.method or ("GET" if spec.body is None else "POST")
        self.address_varies = bool(self._url.names)
        """Whether the address differs from case to case."""
        body_templates = [] if self._body is None else self._body.templates()
        self.names = frozenset(self._url.names).union(
            *(one.names for one in (*self._headers.values(), *body_templates))
        )
        """What its templates name."""

    def rendered(self, names: Names) -> JsonObject:
        """Return the request of a case.

        Raises:
            TemplateError: when a template cannot be rendered, or gives what cannot be sent.
        """
        url = self._url.text(names)
        headers = {name: self._header(template, names) for name, template in self._headers.items()}
        request: JsonObject = {"method": self._method}
        body = None if self._body is None else self._body.value(names)
        if isinstance(body, dict):
            body = {**self._params, **body}
        elif self._params:
            url = _with_query(url, self._params)
        if isinstance(body, str):
            headers.setdefault("content-type", _TEXT)
            request["text"] = self._sendable(body, headers["content-type"])
        elif self._body is not None:
            headers.setdefault("content-type", _JSON)
            request["body"] = body
        return {**request, "url": url, "headers": {**headers}}

    @staticmethod
    def _header(template: Template, names: Names) -> str:
        value = template.text(names).strip()
        if not can_be_sent(value):
            raise TemplateError(template.field, "holds a line break or another control character")
        _see_that_it_encodes(value, template.field)
        return value

    def _sendable(self, text: str, content_type: str) -> str:
        _see_that_it_encodes(text, self._body_field)
        if "json" in content_type.lower():
            try:
                json.loads(text)
            except (ValueError, RecursionError):
                raise TemplateError(
                    self._body_field,
                    f"is no JSON once it is rendered, and content-type says {content_type}",
                    hint="write a table, or put values in with {{ value | tojson }}",
                ) from None
        return text


def outgoing(request: JsonObject) -> AppRequest:
    """Return a rendered request as it goes out, but for the key."""
    method, url, headers = request["method"], request["url"], request["headers"]
    assert isinstance(method, str) and isinstance(url, str) and isinstance(headers, dict)
    return AppRequest(
        method, url, {name: str(value) for name, value in headers.items()}, _content(request)
    )


def _content(request: JsonObject) -> bytes | None:
    if "text" in request:
        return str(request["text"]).encode()
    return json.dumps(request["body"]).encode() if "body" in request else None


def _as_written(body: Json) -> Json:
    """Return a body; JSON that stands in a text is what is meant, and values go into its texts."""
    if not isinstance(body, str) or not body.lstrip().startswith(("{", "[")):
        return body
    try:
        found: Json = json.loads(body)
    except (ValueError, RecursionError):
        return body
    return found


def _see_that_it_encodes(text: str, field: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise TemplateError(field, "holds half a character, which cannot be sent") from None


def _with_query(url: str, params: JsonObject) -> str:
    pairs = [
        (name, one if isinstance(one, str) else json.dumps(one))
        for name, value in params.items()
        for one in (value if isinstance(value, list) else [value])
    ]
    parts = urlsplit(url)
    query = "&".join(filter(None, (parts.query, urlencode(pairs, quote_via=quote))))
    return parts._replace(query=query).geturl()
