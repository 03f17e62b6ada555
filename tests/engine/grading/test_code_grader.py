"""Code of outputs that is run with tests, through a real engine."""

import shutil
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.engine.grading.test_command_grader import scores
from tests.engine.harness import Harness
from tui_eval.engine.control.changed_scorers import rescoring
from tui_eval.engine.grading import code_grader
from tui_eval.engine.grading.code_grader import CodeGrader
from tui_eval.model.json import JsonObject
from tui_eval.model.states import Verdict
from tui_eval.processes.isolation.landlock import abi
from tui_eval.store.requests import Verb
from tui_eval.suites.loading.suite_file import load
from tui_eval.suites.spec import Suite

TESTS = "def check(add):\n    assert add(2, 3) == 5\n    assert add(-1, 1) == 0\n"
GIVEN = 'def add(a, b):\n    """Return the sum."""\n'


def suite(cases: list[JsonObject], **scorer: Any) -> Suite:
    """Give a suite whose outputs are code."""
    given = {"kind": "code", "tests": TESTS, "entry_point": "add", **scorer}
    return Suite.model_validate(
        {
            "name": "tested",
            "cases": [{"id": f"c{i}", **case} for i, case in enumerate(cases)],
            "prompts": [{"user": f"Go on:\n```python\n{GIVEN}```"}],
            "targets": [{"kind": "simulated", "answers": "{{ a }}"}],
            "scorers": [given],
        }
    )


async def found(path: Path, made: Suite) -> list[tuple[Verdict, str | None]]:
    """Run a suite; give the verdict and the reason of each trial."""
    harness = Harness(path / "store.db")
    run = await harness.run(made)
    return [(Verdict(one.verdict), one.reason) for one in scores(harness, run)]


async def test_what_passes_and_what_fails(tmp_path: Path) -> None:
    expected: dict[str, tuple[Verdict, str]] = {
        "    return a + b\n": (Verdict.PASS, "passes the tests"),
        "```python\ndef add(a, b):\n    return a + b\n```": (Verdict.PASS, "passes the tests"),
        "def add(a, b): return 5": (
            Verdict.FAIL,
            "failed line 3: assert add(-1, 1) == 0; the last call gave 5",
        ),
        "import os\ndef add(a, b): os._exit(0)": (
            Verdict.FAIL,
            (
                "the solution ended itself: its process has ended, in the tests at line 2: "
                "assert add(2, 3) == 5"
            ),
        ),
        "import os, signal\ndef add(a, b): os.kill(os.getppid(), signal.SIGKILL)": (
            Verdict.FAIL,
            "the tests did not come to their end: ended by signal 9 (Killed)",
        ),
        "I would rather not.": (
            Verdict.FAIL,
            "SyntaxError: invalid syntax, line 1: I would rather not.",
        ),
        "def add(a, b):\n    while True: pass": (
            Verdict.FAIL,
            "took longer than 0.3 s, in the tests at line 2: assert add(2, 3) == 5",
        ),
    }
    cases: list[JsonObject] = [
        {"a": answer, "most": 0.3 if "while" in answer else 60} for answer in expected
    ]
    made = suite(cases, timeout="{{ most }}")
    for told, wanted in zip(await found(tmp_path, made), expected.values(), strict=True):
        assert told == wanted


async def test_a_tester_that_cannot_start_leaves_it_ungraded(tmp_path: Path) -> None:
    made = suite([{"a": "    return a + b"}], python="/bin/false", isolation="none")
    [(verdict, reason)] = await found(tmp_path, made)
    assert verdict is Verdict.UNGRADED
    assert reason is not None
    assert reason.startswith("its tester could not start: ended with exit code 1")


async def test_a_tester_that_is_never_ready_leaves_it_ungraded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code_grader, "_BESIDE_S", 0.05)
    sleeper = tmp_path / "python"
    sleeper.write_text("#!/bin/sh\nexec sleep 60\n", encoding="utf-8")
    sleeper.chmod(0o755)
    made = suite([{"a": "    return a + b"}], python=str(sleeper), isolation="none")
    told = await found(tmp_path, made)
    assert told == [(Verdict.UNGRADED, "its tester was not ready within 0.05 s")]


