"""Functions that decide, through a real engine: what becomes of each way a call can end."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.engine.grading.test_command_grader import scores
from tests.engine.harness import Harness
from tests.suites.writing import write
from tui_eval.model.json import JsonObject
from tui_eval.model.states import Verdict
from tui_eval.store.location import attempt_folders
from tui_eval.store.requests import Verb
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.suites.loading.suite_file import load
from tui_eval.suites.scorers import scorer_of
from tui_eval.suites.spec import Suite

SUITE = """
name = "decided"
[dataset]
path = "data.jsonl"
[prompt]
user = "{{ q }}"
[[targets]]
kind = "simulated"
answers = ["{{ a }}"]
[[scorers]]
kind = "python"
callable = "grading:score"
"""


def suite(folder: Path, code: str, cases: list[JsonObject], more: str = "") -> Suite:
    (folder / "grading.py").write_text(code, encoding="utf-8")
    rows: list[JsonObject] = [{"id": f"c{i}", "q": "q", **case} for i, case in enumerate(cases)]
    return load(write(folder, SUITE + more, data_jsonl=rows), trusted=True)


ENDINGS = """
import os, sys, time

def score(case, output, messages, fields, workspace):
    print("to", output)
    assert workspace is None and fields == {}
    match output:
        case "right": return {"value": 0.75, "verdict": "pass", "reason": "so it is",
                              "parts": {"style": 0.5}}
        case "number": return 0.5
        case "true": return output == case["a"]
        case "false": return False
        case "seen": return {"verdict": "pass", "reason": messages[-1]["content"]}
        case "raises": return 1 / 0
        case "exits": os._exit(3)
        case "leaves": sys.exit(2)
        case "nothing": return None
        case "beyond": return 1.5
        case "odd": return {"verdict": "maybe"}
        case "object": return {"value": 1, "reason": object()}
        case "slow": time.sleep(60)
