"""Programs that decide, through a real engine: what becomes of each way in which one can end."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.engine.harness import Harness
from tests.support import reading
from tests.waiting import until
from tui_eval.engine.control.changed_scorers import edited, edits
from tui_eval.engine.control.tryout import TryoutProgress, tryout
from tui_eval.engine.session import Session
from tui_eval.engine.settings import Settings
from tui_eval.model.json import JsonObject
from tui_eval.model.states import TrialState, Verdict
from tui_eval.store.location import attempt_folders
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.requests import Outcome, Verb
from tui_eval.store.rows import ScoreRow
from tui_eval.suites.spec import Suite

COUNTED = "open({ran!r}, 'a').write('x')\n"


def suite(folder: Path, code: str, cases: list[JsonObject], **scorer: Any) -> Suite:
    """Give a suite whose outputs a program decides."""
    path = folder / "check.py"
    path.write_text(code, encoding="utf-8")
    given = {
        "kind": "command",
        "command": [sys.executable, str(path), *scorer.pop("args", [])],
        "isolation": "none",
        **scorer,
    }
    return Suite.model_validate(
        {
            "name": "decided",
            "cases": [{"id": f"c{i}", **case} for i, case in enumerate(cases)],
            "prompts": [{"user": "{{ q }}"}],
            "targets": [{"kind": "simulated", "answers": "{{ a }}"}],
            "scorers": [given],
        }
    )


def scores(harness: Harness, run: int) -> list[ScoreRow]:
    """Give the current score of each trial, in their order."""
    with reading(harness.path) as db:
        trials = trial_rows.trials_from(db, run, 0, 100)
        found = [trial_rows.scores(db, trial.id) for trial in trials]
    return [next(one for one in of if one.current and not one.superseded) for of in found]


ENDINGS = """
import json, os, signal, sys, time
seen = json.load(sys.stdin)
assert sorted(seen) == ["case", "fields", "messages", "output", "workspace"], seen
assert os.listdir() == [] and seen["workspace"] is None
print("to", seen["output"], file=sys.stderr)
match seen["output"]:
    case "right": print(json.dumps({"value": 0.75, "verdict": "pass", "reason": "so it is"}))
    case "number": print(0.5)
    case "seen": print(json.dumps({"verdict": "pass", "reason": json.dumps(seen["messages"])}))
    case "code": print(1); sys.exit(3)
    case "signal": print(1, flush=True); os.kill(os.getpid(), signal.SIGKILL)
    case "nothing": pass
    case "prose": print("it is fine")
    case "beyond": print(1.5)
    case "two": print(1); print(0)
    case "flood":
        for _ in range(20): sys.stdout.write("1\\n" * 50_000)
    case "slow": time.sleep(60)
