import json
import re
import signal
from pathlib import Path

import pytest

from tests.cli.conftest import Beside, Command, Place, document
from tests.servers.fake_model import FakeModel, always, refuse
from tests.waiting import until


def test_a_run_gives_its_summary_on_stdout_and_its_name_on_stderr(place: Place) -> None:
    done = place.program("run", place.suite())
    assert done.code == 0
    assert "100.0%" in done.out
    name = done.err.split()[1]
    assert done.out.startswith(f"{name}  done after ")
    assert done.err == f"run {name}\n"


def test_commands_to_go_on_with_name_the_store(place: Place, tui_eval: Command) -> None:
    suite = place.suite(target="accuracy = 0.0")
    tui_eval("run", suite, "--store", "other.sqlite3")
    shown = tui_eval("show", "last", "--store", "other.sqlite3")
    (command,) = re.findall(r"tui-eval (show \S+ --failed --store other.sqlite3)  see", shown.out)
    assert tui_eval(*command.split()).out.count("expected") == 4
    assert "--store" not in tui_eval("run", suite).out


def test_json_is_one_document_and_nothing_else_on_stdout(place: Place) -> None:
    done = place.program("run", place.suite(), "--json", "--name", "first try")
    whole = document(done)
    assert (done.code, whole["exit_code"], whole["label"]) == (0, 0, "first try")
    assert whole["counts"]["done"] == 4
    assert whole["targets"]["made-up"]["pass_rate"] == 1.0
    assert whole["tags"]["sum"]["n"] == 4


def test_events_tell_each_trial_once_and_end_with_the_document(
    place: Place, tui_eval: Command
) -> None:
    done = tui_eval(
        "run", place.suite(n=30, target="latency_s = 0.01"), "--events", "--concurrency", "3"
    )
    events = [json.loads(line) for line in done.out.splitlines()]
    assert events[0]["event"] == "started"
    assert events[-1]["event"] == "finished"
    assert events[-1]["counts"]["done"] == 30
    assert all(isinstance(event["at"], float) for event in events)
    settled = [event["case_id"] for event in events if event["event"] == "trial"]
    assert sorted(settled) == sorted(f"case-{i}" for i in range(30))
    assert [event["concurrency"] for event in events if event["event"] == "limit"] == [3]


def test_a_second_run_asks_nobody(place: Place, tui_eval: Command) -> None:
    suite = place.suite()
    tui_eval("run", suite)
    again = document(tui_eval("run", suite, "--json"))
    assert again["requests"]["target"] == 0
    assert again["requests"]["cached_outputs"] == 4
    fresh = document(tui_eval("run", suite, "--json", "--fresh"))
    assert fresh["requests"]["target"] == 4


@pytest.mark.parametrize(
    ("gate", "target", "code"),
    [
        ("", "accuracy = 0.5", 0),
        ("[gate]\npass_rate = 0.9", "accuracy = 0.5", 1),
        ("[gate]\npass_rate = 0.1", "accuracy = 0.5", 0),
        ("[run]\nretries = 0", "faults = { server_error = 1.0 }", 3),
        (
            "[run]\nretries = 0\n[gate]\nmax_error_rate = 1.0",
            "faults = { server_error = 1.0 }",
            0,
        ),
        ("", "faults = { truncated = 1.0 }", 3),
    ],
)
def test_the_exit_code_follows_gate_errors_and_ungraded(
    place: Place, tui_eval: Command, gate: str, target: str, code: int
) -> None:
    done = tui_eval("run", place.suite(n=12, target=target, more=gate), "--json")
    assert (done.code, document(done)["exit_code"]) == (code, code)


def test_mistakes_in_a_suite_name_file_and_line_and_start_nothing(
    place: Place, tui_eval: Command
) -> None:
    (place.folder / "bad.toml").write_text('name = "x"\n[run]\nepochs = 0\nepoch = 2\n')
    done = tui_eval("run", "bad.toml", "--json")
    assert (done.code, done.out) == (2, "")
    assert "bad.toml, line 3: run.epochs: " in done.err
    assert 'bad.toml, line 4: run.epoch: unknown key; did you mean "epochs"?' in done.err
    assert not place.store.exists()


