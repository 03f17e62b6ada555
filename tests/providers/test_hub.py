"""What is asked of a Hub, with which key, and what is told where it does not answer."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.fake_hub import FakeHub, Fault, HubCall
from tui_eval.providers import hub
from tui_eval.providers.hub import HubError

REPO = "acme/capitals"
FILE = "main/test-00000-of-00001.parquet"
BODY = bytes(range(256)) * 40
TOKEN = "hf_kXw93jQ0vLmS5tYp"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeHub]:
    with FakeHub() as made:
        made.use(monkeypatch, tmp_path)
        yield made


def told(server: FakeHub, revision: str = "main") -> str:
    with pytest.raises(HubError) as caught:
        at = hub.look_up(REPO, revision).commit
        hub.fetched(REPO, at, FILE)
    said = f"{caught.value}; {caught.value.hint}"
    return said.replace(server.endpoint, "HUB").removesuffix("; None")


def test_a_commit_is_resolved_and_its_file_fetched_once(server: FakeHub) -> None:
    commit = server.put(REPO, {FILE: BODY, "README.md": b"x"}, card={"license": "mit"})
    found = hub.look_up(REPO, "main")
    assert (found.commit, found.files) == (commit, ("README.md", FILE))
    assert isinstance(found.card, dict)
    assert found.card["license"] == "mit"
    assert hub.fetched(REPO, commit, FILE).read_bytes() == BODY
    before = len(server.calls)
    assert hub.fetched(REPO, commit, FILE).read_bytes() == BODY
    assert len(server.calls) == before
    assert {call.path.split("/")[1] for call in server.calls} == {"api", "datasets"}
    assert not [call for call in server.calls if "agent" in call.path]


def test_a_token_goes_to_the_hub_and_to_nobody_it_sends_one_on_to(
    server: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.token = TOKEN
    commit = server.put(REPO, {FILE: BODY})
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert hub.fetched(REPO, hub.look_up(REPO, "main").commit, FILE).read_bytes() == BODY
    assert {call.token for call in server.asked("hub")} == {f"Bearer {TOKEN}"}
    assert [call.token for call in server.asked("cdn")] == [None]
    assert commit


def test_without_a_token_none_of_the_machine_is_sent(
    server: FakeHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text(TOKEN)
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(tmp_path / "token"))
    server.put(REPO, {FILE: BODY})
    hub.look_up(REPO, "main")
    assert {call.token for call in server.calls} == {None}


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Fault(401), "is no dataset at 127.0.0.1, or one that you may not read; if it is private"),
        (Fault(403, {"X-Error-Code": "GatedRepo"}),
         "may not be read: 127.0.0.1 gives it to those it allowed; ask for access at HUB/"),
        (Fault(404, {"X-Error-Code": "RevisionNotFound"}), "has no such revision at 127.0.0.1"),
        (Fault(503), "cannot be read: 127.0.0.1 fails with HTTP 503; try again later"),
        (Fault(418), "cannot be read: 127.0.0.1 answers with HTTP 418"),
        (Fault(200, body=b"<html>"), "cannot be read: HUB answers with what is no dataset ("),
        (Fault(200, body=b"[]"), "cannot be read: HUB answers with what is no dataset ("),
        (Fault(200, body=b"{}"), "cannot be read: HUB answers with what is no dataset ("),
    ],
)  # fmt: skip
def test_a_question_that_fails_is_told_with_its_reason(
    server: FakeHub, fault: Fault, expected: str
) -> None:
    server.put(REPO, {FILE: BODY})
    server.fault = lambda _: fault
    assert told(server).startswith(expected)


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Fault(404), "cannot be read: 127.0.0.1 answers with HTTP 404"),
        (Fault(404, {"X-Error-Code": "EntryNotFound"}), "has no such file at 127.0.0.1"),
        (Fault(500), "cannot be read: 127.0.0.1 fails with HTTP 500; try again later"),
        (Fault(cut=100), "cannot be reached: 127.0.0.1 ("),
        (Fault(200, body=b"short"), "is cut off: 127.0.0.1 sent less of a file"),
    ],
)  # fmt: skip
def test_a_file_that_does_not_come_whole_is_none(
    server: FakeHub, fault: Fault, expected: str, tmp_path: Path
) -> None:
    server.put(REPO, {FILE: BODY})
    server.fault = lambda call: fault if call.at == "cdn" else None
    assert told(server).startswith(expected)
    assert not list(tmp_path.rglob("*.parquet*"))


def test_a_file_that_broke_off_is_gone_on_with(
    server: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 500)
    commit = server.put(REPO, {FILE: BODY})

    def once(call: HubCall) -> Fault | None:
        return Fault(cut=1000) if call.at == "cdn" and call.span is None else None

    server.fault = once
    assert hub.fetched(REPO, commit, FILE).read_bytes() == BODY
    assert [call.span for call in server.asked("cdn")] == [None, "bytes=1000-"]


def test_an_error_that_passes_is_got_over(server: FakeHub) -> None:
    commit = server.put(REPO, {FILE: BODY})
    server.fault = lambda _: Fault(502) if len(server.calls) == 1 else None
    assert hub.look_up(REPO, "main").commit == commit


def test_a_host_that_is_not_there_is_one_error_and_nothing_beside_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with FakeHub() as server:
        server.use(monkeypatch, tmp_path)
    said = told(server)
    assert said.startswith("cannot be reached: 127.0.0.1 (")
    assert said.endswith("look at the network, HF_ENDPOINT and the proxy")
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger("huggingface_hub").level != logging.CRITICAL


def test_a_token_is_in_no_message(server: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    server.put(REPO, {FILE: BODY})
    server.fault = lambda _: Fault(401)
    assert told(server) == "may not be read: 127.0.0.1 does not take HF_TOKEN; make a new one"
    assert str(HubError(f"echoes {TOKEN}")) == "echoes [HF_TOKEN]"
    monkeypatch.setenv("HF_TOKEN", "hf two words")
    assert "holds a character that no key can have" in told(server)


@pytest.mark.parametrize("given", ["ftp://x", "hub", "https://user:pw@hub.example"])
def test_an_endpoint_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("HF_ENDPOINT", given)
    with pytest.raises(HubError, match="HF_ENDPOINT is no address of a Hub"):
        hub.endpoint()
