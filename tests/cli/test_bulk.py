"""The commands of `docs/how-to/bulk.md`, on a simulated provider."""

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Beside, Place, document
from tests.engine.judging.bulk.judged_runs import Grading
from tests.servers.fake_bulk import FakeBulk, Refuse
from tui_eval.engine.bulk import cancelling
from tui_eval.targets.model import model_bulk

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "bulk.md"


@pytest.fixture
def suite(place: Place) -> str:
    """Write the page's suite, and its data; give its name."""
    for name, text in re.findall(r"```\w+\n# (capitals\.\w+)\n(.*?)```", PAGE.read_text(), re.S):
        (place.folder / name).write_text(text)
    return "capitals.toml"


def asking(place: Place, suite: str, server: FakeBulk) -> None:
    """Have the suite ask a server in place of a provider."""
    file = place.folder / suite
    file.write_text(
        file.read_text().replace('provider = "openai"', f'base_url = "{server.base_url}"')
    )


ANSWERS = {
    "What is the capital of France?": "Paris",
    "What is the capital of Peru?": "It is Lima.",
    "What is the capital of Chad?": "N'Djamena",
}


async def test_what_is_submitted_is_collected(place: Place, suite: str, beside: Beside) -> None:
    async with FakeBulk(ANSWERS, looks=0) as server:
        asking(place, suite, server)
        sent = await beside("run", suite, "--submit", "--json")
        whole = document(sent)
        assert (sent.code, whole["state"], whole["stopped_by"]) == (0, "paused", "bulk")
        assert whole["exit_code"] == 0
        assert whole["counts"]["running"] == 3
        early = await beside("resume", "last", "--collect", "--json")
        assert (early.code, document(early)["stopped_by"]) == (0, "bulk")
        server.finish()
        done = await beside("resume", "last", "--collect", "--json")
    whole = document(done)
    assert (done.code, whole["state"], whole["stopped_by"]) == (0, "done", None)
    assert whole["counts"]["passed"] == 3
    assert whole["requests"] == {**whole["requests"], "target": 3, "target_retries": 0}
    assert server.ledger.prompts == dict.fromkeys(ANSWERS, 1)
    assert server.counts["create"] == 1


async def test_models_are_asked_in_bulk_where_the_launch_says(
    place: Place, suite: str, beside: Beside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_bulk, "SETTLE_S", 0.0)
    async with FakeBulk(ANSWERS, looks=0) as server:
        asking(place, suite, server)
        file = place.folder / suite
        file.write_text(file.read_text().replace("bulk = true\n", ""))
        sent = await beside("run", suite, "--bulk", "--submit", "--json")
        assert (sent.code, document(sent)["stopped_by"]) == (0, "bulk")
        server.finish()
        resumed = await beside("resume", "last", "--json")
        assert (resumed.code, document(resumed)["counts"]["passed"]) == (0, 3)
        live = await beside("run", suite, "--json")
    assert document(live)["counts"]["passed"] == 3
    assert document(live)["requests"]["cached_outputs"] == 3, "how it was asked is in no key"


async def test_what_a_cancelled_run_left_at_a_provider_is_collected(
    place: Place, suite: str, beside: Beside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cancelling, "_PAUSE_S", 0.0)
    async with FakeBulk(
        ANSWERS, looks=0, script=lambda call: Refuse(500) if call.kind == "cancel" else None
    ) as server:
        asking(place, suite, server)
        assert (await beside("run", suite, "--submit")).code == 0
        cancelled = await beside("cancel", "last")
        assert cancelled.code == 0
        assert "3 requests at" in cancelled.err
        assert (await beside("resume", "last")).code == 2
        early = await beside("resume", "last", "--collect")
        assert (early.code, "may still be done" in early.err) == (0, True)
        server.finish()
        done = await beside("resume", "last", "--collect", "--json")
        assert (done.code, document(done)["state"]) == (0, "cancelled")
        assert "may still be done" not in done.err
        again = await beside("run", suite, "--json")
    assert document(again)["requests"]["cached_outputs"] == 3
    assert server.ledger.prompts == dict.fromkeys(ANSWERS, 1)


async def test_what_is_deleted_says_what_a_provider_has(
    place: Place, suite: str, beside: Beside
) -> None:
    async with FakeBulk(ANSWERS, looks=0) as server:
        asking(place, suite, server)
        assert (await beside("run", suite, "--submit")).code == 0
        refused = await beside("delete", "last")
        assert refused.code == 2
        host = server.base_url.split("/")[2]
        assert f"3 requests at {host} in bulk may still be done, and billed" in refused.err
        assert "`tui-eval cancel RUN` ends them first" in refused.err
        gone = await beside("delete", "last", "--yes", "--json")
    assert gone.code == 0
    assert document(gone)["at_providers"] == [{"host": host, "folder": None, "requests": 3}]
    assert f"3 requests at {host}" in gone.err


async def test_submitting_needs_something_that_is_asked_in_bulk(
    place: Place, beside: Beside
) -> None:
    refused = await beside("run", place.suite(), "--submit")
    assert refused.code == 2
    assert "--submit: nobody here is asked in bulk" in refused.err


async def test_what_lies_in_a_folder_is_told_of_the_folder(
    place: Place, suite: str, beside: Beside
) -> None:
    """Nobody but who reads the folder does it, and nobody bills it."""
    file = place.folder / suite
    local = 'base_url = "http://127.0.0.1:9/v1"'
    text = file.read_text().replace('provider = "openai"', local)
    file.write_text(text.replace("bulk = true", 'bulk = { api = "files" }'))
    assert (await beside("run", suite, "--submit")).code == 0
    folder = place.folder / "bulk"
    assert (folder / "requests-0001.jsonl").exists()
    refused = await beside("delete", "last")
    assert f"3 requests in the folder {folder} may still be done, and nobody takes" in refused.err
    merged = await beside("merge", str(place.store), "--into", str(place.folder / "all.sqlite3"))
    assert f"has 3 requests in the folder {folder}" in merged.out
    assert (await beside("cancel", "last")).code == 0
    assert (folder / "cancelled-0001.jsonl").exists()
    gone = await beside("delete", "last", "--yes", "--json")
    assert document(gone)["at_providers"] == []


async def test_a_judge_is_submitted_shown_and_deleted_like_a_target(
    place: Place, suite: str, beside: Beside
) -> None:
    file = place.folder / suite
    of_page = file.read_text().replace("bulk = true\n", "")
    (judge,) = re.findall(r"```toml\n(\[judge\]\n.*?)```", PAGE.read_text(), re.S)
    scorer = '[[scorers]]\nkind = "judge"\nrubric = "Right?"\nscale = "pass-fail"\n'
    file.write_text(of_page[: of_page.index("[[scorers]]")] + judge + scorer)
    grading = Grading(lambda item: {"score": 1})
    async with FakeBulk(grading, looks=0) as server:
        asking(place, suite, server)
        sent = await beside("run", suite, "--submit", "--json")
        assert sent.code == 0, sent.err
        whole = document(sent)
        assert [(one["asked"], one["target"]) for one in whole["bulk"]] == [("judge", "judge")]
        assert whole["counts"]["scoring"] == 3
        refused = await beside("delete", "last")
        assert f"1 request at {server.base_url.split('/')[2]} in bulk may still be" in refused.err
        server.finish()
        done = document(await beside("resume", "last", "--collect", "--json"))
        assert (done["state"], done["counts"]["passed"]) == ("done", 3)
        traced = await beside("trace", "last", "--trial", "1")
    assert "in bulk: consignment 1" in traced.out
