"""Several suites and folders in one command."""

import json
import signal
from typing import Any

import pytest

from tests.cli.conftest import Beside, Command, Done, Place, document
from tests.servers.fake_model import FakeModel
from tests.test_docs import JSON, PAGES
from tests.waiting import until

GATE = "[gate]\npass_rate = 0.9"


def written(place: Place, name: str, **fields: Any) -> str:
    """Write a suite with a name of its own, whose outputs no other has; give its file."""
    file = place.folder / f"{name}.toml"
    file.parent.mkdir(exist_ok=True)
    place.suite(name=f"{name}.toml", **fields)
    text = file.read_text().replace('"sums"', f'"{file.stem}"')
    file.write_text(text.replace('user = "', f'user = "{file.stem} '))
    return f"{name}.toml"


def asked(place: Place, name: str, base_url: str, *, n: int) -> str:
    """Write a suite that asks a server; give its file."""
    file = place.folder / place.asking(base_url, n=n)
    text = file.read_text().replace('"sums"', f'"{name}"')
    file.unlink()
    (place.folder / f"{name}.toml").write_text(text)
    return f"{name}.toml"


def rows(done: Done) -> list[list[str]]:
    """Give the words of each row of the last table on stdout."""
    table = done.out[done.out.rindex("\nrun ") + 1 :]
    return [line.split() for line in table.splitlines()[1:] if line]


def runs(tui_eval: Command) -> list[str]:
    return [run["suite"] for run in json.loads(tui_eval("runs", "--json").out)]


def test_each_suite_of_a_folder_has_a_run_and_all_have_one_table(
    place: Place, tui_eval: Command
) -> None:
    written(place, "evals/b", target="accuracy = 0.0", more=GATE)
    written(place, "evals/a")
    done = tui_eval("run", "evals")
    assert done.code == 1
    assert [line for line in done.err.splitlines() if " of " in line] == [
        "1 of 2: evals/a.toml",
        "2 of 2: evals/b.toml",
    ]
    assert done.out.count("  done after ") == 2
    a, b, mean, last = rows(done)
    assert a[0].startswith("a-")
    assert a[3:7] == ["done", "–", "0", "100.0%"]
    assert b[0].startswith("b-")
    assert b[3:7] == ["done", "missed", "1", "0.0%"]
    assert mean[:5] == ["mean", "of", "2", "of", "2"]
    assert "50.0%" in mean
    assert " ".join(last) == "2 suites: 1 with 0, 1 with 1; exit code 1"
    assert runs(tui_eval) == ["b", "a"]


def test_the_document_of_all_has_that_of_each_and_the_fields_described(
    place: Place, tui_eval: Command
) -> None:
    names = [written(place, "z", target="accuracy = 0.0"), written(place, "a")]
    done = tui_eval("run", *names, "--json")
    whole = document(done)
    assert [(one["suite"], one["exit_code"]) for one in whole["runs"]] == [("z", 0), ("a", 0)]
    assert set(whole["runs"][0]) == set(document(tui_eval("show", "last", "--json")))
    mean = whole["means"]["made-up"]
    assert (mean["suites"], mean["pass_rate"], mean["mean_score"]) == (2, 0.5, 0.5)
    low, high = mean["pass_rate_ci95"]
    assert 0.25 < low < 0.5 < high < 0.75
    assert (done.code, whole["exit_code"], whole["not_run"]) == (0, 0, [])
    described = PAGES[JSON].names("The document of several suites", "field")
    assert described == set(whole)


def test_a_folder_has_the_form_of_several_however_many_are_in_it(
    place: Place, tui_eval: Command
) -> None:
    written(place, "evals/a")
    assert len(document(tui_eval("run", "evals", "--json"))["runs"]) == 1
    assert document(tui_eval("run", "evals/a.toml", "--json"))["suite"] == "a"


def test_events_of_each_run_are_followed_by_those_of_all(place: Place, tui_eval: Command) -> None:
    names = [written(place, "a", n=1), written(place, "b", n=1)]
    told = [json.loads(line) for line in tui_eval("run", *names, "--events").out.splitlines()]
    kinds = [one["event"] for one in told if one["event"] != "limit"]
    assert kinds == [*["started", "trial", "finished"] * 2, "all_finished"]
    assert [one["suite"] for one in told[-1]["runs"]] == ["a", "b"]


