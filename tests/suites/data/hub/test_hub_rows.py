"""Suites over datasets of a Hub on this machine."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.fake_hub import CONVERTED, FakeHub, table
from tests.suites.writing import TARGET, told, write
from tui_eval.model.json import JsonObject
from tui_eval.providers import hub as client
from tui_eval.suites.data.dataset import cases
from tui_eval.suites.data.hub import hub_rows
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.suites.loading.suite_file import load
from tui_eval.suites.spec import Suite
from tui_eval.suites.trust.needs_trust import NeedsTrust

REPO = "acme/capitals"
PROMPT = "[prompt]\nuser = '{{ land }}?'\n" + TARGET
TOKEN = "hf_kXw93jQ0vLmS5tYp"


def lands(*names: str) -> bytes:
    return table([{"id": name[:2].lower(), "land": name} for name in names])


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeHub]:
    hub_rows._resolved.cache_clear()
    hub_rows._files.cache_clear()
    with FakeHub() as made:
        made.use(monkeypatch, tmp_path / "cache")
        yield made


def suite(folder: Path, path: str = f"hf://{REPO}/main/test", more: str = "") -> Suite:
    return load(write(folder, f'[dataset]\npath = "{path}"\n{more}{PROMPT}'))


def wrong(of: Suite) -> str:
    with pytest.raises(SuiteError) as caught:
        list(cases(of))
    return str(caught.value).replace("127.0.0.1", "HOST")


def test_rows_come_of_all_files_of_a_split(server: FakeHub, tmp_path: Path) -> None:
    server.put(
        REPO,
        {"main/test-0.parquet": lands("France", "Peru"), "main/test-1.parquet": lands("Japan")},
    )
    assert [case.id for case in cases(suite(tmp_path))] == ["fr", "pe", "ja"]


def test_a_file_is_fetched_when_its_rows_are_asked_for(server: FakeHub, tmp_path: Path) -> None:
    server.put(REPO, {"main/test-0.parquet": lands("France"), "main/test-1.parquet": b"broken"})
    assert next(cases(suite(tmp_path))).id == "fr"
    assert len(server.asked("cdn")) == 1
    assert wrong(suite(tmp_path)).startswith(
        f"hf://{REPO}/main/test-1.parquet: is cut off or no Parquet file: "
    )


def test_a_suite_is_pinned_once_and_stays_at_its_commit(server: FakeHub, tmp_path: Path) -> None:
    commit = server.put(REPO, {"main/test-0.parquet": lands("France")})
    pinned = hub_rows.pinned(suite(tmp_path))
    assert pinned.dataset.path == f"hf://{REPO}/main/test@{commit}"
    server.put(REPO, {"main/test-0.parquet": lands("Peru")})
    assert [case.id for case in cases(pinned)] == ["fr"]
    assert hub_rows.pinned(suite(tmp_path)) == pinned  # a look and the launch after it agree
    hub_rows._resolved.cache_clear()
    assert [case.id for case in cases(suite(tmp_path))] == ["pe"]
    assert hub_rows.pinned(pinned) == pinned


def test_a_revision_is_taken_that_is_named(server: FakeHub, tmp_path: Path) -> None:
    server.put(REPO, {"main/test-0.parquet": lands("France")}, "v1")
    server.put(REPO, {"main/test-0.parquet": lands("Peru")})
    named = suite(tmp_path, f"hf://{REPO}/main/test@v1")
    assert [case.id for case in cases(named)] == ["fr"]
    absent = suite(tmp_path, f"hf://{REPO}/main/test@v2")
    assert wrong(absent) == f"hf://{REPO}/main/test@v2: has no such revision at HOST"


def test_what_the_hub_converted_is_taken_where_there_is_no_parquet(
    server: FakeHub, tmp_path: Path
) -> None:
    server.put(REPO, {"test.jsonl": b""})
    commit = server.put(REPO, {"default/test/0000.parquet": lands("Fiji")}, CONVERTED)
    found = hub_rows.pinned(suite(tmp_path, f"hf://{REPO}/test"))
    assert found.dataset.path == f"hf://{REPO}/test@{commit}"
    assert [case.id for case in cases(found)] == ["fi"]
    assert wrong(suite(tmp_path, f"hf://{REPO}/train")) == (
        f"hf://{REPO}/train: has no such split as Parquet; there are default/test"
    )


def test_a_dataset_without_parquet_says_so(server: FakeHub, tmp_path: Path) -> None:
    server.put(REPO, {"test.jsonl": b""})
    assert wrong(suite(tmp_path)) == (
        f"hf://{REPO}/main/test: cannot be read: the Hub keeps no Parquet of it; "
        "download it and name its file"
    )


def test_a_row_that_is_no_case_is_told_with_file_and_number(
    server: FakeHub, tmp_path: Path
) -> None:
    rows: list[JsonObject] = [{"id": "a", "land": "A"}, {"id": "b", "land": "B"}] * 2
    server.put(REPO, {"main/test-0.parquet": table(rows)})
    assert wrong(suite(tmp_path)).splitlines()[0] == (
        f'hf://{REPO}/main/test-0.parquet, line 3: id: the id "a" is there twice, '
        f"first in hf://{REPO}/main/test-0.parquet, line 1"
    )


def test_nothing_is_asked_before_data_is_read(server: FakeHub, tmp_path: Path) -> None:
    suite(tmp_path)
    assert server.calls == []


def test_a_host_that_is_not_there_is_one_mistake(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hub_rows._resolved.cache_clear()
    with FakeHub() as server:
        server.use(monkeypatch, tmp_path)
    said = wrong(suite(tmp_path))
    assert said.startswith(f"hf://{REPO}/main/test: cannot be reached: HOST (")
    assert len(said.splitlines()) == 1


def test_a_token_is_asked_for_and_then_sent_to_the_hub_alone(
    server: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.token = TOKEN
    server.put(REPO, {"main/test-0.parquet": lands("France")})
    monkeypatch.setenv(client.TOKEN, TOKEN)
    path = write(tmp_path, f'[dataset]\npath = "hf://{REPO}/main/test"\n{PROMPT}')
    with pytest.raises(NeedsTrust) as caught:
        load(path)
    assert caught.value.permissions == (
        f"read {REPO} as you: send HF_TOKEN to host 127.0.0.1, which is not its own",
    )
    assert server.calls == []
    trusted = load(path, trusted=True)
    assert [case.id for case in cases(trusted)] == ["fr"]
    assert {call.token for call in server.asked("cdn")} == {None}
    assert TOKEN not in json.dumps(trusted.model_dump(mode="json"))
    monkeypatch.setenv("HF_ENDPOINT", "https://huggingface.co")
    with pytest.raises(NeedsTrust) as caught:
        load(path)
    assert caught.value.permissions == (
        f"read {REPO} as you: send HF_TOKEN to host huggingface.co",
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f'[dataset]\npath = "hf://gsm8k"\n{PROMPT}',
         '"hf://gsm8k" is no dataset of the Hub: write hf://OWNER/NAME[/CONFIG]/SPLIT[@REVISION]'),
        (f'[dataset]\npath = "hf://a/b/c"\nformat = "harbor"\n{PROMPT}',
         '"hf://a/b/c" is a dataset of the Hub; harbor is a folder of tasks'),
        (f'[dataset]\npath = "hf://a/b/c"\n{PROMPT}[[targets]]\nkind = "replay"\npath = "hf://a/b/c"\n',
         '"hf://a/b/c" is a dataset of the Hub; name a file here'),
    ],
)  # fmt: skip
def test_an_address_that_is_wrong_is_told_by_loading(
    tmp_path: Path, text: str, expected: str
) -> None:
    (said,) = told(write(tmp_path, text))
    assert said.endswith(expected)


def test_a_cache_that_cannot_be_written_is_told(
    server: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.put(REPO, {"main/test-0.parquet": lands("France")})
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "file" / "hub"))
    assert wrong(suite(tmp_path)).startswith(f"hf://{REPO}/main/test: cannot be kept: ")
