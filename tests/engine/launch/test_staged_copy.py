"""A run that wants what an earlier one wanted has the trials it would have had without that one."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tui_eval.engine.launch.stage_run as stage_run_module
from tests.engine.harness import Harness, suite
from tests.servers.fake_model import FakeModel
from tui_eval.engine.engine import Engine
from tui_eval.engine.launch import staged_copy
from tui_eval.engine.settings import Settings
from tui_eval.model.runs.run_part import RunPart
from tui_eval.model.states import RunState
from tui_eval.store.requests import Verb
from tui_eval.store.tx import Tx
from tui_eval.store.write import staged_copies
from tui_eval.store.write.staged_copies import FormerRun
from tui_eval.suites.data import data_files
from tui_eval.suites.spec import Suite

_OF_RUN = {
    "cases": "SELECT seq, id, data, number FROM cases WHERE run = ? ORDER BY seq",
    "trials": "SELECT place, seq, col, epoch, state, verdict, score, generation_key, output, "
    "cached, attempts, error_kind, error_message, waiting, latency_s, input_tokens, output_tokens, "
    "cost_usd, about_usd, opening FROM trials WHERE run = ? ORDER BY place",
    "scores": "SELECT t.place, s.output, s.scorer, s.verdict, s.value, s.raw, s.reason, s.source, "
    "s.weight, s.required, s.cached, s.current, s.superseded, s.score_key FROM scores s "
    "JOIN trials t ON t.id = s.trial WHERE t.run = ? ORDER BY t.place, s.id",
    "tallies": "SELECT col, state, verdict, n, score, input_tokens, output_tokens, cost_usd, "
    "unpriced, attempts, retries, cached, about_usd, unestimated FROM tallies "
    "WHERE run = ? AND n > 0 ORDER BY 1, 2, 3",
    "run": "SELECT staged, total, partial, state FROM runs WHERE id = ?",
}


def rows(harness: Harness, run: int) -> dict[str, list[tuple[Any, ...]]]:
    """Give all that staging and working left of a run, without ids and times."""
    return {name: harness.sql(query, run) for name, query in _OF_RUN.items()}


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """Give what copying came to in each run that tried it: its trials, or None."""
    told: list[int | None] = []
    copy = staged_copy.stage_copy

    def watched(*args: Any) -> int | None:
        told.append(copy(*args))
        return told[-1]

    monkeypatch.setattr(stage_run_module, "stage_copy", watched)
    return told


async def anew(
    harness: Harness, wanted: Suite, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> int:
    """Run a suite that is staged row by row, whatever there is to be copied."""
    with monkeypatch.context() as patched:
        patched.setattr(stage_run_module, "staging_digest", lambda *_: None)
        return await harness.run(wanted, settings)


TOUCHED: dict[str, str] = {
    "nothing": "SELECT 1",
    "an output is asked for again": "UPDATE outputs SET superseded = 1 WHERE id = 2",
    "a verdict is a person's": "UPDATE scores SET source = 'human' WHERE id = 3",
    "a verdict was withdrawn": "UPDATE scores SET withdrawn_at = 1, current = 0, reason = 'before' "
    "WHERE id = 3",
    "a verdict was superseded": "UPDATE scores SET superseded = 1, current = 0, reason = 'before' "
    "WHERE id = 3",
    "a verdict is about another output": "UPDATE scores SET output = 1, reason = 'before' "
    "WHERE id = 3",
    "a verdict is ungraded": "UPDATE scores SET verdict = 'ungraded', value = NULL WHERE id = 3",
    "a program has decided": "UPDATE scores SET score_key = x'00' WHERE id = 3",
    "a trial has an error": "UPDATE trials SET state = 'error', verdict = NULL WHERE place = 4",
    "a newer output has come": "INSERT INTO outputs (generation_key, text, digest, at) "
    "SELECT generation_key, 'newer', x'00', 0 FROM outputs WHERE id = 1",
}


@pytest.mark.parametrize("portion", [2, 5000])
@pytest.mark.parametrize("touched", TOUCHED)
async def test_what_is_copied_is_what_would_have_been_staged(
    harness: Harness,
    touched: str,
    portion: int,
    copied: list[int | None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(staged_copy, "_PORTION", portion)
    several = [
        {"kind": "exact", "expected": "{{ q }}"},
        {"kind": "includes", "expected": "q", "required": False, "weight": 2},
    ]
    settings = Settings(limit=4, concurrency=3)
    async with FakeModel(answers={"q0": "q0", "q1": "q", "q2": "no"}) as server:
        wanted = suite(server.base_url, 6, scorers=several, run={"epochs": 2})
        await harness.run(wanted, Settings(limit=4))
        harness.write(TOUCHED[touched])
        newest, asked = harness.sql("SELECT max(id) FROM outputs")[0][0], server.requests
        second = await harness.run(wanted, settings)
        of_second = server.requests - asked
        # what the second has brought is as it was before it
        harness.write("UPDATE outputs SET superseded = 1 WHERE id > ?", newest)
        asked = server.requests
        third = await anew(harness, wanted, monkeypatch, settings)
        of_third = server.requests - asked
    assert copied == [None, 8]
    assert of_second == of_third == (touched == "an output is asked for again")
    ours, theirs = rows(harness, second), rows(harness, third)
    if of_second:  # each has an output of its own there
        for found in (ours, theirs):
            found["trials"] = [row[:8] + row[9:14] for row in found["trials"]]
            found["scores"] = [row[:1] + row[2:] for row in found["scores"]]
    assert ours == theirs
    assert harness.row(second).state is RunState.DONE


async def test_a_copy_can_be_copied_from(harness: Harness, copied: list[int | None]) -> None:
    async with FakeModel() as server:
        wanted = suite(server.base_url, 3)
        runs = [await harness.run(wanted) for _ in range(3)]
        asked = server.requests
    assert copied == [None, 3, 3]
    assert asked == 3
    assert rows(harness, runs[2]) == rows(harness, runs[1])


def other_scorer(described: dict[str, Any], _: Path) -> None:
    described["scorers"] = [{"kind": "includes", "expected": "q"}]


def other_prompt(described: dict[str, Any], _: Path) -> None:
    described["prompts"] = [{"user": "{{ q }}!"}]


def other_data(_: dict[str, Any], data: Path) -> None:
    data.write_text(data.read_text().replace("q2", "q9"))


def other_place(described: dict[str, Any], data: Path) -> None:
    moved = data.with_name("moved.jsonl")
    data.rename(moved)
    described["dataset"] = {"path": str(moved)}


@pytest.mark.parametrize("change", [other_scorer, other_prompt, other_data, other_place])
async def test_what_is_not_the_same_is_staged_row_by_row(
    harness: Harness,
    change: Callable[[dict[str, Any], Path], None],
    copied: list[int | None],
    tmp_path: Path,
) -> None:
    data = tmp_path / "cases.jsonl"
    data.write_text("".join(json.dumps({"id": f"c{i}", "q": f"q{i}"}) + "\n" for i in range(3)))
    described: dict[str, Any] = {"cases": [], "dataset": {"path": str(data)}}
    described["file"] = str(tmp_path / "suite.toml")
    async with FakeModel() as server:
        await harness.run(suite(server.base_url, 0, **described))
        await harness.run(suite(server.base_url, 0, **described))
        change(described, data)
        await harness.run(suite(server.base_url, 0, **described))
    assert copied == [None, 3, None]


async def test_a_case_that_cannot_be_rendered_and_a_picture_are_looked_at_each_time(
    harness: Harness, copied: list[int | None], tmp_path: Path
) -> None:
    picture = tmp_path / "one.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n1")
    shown = [{"type": "text", "text": "{{ q }}"}, {"type": "image", "path": "one.png"}]
    described: dict[str, Any] = {
        "prompts": [{"messages": [{"role": "user", "content": shown}]}],
        "file": str(tmp_path / "suite.toml"),
    }
    async with FakeModel() as server:
        wanted = suite(server.base_url, 2, **described)
        await harness.run(wanted)
        picture.write_bytes(b"\x89PNG\r\n\x1a\n2")
        await harness.run(wanted)
        assert server.requests == 4
        lacking = suite(server.base_url, 1, prompts=[{"user": "{{ gone }}"}])
        await harness.run(lacking)
        await harness.run(lacking)
    assert copied == [None] * 4


async def test_what_a_launch_chose_decides_what_is_copied(
    harness: Harness, copied: list[int | None]
) -> None:
    choices = [Settings(), Settings(limit=2), Settings(epochs=2), Settings(cases=("c1",))]
    async with FakeModel() as server:
        wanted = suite(server.base_url, 3)
        totals = [
            harness.row(await harness.run(wanted, chosen)).total for chosen in (*choices, *choices)
        ]
    assert copied == [None] * 4 + [3, 2, 6, 1]
    assert totals == [3, 2, 6, 1] * 2


@pytest.mark.parametrize("chosen", [Settings(part=RunPart(1, 2)), Settings(only="failed")])
async def test_parts_and_cases_chosen_by_verdict_are_staged_anew(
    harness: Harness, copied: list[int | None], chosen: Settings
) -> None:
    async with FakeModel(answers={"q1": "no"}) as server:
        wanted = suite(server.base_url, 4)
        await harness.run(wanted)
        runs = [await harness.run(wanted, chosen) for _ in range(2)]
    assert copied == [None]
    parts = harness.sql("SELECT run, part, of FROM run_parts ORDER BY run")
    assert parts == ([(run, 1, 2) for run in runs] if chosen.part is not None else [])


async def test_data_too_large_for_a_digest_are_read_each_time(
    harness: Harness,
    copied: list[int | None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(data_files, "_DIGESTED", 0)
    data = tmp_path / "cases.jsonl"
    async with FakeModel() as server:
        for question in ("q1", "q2"):
            data.write_text(json.dumps({"id": "c", "q": question}))
            described: dict[str, Any] = {"cases": [], "dataset": {"path": str(data)}}
            await harness.run(suite(server.base_url, 0, **described))
        assert server.requests == 2
    assert copied == []


async def test_a_run_that_lacks_a_trial_is_not_copied(
    harness: Harness, copied: list[int | None]
) -> None:
    async with FakeModel() as server:
        wanted = suite(server.base_url, 3)
        await harness.run(wanted)
        harness.write("DELETE FROM trials WHERE place = 1")
        second = await harness.run(wanted)
    assert copied == [None, None]
    assert harness.counts(second).passed == 3


def session_in_a_file(folder: Path) -> tuple[Path, dict[str, Any]]:
    """Give a file with what was said before, and the suite whose rows name it."""
    (folder / "cases.jsonl").write_text('{"id": "a", "q": "q", "initial_session": "said.jsonl"}')
    return folder / "said.jsonl", {"dataset": {"path": str(folder / "cases.jsonl")}}


def task_in_a_folder(folder: Path) -> tuple[Path, dict[str, Any]]:
    """Give the instruction of a task, and the suite that asks it."""
    (folder / "task").mkdir()
    (folder / "task/task.toml").write_text("")
    described = {"dataset": {"path": str(folder / "task/task.toml"), "format": "harbor"}}
    prompts = [{"user": "{{ instruction }}"}]
    return folder / "task/instruction.md", described | {"prompts": prompts, "scorers": []}


@pytest.mark.parametrize("case_of", [session_in_a_file, task_in_a_folder])
async def test_files_that_only_rows_name_are_read_each_time(
    harness: Harness,
    case_of: Callable[[Path], tuple[Path, dict[str, Any]]],
    copied: list[int | None],
    tmp_path: Path,
) -> None:
    named, described = case_of(tmp_path)
    described |= {"cases": [], "file": str(tmp_path / "suite.toml")}
    async with FakeModel() as server:
        for said in ("before", "after"):
            named.write_text(json.dumps({"role": "user", "content": said}))
            await harness.run(suite(server.base_url, 0, **described))
        assert server.requests == 2
    assert copied == [None, None]


async def test_scorers_that_were_changed_since_are_not_those_of_the_launch(
    harness: Harness, copied: list[int | None]
) -> None:
    async with FakeModel() as server:
        wanted = suite(server.base_url, 2)
        first = await harness.run(wanted)
        edited = [{"kind": "exact", "expected": "nothing"}]
        await harness.again(first, Verb.RESCORE, scorer_specs=edited)
        assert harness.counts(first).passed == 0
        second = await harness.run(wanted)
    assert copied == [None, None]
    assert harness.counts(second).passed == 2


async def test_judges_are_made_sure_of_each_time(
    harness: Harness, copied: list[int | None]
) -> None:
    async with FakeModel() as server:
        judge = {"kind": "model", "name": "j", "base_url": server.base_url, "model": "m"}
        wanted = suite(server.base_url, 2, judges=[judge])
        await harness.run(wanted)
        await harness.run(wanted)
    assert copied == []


async def test_fresh_outputs_are_asked_for(harness: Harness, copied: list[int | None]) -> None:
    async with FakeModel() as server:
        wanted = suite(server.base_url, 2)
        await harness.run(wanted)
        await harness.run(wanted, Settings(fresh=True))
        assert server.requests == 4
    assert copied == [None, None]


async def test_a_run_that_is_deleted_meanwhile_is_done_without(
    harness: Harness, copied: list[int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_portion = staged_copies.copy_portion

    def deleted_first(tx: Tx, run: int, former: FormerRun, first: int, end: int) -> int | None:
        if first:
            tx.db.execute("UPDATE runs SET stopped_by = 'deletion' WHERE id = ?", (former.id,))
        return copy_portion(tx, run, former, first, end)

    monkeypatch.setattr(staged_copies, "copy_portion", deleted_first)
    monkeypatch.setattr(staged_copy, "_PORTION", 2)
    async with FakeModel() as server:
        wanted = suite(server.base_url, 5)
        first = await harness.run(wanted)
        before = rows(harness, first)
        second = await harness.run(wanted)
        assert server.requests == 5
    assert copied == [None, None]
    after = rows(harness, second)
    assert after["cases"] == before["cases"]
    assert [row[:9] for row in after["trials"]] == [row[:9] for row in before["trials"]]
    assert after["run"] == [(1, 5, 0, "done")]


async def test_a_stop_between_portions_leaves_the_run_unstaged(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_portion = staged_copies.copy_portion
    engines: list[Engine] = []

    def then_stopped(*args: Any) -> int | None:
        engines[0].stop()
        return copy_portion(*args)

    monkeypatch.setattr(staged_copy, "_PORTION", 2)
    async with FakeModel() as server:
        wanted = suite(server.base_url, 5)
        await harness.run(wanted)
        second = harness.create(wanted)
        with monkeypatch.context() as patched:
            patched.setattr(staged_copies, "copy_portion", then_stopped)
            engines.append(Engine(harness.path, second))
            await engines[0].run()
        assert not harness.row(second).staged
        await Engine(harness.path, second).run()
        assert server.requests == 5
    assert harness.row(second).state is RunState.DONE
    assert harness.counts(second).passed == 5
