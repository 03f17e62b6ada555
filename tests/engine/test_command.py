"""Programs as targets, through a real engine: what comes of each way in which one can end."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.engine.harness import Harness
from tests.support import reading
from tests.waiting import until
from tui_eval.engine.preflight.preflight import preflight
from tui_eval.engine.session import Session
from tui_eval.engine.settings import Settings
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Output
from tui_eval.model.states import RunState, TrialState
from tui_eval.processes import zygote_client
from tui_eval.processes.workspace import tree_files
from tui_eval.store.files import FileStore
from tui_eval.store.location import attempt_folders
from tui_eval.store.read import report_queries
from tui_eval.store.read.trials import attempt_queries, reusable_outputs, trial_queries, trial_rows
from tui_eval.store.read.trials.trial_queries import WholeTrial
from tui_eval.store.requests import Outcome, Verb
from tui_eval.suites.loading.suite_file import load
from tui_eval.suites.spec import Suite
from tui_eval.suites.trust.needs_trust import NeedsTrust
from tui_eval.targets import disk_room
from tui_eval.targets.command import printed


def program(folder: Path, code: str, name: str = "agent.py") -> list[str]:
    """Write a program; give the command that runs it."""
    path = folder / name
    path.write_text(code, encoding="utf-8")
    return [sys.executable, str(path)]


def suite(folder: Path, code: str, n: int = 1, **fields: Any) -> Suite:
    """Give a suite of n questions that are put to a program as its last word."""
    run = fields.pop("run", {})
    scorers = fields.pop("scorers", [{"kind": "exact", "expected": "{{ q }}"}])
    prompts = fields.pop("prompts", [])
    if "command" not in fields:
        fields["command"] = [*program(folder, code), *fields.pop("args", ["{{ q }}"])]
    given = {name: value for name, value in fields.items() if value is not None}
    target: JsonObject = {"kind": "command", "isolation": "none", **given}
    return Suite.model_validate(
        {
            "name": "programs",
            "cases": [{"id": f"c{i}", "q": f"q{i}"} for i in range(n)],
            "prompts": prompts,
            "targets": [target],
            "scorers": scorers,
            "run": {"concurrency": 4, **run},
        }
    )


ECHO = "import sys; print(sys.argv[-1])"


def git(folder: Path, *arguments: str) -> None:
    """Run git in a folder."""
    names = ("-c", "user.name=n", "-c", "user.email=e@example.com")
    subprocess.run(["git", *names, *arguments], cwd=folder, check=True)


def head_of(folder: Path) -> str:
    """Give the commit that a repository is at."""
    command = ["git", "rev-parse", "HEAD"]
    return subprocess.check_output(command, cwd=folder, text=True).strip()


async def ran(folder: Path, code: str, **fields: Any) -> tuple[Harness, int, WholeTrial]:
    """Run one case to its end; give its trial."""
    harness = Harness(folder / "store.db")
    run = await harness.run(suite(folder, code, **fields))
    with reading(harness.path) as db:
        (trial,) = trial_rows.trials_from(db, run, 0, 10)
        whole = trial_queries.whole(db, run, trial.id)
    assert whole is not None
    return harness, run, whole


async def output(folder: Path, code: str, **fields: Any) -> Output:
    """Run one case to its end; give its output."""
    _, _, whole = await ran(folder, code, **fields)
    assert whole.output is not None, (whole.trial.error_kind, whole.trial.error_message)
    return whole.output


async def error(folder: Path, code: str, **fields: Any) -> tuple[str, str]:
    """Run one case to its end; give its error."""
    _, _, whole = await ran(folder, code, **fields)
    assert whole.trial.state is TrialState.ERROR
    return str(whole.trial.error_kind), str(whole.trial.error_message)


async def test_what_a_program_prints_is_judged(tmp_path: Path) -> None:
    harness, run, whole = await ran(tmp_path, ECHO)
    assert whole.output is not None
    assert (whole.output.text, whole.output.finish_reason) == ("q0", "stop")
    assert harness.counts(run).passed == 1
    with reading(harness.path) as db:
        record = attempt_queries.of_trial(db, whole.trial.id).record
    assert record.exit is not None
    assert (record.exit.code, record.exit.signal, record.isolation) == (0, None, "none")
    assert record.resources is not None
    assert record.resources.output_bytes == 3
    assert not any((tmp_path / "store.db.attempts").iterdir())
    again = await harness.run(suite(tmp_path, ECHO))
    assert harness.trials(again)[0].cached


async def test_a_program_gets_its_input_environment_keys_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_KEY", "sk-9f8e7d6c5b4a39281706")
    monkeypatch.setenv("OTHER_SECRET", "another-9f8e7d6c5b4a")
    code = (
        "import json, os, sys\n"
        "print(json.dumps({'stdin': sys.stdin.read(), 'env': dict(os.environ)}))"
    )
    got = await output(
        tmp_path,
        code,
        stdin="read {{ q }}",
        env={"ASKED": "{{ q }}!", "HOME": "/nowhere"},
        keys=["AGENT_KEY"],
    )
    assert got.text is not None
    assert "sk-9f8e7d6c5b4a39281706" not in got.text
    told = json.loads(got.text)
    assert told["stdin"] == "read q0"
    environment = told["env"]
    assert environment["AGENT_KEY"] == "[AGENT_KEY]"
    assert (environment["ASKED"], environment["HOME"]) == ("q0!", "/nowhere")
    assert environment["TMPDIR"].startswith(str(tmp_path / "store.db.attempts"))
    assert "OTHER_SECRET" not in environment
    assert {"PATH", "LANG"} <= environment.keys()


async def test_without_stdin_there_is_nothing_to_read(tmp_path: Path) -> None:
    got = await output(tmp_path, "import sys; print(repr(sys.stdin.read()))")
    assert got.text == "''"


async def test_what_changes_in_its_workspace_is_kept(tmp_path: Path) -> None:
    fixture = tmp_path / "fixture"
    (fixture / "sub").mkdir(parents=True)
    (fixture / "same.txt").write_text("same\n")
    (fixture / "old.txt").write_text("one\ntwo\nthree\n")
    (fixture / "gone.txt").write_text("gone\n")
    code = (
        "import os\n"
        "open('old.txt', 'w').write('one\\n2\\nthree\\n')\n"
        "open('sub/new.txt', 'w').write('new')\n"
        "os.remove('gone.txt')\n"
        "os.symlink('/etc/passwd', 'link')\n"
        "os.mkfifo('pipe')\n"
    )
    harness, _, whole = await ran(tmp_path, code, workspace=str(fixture), output="diff")
    got = whole.output
    assert got is not None
    assert got.text == (
        "diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n"
        "--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"
        "diff --git a/old.txt b/old.txt\n--- a/old.txt\n+++ b/old.txt\n"
        "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
        "diff --git a/sub/new.txt b/sub/new.txt\nnew file mode 100644\n"
        "--- /dev/null\n+++ b/sub/new.txt\n@@ -0,0 +1 @@\n+new\n\\ No newline at end of file\n"
    )
    with reading(harness.path) as db:
        stored = attempt_queries.of_trial(db, whole.trial.id)
    changes = stored.record.changes
    assert changes is not None
    assert (changes.added, changes.changed, changes.removed) == (3, 1, 1)
    assert stored.workspace == got.workspace
    assert got.workspace is not None
    files = FileStore.beside(harness.path)
    listed = files.changes(got.workspace)
    assert [path for path, _ in listed.added] == [b"link", b"pipe", b"sub/new.txt"]
    (entry,) = (entry for path, entry in listed.changed if path == b"old.txt")
    assert entry.digest is not None
    assert files.get(entry.digest) == b"one\n2\nthree\n"
    assert (fixture / "gone.txt").exists()


async def test_a_patch_can_be_applied(tmp_path: Path) -> None:
    fixture = tmp_path / "fixture"
    fixture.mkdir()
    (fixture / "a b.txt").write_text("".join(f"{n}\n" for n in range(50)))
    (fixture / "end").write_text("no newline")
    code = (
        "import pathlib as p\n"
        "one = p.Path('a b.txt'); one.write_text(one.read_text().replace('7\\n', 'x\\n'))\n"
        "p.Path('end').write_text('other\\n'); p.Path('run').write_text('#!/bin/sh\\n')\n"
        "p.Path('run').chmod(0o755)\n"
    )
    got = await output(tmp_path, code, workspace=str(fixture), output="diff")
    assert got.text is not None
    patch = tmp_path / "patch"
    patch.write_text(got.text)
    git(fixture, "apply", "--unsafe-paths", str(patch))
    assert "x\n" in (fixture / "a b.txt").read_text()
    assert (fixture / "end").read_text() == "other\n"
    assert os.access(fixture / "run", os.X_OK)


async def test_a_diff_leaves_out_what_is_protected(tmp_path: Path) -> None:
    (tmp_path / "fixture/tests").mkdir(parents=True)
    for name in ("a.py", "tests/test_a.py", "tests/test_b.py"):
        (tmp_path / "fixture" / name).write_text("before\n")
    code = (
        "import os, pathlib\n"
        "for name in ('a.py', 'tests/test_a.py', 'tests/new.py', 'setup.cfg'):\n"
        "    pathlib.Path(name).write_text('after\\n')\n"
        "os.unlink('tests/test_b.py')\n"
    )
    fields: dict[str, Any] = {"workspace": str(tmp_path / "fixture"), "output": "diff"}
    harness, _, whole = await ran(tmp_path, code, protected=["tests", "*.cfg"], **fields)
    assert whole.output is not None
    touched = [line for line in (whole.output.text or "").splitlines() if "diff --git" in line]
    assert touched == ["diff --git a/a.py b/a.py"]
    with reading(harness.path) as db:
        changes = attempt_queries.of_trial(db, whole.trial.id).record.changes
    assert changes is not None
    assert (changes.added, changes.changed, changes.removed) == (2, 2, 1)  # all of it is told
    again = await harness.run(suite(tmp_path, code, **fields))
    assert not harness.trials(again)[0].cached  # it is part of the key


async def test_files_of_a_commit_come_without_history(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    repository.mkdir()
    (repository / "f").write_text("first")
    for arguments in (["init", "-q"], ["add", "f"], ["commit", "-qm", "first"]):
        git(repository, *arguments)
    (repository / "f").write_text("changed since")
    code = "import os; print(open('f').read(), sorted(os.listdir('.')))"
    got = await output(tmp_path, code, workspace={"git": str(repository), "at": "HEAD"})
    assert got.text == "first ['f']"


async def test_a_file_or_json_can_be_the_output(tmp_path: Path) -> None:
    code = "import json; open('said.txt', 'w').write('written'); print(json.dumps({'p': ['x']}))"
    assert (await output(tmp_path, code, output="file:said.txt")).text == "written"
    assert (await output(tmp_path, code, output="json:$.p[0]")).text == "x"
    kind, message = await error(tmp_path, code, output="file:other.txt")
    assert (kind, "other.txt" in message) == ("output", True)
    kind, message = await error(tmp_path, code, output="json:$.q")
    assert (kind, message) == ("output", "the JSON that it printed has nothing at $.q")
    linked = "import os; os.symlink('/etc/hostname', 'said.txt')"
    assert (await error(tmp_path, linked, output="file:said.txt"))[0] == "output"


async def test_a_setup_that_fails_is_an_error_and_no_fail(tmp_path: Path) -> None:
    good = [sys.executable, "-c", "open('made', 'w').write('by setup')"]
    bad = [sys.executable, "-c", "import sys; print('no compiler'); sys.exit(3)"]
    code = "print(open('made').read())"
    assert (await output(tmp_path, code, setup=[good])).text == "by setup"
    kind, message = await error(tmp_path, code, setup=[good, bad])
    assert kind == "setup"
    assert message.endswith("exit code 3: no compiler")


async def test_a_program_of_setup_that_is_not_there_is_told_once(tmp_path: Path) -> None:
    first = suite(tmp_path, ECHO, setup=[["no-such-program"]])
    [missing] = preflight(None, first, Settings()).missing
    assert missing.endswith(
        "no-such-program is not there on PATH: install it; its `setup` wants it"
    )
    later = suite(
        tmp_path, ECHO, n=9, setup=[["true"], ["no-such-program"]], run={"concurrency": 1}
    )
    assert not preflight(None, later, Settings()).missing  # the first one may install it
    harness = Harness(tmp_path / "store.db")
    run = await harness.run(later)
    assert harness.row(run).state is RunState.PAUSED
    assert "no-such-program is not there" in str(harness.row(run).reason)
    assert (harness.counts(run).error, harness.counts(run).queued) == (1, 8)


async def test_other_exit_codes_are_errors_with_the_last_lines(tmp_path: Path) -> None:
    code = "import sys; print('on its way'); print('it broke', file=sys.stderr); sys.exit(7)"
    _, _, whole = await ran(tmp_path, code)
    assert (whole.trial.error_kind, whole.trial.attempts) == ("exit", 1)
    assert whole.trial.error_message == "code 7: it broke"
    assert whole.attempts[0].partial == "on its way\n"
    assert whole.attempts[0].printed == "it broke\n"
    assert (await output(tmp_path, code, exit_codes=[0, 7])).text == "on its way"
    kind, message = await error(tmp_path, "import os; os.kill(os.getpid(), 9)")
    assert (kind, message) == ("exit", "ended by signal 9: it printed nothing")


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ({"wall": 0.3}, "print('begun', flush=True); import time; time.sleep(60)"),
        ({"cpu_s": 0.3}, "print('begun', flush=True)\nwhile True: pass"),
        (
            {"memory": "200MB"},
            "print('begun', flush=True); x = b'x' * 400_000_000\nwhile True: pass",
        ),
        (
            {"disk": "1MB"},
            "print('begun', flush=True); open('f', 'wb').write(b'x' * 5_000_000)\nwhile True: pass",
        ),
    ],
    ids=["wall", "cpu_s", "memory", "disk"],
)
async def test_a_limit_is_an_output_that_was_cut_short(
    tmp_path: Path, limits: dict[str, Any], code: str
) -> None:
    (name,) = limits
    harness, run, whole = await ran(tmp_path, code, limits=limits)
    got = whole.output
    assert got is not None
    assert (got.finish_reason, got.text, got.cut_short) == (f"limit:{name}", "begun", True)
    assert (whole.trial.attempts, harness.counts(run).ungraded) == (1, 1)
    graded = await harness.run(suite(tmp_path, code, limits=limits, run={"truncated": "grade"}))
    assert harness.trials(graded)[0].cached  # limits are not part of the key
    assert harness.counts(graded).failed == 1


async def test_a_case_has_a_wall_of_its_own(tmp_path: Path) -> None:
    made = suite(tmp_path, "import time; time.sleep(60)", run={"timeout": 300})
    case = {**made.cases[0], "timeout": 0.3}
    harness = Harness(tmp_path / "store.db")
    run = await harness.run(made.model_copy(update={"cases": (case,)}))
    with reading(harness.path) as db:
        whole = trial_queries.whole(db, run, harness.trials(run)[0].id)
    assert whole is not None
    assert whole.output is not None
    assert whole.output.finish_reason == "limit:wall"


TALK = (
    "import json, sys, time\n"
    "for n in range(int(sys.argv[-1][1:]) or 3):\n"
    "    print(json.dumps({'role': 'assistant', 'content': f'step {n}', 'tool_calls': [{'id': "
    "str(n), 'function': {'name': 'ls', 'arguments': '{}'}}], 'usage': {'input': 10, 'output': 5},"
    " 'cost_usd': 0.25}), flush=True)\n"
)
TOLD = {"from": "stdout", "format": "messages"}


async def test_a_transcript_is_read(tmp_path: Path) -> None:
    harness, _, whole = await ran(tmp_path, TALK, transcript=TOLD, output="last_message")
    got = whole.output
    assert got is not None
    assert (got.text, len(got.messages)) == ("step 2", 3)
    assert (got.usage.input, got.usage.output) == (30, 15)
    with reading(harness.path) as db:
        record = attempt_queries.of_trial(db, whole.trial.id).record
    assert (record.steps, record.tool_calls) == (3, 3)
    # what it says it cost is its own word
    assert (whole.trial.cost_usd, whole.trial.about_usd) == (None, 0.75)
    kind, _ = await error(tmp_path, "print('hello')", transcript=TOLD)
    assert kind == "transcript"


async def test_the_conversation_of_a_failed_attempt_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_KEY", "sk-9f8e7d6c5b4a39281706")
    code = TALK.replace("step {n}", 'step {n} {os.environ["AGENT_KEY"]}') + "sys.exit(3)\n"
    asked: dict[str, Any] = {"transcript": TOLD, "output": "last_message", "keys": ["AGENT_KEY"]}
    harness, run, whole = await ran(tmp_path, f"import os\n{code}", **asked)
    said = [f"step {n} [AGENT_KEY]" for n in range(3)]
    assert (whole.trial.error_kind, whole.output) == ("exit", None)
    assert whole.trial.error_message == f"code 3: it said last: {said[-1]}"
    assert [one["content"] for one in whole.broken_off] == said
    (attempt,) = whole.attempts
    assert (attempt.state, attempt.partial, attempt.printed) == ("failed", said[-1], None)
    with reading(harness.path) as db:
        [line] = report_queries.lines(db, run)
        assert line.messages == whole.broken_off
        [key] = db.execute("SELECT generation_key FROM trials").fetchone()
        assert reusable_outputs.usable_keys(db, [key, b""]) == set()


async def test_the_conversation_of_a_cancelled_attempt_is_kept(tmp_path: Path) -> None:
    harness = Harness(tmp_path / "store.db")
    code = TALK + "time.sleep(60)\n"
    made = suite(tmp_path, code, transcript=TOLD, output="last_message", scorers=[])
    async with harness.working(made) as (run, _):
        await until(lambda: harness.sql("SELECT turn FROM trial_progress") == [(3,)])
        await harness.asked(run, Verb.CANCEL_RUN)
    with reading(harness.path) as db:
        whole = trial_queries.whole(db, run, harness.trials(run)[0].id)
    assert whole is not None
    assert [one["content"] for one in whole.broken_off] == ["step 0", "step 1", "step 2"]
    assert (whole.attempts[0].state, whole.attempts[0].partial) == ("cancelled", "step 2")


@pytest.mark.parametrize(
    "limits", [{"turns": 2}, {"tool_calls": 2}, {"tokens": 20}, {"cost_usd": 0.3}]
)
async def test_limits_of_its_own_word_end_it(tmp_path: Path, limits: dict[str, Any]) -> None:
    code = TALK + "time.sleep(60)\n"
    (name,) = limits
    got = await output(tmp_path, code, transcript=TOLD, limits=limits)
    assert got.finish_reason == f"limit:{name}"
    assert len(got.messages) == 3


async def test_a_program_that_is_not_there_stops_the_run(tmp_path: Path) -> None:
    made = suite(tmp_path, ECHO, n=20, command=["{{ 'no-such-' ~ 'program' }}"], args=[])
    harness = Harness(tmp_path / "store.db")
    run = await harness.run(made)
    assert harness.row(run).state is RunState.PAUSED
    assert "no-such-program" in str(harness.row(run).reason)
    assert harness.counts(run).error < 20


async def test_no_kept_file_holds_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_KEY", "sk-9f8e7d6c5b4a39281706")
    code = (
        "import os\n"
        "open('told', 'w').write('x' * 3_999_990 + os.environ['AGENT_KEY'])\n"
        "open('fine', 'w').write('nothing')\n"
    )
    harness, _, whole = await ran(tmp_path, code, keys=["AGENT_KEY"])
    assert whole.output is not None
    assert whole.output.workspace is not None
    files = FileStore.beside(harness.path)
    added = dict(files.changes(whole.output.workspace).added)
    assert (added[b"told"].digest, added[b"told"].error) == (None, "it holds a key")
    assert added[b"fine"].digest is not None
    held = [one.read_bytes() for one in files.folder.rglob("*") if one.is_file()]
    assert not any(b"sk-9f8e7d6c5b4a" in one for one in held)


async def test_no_name_and_no_folder_that_stays_holds_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-9f8e7d6c5b4a39281706"
    monkeypatch.setenv("AGENT_KEY", key)
    code = (
        "import os\nkey = os.environ['AGENT_KEY']\n"
        "os.mkdir(key); open(f'{key}/in', 'w').write('in'); os.symlink(key, 'link')\n"
        "open('told', 'w').write(key); open('fine', 'w').write('fine'); print('said', key)\n"
    )
    harness, _, whole = await ran(tmp_path, code, keys=["AGENT_KEY"], keep="always")
    assert whole.output is not None
    assert whole.output.workspace is not None
    found = FileStore.beside(harness.path).changes(whole.output.workspace).added
    assert [(path, entry.target, entry.error) for path, entry in found] == [
        (b"[AGENT_KEY]", None, "its name holds a key"),
        (b"[AGENT_KEY]/in", None, "its name holds a key"),
        (b"fine", None, None),
        (b"link", b"[AGENT_KEY]", None),
        (b"told", None, "it holds a key"),
    ]
    attempts = tmp_path / "store.db.attempts"
    await until(lambda: [*attempts.glob("*.kept")])
    [kept] = attempts.iterdir()
    assert (kept / "program" / "out").read_text() == "said [AGENT_KEY]\n"
    assert [one.name for one in (kept / "workspace").iterdir()] == ["fine"]
    everything = [*tmp_path.rglob("*")]  # noqa: ASYNC240
    assert not any(key in str(one) for one in everything)
    assert not any(key.encode() in one.read_bytes() for one in everything if one.is_file())


async def test_a_key_that_a_cut_goes_through_is_not_kept_in_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_KEY", "sk-9f8e7d6c5b4a39281706")
    code = (
        "import os, sys; key = os.environ['AGENT_KEY'] * 4_000\n"
        "print(key); print(key, file=sys.stderr); sys.exit(1)"
    )
    _, _, whole = await ran(tmp_path, code, keys=["AGENT_KEY"])
    assert "[AGENT_KEY]" in (whole.attempts[0].partial or "")
    assert "9f8e" not in f"{whole.attempts[0].partial}{whole.attempts[0].printed}"
    assert "9f8e" not in (printed.begun(_flood(tmp_path)) or "9f8e")


def _flood(folder: Path) -> Path:
    flood = folder / "flood"
    flood.write_text("sk-9f8e7d6c5b4a39281706" * 4_000)
    return flood


async def test_money_is_capped_by_a_limit_of_its_own(tmp_path: Path) -> None:
    harness = Harness(tmp_path / "store.db")
    capped = {"max_cost_usd": 2.0, "concurrency": 1}
    made = suite(tmp_path, TALK, n=9, run=capped, transcript=TOLD, args=["{{ q }}"])
    problems = Session(made, Settings()).problems()
    assert len(problems) == 1
    assert "limits = { cost_usd = … }" in problems[0]
    made = suite(tmp_path, TALK, n=9, run=capped, transcript=TOLD, limits={"cost_usd": 1.5})
    run = await harness.run(made)
    assert harness.row(run).state is RunState.PAUSED
    assert 0 < harness.counts(run).done < 9


async def test_what_a_program_left_waits_for_room_and_it_is_run_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, refused = tree_files.write_all, iter((True, True))

    def full(descriptor: int, data: bytes) -> None:
        if next(refused, False):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(descriptor, data)

    monkeypatch.setattr(tree_files, "write_all", full)
    monkeypatch.setattr(disk_room, "_LOOK_S", 0.0)
    harness, _, whole = await ran(tmp_path, f"open('made', 'w').write('x'); {ECHO}")
    assert whole.trial.state is TrialState.DONE
    assert whole.trial.attempts == 1
    assert next(refused, None) is None
    with reading(harness.path) as db:
        stored = attempt_queries.of_trial(db, whole.trial.id)
    assert stored.workspace is not None
    [(path, _)] = FileStore.beside(harness.path).changes(stored.workspace).added
    assert path == b"made"


async def test_output_that_a_full_disk_cut_short_is_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is never graded: what is missing may be what was asked for."""
    limited = (
        "import resource, signal; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)); "
        f"{zygote_client._RUN}"
    )
    monkeypatch.setattr(zygote_client, "_RUN", limited)
    code = "import sys; print('x' * 9000, sys.argv[-1])"
    _, _, whole = await ran(tmp_path, code, run={"retries": 0})
    assert (whole.trial.state, whole.trial.error_kind) == (TrialState.ERROR, "disk")
    assert "File too large" in (whole.trial.error_message or "")