"""


async def test_what_ends_well_is_a_grade_and_what_breaks_is_ungraded(tmp_path: Path) -> None:
    harness = Harness(tmp_path / "store.db")
    expected: dict[str, tuple[Verdict, float | None, str]] = {
        "right": (Verdict.PASS, 0.75, "so it is"),
        "number": (Verdict.FAIL, 0.5, "the value is 0.5"),
        "seen": (Verdict.PASS, 1.0, '[{"role": "user", "content": "q"}, {"role": "assistant", '),
        "code": (Verdict.UNGRADED, None, "ended with exit code 3: to code"),
        "signal": (Verdict.UNGRADED, None, "was ended by signal 9: to signal"),
        "nothing": (Verdict.UNGRADED, None, "printed no reply"),
        "prose": (Verdict.UNGRADED, None, 'its last line is "it is fine"'),
        "beyond": (Verdict.UNGRADED, None, "it must be from 0 to 1"),
        "two": (Verdict.UNGRADED, None, "it printed 2 replies"),
        "flood": (Verdict.UNGRADED, None, "its program printed 2,000,000 bytes"),
        "slow": (Verdict.UNGRADED, None, "took longer than 0.5 s: "),
    }
    run = await harness.run(
        suite(
            tmp_path,
            ENDINGS,
            [{"q": "q", "a": a, "most": 0.5 if a == "slow" else 60} for a in expected],
            timeout="{{ most }}",
        )
    )
    for found, (verdict, value, reason) in zip(
        scores(harness, run), expected.values(), strict=True
    ):
        assert (found.verdict, found.value) == (verdict, value), found
        assert reason in found.reason
    assert not any(attempt_folders(harness.path).iterdir())
    assert harness.counts(run).ungraded == 8


async def test_a_program_that_is_not_there_leaves_ungraded(tmp_path: Path) -> None:
    harness = Harness(tmp_path / "store.db")
    for isolation in ("none", "auto"):
        made = suite(
            tmp_path, "", [{"q": "q", "a": "a"}], isolation=isolation, command=["no-such-program"]
        )
        (problem,) = Session(made, Settings()).problems()
        assert problem == (
            "scorer 'command': the program no-such-program is not there on PATH: install it"
        )
        run = await harness.run(made)
        (found,) = scores(harness, run)
        assert found.verdict is Verdict.UNGRADED
        assert "no-such-program is not there on its PATH" in found.reason


@pytest.mark.parametrize("word", ["{{ output }}", "/{{ output }}", "long " * 60])
async def test_a_word_of_a_command_may_be_longer_than_any_name(tmp_path: Path, word: str) -> None:
    code = "import sys; print(float(len(sys.argv[1]) >= 300))"
    run = await Harness(tmp_path / "store.db").run(
        suite(tmp_path, code, [{"q": "q", "a": "long " * 60}], args=[word])
    )
    assert scores(Harness(tmp_path / "store.db"), run)[0].verdict is Verdict.PASS


async def test_what_was_decided_is_not_run_again_until_something_of_it_changes(
    tmp_path: Path,
) -> None:
    harness = Harness(tmp_path / "store.db")
    ran = tmp_path / "ran"
    code = COUNTED.format(ran=str(ran)) + "print(1)"
    cases: list[JsonObject] = [{"q": "q", "a": "a"}, {"q": "q", "a": "b"}]
    run = await harness.run(suite(tmp_path, code, cases))
    assert ran.read_text() == "xx"
    await harness.run(suite(tmp_path, code, cases))
    await harness.again(run, Verb.RESCORE)
    assert ran.read_text() == "xx"
    other: list[JsonObject] = [{"q": "q", "a": "a", "note": "new"}, cases[1]]
    await harness.run(suite(tmp_path, code, other))
    assert ran.read_text() == "xxx"  # a program sees the whole row
    await harness.run(suite(tmp_path, f"{code}  # changed", cases))
    assert ran.read_text() == "xxxxx"
    await harness.run(suite(tmp_path, f"{code}  # changed", cases), Settings(fresh=True))
    assert ran.read_text() == "xxxxxxx"


async def test_what_an_edited_program_would_say_is_unknown_and_nothing_is_run(
    tmp_path: Path,
) -> None:
    harness = Harness(tmp_path / "store.db")
    ran = tmp_path / "ran"
    code = COUNTED.format(ran=str(ran)) + "print(1)"
    made = suite(tmp_path, code, [{"q": "q", "a": "a"}, {"q": "q", "a": "b"}])
    run = await harness.run(made)
    for changed, unknown in ((made, 0), (suite(tmp_path, code, [], args=["more"]), 2)):
        with reading(harness.path) as db:
            now = edited(made, {"scorer_specs": changed.model_dump(mode="json")["scorers"]})
            *_, last = tryout(db, run, now, edits(made, now))
        assert isinstance(last, TryoutProgress)
        assert (last.outputs, last.judged) == (2, unknown)
    assert ran.read_text() == "xx"


async def test_what_broke_is_run_again(tmp_path: Path) -> None:
    harness = Harness(tmp_path / "store.db")
    allowed = tmp_path / "allowed"
    code = f"import os, sys\nif not os.path.exists({str(allowed)!r}): sys.exit(1)\nprint(1)"
    run = await harness.run(suite(tmp_path, code, [{"q": "q", "a": "a"}]))
    assert harness.counts(run).ungraded == 1
    allowed.touch()
    await harness.again(run, Verb.RESCORE, which="ungraded")
    assert harness.counts(run).passed == 1


async def test_a_trial_that_is_decided_can_be_cancelled_and_decided_later(tmp_path: Path) -> None:
    harness = Harness(tmp_path / "store.db")
    started, go = tmp_path / "started", tmp_path / "go"
    code = (
        "import os, time\n"
        f"open({str(started)!r}, 'w')\n"
        f"while not os.path.exists({str(go)!r}): time.sleep(0.01)\n"
        "print(1)"
    )
    async with harness.working(suite(tmp_path, code, [{"q": "q", "a": "a"}])) as (run, _):
        await until(started.exists)
        (trial,) = harness.trials(run)
        assert trial.state is TrialState.SCORING  # its output is in the store
        assert trial.output is not None
        assert trial.waiting == "waits for the program that decides"
        done = await harness.asked(run, Verb.CANCEL, trials=[trial.id])
        assert done.outcome == Outcome.ACCEPTED
    (trial,) = harness.trials(run)
    assert trial.state is TrialState.CANCELLED
    assert not any(attempt_folders(harness.path).iterdir())
    go.touch()
    await harness.again(run, Verb.UNCANCEL, request=done.id)
    assert harness.counts(run).passed == 1
    assert harness.trials(run)[0].output == trial.output  # nobody was asked anew


async def test_a_stop_lets_programs_that_run_decide_and_begins_no_other(tmp_path: Path) -> None:
    harness = Harness(tmp_path / "store.db")
    ran, go, at_once = tmp_path / "ran", tmp_path / "go", os.cpu_count() or 1
    code = COUNTED.format(ran=str(ran)) + (
        f"import os, time\nwhile not os.path.exists({str(go)!r}): time.sleep(0.01)\nprint(1)"
    )
    cases: list[JsonObject] = [{"q": f"q{i}", "a": "a"} for i in range(at_once + 2)]
    async with harness.working(suite(tmp_path, code, cases)) as (run, engine):
        await until(lambda: ran.exists() and ran.stat().st_size == at_once)
        engine.stop()
        go.touch()
    assert ran.stat().st_size == at_once
    counts = harness.counts(run)
    assert (counts.passed, counts.scoring) == (at_once, 2)
    await harness.again(run, Verb.RESUME)
    assert harness.counts(run).passed == at_once + 2


async def test_an_engine_that_is_killed_leaves_nothing_and_the_next_one_decides(
    tmp_path: Path,
) -> None:
    harness = Harness(tmp_path / "store.db")
    begun, go = tmp_path / "begun", tmp_path / "go"
    code = (
        "import os, time\n"
        f"open({str(begun)!r}, 'a').write(f'{{os.getpid()}}\\n')\n"
        f"while not os.path.exists({str(go)!r}): time.sleep(0.01)\n"
        "print(1)"
    )
    run = harness.create(suite(tmp_path, code, [{"q": "q", "a": "a"}]))
    worker = (sys.executable, "-m", "tests.engine.worker", str(harness.path), str(run))
    engine = await asyncio.create_subprocess_exec(*worker)
    await until(lambda: begun.exists() and begun.read_text().endswith("\n"))
    engine.kill()
    await engine.wait()
    (program,) = map(int, begun.read_text().split())
    await until(lambda: not Path(f"/proc/{program}").exists())  # its warden has ended it
    assert any(attempt_folders(harness.path).iterdir())
    outputs = harness.sql("SELECT id FROM outputs")
    go.touch()
    await harness.again(run, Verb.RESUME)
    assert harness.counts(run).passed == 1
    assert not any(attempt_folders(harness.path).iterdir())
    assert harness.sql("SELECT id FROM outputs") == outputs  # nobody was asked anew


@pytest.mark.parametrize("isolation", ["landlock", "bwrap", "auto"])
async def test_a_program_is_kept_from_the_rest_of_the_machine(
    tmp_path: Path, isolation: str
) -> None:
    harness = Harness(tmp_path / "store.db")
    code = (
        "import json\n"
        f"try: open({str(tmp_path / 'store.db')!r}).read(); print(0)\n"
        "except OSError as error: print(json.dumps({'verdict': 'pass', 'reason': str(error)}))"
    )
    run = await harness.run(suite(tmp_path, code, [{"q": "q", "a": "a"}], isolation=isolation))
    (found,) = scores(harness, run)
    if isolation != "auto" and "isolation cannot be had" in found.reason:
        pytest.skip(found.reason)
    assert found.verdict is Verdict.PASS, found.reason