@pytest.mark.parametrize(
    "level",
    [
        pytest.param("landlock", marks=pytest.mark.skipif(not abi(), reason="no landlock here")),
        pytest.param(
            "bwrap", marks=pytest.mark.skipif(shutil.which("bwrap") is None, reason="no bwrap here")
        ),
    ],
)
async def test_the_tester_starts_on_each_level(tmp_path: Path, level: str) -> None:
    made = suite([{"a": "    return a + b"}], isolation=level)
    assert await found(tmp_path, made) == [(Verdict.PASS, "passes the tests")]


REACHES = """
import pathlib, socket
def add(a, b):
    try:
        socket.create_connection(("127.0.0.1", PORT), 1)
        return "network"
    except OSError:
        pass
    try:
        return pathlib.Path(SECRET).read_text()
    except OSError:
        return a + b
"""


async def test_it_reaches_neither_network_nor_files(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("found", encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = REACHES.replace("PORT", str(server.getsockname()[1]))
        code = code.replace("SECRET", repr(str(secret)))
        free, kept = tmp_path / "free", tmp_path / "kept"
        free.mkdir()
        kept.mkdir()
        [(_, told)] = await found(free, suite([{"a": code}], isolation="none"))
        assert told is not None
        assert "'network'" in told
        assert await found(kept, suite([{"a": code}])) == [(Verdict.PASS, "passes the tests")]


SHELL = {
    "add() { echo $(($1 + $2)); }": (Verdict.PASS, "passes the tests"),
    "```sh\nadd() { echo 5; }\n```": (Verdict.FAIL, "ended with exit code 1"),
    "add() { exit 0; }\nexit 0": (Verdict.FAIL, "it ended before the tests did"),
    "add() { nothing-such; }": (Verdict.FAIL, "nothing-such: command not found"),
}


async def test_what_runs_the_code_may_not_change_amid_a_run(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text('exec sh "$1"\n')
    file = tmp_path / "suite.toml"
    file.write_text(
        """
        prompt.user = "?"
        cases = [{ id = "a" }]
        targets = [{ kind = "simulated", answers = "x=1" }]
        [[scorers]]
        kind = "code"
        language = "own"
        command = ["sh", "run.sh", "{file}"]
        ending = "echo {nonce}"
        tests = 'test $x = 1'
        """
    )
    harness = Harness(tmp_path / "store.db")
    run = await harness.run(load(file, trusted=True))
    assert scores(harness, run)[0].verdict is Verdict.PASS
    (tmp_path / "run.sh").write_text("exit 1\n")
    await harness.again(run, Verb.RESCORE)
    assert "run.sh has changed since the scorer was read" in scores(harness, run)[0].reason
    args = rescoring(harness.path, harness.row(run), file, trusted=True)
    await harness.again(run, Verb.RESCORE, **args)
    assert scores(harness, run)[0].verdict is Verdict.FAIL


async def test_another_language_runs_with_its_tests_behind_it(tmp_path: Path) -> None:
    tests = '[ "$(add 2 3)" = 5 ]\n[ "$(add -1 1)" = 0 ]'
    made = suite([{"a": answer} for answer in SHELL], language="bash", tests=tests)
    for (verdict, told), (wanted, reason) in zip(
        await found(tmp_path, made), SHELL.values(), strict=True
    ):
        assert verdict is wanted
        assert told is not None
        assert reason in told


async def test_a_language_of_ones_own_runs_by_its_command(tmp_path: Path) -> None:
    made = suite(
        [{"a": "def add(a, b): return a + b"}, {"a": "def add(a, b): return 5"}],
        language="snake",
        command=[sys.executable, "-I", "{file}"],
        ending="print('{nonce}')",
        tests="assert add(-1, 1) == 0",
    )
    (first, _), (second, why) = await found(tmp_path, made)
    assert (first, second) == (Verdict.PASS, Verdict.FAIL)
    assert why is not None
    assert "AssertionError" in why


async def test_nothing_runs_again_that_is_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    grade = CodeGrader.grade

    async def counted(self: CodeGrader, asked: Any) -> Any:
        ran.append(asked.case.id)
        return await grade(self, asked)

    monkeypatch.setattr(CodeGrader, "grade", counted)
    cases: list[JsonObject] = [{"a": "    return a + b"}, {"a": "    return 5"}]
    harness = Harness(tmp_path / "store.db")
    for tests, times in ((TESTS, 2), (TESTS, 2), (TESTS + "    assert add(1, 1) == 2\n", 4)):
        await harness.run(suite(cases, tests=tests))
        assert len(ran) == times