async def test_a_run_goes_on_only_with_the_version_it_began_with(tmp_path: Path) -> None:
    says = tmp_path / "says"
    says.write_text("agent 1.0\nof today", encoding="utf-8")
    code = "import sys; sys.exit(3) if sys.argv[-1] == 'q1' else print(sys.argv[-1])"
    made = suite(tmp_path, code, n=2, version=["cat", str(says)])
    harness = Harness(tmp_path / "store.db")
    run = await harness.run(made)
    assert harness.counts(run).error == 1
    says.write_text("agent 1.1\nof tomorrow", encoding="utf-8")
    answer = await harness.again(run, Verb.RESUME)
    assert "was agent 1.0 and is agent 1.1 now" in str(answer.detail)
    assert answer.outcome == Outcome.CLOSED
    assert harness.counts(run).attempts == 2
    await harness.again(run, Verb.RESCORE)  # asks no target
    assert harness.row(run).state is RunState.DONE
    says.write_text("agent 1.0\nof today", encoding="utf-8")
    await harness.again(run, Verb.RESUME)
    assert harness.counts(run).attempts == 3
    says.unlink()
    assert "did not print it" in str((await harness.again(run, Verb.RESUME)).detail)


@pytest.mark.parametrize(
    ("code", "fields", "stays"),
    [
        (ECHO, {}, False),
        ("print('wrong')", {}, False),
        ("import sys; sys.exit(3)", {}, True),
        ("import time; time.sleep(60)", {"limits": {"wall": 0.2}}, True),
    ],
    ids=["pass", "fail", "error", "limit"],
)
async def test_the_folder_stays_of_an_error_or_a_limit_and_not_of_a_fail(
    tmp_path: Path, code: str, fields: dict[str, Any], stays: bool
) -> None:
    await ran(tmp_path, code, keep="failed", **fields)
    kept = [*attempt_folders(tmp_path / "store.db").glob("*.kept/workspace")]
    assert len(kept) == stays


