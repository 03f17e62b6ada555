"""Suites in pytest: sessions of other projects, each in the process of its test."""

import asyncio
import io
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from tui_eval.api import launch
from tui_eval.api.run import Run
from tui_eval.api.runs import open_run, runs
from tui_eval.cli.main import run as run_command_line
from tui_eval.suites.loading.suite_file import load

pytest_plugins = "pytester"

SUITE = """
name = "capitals"
[prompt]
user = "The capital of {{ country }}?"
[[targets]]
kind = "simulated"
name = "one"
answers = "{{ said }}"
latency_s = 0
[[targets]]
kind = "simulated"
name = "two"
answers = "{{ capital }}"
latency_s = 0
[[scorers]]
kind = "exact"
expected = "{{ capital }}"
[[cases]]
id = "fr"
country = "France"
capital = "Paris"
said = "Paris"
[[cases]]
id = "pe"
country = "Peru"
capital = "Lima"
said = "Lima"
"""
GATE = "[gate]\npass_rate = 1\n"
WRONG = SUITE.replace('said = "Lima"', 'said = "Cusco"')
BROKEN = SUITE.replace('"{{ said }}"', '"{{ said }}"\nfaults = { server_error = 1.0 }', 1).replace(
    "[[targets]]", "[run]\nretries = 0\n[[targets]]", 1
)


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Give a project whose runs go on in the process of the test: most they take is its start."""
    monkeypatch.setattr(launch, "run", in_this_process)
    pytester.makeini(
        "[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n"
    )
    return pytester


def in_this_process(suite: Path, *, store: Path, trust: bool, **options: Any) -> Run:
    load(suite, trusted=trust)  # what is wrong with it is raised, as there
    words = [f"--case={one}" for one in options.get("cases", ())] + ["--trust"] * trust
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        run_command_line(["run", str(suite), "--store", str(store), *words])
    return open_run("last", store=store)


def store(project: pytest.Pytester) -> Path:
    return project.path / ".tui-eval" / "store.sqlite3"


def suite(project: pytest.Pytester, text: str, name: str = "capitals") -> None:
    (project.path / "evals").mkdir(exist_ok=True)
    (project.path / "evals" / f"{name}.toml").write_text(text, "utf-8")


def ran(project: pytest.Pytester, *words: str) -> pytest.RunResult:
    return project.runpytest_inprocess("-p", "no:randomly", "-p", "no:cacheprovider", *words)


def test_a_session_that_asks_for_nothing_collects_no_suite_and_loads_nothing(
    project: pytest.Pytester,
) -> None:
    suite(project, SUITE)
    project.makepyfile("def test_one(): pass")
    ran(project, ".").assert_outcomes(passed=1)
    assert not store(project).parent.exists()
    code = (
        "import sys, pytest; before = {*sys.modules}; import tui_eval.pytest_plugin.hooks;"
        "print(*sorted({*sys.modules} - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == [
        "tui_eval", "tui_eval.pytest_plugin", "tui_eval.pytest_plugin.hooks",
    ]  # fmt: skip


def test_the_fixture_runs_suites_in_a_store_that_is_kept(project: pytest.Pytester) -> None:
    suite(project, WRONG + GATE)
    project.makepyfile(
        """
        def test_gate(evaluate):
            run = evaluate("evals/capitals.toml")
            assert run.gate.holds, run.report()

        def test_part(evaluate):
            assert evaluate("evals/capitals.toml", cases=["fr"])["one"].pass_rate == 1
        """
    )
    found = ran(project)
    found.assert_outcomes(passed=1, failed=1)
    found.stdout.fnmatch_lines(["*one: pass_rate wants at least 100%, it is 50%"])
    ran(project, "-k", "gate").assert_outcomes(failed=1, deselected=1)
    last, *_, first = runs(store=store(project))
    assert first.document["requests"]["cached_outputs"] == 0
    assert last.document["requests"]["cached_outputs"] == 4
    assert (store(project).parent / ".gitignore").read_text() == "*\n"


def test_the_fixture_leaves_the_loop_of_a_test_alone(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []

    async def arun(suite: Path, *, store: Path, **_: Any) -> Path:
        told.append("begins")
        await asyncio.sleep(0)
        told.append("ends")
        return store

    monkeypatch.setattr(launch, "arun", arun)
    project.makepyfile(
        """
        import asyncio

        async def test_both(evaluate):
            stores = await asyncio.gather(*(evaluate.arun("evals/capitals.toml") for _ in "ab"))
            assert {one.name for one in stores} == {"store.sqlite3"}
        """
    )
    ran(project).assert_outcomes(passed=1)
    assert told == ["begins", "ends"] * 2


def test_a_suite_that_wants_to_be_trusted_says_how_in_pytest(project: pytest.Pytester) -> None:
    suite(project, SUITE.replace('"exact"', '"command"\ncommand = ["true"]\nname = "c"')
          .replace('expected = "{{ capital }}"\n', ""))  # fmt: skip
    project.makepyfile('def test_it(evaluate): assert evaluate("evals/capitals.toml").name')
    for words in ((), ("--tui-eval", "evals"), ("--tui-eval-cases", "evals")):
        found = ran(project, *words)
        assert found.ret != 0
        found.stdout.fnmatch_lines(["*wants to run*", "*pytest with --tui-eval-trust*"])
        found.stdout.no_fnmatch_line("During handling of*")  # it is said once
    assert not store(project).exists()
    found = ran(project, "-o", "tui_eval_trust=true")
    assert "wants to" not in found.stdout.str()
    assert store(project).exists()


def test_the_gate_of_each_suite_is_a_test(project: pytest.Pytester) -> None:
    suite(project, SUITE + GATE)
    suite(project, WRONG.replace("capitals", "wrong") + GATE, "wrong")
    suite(project, WRONG.replace("capitals", "open"), "without a gate")
    suite(project, "[tool.other]\ncases = 3\n", "pyproject")
    found = ran(project, "--tui-eval", "-v", "evals")
    found.assert_outcomes(passed=2, failed=1)
    found.stdout.fnmatch_lines(
        [
            f"tui-eval: {store(project)}",
            "evals/capitals.toml::gate PASSED*",
            "evals/without a gate.toml::gate PASSED*",
            "evals/wrong.toml::gate FAILED*",
            "*one: pass_rate wants at least 100%, it is 50%",
            '  pe  one  exact: expected "Lima", got "Cusco"',
            f"look at it with `tui-eval show wrong-* --failed --store {store(project)}`",
        ]
    )
    assert "Traceback" not in found.stdout.str()


def test_a_gate_passes_where_the_command_exits_with_0(project: pytest.Pytester) -> None:
    suite(project, BROKEN)
    found = ran(project, "--tui-eval", "evals")
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(["errors: 2, ungraded: 0; a gate may allow some: max_error_rate*"])
    suite(project, BROKEN + "[gate]\nmax_error_rate = 1\n")
    ran(project, "--tui-eval", "evals").assert_outcomes(passed=1)


def test_a_suite_with_mistakes_is_an_error_with_file_line_and_field(
    project: pytest.Pytester,
) -> None:
    suite(project, SUITE.replace("exact", "exaxt"))
    found = ran(project, "--tui-eval", "evals")
    found.assert_outcomes(errors=1)
    found.stdout.fnmatch_lines(['*capitals.toml, line 16: scorers*did you mean "exact"*'])
    found = ran(project, "--tui-eval-cases", "evals")
    found.stdout.fnmatch_lines(['*capitals.toml, line 16: scorers*did you mean "exact"*'])


def test_each_case_is_a_test_and_only_those_chosen_are_run(project: pytest.Pytester) -> None:
    suite(project, WRONG + GATE)
    found = ran(project, "--tui-eval-cases", "-v", "evals")
    found.assert_outcomes(passed=1, failed=2)
    found.stdout.fnmatch_lines(
        [
            "evals/capitals.toml::gate FAILED*",
            "evals/capitals.toml::case?fr? PASSED*",
            "evals/capitals.toml::case?pe? FAILED*",
            'one: fail: exact: expected "Lima", got "Cusco"',
            "  output: Cusco",
            "look at it with `tui-eval show capitals-* --case pe --store *`",
        ]
    )
    assert len(runs(store=store(project))) == 1
    ran(project, "--tui-eval-cases", "evals", "-k", "fr").assert_outcomes(passed=1, deselected=2)
    last, _ = runs(store=store(project))
    assert (last.document["partial"], last.document["counts"]["total"]) == (True, 2)
    ran(project, "--tui-eval-cases", "evals", "-k", "fr or gate").assert_outcomes(
        passed=1, failed=1, deselected=1
    )
    assert runs(store=store(project))[0].document["partial"] is False


def test_what_a_case_came_to_is_told_apart(project: pytest.Pytester) -> None:
    rows = "".join(
        f'[[cases]]\nid = "{name}"\ncountry = "x"\ncapital = "Lima"\nsaid = "Lima"\n'
        for name in ("a\\nb", "a\\u001b[2Jb", "::", "b]")
    )
    judged = '[[scorers]]\nkind = "recorded"\nname = "r"\nvalue = "{{ grade | default(true) }}"\n'
    text = SUITE.replace("[[cases]]", f"{judged}[[cases]]", 1) + 'grade = "ungraded"\n' + rows
    suite(project, text)
    found = ran(project, "--tui-eval-cases", "-v", "-rs", "evals", "-k", "case")
    found.assert_outcomes(passed=5, skipped=1, deselected=1)
    found.stdout.fnmatch_lines(["*::case?a⏎b? PASSED*", "SKIPPED*one: ungraded: r: *"])
    assert "\x1b[2J" not in found.stdout.str()
    suite(project, BROKEN)
    found = ran(project, "--tui-eval-cases", "evals", "-k", "pe")
    found.assert_outcomes(errors=1, deselected=2)
    found.stdout.fnmatch_lines(["one: error: *"])


def test_the_processes_of_a_session_share_a_run(project: pytest.Pytester) -> None:
    suite(project, SUITE)
    words = ("--tui-eval-cases", "evals")

    class Worker:
        """What xdist tells a worker."""

        def __init__(self, session: str) -> None:
            self.session = session

        @pytest.hookimpl(tryfirst=True)
        def pytest_configure(self, config: Any) -> None:
            config.workerinput = {"testrunuid": self.session}

    for session in ("a", "a", "b"):
        found = project.runpytest_inprocess(*words, plugins=[Worker(session)])
        found.assert_outcomes(passed=3)
    assert len(runs(store=store(project))) == 2