def test_mistakes_in_the_data_name_file_and_line_and_start_nothing(
    place: Place, tui_eval: Command
) -> None:
    suite = place.suite(n=0, more='[dataset]\npath = "d.jsonl"\n')
    (place.folder / "d.jsonl").write_text('{"id": "a", "question": "?", "answer": "1"}\n{oops\n')
    done = tui_eval("run", suite)
    assert done.code == 2
    assert "d.jsonl, line 2: " in done.err
    assert not place.store.exists()


def test_templates_that_no_case_can_fill_start_nothing(place: Place, tui_eval: Command) -> None:
    suite = place.suite()
    done = tui_eval("run", suite, "--set", "prompt.user={{ questoin }}")
    assert done.code == 2
    assert 'no case has "questoin"' in done.err
    assert not place.store.exists()


def test_a_missing_key_is_one_message_before_anything_starts(
    place: Place, tui_eval: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    suite = place.asking("x", n=1)
    path = place.folder / suite
    path.write_text(path.read_text().replace('base_url = "x"', 'provider = "openai"'))
    done = tui_eval("run", suite)
    assert done.code == 2
    assert done.err.count("OPENAI_API_KEY is not set") == 1
    assert not place.store.exists()


def test_data_outside_the_suites_folder_needs_trust(place: Place, tui_eval: Command) -> None:
    (place.folder / "inner").mkdir()
    (place.folder / "d.jsonl").write_text('{"id": "a", "question": "?", "answer": "1"}\n')
    suite = place.suite(n=0, more='[dataset]\npath = "../d.jsonl"\n', name="inner/s.toml")
    refused = tui_eval("run", suite)
    assert refused.code == 2
    assert refused.err == (
        "inner/s.toml: wants to read ../d.jsonl outside the suite's folder\n"
        "It needs your trust: look at the suite, then say `tui-eval trust add inner/s.toml`, "
        "or add --trust for this once.\n"
    )
    assert tui_eval("run", suite, "--trust").code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--target", "made-upp"], "no target is called 'made-upp'; did you mean 'made-up'?"),
        (["--case", "case-00"], "no case is called 'case-00'; did you mean 'case-0'?"),
        (["--tag", "sums"], "no tag is called 'sums'; did you mean 'sum'?"),
        (["--tag", "SUM"], "no tag is called 'SUM'; did you mean 'sum'?"),
        (["--tag", "x"], "no tag is called 'x'; there are sum"),
        (["--case", "x"], "no case is called 'x'; there are case-0, case-1, case-2, case-3"),
    ],
)
def test_what_the_suite_does_not_have_is_refused_with_the_nearest(
    place: Place, tui_eval: Command, words: list[str], said: str
) -> None:
    done = tui_eval("run", place.suite(), *words)
    assert done.code == 2
    assert said in done.err


@pytest.mark.parametrize(
    ("words", "total", "partial"),
    [
        (["--case", "case-0", "--case", "case-2"], 2, True),
        (["--tag", "sum"], 4, False),  # each case has it
        (["--limit", "3"], 3, True),
        (["--limit", "4"], 4, False),
        (["--sample", "2"], 2, True),
        (["--target", "made-up"], 4, False),  # there is no other
        (["--set", "dataset.limit=1"], 1, True),
        (["--epochs", "3"], 12, False),
        (["--set", "run.epochs=2"], 8, False),
        (["--concurrency", "1"], 4, False),
    ],
)
def test_choices_that_leave_something_out_mark_the_run_as_partial(
    place: Place, tui_eval: Command, words: list[str], total: int, partial: bool
) -> None:
    whole = document(tui_eval("run", place.suite(), "--json", *words))
    assert whole["counts"]["total"] == total
    assert whole["partial"] is partial


