import asyncio
import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Beside, Command, Place, document
from tests.engine.executors.nearby import NearbyExecutor
from tests.servers.fake_judge import answers, asked
from tests.servers.fake_model import Call, FakeModel, Reply, always, first_attempts, refuse
from tui_eval.engine.executors.kinds import EXECUTORS


async def test_retry_without_a_selector_asks_again_what_errored(
    place: Place, beside: Beside
) -> None:
    async with FakeModel(script=first_attempts(refuse(500))) as server:
        suite = place.asking(server.base_url, n=3, more="[run]\nretries = 0")
        first = await beside("run", suite, "--json")
        assert (first.code, document(first)["counts"]["error"]) == (3, 3)
        again = await beside("retry", "last", "--json")
    whole = document(again)
    assert whole["counts"]["error"] == 0
    assert whole["requests"] == {**whole["requests"], "target": 6, "target_retries": 3}
    assert server.requests == 6


@pytest.mark.parametrize("command", ["resume", "retry"])
async def test_a_key_that_is_not_set_is_told_before_anything_moves(
    place: Place,
    tui_eval: Command,
    beside: Beside,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
) -> None:
    monkeypatch.setenv("OWN_KEY", "x")
    async with FakeModel(script=always(refuse(400))) as server:
        suite = place.folder / place.asking(server.base_url, n=2)
        text = suite.read_text().replace("[prompt]", 'api_key_env = "OWN_KEY"\n[prompt]')
        suite.write_text(text)
        first = document(await beside("run", suite.name, "--trust", "--json"))
    monkeypatch.delenv("OWN_KEY")
    assert first["counts"]["error"] == 2
    done = tui_eval(command, "last", "--json")
    assert (done.code, done.out) == (2, "")
    assert "OWN_KEY is not set" in done.err
    assert document(tui_eval("show", "last", "--json"))["requests"] == first["requests"]


