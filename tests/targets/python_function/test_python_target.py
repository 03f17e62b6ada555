"""Functions that are called through the real engine, in real workers."""

import asyncio
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.engine.harness import Harness
from tests.support import about, reading
from tests.waiting import until
from tui_eval.engine.engine import Engine
from tui_eval.engine.preflight.preflight import preflight
from tui_eval.engine.settings import Settings
from tui_eval.model.states import TrialState, Verdict
from tui_eval.providers.errors import UnavailableError
from tui_eval.store.location import attempt_folders
from tui_eval.store.read.trials import output_queries, trial_rows
from tui_eval.store.requests import Outcome, Verb
from tui_eval.suites.spec import Suite
from tui_eval.targets.python_function import worker_process

SHOP = Path(__file__).with_name("shop.py")


class Shop:
    """A suite's folder with the functions, a store, and the ledger of their calls."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "suite"
        self.folder.mkdir()
        shutil.copy(SHOP, self.folder)
        self.ledger = root / "ledger"
        self.harness = Harness(root / "store.db")

    def suite(self, function: str, cases: list[Any], **more: Any) -> Suite:
        settings = {"timeout": 60.0, "retries": 0, **more.pop("run", {})}
        described = {
            "name": "functions",
            "cases": [
                {"id": one, "question": one} if isinstance(one, str) else one for one in cases
            ],
            "targets": [
                {
                    "kind": "python",
                    "name": "t",
                    "callable": f"shop:{function}",
                    "args": ["{{ question }}"],
                    "env": {"LEDGER": str(self.ledger)},
                    "workers": 1,
                    **more.pop("target", {}),
                }
            ],
            "scorers": [{"kind": "exact", "expected": "{{ question }}"}],
            "file": str(self.folder / "suite.toml"),
            "run": settings,
            **more,
        }
        return Suite.model_validate(described)

    def calls(self) -> list[str]:
        """Give the questions that were asked, in their order."""
        if not self.ledger.exists():
            return []
        return [line.partition(" ")[2] for line in self.ledger.read_text().splitlines()]

    def waits(self, count: int) -> bool:
        """Whether so many calls were made that wait for the gate."""
        return sum(question[0] == "q" for question in self.calls()) == count

    def workers(self) -> set[int]:
        return {int(line.split()[0]) for line in self.ledger.read_text().splitlines()}

    def output(self, run: int, case: str) -> Any:
        trial = self.harness.trial(run, case)
        assert trial.output is not None, (trial.state, trial.error_kind, trial.error_message)
        with reading(self.harness.path) as db:
            return output_queries.output(db, trial.output)

    def attempt(self, run: int, case: str) -> Any:
        with reading(self.harness.path) as db:
            return trial_rows.attempts(db, self.harness.trial(run, case).id)[-1]


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    made = Shop(tmp_path)
    yield made
    if made.ledger.exists():
        assert not [pid for pid in made.workers() if alive(pid)], "a worker outlived its engine"
    folders = attempt_folders(made.harness.path)
    assert not folders.exists() or not [*folders.iterdir()], "a worker's folder is left"


def alive(pid: int) -> bool:
    try:
        return b"function_worker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


async def test_no_more_calls_than_workers_are_made_whoever_wants_more(
    shop: Shop, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    env = {"LEDGER": str(shop.ledger), "GATE": str(gate)}
    suite = shop.suite("when_open", [f"q{n}" for n in range(4)], target={"env": env, "workers": 2})
    settings = Settings(concurrency=9)
    said = "concurrency 2 at most: its target has no more `workers`"
    for wanted, warned in ((settings, (f"target 't': {said}",)), (Settings(concurrency=2), ())):
        assert preflight(None, suite, wanted).warnings == warned
    wide = shop.suite("when_open", ["q"], target={"env": env, "workers": 2, "concurrency": 9})
    assert preflight(None, wide, Settings()).warnings == (f"target 't': {said}",)
    run = shop.harness.create(suite, settings)
    engine = asyncio.create_task(Engine(shop.harness.path, run).run())
    await until(lambda: shop.waits(2))
    assert shop.harness.sql("SELECT concurrency FROM limits") == [(2,)]
    refused = await shop.harness.asked(run, Verb.SET_LIMIT, endpoint="python|t|", by=1)
    assert (refused.outcome, refused.detail) == ("closed", said)
    gate.touch()
    await engine
    assert len(shop.workers()) == 2


async def test_each_case_is_one_call(shop: Shop) -> None:
    run = await shop.harness.run(
        shop.suite("echo", [f"q{n}" for n in range(20)], target={"workers": 2})
    )
    assert {trial.verdict for trial in shop.harness.trials(run)} == {Verdict.PASS}
    assert sorted(shop.calls()) == sorted(f"q{n}" for n in range(20))
    assert len(shop.workers()) <= 2


async def test_a_coroutine_is_awaited(shop: Shop) -> None:
    suite = shop.suite("slowly", [f"q{n}" for n in range(5)])
    run = await shop.harness.run(suite)
    assert {trial.verdict for trial in shop.harness.trials(run)} == {Verdict.PASS}
    assert shop.output(run, "q3").fields == {"length": 2}
    assert sorted(shop.calls()) == [f"q{n}" for n in range(5)]


async def test_arguments_keep_their_types_and_tables_are_outputs(shop: Shop) -> None:
    args = {"question": "{{ question }}", "n": "{{ n }}", "tags": "{{ labels }}"}
    case = {"id": "a", "question": "how many", "n": 2, "labels": ["x", "y", "z"]}
    run = await shop.harness.run(shop.suite("table", [case], target={"args": args}))
    output = shop.output(run, "a")
    assert output.text == "how many 3 3"
    assert output.fields == {"contexts": ["x", "y", "z"]}
    assert (output.usage.input, output.usage.output, output.cost_usd) == (3, 4, 0.25)
    (message,) = output.messages
    assert message["tool_calls"][0]["function"]["name"] == "look"
    assert output.finish_reason == "tool_calls"


async def test_the_prompt_or_the_case_is_given_where_args_are_left_out(shop: Shop) -> None:
    prompts = [{"user": "Say {{ question }}"}]
    run = await shop.harness.run(shop.suite("echo", ["it"], target={"args": None}, prompts=prompts))
    assert shop.output(run, "it").text == "Say it"
    messages = {"args": ["{{ messages }}"]}
    prompts = [{"system": "Be short.", "user": "{{ question }}"}]
    run = await shop.harness.run(shop.suite("talks", ["it"], target=messages, prompts=prompts))
    assert shop.output(run, "it").text == "2 said"


_WRONG = {
    "raise": ("exception", "ValueError: no such thing"),
    "exit": ("exception", "SystemExit: 3"),
    "object": ("bad_answer", "of type object, which is not JSON"),
    "nan": ("bad_answer", "fields.score is nan, which is not JSON"),
    "none": ("bad_answer", "it returned None"),
    "number": ("bad_answer", "it returned the number 3"),
    "empty": ("empty_output", "empty output"),
    "unknown": ("bad_answer", "a table with 'answer'"),
    "generator": ("bad_answer", "of type generator, which is not JSON"),
    "recursion": ("exception", "RecursionError"),
    "stdin": ("exception", "EOFError"),
    "larger": ("bad_answer", "it returned more than 16 MB"),
    "many tokens": ("bad_answer", "usage.input is the number 1000000"),
    "much money": ("bad_answer", "cost_usd is the number 1e+300"),
}
_ENDS = {
    "os-exit": ("exit", "exit code 3"),
    "segfault": ("exit", "signal 11"),
    "kill": ("exit", "signal 9"),
    "child": ("exit", "exit code 4"),
    "all-closed": ("exit", ""),
    "garbage": ("exit", ""),
}


@pytest.mark.parametrize("deeds", [_WRONG, _ENDS], ids=["wrong", "ends"])
async def test_what_goes_wrong_harms_one_trial(
    shop: Shop, deeds: dict[str, tuple[str, str]]
) -> None:
    cases = ["before", *(one for deed in deeds for one in (deed, f"after {deed}"))]
    run = await shop.harness.run(shop.suite("behave", cases))
    found = {trial.case_id: trial for trial in shop.harness.trials(run)}
    for case in cases:
        with about(case):
            trial = found[case]
            if case not in deeds:
                assert trial.verdict is Verdict.PASS
                continue
            kind, said = deeds[case]
            assert (trial.state, trial.error_kind) == (TrialState.ERROR, kind)
            assert said in (trial.error_message or "")
            if case not in ("all-closed", "garbage"):
                assert f"asked {case}" in shop.attempt(run, case).printed
    assert sorted(shop.calls()) == sorted(cases), "each is called once, whatever became of others"


async def test_what_is_odd_harms_nobody(shop: Shop) -> None:
    deeds = ["print", "replies", "closed", "fork", "unpaired", "large"]
    cases = ["before", *(one for deed in deeds for one in (deed, f"after {deed}"))]
    run = await shop.harness.run(shop.suite("behave", cases))
    assert {trial.state for trial in shop.harness.trials(run)} == {TrialState.DONE}
    for case in cases:
        with about(case):
            assert shop.output(run, case).text == ("\ud800" if case == "unpaired" else case)
            if case not in deeds:
                assert shop.attempt(run, case).printed == f"asked {case}\n"
    assert sorted(shop.calls()) == sorted(cases)


async def test_prints_are_bounded_and_counted(shop: Shop) -> None:
    run = await shop.harness.run(shop.suite("behave", ["print"]))
    printed = shop.attempt(run, "print").printed
    assert printed.startswith("asked print\nxxx")
    assert " bytes left out" in printed
    assert len(printed) < 40_000


async def test_a_traceback_is_kept_and_names_no_folder(shop: Shop) -> None:
    run = await shop.harness.run(shop.suite("behave", ["raise"]))
    printed = shop.attempt(run, "raise").printed
    assert 'File "shop.py", line ' in printed
    assert str(shop.folder) not in printed
    assert "function_worker" not in printed


@pytest.mark.parametrize("deed", ["hang", "stubborn"])
async def test_a_hang_is_ended_at_its_deadline(shop: Shop, deed: str) -> None:
    cases = ["a", {"id": deed, "question": deed, "timeout": 2.5}, "b", "c"]
    run = await shop.harness.run(shop.suite("behave", cases))
    assert shop.output(run, deed).finish_reason == "limit:wall"
    hung = shop.harness.trial(run, deed)
    assert (hung.state, hung.verdict, hung.attempts) == (TrialState.DONE, Verdict.UNGRADED, 1)
    assert [shop.harness.trial(run, one).verdict for one in "abc"] == [Verdict.PASS] * 3
    assert sorted(shop.calls()) == sorted([deed, "a", "b", "c"])


async def test_a_cancelled_call_ends_its_worker(shop: Shop) -> None:
    async with shop.harness.working(shop.suite("behave", ["hang", "a"])) as (run, _):
        await until(lambda: "hang" in shop.calls())
        hung = shop.harness.trial(run, "hang")
        await shop.harness.asked(run, Verb.CANCEL, trials=[hung.id])
    assert shop.harness.trial(run, "hang").state is TrialState.CANCELLED
    assert shop.harness.trial(run, "a").verdict is Verdict.PASS


async def test_what_is_nested_deeply_ends_no_run(shop: Shop) -> None:
    run = await shop.harness.run(shop.suite("behave", ["nested", "a"]))
    assert shop.harness.trial(run, "a").verdict is Verdict.PASS
    nested = shop.harness.trial(run, "nested")
    assert nested.state is TrialState.DONE or nested.error_kind == "bad_answer"


async def test_code_that_changes_while_a_run_goes_on_stops_it(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_process, "_MOST_CALLS", 1)
    suite = shop.suite("behave", ["a", "edit", "b"])
    run = await shop.harness.run(suite)
    assert shop.calls() == ["a", "edit"]
    refused = shop.harness.trial(run, "b")
    assert refused.error_kind == "unavailable"
    assert "its code has changed since the run began" in str(refused.error_message)


async def test_a_run_goes_on_only_with_the_code_it_began_with(shop: Shop) -> None:
    run = await shop.harness.run(shop.suite("behave", ["a", "raise"]))
    file = shop.folder / "shop.py"
    former = file.read_bytes()
    file.write_bytes(former + b"\n# changed\n")
    answer = await shop.harness.again(run, Verb.RESUME)
    assert answer.outcome == Outcome.CLOSED
    assert "target 't' was code " in str(answer.detail)
    assert "outputs of the former one" in str(answer.detail)
    assert sorted(shop.calls()) == ["a", "raise"]
    file.write_bytes(former)
    await shop.harness.again(run, Verb.RESUME)
    assert sorted(shop.calls()) == ["a", "raise", "raise"]


async def test_a_second_run_calls_nobody_until_the_code_changes(shop: Shop) -> None:
    suite = shop.suite("echo", ["a", "b"])
    await shop.harness.run(suite)
    again = await shop.harness.run(suite)
    assert [trial.cached for trial in shop.harness.trials(again)] == [True, True]
    assert sorted(shop.calls()) == ["a", "b"]
    with (shop.folder / "shop.py").open("a") as code:
        code.write("\n# changed\n")
    await shop.harness.run(suite)
    assert sorted(shop.calls()) == ["a", "a", "b", "b"]


async def test_after_a_kill_only_what_was_in_flight_is_called_again(
    shop: Shop, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    env = {"LEDGER": str(shop.ledger), "GATE": str(gate)}
    cases = [*(f"free{n}" for n in range(6)), *(f"q{n}" for n in range(6))]
    run = shop.harness.create(shop.suite("when_open", cases, target={"env": env, "workers": 2}))
    for waiting in (2, 4):  # killed twice
        engine = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.engine.worker", str(shop.harness.path), str(run)
        )
        await until(partial(shop.waits, waiting))
        await until(lambda: shop.harness.counts(run).done == 6)
        engine.kill()
        await engine.wait()
        await until(lambda: not [pid for pid in shop.workers() if alive(pid)])
    gate.touch()
    await Engine(shop.harness.path, run).run()
    assert shop.harness.counts(run).passed == 12
    calls = shop.calls()
    assert [calls.count(f"free{n}") for n in range(6)] == [1] * 6
    assert [calls.count(f"q{n}") for n in range(6)] == [3, 3, 1, 1, 1, 1]


async def test_a_worker_that_grows_is_replaced(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_process, "_GROWN", 60_000_000)
    suite = shop.suite("hoard", [f"q{n}" for n in range(5)])
    run = await shop.harness.run(suite)
    assert shop.harness.counts(run).passed == len(shop.calls()) == 5
    assert len(shop.workers()) == 2, "the third call is the last of the first worker"


async def test_a_worker_is_replaced_after_many_calls(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_process, "_MOST_CALLS", 3)
    suite = shop.suite("echo", [f"q{n}" for n in range(7)])
    run = await shop.harness.run(suite)
    assert shop.harness.counts(run).passed == len(shop.calls()) == 7
    assert len(shop.workers()) == 3


async def test_a_call_beyond_its_memory_is_cut_short(shop: Shop) -> None:
    target = {"limits": {"memory": "300MB"}}
    run = await shop.harness.run(shop.suite("glutton", ["a", "much", "b"], target=target))
    assert shop.output(run, "much").finish_reason == "limit:memory"
    assert shop.harness.trial(run, "much").verdict is Verdict.UNGRADED
    assert [shop.harness.trial(run, one).verdict for one in "ab"] == [Verdict.PASS] * 2


async def test_another_interpreter_calls_it(shop: Shop) -> None:
    venv.create(shop.folder / "own", symlinks=True, with_pip=False)
    target = {"python": "own/bin/python"}
    run = await shop.harness.run(shop.suite("whoami", ["a"], target=target))
    assert shop.output(run, "a").fields["at"] == str(shop.folder / "own")


def interpreters() -> list[str]:
    """Give the other versions that this machine has, by their usual names."""
    found = []
    for minor in range(8, 15):
        path = shutil.which(f"python3.{minor}")
        if path is not None and minor != sys.version_info.minor:
            asked = subprocess.run([path, "-c", ""], capture_output=True, timeout=20)
            found += [path] * (asked.returncode == 0)
    return found


async def test_every_version_that_there_is_calls_it(shop: Shop) -> None:
    others = interpreters()
    if not others:
        pytest.skip("there is no other version of Python")
    for path in others:
        run = await shop.harness.run(shop.suite("slowly", ["a"], target={"python": path}))
        assert shop.output(run, "a").text == "a", path


def test_an_interpreter_that_is_not_there_is_told_before_a_launch(shop: Shop) -> None:
    suite = shop.suite("echo", ["a"], target={"python": "own/bin/python"})
    (said,) = preflight(None, suite, Settings()).missing
    assert said.startswith("target 't': there is no interpreter own/bin/python: mend `python`")


@pytest.mark.parametrize(
    ("function", "args", "said"),
    [
        ("missing", ["x"], "target 't': callable: shop has no missing; it has "),
        ("NOT_CALLED", ["x"], "target 't': callable: shop:NOT_CALLED is of type int"),
        ("echo", {"answer": "x"}, "target 't': args: echo(question) does not take these"),
        ("echo", ["x", "y"], "target 't': args: echo(question) does not take these"),
    ],
)
async def test_a_function_that_cannot_be_called_ends_the_launch(
    shop: Shop, function: str, args: Any, said: str
) -> None:
    with pytest.raises(UnavailableError) as caught:
        await shop.harness.run(shop.suite(function, ["a"], target={"args": args}))
    assert str(caught.value).startswith(said)
    assert shop.calls() == []


async def test_a_module_that_cannot_be_imported_ends_the_launch(shop: Shop) -> None:
    with (shop.folder / "shop.py").open("a") as code:
        code.write("\nraise ImportError('no such model')\n")
    with pytest.raises(UnavailableError) as caught:
        await shop.harness.run(shop.suite("echo", ["a"]))
    assert "module shop cannot be imported: ImportError: no such model" in str(caught.value)


async def test_keys_are_handed_on_and_taken_out_of_all_that_is_kept(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-9f3a7c1e5b8d2046a1"
    monkeypatch.setenv("SHOP_KEY", key)
    monkeypatch.setenv("OTHER_SECRET", "not for anybody")
    run = await shop.harness.run(
        shop.suite("with_key", ["a", "raise"], target={"keys": ["SHOP_KEY"]})
    )
    fields = shop.output(run, "a").fields
    assert fields["key"] == "[SHOP_KEY]"
    assert {"SHOP_KEY", "LEDGER", "PATH"} <= {*fields["env"]}
    assert "OTHER_SECRET" not in fields["env"]
    assert shop.harness.trial(run, "raise").error_message == "RuntimeError: [SHOP_KEY]"
    for file in shop.harness.path.parent.glob("store.db*"):
        if file.is_file():
            assert key.encode() not in file.read_bytes()


async def test_hundreds_of_calls_take_few_workers(shop: Shop) -> None:
    cases = [f"q{n}" for n in range(300)]
    run = await shop.harness.run(shop.suite("echo", cases, target={"workers": 2}))
    assert shop.harness.counts(run).passed == 300
    assert len(shop.calls()) == len({*shop.calls()}) == 300
    assert len(shop.workers()) <= 2
