"""A Hub of datasets on this machine: it speaks as much of the Hub's API as reading one needs.

In a test::

    with FakeHub() as hub:
        hub.put("acme/capitals", {"main/test-00000-of-00001.parquet": table([{"id": 1}])})
        ...  # hub.endpoint is HF_ENDPOINT; hub.calls is what came

Two servers: one is the Hub, which knows who asks, and sends those who want a file on to the other
one, as the Hub does with its network of caches.
"""

import hashlib
import io
import json
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub import constants

from tui_eval.model.json import JsonObject
from tui_eval.providers import hub as client

CONVERTED = "refs/convert/parquet"
_INFO = re.compile(r"/api/datasets/([^/]+/[^/]+)/revision/([^/]+)")
_FILE = re.compile(r"/datasets/([^/]+/[^/]+)/resolve/([^/]+)/(.+)")
_RANGE = re.compile(r"bytes=(\d+)-(\d*)")


def table(rows: Sequence[JsonObject], group: int | None = None) -> bytes:
    """Return rows as a Parquet file."""
    written = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows)), written, row_group_size=group)
    return written.getvalue()


@dataclass(frozen=True)
class HubCall:
    """One request as it arrived."""

    at: str
    """`hub` or `cdn`."""
    method: str
    path: str
    token: str | None
    """What stood in `Authorization`."""
    span: str | None
    """What stood in `Range`."""


@dataclass(frozen=True)
class Fault:
    """What a request gets instead of its answer."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    cut: int | None = None
    """How many bytes of a file come before the connection ends; None: all."""


@dataclass
class _Revision:
    commit: str
    files: dict[str, bytes]
    card: JsonObject | None


class FakeHub:
    """A Hub, with the datasets that are put there."""

    def __init__(self, token: str | None = None, *, by_cdn: bool = True) -> None:
        self.token = token
        """What is asked for of those who want anything; None: nobody has to say who they are."""
        self.by_cdn = by_cdn
        self.calls: list[HubCall] = []
        self.fault: Callable[[HubCall], Fault | None] = lambda _: None
        self._repos: dict[tuple[str, str], _Revision] = {}
        self._hub = ThreadingHTTPServer(("127.0.0.1", 0), self._handler("hub"))
        self._cdn = ThreadingHTTPServer(("127.0.0.1", 0), self._handler("cdn"))

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._hub.server_port}"

    def put(
        self,
        repo: str,
        files: dict[str, bytes],
        revision: str = "main",
        card: JsonObject | None = None,
    ) -> str:
        """Make a commit, to which a branch leads from now on; return it."""
        made = hashlib.sha1(repr((repo, revision, sorted(files.items()), card)).encode())
        commit = made.hexdigest()
        for name in (revision, commit):
            self._repos[repo, name] = _Revision(commit, files, card)
        return commit

    def use(self, patch: pytest.MonkeyPatch, folder: Path) -> None:
        """Be the Hub of this process, whose cache is in a folder; nobody waits for another try."""
        patch.setenv("HF_ENDPOINT", self.endpoint)
        patch.delenv(client.TOKEN, raising=False)
        patch.setattr(constants, "HF_HUB_CACHE", str(folder / "hub"))
        patch.setattr(client, "_PAUSES_S", (0.0,))
        patch.setattr("huggingface_hub.utils._http.time.sleep", lambda _: None)
        patch.setattr("huggingface_hub.file_download.time.sleep", lambda _: None)

    def asked(self, at: str) -> list[HubCall]:
        return [call for call in self.calls if call.at == at]

    def __enter__(self) -> Self:
        for server in (self._hub, self._cdn):
            server.daemon_threads = True
            threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for server in (self._hub, self._cdn):
            server.shutdown()
            server.server_close()

    def _handler(self, at: str) -> type[BaseHTTPRequestHandler]:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._answer()

            def do_HEAD(self) -> None:
                self._answer()

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

            def _answer(self) -> None:
                head = self.headers
                path = unquote(urlsplit(self.path).path)
                call = HubCall(at, self.command, path, head.get("Authorization"), head.get("Range"))
                fake.calls.append(call)
                fault = fake.fault(call)
                if fault is not None and fault.cut is None:
                    return self._send(fault.status, fault.headers, fault.body)
                cut = None if fault is None else fault.cut
                if at == "hub" and fake.token not in (None, (call.token or "")[len("Bearer ") :]):
                    return self._send(401, {"X-Error-Code": "RepoNotFound"}, b"")
                if found := _INFO.fullmatch(urlsplit(self.path).path):
                    return self._info(found[1], unquote(found[2]))
                if found := _FILE.fullmatch(path):
                    return self._file(found[1], found[2], found[3], cut)
                return self._send(404, {}, b"")

            def _info(self, repo: str, revision: str) -> None:
                kept = fake._repos.get((repo, revision))
                if kept is None:
                    there = any(name == repo for name, _ in fake._repos)
                    code = "RevisionNotFound" if there else "RepoNotFound"
                    return self._send(404, {"X-Error-Code": code}, b"")
                about: JsonObject = {
                    "id": repo,
                    "sha": kept.commit,
                    "siblings": [{"rfilename": name} for name in kept.files],
                    "private": False,
                    "tags": [],
                    "downloads": 0,
                    "likes": 0,
                }
                if kept.card is not None:
                    about["cardData"] = kept.card
                body = json.dumps(about).encode()
                return self._send(200, {"Content-Type": "application/json"}, body)

            def _file(self, repo: str, revision: str, name: str, cut: int | None) -> None:
                kept = fake._repos.get((repo, revision))
                if kept is None or name not in kept.files:
                    return self._send(404, {"X-Error-Code": "EntryNotFound"}, b"")
                body = kept.files[name]
                headers = {
                    "ETag": f'"{hashlib.sha256(body).hexdigest()}"',
                    "X-Repo-Commit": kept.commit,
                    "Accept-Ranges": "bytes",
                }
                if at == "hub" and fake.by_cdn:
                    headers |= {
                        "X-Linked-Size": str(len(body)),
                        "X-Linked-ETag": headers["ETag"],
                        "Location": f"http://127.0.0.1:{fake._cdn.server_port}{self.path}",
                    }
                    return self._send(302, headers, b"")
                span = _RANGE.fullmatch(self.headers.get("Range", ""))
                if span is None:
                    return self._send(200, headers, body, cut)
                first = int(span[1])
                headers["Content-Range"] = f"bytes {first}-{len(body) - 1}/{len(body)}"
                return self._send(206, headers, body[first:], cut)

            def _send(
                self, status: int, headers: dict[str, str], body: bytes, cut: int | None = None
            ) -> None:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body if cut is None else body[:cut])
                if cut is not None:
                    self.close_connection = True

        return Handler