async def test_an_issue_is_worked_on_in_a_repository_outside_that_the_suite_may_read(
    tmp_path: Path,
) -> None:
    made, mirrors, here = tmp_path / "made", tmp_path / "mirrors", tmp_path / "suite"
    for folder in (made, mirrors, here):
        folder.mkdir()
    git(made, "init", "-q", ".")
    (made / "tool.py").write_text("broken\n")
    git(made, "add", ".")
    git(made, "commit", "-q", "-m", "one")
    at = head_of(made)
    git(made, "commit", "-q", "--allow-empty", "-m", "the fix")
    git(tmp_path, "clone", "-q", "--bare", str(made), str(mirrors / "us__tool.git"))
    issue = {"instance_id": "us__tool-1", "repo": "us/tool", "base_commit": at,
             "problem_statement": "It is broken."}  # fmt: skip
    (here / "swe.jsonl").write_text(json.dumps(issue))
    code = "import os; assert os.listdir() == ['tool.py']; open('tool.py', 'w').write('mended\\n')"
    (here / "suite.toml").write_text(
        '[dataset]\nformat = "swebench"\npath = "swe.jsonl"\nrepos = "../mirrors"\n'
        '[[targets]]\nkind = "command"\nisolation = "none"\n'
        f"command = {json.dumps([sys.executable, '-c', code])}\n"
        '[[scorers]]\nkind = "includes"\nexpected = "+mended"\n'
    )
    with pytest.raises(NeedsTrust, match=r"read \.\./mirrors outside the suite's folder"):
        load(here / "suite.toml")
    harness = Harness(tmp_path / "store.db")
    run = await harness.run(load(here / "suite.toml", trusted=True))
    assert harness.counts(run).passed == 1, harness.trial(run, "us__tool-1").error_message


async def test_a_case_names_no_workspace_that_the_suite_may_not_read(tmp_path: Path) -> None:
    here, other = tmp_path / "suite", tmp_path / "other"
    for folder in (here, other):
        folder.mkdir()
    (here / "suite.toml").write_text(
        '[[cases]]\nid = "a"\nplace = "../other"\n'
        '[[targets]]\nkind = "command"\nisolation = "none"\ncommand = ["true"]\n'
        'workspace = "{{ place }}"\n[[scorers]]\nkind = "includes"\nexpected = "x"\n'
    )
    harness = Harness(tmp_path / "store.db")
    run = await harness.run(load(here / "suite.toml", trusted=True))
    trial = harness.trial(run, "a")
    assert trial.error_kind == "setup"
    assert "outside the suite's folder" in str(trial.error_message)
