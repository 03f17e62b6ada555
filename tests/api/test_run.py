"""Runs from Python, each with an engine in a process of its own."""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tomli_w

import tui_eval as te
from tests.cli.conftest import cases
from tui_eval.api.frames import frame
from tui_eval.api.run import Run
from tui_eval.engine.control import submit
from tui_eval.store import requests
from tui_eval.store.requests import JUST_STOPPED, Outcome, Verb
from tui_eval.store.tx import Tx
from tui_eval.store.writer import once

SUITE = """
name = "sums"
[prompt]
user = "{{{{ q }}}}"
[[targets]]
kind = "simulated"
name = "made-up"
answers = "{{{{ a }}}}"
latency_s = {latency_s}
[[scorers]]
kind = "exact"
expected = "{{{{ a }}}}"
"""
CASES = [{"id": f"c{n}", "q": f"{n}+1", "a": str(n + 1)} for n in range(6)]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give a folder with a store and settings of its own, which is the current one."""
    monkeypatch.setenv("TUI_EVAL_STORE", str(tmp_path / "store.db"))
    monkeypatch.setenv("TUI_EVAL_CONFIG", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    if (tmp_path / "store.db").exists():
        for run in te.runs():
            run.stop()
            run.wait(timeout=30)


def suite(folder: Path, *, latency_s: float = 0.0, more: str = "", right: bool = True) -> str:
    rows = [{**case, "a": case["a"] if right else "wrong"} for case in CASES]
    whole = tomli_w.dumps({"cases": rows}) + SUITE.format(latency_s=latency_s) + more
    (folder / "s.toml").write_text(whole, "utf-8")
    return "s.toml"


def command(*words: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "tui_eval", *words], capture_output=True, text=True, timeout=60
    )
    return json.loads(done.stdout)


def test_a_run_has_the_document_and_the_comparison_of_the_commands(place: Path) -> None:
    run = te.run(suite(place, more="[gate]\npass_rate = 0.9\n"), name="first")
    assert (run.state, run.exit_code, run.gate.holds, run.gate.failed) == ("done", 0, True, ())
    assert run.targets == ("made-up",)
    assert (run["made-up"].n, run["made-up"].pass_rate) == (6, 1.0)
    with pytest.raises(KeyError, match="none of its targets: made-up"):
        run["nope"]
    assert run.document == command("show", run.name, "--json")
    assert f"{run.name}  first · done" in run.report()
    other = te.run("s.toml", targets=["made-up"], limit=3)
    assert other.document["partial"] is True
    found = te.compare(run, other)
    assert found.document == command("compare", run.name, other.name, "--json")
    assert [one.name for one in te.runs(suite="sums")] == [other.name, run.name]
    assert te.open("last").name == other.name


def test_runs_are_compared_in_the_store_they_are_in(place: Path) -> None:
    store = place / "other.db"
    file = suite(place)
    a, b = (te.run(file, limit=3, store=store) for _ in range(2))
    assert te.compare(a, b).rows[0]["n"] > 0


def test_a_mapping_is_a_suite_and_its_functions_are_called_here(place: Path) -> None:
    called: list[str] = []

    def answer(prompt: str) -> str:
        called.append(prompt)
        return str(eval(prompt))

    def right(output: str, case: dict[str, Any]) -> bool:
        return bool(output == case["a"])

    whole: dict[str, Any] = {"prompt": {"user": "{{ q }}"}, "target": answer, "cases": CASES}
    whole["scorers"] = [right, {"kind": "exact", "expected": "{{ A }}"}]
    fields = {"run.epochs": 2, "scorers.1.expected": "{{ a }}"}
    run = te.run(whole, set=fields, fresh=True)
    assert (run["answer"].n, run["answer"].document["cases"]) == (12, 6)
    assert sorted(called) == sorted(2 * [case["q"] for case in CASES])
    attempts = run.attempts()
    assert attempts[["case_id", "epoch", "state"]].to_numpy().tolist() == [
        [case["id"], epoch, "answered"] for case in CASES for epoch in (0, 1)
    ]
    run.rescore({**whole, "scorers": [lambda output: 0.0]}).wait(timeout=30)
    assert run["answer"].pass_rate == 0.0
    assert not [*place.glob("*mapping*")]


def test_mistakes_in_a_mapping_name_its_field(place: Path) -> None:
    whole: dict[str, Any] = {
        "prompt": {"user": "{{ q }}"},
        "targets": [{"kind": "simulated", "answers": "{{ a }}"}],
        "scorers": [{"kind": "exact", "expected": "{{ a }}", "ignore_cas": True}],
        "cases": CASES,
    }
    with pytest.raises(te.SuiteError) as found:
        te.start(whole)
    assert str(found.value) == (
        '(mapping): scorers[0].ignore_cas: unknown key; did you mean "ignore_case"?'
    )
    with pytest.raises(te.SuiteError, match=r"^\(mapping\): run.timeout: is of type object, which"):
        te.start({**whole, "run": {"timeout": object()}})


@pytest.mark.parametrize(
    ("detail", "error"),
    [(JUST_STOPPED, te.RunBusy), ("its scorers want more", te.LaunchError)],
)
def test_a_refusal_is_raised(
    place: Path, monkeypatch: pytest.MonkeyPatch, detail: str, error: type[Exception]
) -> None:
    run = te.run(suite(place))

    def refusing(store: Path, run_id: int, verb: Verb, args: Any = None) -> int:
        def refuse(tx: Tx) -> int:
            request = requests.ask(tx, run_id, verb)
            requests.answer(tx, request, Outcome.CLOSED, detail)
            return request

        return once(store, refuse)

    monkeypatch.setattr(submit, "ask", refusing)
    with pytest.raises(error, match=detail):
        run.rescore()
    run.cancel().stop()  # of what has ended, nothing is left to do


def test_what_happens_is_followed_from_the_beginning_to_the_end(place: Path) -> None:
    run = te.start(suite(place, latency_s=0.01))
    live = [*run.follow()]
    assert [event["event"] for event in live if event["event"] != "limit"] == [
        "started",
        *["trial"] * 6,
        "finished",
    ]
    later = [*te.open(run.name).follow()]
    told = {event["case_id"] for event in later if event["event"] == "trial"}
    assert told == {case["id"] for case in CASES}


def test_a_loop_goes_on_while_a_run_does(place: Path) -> None:
    async def both() -> tuple[Run, int, list[str]]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.001)

        ticking = asyncio.create_task(tick())
        run = await te.arun(suite(place, latency_s=0.01))
        events = [event["event"] async for event in run.afollow()]
        ticking.cancel()
        return run, ticks, events

    run, ticks, events = asyncio.run(both())
    assert run.state == "done"
    assert ticks > 10
    assert events[-1] == "finished"


def test_a_thread_may_run_one(place: Path) -> None:
    name = suite(place)
    states: list[str] = []
    threads = [
        threading.Thread(target=lambda: states.append(te.run(name, fresh=True).state))
        for _ in range(2)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60)
    assert states == ["done", "done"]


def test_a_run_is_stopped_resumed_cancelled(place: Path) -> None:
    run = te.start(suite(place, latency_s=0.2), concurrency=1, epochs=200)
    with pytest.raises(TimeoutError, match=r"still running|still pending"):
        run.wait(timeout=0)
    table = {"prompt": {"user": "?"}, "targets": [{"kind": "simulated", "answers": "1"}]}
    with pytest.raises(te.RunBusy, match="cannot call lambda"):
        run.rescore({**table, "scorers": [lambda output: 1], "cases": CASES})
    run.stop().wait(timeout=30)
    assert run.state == "interrupted"
    assert run.resume().state in ("running", "pending", "interrupted")
    run.cancel(["c0"]).cancel().wait(timeout=30)
    assert run.state == "cancelled"
    with pytest.raises(te.LaunchError, match="cancelled"):
        run.resume()


def test_an_interrupt_leaves_a_run_that_can_be_resumed(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: Run) -> Run:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Run, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            te.run(suite(place, latency_s=0.2), concurrency=1, epochs=200)
    run = te.open("last").wait(timeout=30)
    assert run.state == "interrupted"


def test_outputs_are_scored_again_by_an_edited_suite(place: Path) -> None:
    run = te.run(suite(place, right=False))
    assert run["made-up"].pass_rate == 1.0
    text = (place / "s.toml").read_text("utf-8")
    (place / "s.toml").write_text(
        text.replace('kind = "exact"\nexpected = "{{ a }}"', 'kind = "exact"\nexpected = "right"'),
        "utf-8",
    )
    run.rescore(suite="s.toml").wait(timeout=30)
    assert run["made-up"].pass_rate == 0.0
    assert {trial["verdict"] for trial in run.trials()} == {"fail"}
    assert [*run.trials(verdict="pass")] == []


def test_trials_and_scores_are_data_frames(place: Path) -> None:
    run = te.run(suite(place))
    trials, scores = run.frame(), run.scores()
    assert trials["case_id"].tolist() == [case["id"] for case in CASES]
    assert trials["score exact"].tolist() == [1.0] * 6
    assert scores[["scorer", "verdict"]].drop_duplicates().to_numpy().tolist() == [
        ["exact", "pass"]
    ]


def test_a_data_frame_without_its_library_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match='`pip install polars`, or say backend="pandas"'):
        frame([], "polars")


def test_what_cannot_be_started_says_why(place: Path) -> None:
    with pytest.raises(te.SuiteError, match="no such file"):
        te.start("none.toml")
    name = suite(place)
    (place / "bad.toml").write_text(cases(1), "utf-8")
    with pytest.raises(te.SuiteError) as found:
        te.start("bad.toml")
    assert found.value.mistakes
    with pytest.raises(te.LaunchError, match="no target is called 'x'") as refused:
        te.start(name, targets=["x"])
    assert len(refused.value.reasons) == 1
    with pytest.raises(te.LaunchError, match="baseline: "):
        te.start(name, baseline="none")
    program = '[[targets]]\nkind = "command"\ncommand = ["true"]\n[[scorers]]'
    text = (place / "s.toml").read_text("utf-8").replace("[[scorers]]", program)
    (place / "program.toml").write_text(text, "utf-8")
    with pytest.raises(te.TrustError):
        te.start("program.toml")
    with pytest.raises(te.StoreError, match="no run is called"):
        te.run(name)
        te.open("nothing")


def test_importing_it_loads_nothing_but_names() -> None:
    code = "import sys, tui_eval; print(sorted({m.partition('.')[0] for m in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert not {"pydantic", "click", "textual", "openai", "sqlite3"} & set(eval(done.stdout))
    assert all(getattr(te, name) is not None for name in te.__all__)