def test_only_what_failed_is_run_again_and_nothing_where_nothing_did(
    place: Place, tui_eval: Command
) -> None:
    suite = place.suite(n=10, target="accuracy = 0.5")
    never = tui_eval("run", suite, "--only", "failed")
    assert (never.code, never.out) == (2, "")
    assert "no case of sums failed when last run" in never.err
    assert not place.store.exists()
    failed = document(tui_eval("run", suite, "--json"))["counts"]["failed"]
    again = document(tui_eval("run", suite, "--only", "failed", "--json"))
    assert (again["counts"]["total"], again["partial"]) == (failed, True)
    for words in (["--only", "errors"], ["--only", "errors", "--detach"]):
        none = tui_eval("run", suite, *words)
        assert (none.code, none.out) == (2, "")
        assert none.err == "error: no case of sums errored when last run\n"
    assert len(json.loads(tui_eval("runs", "--json").out)) == 2


def test_choices_that_no_case_meets_together_start_nothing(place: Place, tui_eval: Command) -> None:
    suite = place.folder / place.suite(n=2)
    suite.write_text(suite.read_text().replace('tags = ["sum"]', 'tags = ["other"]', 1))
    done = tui_eval("run", suite.name, "--case", "case-0", "--tag", "sum")
    assert (done.code, done.out) == (2, "")
    assert "no case is left: none is all that case and tag ask for" in done.err
    assert not place.store.exists()


def test_a_folder_without_a_suite_starts_nothing(place: Place, tui_eval: Command) -> None:
    done = tui_eval("run", ".")
    assert done.code == 2
    assert done.err.startswith(".: there is no suite in this folder; a suite is a .toml file")


def test_epochs_and_what_is_made_of_them_are_checked_together(
    place: Place, tui_eval: Command
) -> None:
    more = '[run]\nepochs = 3\nreduce = "pass@3"'
    refused = tui_eval("run", place.suite(more=more), "--epochs", "1")
    assert refused.code == 2
    assert 'run.reduce: "pass@3" needs at least 3 epochs, not 1' in refused.err
    assert not place.store.exists()
    words = ["--epochs", "3", "--set", "run.reduce=pass@2", "--json"]
    whole = document(tui_eval("run", place.suite(), *words))
    assert whole["counts"]["total"] == 12
    assert whole["targets"]["made-up"]["pass_rate"] == 1.0


def test_only_failed_runs_what_failed_last(place: Place, tui_eval: Command) -> None:
    suite = place.suite(n=20, target="accuracy = 0.5")
    failed = document(tui_eval("run", suite, "--json"))["counts"]["failed"]
    assert 0 < failed < 20
    done = tui_eval("run", suite, "--json", "--only", "failed")
    again = document(done)
    assert again["counts"]["total"] == failed
    retry = f"`tui-eval retry {again['run']} --failed` too"
    assert (
        f"nothing was asked: all outputs are in the store; --fresh asks again, {retry}" in done.err
    )
    assert "nothing was asked" not in tui_eval("run", suite, "--fresh", "--only", "failed").err


async def test_an_endpoint_that_refuses_the_key_stops_the_run_early(
    place: Place, beside: Beside
) -> None:
    async with FakeModel(script=always(refuse(401, "invalid_api_key"))) as server:
        done = await beside("run", place.asking(server.base_url, n=50), "--json")
    whole = document(done)
    assert (done.code, whole["exit_code"], whole["state"]) == (3, 3, "paused")
    assert whole["stopped_by"]
    assert server.requests <= 16
    assert f"tui-eval resume {whole['run']}" in done.err


async def test_what_stopped_a_run_is_told_once_before_the_summary_and_once_in_it(
    place: Place, beside: Beside
) -> None:
    async with FakeModel(script=always(refuse(401, "invalid_api_key"))) as server:
        suite = place.asking(server.base_url, n=50)
        for words in (["run", suite], ["resume", "last"]):
            done = await beside(*words)
            assert done.code == 3
            assert done.err.count("answered 401") == 1
            assert "\npaused: 127.0.0.1 answered 401" in done.err
            assert done.out.count("answered 401") == 1
            assert re.search(r"\d × auth: what stopped it, see above", done.out)