"""


async def test_what_ends_well_is_a_grade_and_what_breaks_is_ungraded(tmp_path: Path) -> None:
    harness = Harness(tmp_path / "store.db")
    expected: dict[str, tuple[Verdict, float | None, str]] = {
        "right": (Verdict.PASS, 0.75, "so it is"),
        "number": (Verdict.FAIL, 0.5, "the value is 0.5"),
        "true": (Verdict.PASS, 1.0, "the value is 1"),
        "false": (Verdict.FAIL, 0.0, "the value is 0"),
        "seen": (Verdict.PASS, 1.0, "seen"),
        "raises": (
            Verdict.UNGRADED,
            None,
            'division by zero (File "grading.py", line 14, in score); it printed: to raises',
        ),
        "exits": (Verdict.UNGRADED, None, "its process ended with exit code 3 in the call; it"),
        "leaves": (Verdict.UNGRADED, None, "raised SystemExit: 2"),
        "nothing": (Verdict.UNGRADED, None, "gave no grade: it is no number, but"),
        "beyond": (Verdict.UNGRADED, None, "gave no grade: it is 1.5: it must be from 0 to 1"),
        "odd": (
            Verdict.UNGRADED,
            None,
            "it must be one of pass, fail, ungraded; it printed:",
        ),
        "object": (Verdict.UNGRADED, None, "what it returned.reason is of type object"),
        "slow": (Verdict.UNGRADED, None, "grading:score took longer than 0.5 s"),
    }
    cases: list[JsonObject] = [
        {"a": output, "most": 0.5 if output == "slow" else 60} for output in expected
    ]
    run = await harness.run(suite(tmp_path, ENDINGS, cases, 'timeout = "{{ most }}"'))
    for found, (verdict, value, reason) in zip(
        scores(harness, run), expected.values(), strict=True
    ):
        assert (found.verdict, found.value) == (verdict, value), found
        assert reason in found.reason
    assert scores(harness, run)[0].raw == {"parts": {"style": 0.5}}
    assert not any(attempt_folders(harness.path).iterdir())


@pytest.mark.parametrize(
    "code",
    [
        "async def score(output): return len(output) / 2",
        "def score(output, threshold=2): return len(output) / threshold",
        "def score(**seen): return len(seen['output']) / 2",
        "class Score:\n    def __call__(self, *, case): return len(case['a']) / 2\nscore = Score()",
    ],
)
async def test_a_function_takes_by_name_what_it_needs(tmp_path: Path, code: str) -> None:
    harness = Harness(tmp_path / "store.db")
    run = await harness.run(suite(tmp_path, code, [{"a": "a"}]))
    (found,) = scores(harness, run)
    assert (found.verdict, found.value) == (Verdict.FAIL, 0.5), found.reason


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ("def score(answer): return 1", "score(answer) takes none of case, output, messages,"),
        ("def score(output, answer): return 1", "score(output, answer) also needs answer"),
        ("def other(output): return 1", 'grading.py has no function "score"'),
        ("def score(output) return 1", "grading.py, line 1: "),
    ],
)
def test_what_cannot_be_called_is_told_before_anything_runs(
    tmp_path: Path, code: str, wrong: str
) -> None:
    with pytest.raises(SuiteError) as caught:
        suite(tmp_path, code, [{"a": "a"}])
    (mistake,) = caught.value.mistakes
    assert mistake.field == "scorers[0].callable"
    assert wrong in mistake.message


async def test_what_only_a_worker_finds_leaves_ungraded_with_the_reason(tmp_path: Path) -> None:
    harness = Harness(tmp_path / "store.db")
    code = "score = eval('lambda answer: 1')"
    run = await harness.run(suite(tmp_path, code, [{"a": "a"}]))
    (found,) = scores(harness, run)
    assert "score(answer) takes none of case, output" in found.reason


async def test_no_such_interpreter_leaves_ungraded(tmp_path: Path) -> None:
    harness = Harness(tmp_path / "store.db")
    made = suite(tmp_path, "def score(output): return 1", [{"a": "a"}], 'python = "no-such-python"')
    (found,) = scores(harness, await harness.run(made))
    assert "there is no interpreter no-such-python" in found.reason


async def test_what_was_decided_is_not_called_again_until_its_code_changes(tmp_path: Path) -> None:
    harness = Harness(tmp_path / "store.db")
    ran = tmp_path / "ran"
    code = (
        "import helper\n"
        f"def score(output):\n    open({str(ran)!r}, 'a').write('x')\n    return helper.VALUE"
    )
    cases: list[JsonObject] = [{"a": "a"}, {"a": "b"}]
    (tmp_path / "helper.py").write_text("VALUE = 1")
    run = await harness.run(suite(tmp_path, code, cases))
    assert ran.read_text() == "xx"
    await harness.run(suite(tmp_path, code, cases))
    await harness.again(run, Verb.RESCORE)
    assert ran.read_text() == "xx"
    (tmp_path / "helper.py").write_text("VALUE = 0.5")
    await harness.again(run, Verb.RESCORE)  # of the scorer as it was
    assert all("helper.py has changed since" in one.reason for one in scores(harness, run))
    again = await harness.run(suite(tmp_path, code, cases))
    assert ran.read_text() == "xxxx"
    assert [one.value for one in scores(harness, again)] == [0.5, 0.5]


async def test_files_are_laid_into_a_folder_that_the_function_is_told(tmp_path: Path) -> None:
    harness = Harness(tmp_path / "store.db")
    (tmp_path / "right").mkdir()
    (tmp_path / "right" / "c0").write_text("a")
    code = (
        "from pathlib import Path\n"
        "def score(output, workspace):\n"
        "    return output == (Path(workspace) / 'answer').read_text()"
    )
    run = await harness.run(
        suite(tmp_path, code, [{"a": "a"}], 'files = { answer = "right/{{ id }}" }')
    )
    (found,) = scores(harness, run)
    assert found.verdict is Verdict.PASS, found.reason
    assert not any(attempt_folders(harness.path).iterdir())


def asked(folder: Path, **more: Any) -> list[str]:
    table = {"kind": "python", "callable": "grading:score", **more}
    return [one.does for one in scorer_of(table).permissions(table, folder)]


def test_the_call_and_its_code_are_asked_for(tmp_path: Path) -> None:
    suite(tmp_path, "import helper\ndef score(output): return 1", [{"a": "a"}])
    (tmp_path / "helper.py").touch()
    assert asked(tmp_path) == [
        "call grading:score with tui-eval's Python to grade outputs",
        "run the code in grading.py",
        "run the code in helper.py",
    ]
    (tmp_path / "hidden").mkdir()
    laid = asked(tmp_path, files={"tests": "hidden"})
    assert laid[3:] == ["grade with what hidden holds"]
    assert asked(tmp_path, python=sys.executable)[0].endswith(f"{sys.executable} to grade outputs")