async def test_a_run_is_taken_up_by_the_executor_that_is_named(
    place: Place, beside: Beside, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[NearbyExecutor] = []
    monkeypatch.setattr(NearbyExecutor, "made", made, raising=False)
    monkeypatch.setitem(EXECUTORS, "ray", NearbyExecutor)

    async def code(*words: str) -> int:
        return (await beside(*words, "--json")).code

    async with FakeModel(script=always(refuse(500))) as server:
        suite = place.asking(server.base_url, n=2, more="[run]\nretries = 0")
        assert await code("run", suite, "--executor", "ray", "--address", "10.0.0.5:6379") == 3
        assert [(one.address, len(one.workers)) for one in made] == [("10.0.0.5:6379", 2)]
        assert await code("retry", "last") == 3  # as the run was made
        assert [one.address for one in made] == ["10.0.0.5:6379"] * 2
        assert await code("retry", "last", "--address", "b:1") == 3
        assert made[-1].address == "b:1"
        assert await code("resume", "last", "--executor", "local") == 3
        refused = await beside("retry", "last", "--address", "b:1")
        assert refused.code == 2
        assert "--address says where an executor is: name it (--executor)" in refused.err
        assert await code("rescore", "last") == 3
        assert len(made) == 3
        server.script = None
        assert await code("resume", "last", "--executor", "ray") == 0
    assert [one.address for one in made[3:]] == [None]
    assert await code("rescore", "last") == 0
    assert not made[-1].workers
    assert await code("rescore", "last", "--executor", "ray", "--address", "c:1") == 0
    assert (made[-1].address, len(made[-1].workers)) == ("c:1", 2)


def test_retry_of_what_failed_and_of_cases(place: Place, tui_eval: Command) -> None:
    tui_eval("run", place.suite(n=10, target="accuracy = 0.5"))
    failed = document(tui_eval("show", "last", "--json"))["counts"]["failed"]
    done = tui_eval("retry", "last", "--failed", "--json")
    assert document(done)["requests"]["target"] == 10 + failed
    done = tui_eval("retry", "last", "--case", "case-1", "--case", "case-2", "--json")
    assert document(done)["requests"]["target"] == 12 + failed


def test_retry_with_nothing_to_retry_says_so_and_keeps_the_runs_code(
    place: Place, tui_eval: Command
) -> None:
    tui_eval("run", place.suite())
    done = tui_eval("retry", "last", "--json")
    assert (done.code, document(done)["state"]) == (0, "done")
    assert "retry: closed: there are no such trials" in done.err
    assert "nothing errored; --failed would take 0" in done.err
    assert "--failed would" not in tui_eval("retry", "last", "--failed").err


@pytest.mark.parametrize("command", ["retry", "rescore", "cancel", "show"])
def test_a_case_that_is_not_there_is_refused(place: Place, tui_eval: Command, command: str) -> None:
    tui_eval("run", place.suite())
    done = tui_eval(command, "last", "--case", "cas-2")
    assert (done.code, done.out) == (2, "")
    assert re.search(
        r"no case of run sums-\w+ is called 'cas-2'; did you mean 'case-2'\?", done.err
    )
    assert "there are case-0, case-1" in tui_eval(command, "last", "--case", "nobody").err


@pytest.mark.parametrize("command", ["resume", "retry", "rescore", "cancel", "show", "export"])
def test_a_run_that_is_not_there_is_refused(place: Place, tui_eval: Command, command: str) -> None:
    tui_eval("run", place.suite())
    words = ["--format", "csv"] if command == "export" else []
    done = tui_eval(command, "nobody", *words)
    assert (done.code, done.out) == (2, "")
    assert "no run is called 'nobody'; the newest are sums-" in done.err


def test_without_a_store_there_is_nothing_to_steer(place: Place, tui_eval: Command) -> None:
    done = tui_eval("resume", "last")
    assert done.code == 2
    assert "there is no store here yet" in done.err


def test_rescore_takes_scorers_of_an_edited_suite_and_asks_nobody(
    place: Place, tui_eval: Command
) -> None:
    suite = place.suite(n=6, target="accuracy = 0.5")
    first = document(tui_eval("run", suite, "--json"))
    edited = Path(suite).read_text().replace('expected = "{{ answer }}"', 'expected = "wrong"')
    Path("edited.toml").write_text(edited)
    done = document(tui_eval("rescore", "last", "--suite", "edited.toml", "--json"))
    assert done["requests"]["target"] == 6
    assert done["counts"]["passed"] == first["counts"]["failed"]
    assert done["counts"]["failed"] == first["counts"]["passed"]


async def test_rescore_sets_fields_of_judges_and_scorers_as_run_does(
    place: Place, beside: Beside
) -> None:
    def slow(call: Call) -> Reply | None:
        return None if asked(call.body) is None or call.n > limit["from"] else Reply("hang")

    limit = {"from": 10**6}
    async with FakeModel(answers(lambda item: {"score": 7}), script=slow) as server:
        judge = f"""[judge]
base_url = "{server.base_url}"
model = "j"
timeout = 0.2
retries = 0
[[scorers]]
kind = "judge"
name = "good"
rubric = "Is it good?"
scale = [0, 10]
"""
        suite = place.asking(server.base_url, n=3, more=judge)
        first = document(await beside("run", suite, "--json"))
        assert first["counts"]["ungraded"] == 3
        limit["from"] = 0
        before = server.requests
        again = await beside(
            "rescore", "last", "--ungraded", "--json",
            "--set", "judge.timeout=60", "--set", "scorers.good.pass_at=8",
        )  # fmt: skip
        assert again.out, again.err
        assert document(again)["counts"]["ungraded"] == 0
        assert document(again)["counts"]["failed"] == 3  # 7 of 10 passed before pass_at
        assert server.requests <= before + 3
        for option, why in (
            ("judge.timeout=0", "judge.timeout: must be above 0, not 0"),
            ("judge.timout=1", 'judge.timout: unknown key; did you mean "timeout"?'),
            ("scorers.god.pass_at=1", 'none is called "god"; did you mean "good"?'),
            ("run.epochs=2", "run.epochs: cannot be set when a run is scored again"),
            ("judge.gold=gold.jsonl", "judge.gold: a file cannot be read here"),
        ):
            wrong = await beside("rescore", "last", "--set", option)
            assert (wrong.code, wrong.out) == (2, "")
            assert f"--set {option}" in wrong.err
            assert why in wrong.err


def test_rescore_sets_fields_of_an_edited_suite(place: Place, tui_eval: Command) -> None:
    suite = place.suite(n=3)
    assert document(tui_eval("run", suite, "--json"))["counts"]["passed"] == 3
    done = tui_eval(
        "rescore", "last", "--suite", suite, "--set", "scorers.0.expected=wrong", "--json"
    )
    assert document(done)["counts"]["failed"] == 3


def test_rescore_with_a_suite_that_is_wrong_changes_nothing(
    place: Place, tui_eval: Command
) -> None:
    suite = place.suite(n=3)
    first = document(tui_eval("run", suite, "--json"))
    edited = (
        Path(suite).read_text().replace('expected = "{{ answer }}"', 'expected = "{{ anwser }}"')
    )
    Path("edited.toml").write_text(edited)
    done = tui_eval("rescore", "last", "--suite", "edited.toml")
    assert (done.code, done.out) == (2, "")
    assert re.match(
        r'edited\.toml, line \d+: scorers\[0\]\.expected: no case has "anwser"; '
        r'did you mean "answer"\?\n',
        done.err,
    )
    assert document(tui_eval("show", "last", "--json")) == first


async def test_a_resume_says_what_it_finishes(place: Place, beside: Beside) -> None:
    async with FakeModel() as server:
        suite = place.asking(server.base_url, n=9)
        words = ["--concurrency", "1", "--max-tokens", "1"]
        paused = await beside("run", suite, *words)
        assert paused.code == 3
        assert re.search(r"^tui-eval resume sums-\w+ --max-tokens N  finish", paused.out, re.M)
        done = await beside("resume", "last", "--max-tokens", "1000")
        again = await beside("resume", "last")
    assert done.code == 0
    assert re.search(r"^resume: accepted: \d trials to finish$", done.err, re.M)
    assert (again.code, "resume: already: nothing is missing" in again.err) == (0, True)


def test_a_scorer_that_is_not_there_is_refused(place: Place, tui_eval: Command) -> None:
    tui_eval("run", place.suite())
    done = tui_eval("rescore", "last", "--scorer", "exakt")
    assert done.code == 2
    assert "no scorer is called 'exakt'; did you mean 'exact'?" in done.err


def test_a_scorer_that_a_case_brings_is_known(place: Place, tui_eval: Command) -> None:
    suite = place.folder / place.suite(n=2)
    own = '[[cases.scorers]]\nname = "own"\nkind = "includes"\nexpected = "2"\n'
    suite.write_text(f"{suite.read_text()}\n{own}")
    tui_eval("run", suite.name)
    done = tui_eval("rescore", "last", "--scorer", "own", "--json")
    assert (done.code, json.loads(done.out)["scorers"]["own"]["n"]) == (0, 1)


def test_a_cancelled_run_is_taken_up_by_retry_alone(place: Place, tui_eval: Command) -> None:
    tui_eval("run", place.suite(n=3))
    import sqlite3

    with sqlite3.connect(place.store) as db:  # as if it had been stopped before its last case
        db.execute("UPDATE trials SET state = 'queued', verdict = NULL WHERE place = 2")
        db.execute("UPDATE runs SET state = 'interrupted'")
    db.close()
    done = tui_eval("cancel", "last", "--json")
    assert document(done) | {"run": ""} == {
        "run": "",
        "outcome": "accepted",
        "detail": "1 trial cancelled",
    }
    assert "tui-eval undo " in done.err
    hints = tui_eval("show", "last").out
    assert hints.index("tui-eval undo ") < hints.index("tui-eval retry ")
    whole = document(tui_eval("show", "last", "--json"))
    assert (whole["state"], whole["counts"]["cancelled"], whole["exit_code"]) == ("cancelled", 1, 0)
    for command in ("resume", "rescore"):
        refused = tui_eval(command, "last")
        assert refused.code == 2
        assert "was cancelled; `tui-eval undo " in refused.err
    again = document(tui_eval("retry", "last", "--case", "case-2", "--json"))
    assert (again["state"], again["counts"]["done"]) == ("done", 3)


def test_cancelling_a_finished_run_changes_nothing(place: Place, tui_eval: Command) -> None:
    tui_eval("run", place.suite())
    done = tui_eval("cancel", "last")
    assert (done.code, "already" in done.out) == (0, True)
    assert document(tui_eval("show", "last", "--json"))["state"] == "done"


def test_undo_takes_back_a_rescore_and_then_has_nothing_left(
    place: Place, tui_eval: Command
) -> None:
    suite = place.suite(n=4)
    first = document(tui_eval("run", suite, "--json"))
    edited = Path(suite).read_text().replace('expected = "{{ answer }}"', 'expected = "wrong"')
    Path("edited.toml").write_text(edited)
    tui_eval("rescore", "last", "--suite", "edited.toml")
    done = tui_eval("undo", "last")
    assert (done.code, done.out.partition(": ")[2].strip()) == (0, "accepted: 4 trials")
    assert document(tui_eval("show", "last", "--json"))["scorers"] == first["scorers"]
    again = tui_eval("undo", "last")
    assert again.code == 2
    assert "nothing was cancelled, scored again or graded by hand that is not undone" in again.err


async def test_undo_lets_a_cancelled_run_go_on(
    place: Place, tui_eval: Command, beside: Beside
) -> None:
    async with FakeModel(latency=0.3) as server:
        suite = place.asking(server.base_url, n=4, more="[run]\nconcurrency = 1")
        running = await place.start("run", suite)
        while server.requests < 2:
            await asyncio.sleep(0.01)
        tui_eval("cancel", "last")
        await running.ended()
        done = await beside("undo", "last", "--json")
    assert document(done)["counts"]["passed"] + document(done)["counts"]["failed"] == 4
    assert document(done)["counts"]["cancelled"] == 0
    assert "undo: accepted: " in done.err
    assert server.requests <= 5  # at most what was in flight is asked for twice