async def test_what_an_earlier_engine_left_behind_is_no_event(place: Place, beside: Beside) -> None:
    async with FakeModel(script=always(refuse(401, "invalid_api_key"))) as server:
        suite = place.asking(server.base_url, n=50)
        for words in (["run", suite, "--concurrency", "3"], ["resume", "last"]):
            done = await beside(*words, "--events")
            events = [json.loads(line) for line in done.out.splitlines()]
            told = [event["event"] for event in events if event["event"] != "trial"]
            assert told == ["started", "limit", "paused", "finished"]


def test_a_run_that_was_refused_has_no_name(place: Place, tui_eval: Command) -> None:
    suite = place.suite()
    tui_eval("run", suite)
    for words in ([], ["--events"]):
        done = tui_eval("run", suite, "--only", "failed", *words)
        assert (done.code, done.out) == (2, "")
        assert "run sums-" not in done.err


def test_a_model_that_went_away_meanwhile_refuses_the_run(
    place: Place, tui_eval: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = place.asking("x", n=1)
    path = place.folder / suite
    local = 'provider = "local"'
    path.write_text(
        path.read_text().replace('base_url = "x"', local).replace("fake-model", "x.gguf")
    )
    monkeypatch.setattr("tui_eval.engine.preflight.preflight.missing", lambda suite, settings: ())
    done = tui_eval("run", suite)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: model 'x.gguf': there is no file")
    assert done.err.count("\n") == 1
    assert tui_eval("runs").out == ""


async def test_a_detached_run_prints_its_name_and_goes_on(place: Place, beside: Beside) -> None:
    async with FakeModel(latency=0.2) as server:
        detached = await beside(
            "run", place.asking(server.base_url, n=40), "--detach", "--concurrency", "4"
        )
        name = detached.out.strip()
        assert (detached.code, name.startswith("sums-")) == (0, True)
        waited = await beside("resume", name, "--json")
    whole = document(waited)
    assert whole["run"] == name
    assert whole["counts"]["done"] == 40
    assert server.requests == 40


async def test_a_detached_run_with_bad_data_says_so(
    place: Place, monkeypatch: pytest.MonkeyPatch, beside: Beside
) -> None:
    suite = place.suite(n=0, more='[dataset]\npath = "d.jsonl"\n')
    (place.folder / "d.jsonl").write_text('{"id": "a"}\n{"id": "a"}\n')
    done = await beside("run", suite, "--detach")
    assert (done.code, done.out) == (2, "")
    assert "d.jsonl, line 2" in done.err


async def test_another_run_at_the_same_endpoint_is_mentioned(place: Place) -> None:
    async with FakeModel(latency=30.0) as server:
        suite = place.asking(server.base_url, n=2)
        first = await place.start("run", suite)
        await until(lambda: server.in_flight == 2)
        second = await place.start("run", suite, "--limit", "1")
        await until(lambda: server.in_flight == 3)
        for running in (first, second):
            running.signal(signal.SIGINT)
            await running.says("stopping")
            await running.signal_again(signal.SIGINT)
        said = (await second.ended()).err
        name = (await first.ended()).err.split()[1]
    assert f"note: run {name} is asking the same endpoint" in said


def test_the_store_is_its_owners_alone(place: Place, tui_eval: Command) -> None:
    tui_eval("run", place.suite())
    assert place.store.stat().st_mode & 0o077 == 0


def test_a_newer_store_is_left_alone(place: Place, tui_eval: Command) -> None:
    import sqlite3

    tui_eval("run", place.suite())
    db = sqlite3.connect(place.store)
    db.execute("PRAGMA user_version = 99")
    db.close()
    before = Path(place.store).read_bytes()
    done = tui_eval("run", place.suite())
    assert done.code == 2
    assert "newer" in done.err
    assert Path(place.store).read_bytes() == before