def test_every_reason_not_to_run_is_told_and_nothing_begins(
    place: Place, tui_eval: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (place.folder.parent / "outside.md").write_text("x")
    written(place, "evals/good")
    written(place, "evals/typo", target="acuracy = 1.0")
    written(place, "evals/trust")
    file = place.folder / "evals/trust.toml"
    file.write_text(file.read_text().replace("user =", 'system_file = "../../outside.md"\nuser ='))
    key = place.folder / asked(place, "key", "x", n=1)
    key.write_text(key.read_text().replace('base_url = "x"', 'provider = "openai"'))
    done = tui_eval("run", "evals", "key.toml", "none.toml")
    assert (done.code, done.out) == (2, "")
    for said in (
        "evals/typo.toml, line ",
        "evals/trust.toml: wants to read ",
        "error: key.toml: OPENAI_API_KEY is not set",
        "none.toml: no such file or folder",
    ):
        assert said in done.err
    assert not place.store.exists()


def test_options_hold_for_each_suite(place: Place, tui_eval: Command) -> None:
    names = [written(place, "a"), written(place, "b")]
    whole = document(
        tui_eval("run", *names, "--json", "--limit", "2", "--set", "run.epochs=3", "--name", "try")
    )
    assert [(one["counts"]["total"], one["partial"], one["label"]) for one in whole["runs"]] == [
        (6, True, "try"),
        (6, True, "try"),
    ]


def test_a_suite_that_is_named_twice_runs_once_in_the_order_named(
    place: Place, tui_eval: Command
) -> None:
    written(place, "evals/a", n=1)
    b = written(place, "evals/b", n=1)
    found = json.loads(tui_eval("check", b, "evals", b, "--json").out)
    assert [one["file"] for one in found] == ["evals/b.toml", "evals/a.toml"]
    whole = document(tui_eval("run", b, "evals", b, "--json"))
    assert [one["suite"] for one in whole["runs"]] == ["b", "a"]


def test_a_mean_is_over_suites_that_have_the_target(place: Place, tui_eval: Command) -> None:
    names = [written(place, name, n=1) for name in ("a", "b", "c")]
    file = place.folder / "c.toml"
    file.write_text(file.read_text().replace('"made-up"', '"other"'))
    done = tui_eval("run", *names)
    assert [row[:5] for row in rows(done) if row[0] == "mean"] == [["mean", "of", "2", "of", "3"]]
    means = document(tui_eval("run", *names, "--json"))["means"]
    assert {name: mean["suites"] for name, mean in means.items()} == {"made-up": 2, "other": 1}


def test_the_app_opens_on_one_run(place: Place, tui_eval: Command) -> None:
    done = tui_eval("run", written(place, "a"), written(place, "b"), "--watch")
    assert done.code == 2
    assert "--watch opens the app on one run: name one suite" in done.err


@pytest.mark.whole
async def test_detached_suites_print_a_name_each(place: Place, beside: Beside) -> None:
    names = [written(place, "a", n=1), written(place, "b", n=1)]
    done = await beside("run", *names, "--detach")
    assert done.code == 0
    a, b = done.out.split()
    for name in (a, b):
        assert (await beside("resume", name)).code == 0
    assert (a[:2], b[:2]) == ("a-", "b-")


@pytest.mark.parametrize("times", [1, pytest.param(2, marks=pytest.mark.whole)])
async def test_a_signal_ends_the_suite_at_hand_and_begins_no_other(
    place: Place, tui_eval: Command, times: int
) -> None:
    async with FakeModel(latency=0.0) as server:
        server.hold()
        names = [written(place, "a"), asked(place, "b", server.base_url, n=9), written(place, "c")]
        running = await place.start("run", *names, "--json", "--concurrency", "2")
        await until(lambda: server.in_flight == 2)
        running.signal(signal.SIGINT)
        await running.says("stopping")
        if times == 2:
            await running.signal_again(signal.SIGINT)
        else:
            server.let_go()
        done = await running.ended()
    whole = document(done)
    assert (done.code, whole["exit_code"]) == (130, 130)
    assert [(one["suite"], one["state"], one["exit_code"]) for one in whole["runs"]] == [
        ("a", "done", 0),
        ("b", "interrupted", 130),
    ]
    assert whole["runs"][1]["counts"]["done"] == (2 if times == 1 else 0)
    assert whole["not_run"] == [{"file": "c.toml", "exit_code": 130, "reason": "not begun"}]
    assert "not begun: c.toml\n" in done.err
    assert list(whole["means"]) == ["made-up"]
    assert runs(tui_eval) == ["b", "a"]


async def test_the_same_command_after_a_kill_asks_for_what_is_missing_alone(
    place: Place, beside: Beside, tui_eval: Command
) -> None:
    async with FakeModel(latency=0.05) as server:
        names = [written(place, "a"), asked(place, "b", server.base_url, n=40), written(place, "c")]
        running = await place.start("run", *names, "--json", "--concurrency", "2")
        await until(lambda: server.requests >= 8)
        running.process.kill()
        assert (await running.ended()).out == ""
        left = document(tui_eval("show", "last", "--json"))
        assert (left["suite"], left["state"]) == ("b", "interrupted")
        stored = left["counts"]["done"]
        server.latency = 0.0
        again = document(await beside("run", *names, "--json"))
    assert 0 < stored < 40
    assert [
        (one["requests"]["cached_outputs"], one["requests"]["target"]) for one in again["runs"]
    ] == [(4, 0), (stored, 40 - stored), (0, 4)]


def test_a_suite_that_cannot_be_run_after_all_leaves_the_others_alone(
    place: Place, tui_eval: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = place.folder / asked(place, "key", "x", n=1)
    local = 'provider = "local"'
    key.write_text(key.read_text().replace('base_url = "x"', local).replace("fake-model", "x.gguf"))
    monkeypatch.setattr("tui_eval.engine.preflight.preflight.missing", lambda suite, settings: ())
    done = tui_eval("run", "key.toml", written(place, "b"), "--json")
    whole = document(done)
    assert (done.code, whole["exit_code"]) == (2, 2)
    assert [one["suite"] for one in whole["runs"]] == ["b"]
    (without,) = whole["not_run"]
    assert (without["file"], without["exit_code"]) == ("key.toml", 2)
    assert "model 'x.gguf': there is no file" in without["reason"]
