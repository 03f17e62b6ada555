"""Programs in containers: a real podman where there is one, and a stand-in for what it is asked."""

import asyncio
import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.containers import IMAGE, Podman
from tests.engine.harness import Harness
from tests.support import reading
from tests.waiting import until
from tui_eval.engine.session import Session
from tui_eval.engine.settings import Settings
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure
from tui_eval.processes.isolation.images import ContainerEngine, ImageFacts
from tui_eval.processes.supervisor import Processes
from tui_eval.processes.workspace.source import FolderSource, source_digest
from tui_eval.providers.errors import UnavailableError
from tui_eval.reports.programs.left_files import source_of, write_workspace
from tui_eval.store.files import FileStore
from tui_eval.store.read.trials import attempt_queries, trial_queries, trial_rows
from tui_eval.store.read.trials.trial_queries import WholeTrial
from tui_eval.store.rows import TrialRow
from tui_eval.suites.loading.suite_file import load
from tui_eval.suites.spec import Suite
from tui_eval.targets.command.trial_image import ImageStock

TASK = """\
[agent]
timeout_sec = 60.0
[environment]
memory_mb = 256
"""
AGENT = 'pwd; cat data; tr a-z A-Z < data > "$PWD/made"; rm data; echo more >> kept'


def harbor(folder: Path, name: str, dockerfile: str, **files: str) -> None:
    """Write a task."""
    held = {
        "task.toml": TASK,
        "instruction.md": "Shout.",
        "environment/Dockerfile": dockerfile,
        **files,
    }
    for path, text in held.items():
        (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / name / path).write_text(text)


def suite(folder: Path, dataset: str, code: str, more: str = "", shell: str = "sh") -> Suite:
    """Write and load a suite whose program runs in containers."""
    (folder / "suite.toml").write_text(
        f'name = "contained"\n{dataset}\n[prompt]\nuser = "do it"\n[[targets]]\nkind = "command"\n'
        f'name = "agent"\nisolation = "podman"\nnetwork = "none"\n'
        f"command = ['{shell}', '-c', '''{code}''']\n{more}\n"
        '[[scorers]]\nkind = "includes"\nexpected = "/app"\n'
    )
    return load(folder / "suite.toml", trusted=True)


def wholes(harness: Harness, run: int) -> dict[str, WholeTrial]:
    """Give all of a run's trials, by case."""
    with reading(harness.path) as db:
        found = [trial_queries.whole(db, run, one.id) for one in harness.trials(run)]
    return {one.trial.case_id: one for one in found if one is not None}


@pytest.mark.whole
async def test_a_task_runs_in_the_image_that_it_describes(tmp_path: Path, podman: Podman) -> None:
    good = f"FROM {IMAGE}\nCOPY data kept /app/\n"
    context = {"environment/data": "hello\n", "environment/kept": "before\n"}
    harbor(tmp_path / "tasks", "good", good, **context)
    harbor(tmp_path / "tasks", "bad", f"FROM {IMAGE}\nRUN echo no such thing; exit 3\n")
    dataset = '[dataset]\nformat = "harbor"\npath = "tasks"\n'
    harness = Harness(tmp_path / "store.db")
    run = await harness.run(suite(tmp_path, dataset, AGENT))
    found = wholes(harness, run)
    bad, done = found["bad"].trial, found["good"]
    assert (bad.error_kind, bad.verdict) == ("setup", None)
    assert "its image cannot be built" in str(bad.error_message)
    with reading(harness.path) as db:
        (failed,) = trial_rows.attempts(db, bad.id)
        record = attempt_queries.of_trial(db, done.trial.id).record
    assert "no such thing" in str(failed.partial)
    assert done.output is not None
    assert done.output.text == "/app\nhello"
    assert (record.isolation, record.changes and record.changes.as_json()) == (
        "podman",
        {"added": 1, "changed": 1, "removed": 1, "bytes": 18},
    )
    left = rebuilt(harness, run, done.trial, tmp_path / "left")
    assert left == {"kept": "before\nmore\n", "made": "HELLO\n"}
    assert podman.containers() == []

    again = await harness.run(suite(tmp_path, dataset, AGENT))
    assert wholes(harness, again)["good"].trial.cached
    (tmp_path / "tasks" / "good" / "environment" / "data").write_text("bye\n")
    other = await harness.run(suite(tmp_path, dataset, AGENT), Settings(cases=("good",)))
    asked = wholes(harness, other)["good"]
    assert asked.output is not None
    assert (asked.trial.cached, asked.output.text) == (False, "/app\nbye")


def rebuilt(harness: Harness, run: int, trial: TrialRow, folder: Path) -> dict[str, str]:
    """Give the files of a workspace as its program left it."""
    files = FileStore.beside(harness.path)
    with reading(harness.path) as db:
        whole = trial_queries.whole(db, run, trial.id)
        assert whole is not None
        assert whole.output is not None
        source = source_of(db, run, trial)
    assert whole.output.workspace is not None
    write_workspace(folder, source, files.changes(whole.output.workspace), files)
    return {path.name: path.read_text() for path in folder.iterdir()}


CASES = '[[cases]]\nid = "a"\nimage = "{image}"\n'


def key(suite: Suite) -> bytes | None:
    """Give the key of a suite's one trial."""
    session = Session(suite, Settings())
    try:
        ((trial,),) = session.wanted(None)
    finally:
        session.close()
    return trial.key


def test_a_moved_tag_is_another_target(tmp_path: Path, podman: Podman) -> None:
    def now() -> bytes | None:
        return key(suite(tmp_path, CASES.format(image="moving"), "true", 'image = "{{ image }}"'))

    nobody_knows = now()
    podman("tag", IMAGE, "moving")
    first = now()
    container = podman("create", IMAGE, "true").strip()
    podman("commit", "--quiet", container, "moving")
    podman("rm", container)
    second = now()
    podman("tag", IMAGE, "moving")
    assert now() == first
    assert len({nobody_knows, first, second}) == 3


def ended_process() -> int:
    """Give the id of a process that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


@pytest.mark.whole
async def test_the_version_is_asked_in_the_container_and_what_was_left_is_swept(
    tmp_path: Path, podman: Podman
) -> None:
    left = [
        podman("create", f"--label=tui-eval.owner={owner}", IMAGE, "true").strip()
        for owner in (ended_process(), tmp_path / "nowhere", os.getpid())
    ]
    more = f'image = "{IMAGE}"\nversion = ["sh", "-c", "ls /bin"]'
    made = suite(tmp_path, '[[cases]]\nid = "a"\n', "pwd", more)
    harness = Harness(tmp_path / "store.db")
    run = await harness.run(made)
    assert harness.counts(run).passed == 1
    assert podman.containers() == left[2:]
    podman("rm", *left[2:])


async def test_a_program_that_the_image_lacks_is_told_before_anything_starts(
    tmp_path: Path, podman: Podman
) -> None:
    made = suite(tmp_path, '[[cases]]\nid = "a"\n', "true", f'image = "{IMAGE}"', "no-such-program")
    with pytest.raises(UnavailableError, match="no-such-program is not in the image"):
        await Harness(tmp_path / "store.db").run(made)


STAND_IN = """#!/bin/sh
# A container engine's command: it notes what it is asked, has what it has fetched or built, and
# runs what it is to run by itself.
echo "$*" >> {log}
place() {{ echo "{images}/$(echo "$1" | tr / _)"; }}
case "$1 $2" in
  version*) exit 0 ;;
  "image inspect") cat "$(place "$4")" ;;
  pull*) [ "$2" != none/such ] && echo "{digest}" > "$(place "$2")" ;;
  build*)
    grep -q held "${{3#--file=}}" && while [ -e {held} ]; do sleep 0.01; done
    grep -q broken "${{3#--file=}}" && echo "a line" && echo "it is broken" && exit 3
    echo "{digest}" > "$(place "${{2#--tag=}}")" ;;
  run*) while [ "$1" != {digest} ]; do shift; done; shift; exec "$@" ;;
esac
"""
DIGEST = "c0ffee00" * 8


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a stand-in for podman on the PATH; give the file with what it was asked."""
    folder, log, images = tmp_path / "bin", tmp_path / "asked", tmp_path / "images"
    folder.mkdir()
    images.mkdir()
    command = folder / "podman"
    command.write_text(
        STAND_IN.format(log=log, images=images, digest=DIGEST, held=tmp_path / "held")
    )
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return log


async def test_each_image_is_fetched_or_built_once_and_run_by_its_digest(
    tmp_path: Path, asked: Path
) -> None:
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "Dockerfile").write_text("FROM scratch\n")
    names = ["some/image", "made/Dockerfile", "some/image", "none/such", "made/Dockerfile"]
    cases = "".join(f'[[cases]]\nid = "c{i}"\nimage = "{one}"\n' for i, one in enumerate(names))
    image = 'image = "{{ image }}"\n'
    other = '[[targets]]\nkind = "command"\nname = "other"\nisolation = "podman"\n'
    other += f'command = ["echo", "/app"]\n{image}'
    made = suite(tmp_path, cases, "echo /app", image + other)
    harness = Harness(tmp_path / "store.db")
    run = await harness.run(made)
    assert harness.counts(run).passed == 8
    failed = next(one for one in harness.trials(run) if one.case_id == "c3")
    assert (failed.error_kind, failed.error_message) == (
        "setup",
        "the image none/such cannot be had: exit code 1",
    )
    lines = (await asyncio.to_thread(asked.read_text)).splitlines()
    assert lines.count("pull some/image") == 1
    assert len([line for line in lines if line.startswith("build --tag=localhost/tui-eval:")]) == 1
    assert len([line for line in lines if line.startswith("run ") and DIGEST in line]) == 8


async def test_a_build_goes_on_as_long_as_somebody_waits_for_it(
    tmp_path: Path, asked: Path
) -> None:
    asked.with_name("held").touch()
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "Dockerfile").write_text("FROM held\n")
    digest = source_digest(FolderSource(tmp_path / "made")).hex()
    context: JsonObject = {"dockerfile": "made/Dockerfile", "digest": digest}
    async with Processes() as processes:
        stock = ImageStock(ContainerEngine("podman"), tmp_path, processes)

        def wait() -> asyncio.Task[ImageFacts | Failure]:
            return asyncio.create_task(stock.ready(context))

        def builds() -> int:
            return asked.read_text().count("build ") if asked.exists() else 0

        first, second = wait(), wait()
        await until(lambda: builds() == 1)
        first.cancel()
        await asyncio.wait([first])
        third = wait()
        for one in (second, third):
            one.cancel()
        await asyncio.wait([second, third])  # nobody waits any more: it has ended
        asked.with_name("held").unlink()
        found = await wait()
        assert isinstance(found, ImageFacts)
        assert (found.id, builds()) == (DIGEST, 2)


async def test_what_a_killed_build_left_goes_with_the_next(
    tmp_path: Path, asked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    left, other = (
        tmp_path / "temporary" / f"tui-eval-image-{owner}-abc" / "context"
        for owner in (ended_process(), os.getpid())
    )
    for folder in (left, other):
        folder.mkdir(parents=True)
    async with Processes() as processes:
        stock = ImageStock(ContainerEngine("podman"), tmp_path, processes)
        assert isinstance(await stock.ready({"name": "some/image", "id": None}), ImageFacts)
    assert (left.parent.exists(), other.exists()) == (False, True)


@pytest.mark.parametrize(
    ("image", "said"),
    [
        ("none/such", "the image none/such cannot be had"),
        ("made/Dockerfile", "its image cannot be built: it is broken\na line$"),
    ],
)
async def test_an_image_of_all_trials_that_cannot_be_had_is_told_before_they_start(
    tmp_path: Path, asked: Path, image: str, said: str
) -> None:
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "Dockerfile").write_text("FROM broken\n")
    made = suite(tmp_path, '[[cases]]\nid = "a"\n', "true", f'image = "{image}"')
    with pytest.raises(UnavailableError, match=said):
        await Harness(tmp_path / "store.db").run(made)


async def test_an_engine_that_has_gone_grades_nobody(tmp_path: Path, asked: Path) -> None:
    gone = 'case "$*" in {on}) echo "cannot connect to it" >&2; exit 125 ;; esac\ncase'
    command = asked.with_name("bin") / "podman"
    works = command.read_text()
    made = suite(tmp_path, '[[cases]]\nid = "a"\n', "echo /app", 'image = "some/image"')
    command.write_text(works.replace("case", gone.format(on="*echo*/app*"), 1))
    harness = Harness(tmp_path / "store.db")
    failed = harness.trial(await harness.run(made), "a")
    assert (failed.error_kind, failed.verdict) == ("exit", None)
    assert "cannot connect to it" in str(failed.error_message)
    command.write_text(works.replace("case", gone.format(on="*"), 1))
    with pytest.raises(UnavailableError, match="start podman's engine: cannot connect to it"):
        await Harness(tmp_path / "store.db").run(made)


async def test_an_engine_that_comes_back_is_waited_for(tmp_path: Path, asked: Path) -> None:
    command, gone = asked.with_name("bin") / "podman", tmp_path / "gone"
    made = suite(tmp_path, '[[cases]]\nid = "a"\n', "echo /app", 'image = "some/image"')
    goes = f'case "$*" in *echo*/app*) [ -e {gone}.before ] || touch {gone} {gone}.before ;; esac\n'
    says = f'[ -e {gone} ] && echo "cannot connect" >&2 && echo >> {gone} && '
    says += f"{{ [ $(wc -l < {gone}) -lt 3 ] || rm {gone}; exit 125; }}\ncase"
    command.write_text(command.read_text().replace("case", goes + says, 1))
    harness = Harness(tmp_path / "store.db")
    run = await harness.run(made)
    with reading(harness.path) as db:
        tries = trial_rows.attempts(db, harness.trial(run, "a").id)
    assert [one.error_kind for one in tries] == ["connection", None]
    assert "podman's engine has gone" in str(tries[0].error_message)
    assert harness.counts(run).passed == 1


async def test_a_container_that_ran_out_of_its_memory_reached_a_limit(
    tmp_path: Path, asked: Path
) -> None:
    command = asked.with_name("bin") / "podman"
    command.write_text(
        command.read_text().replace("case", 'case "$1" in inspect) echo true ;; esac\ncase', 1)
    )
    made = suite(
        tmp_path,
        '[[cases]]\nid = "a"\n',
        "echo begun; exit 137",
        'image = "some/image"\nlimits = { memory = "10MB" }',
    )
    harness = Harness(tmp_path / "store.db")
    whole = wholes(harness, await harness.run(made))["a"]
    assert whole.output is not None
    assert (whole.output.finish_reason, whole.output.text) == ("limit:memory", "begun")
    lines = (await asyncio.to_thread(asked.read_text)).splitlines()
    inspected, removed = lines[-2:]
    assert inspected.startswith("inspect --format={{.State.OOMKilled}} tui-eval-")
    assert removed == f"rm --force {inspected.split()[-1]}"


async def test_the_key_says_that_an_images_digest_is_not_known(tmp_path: Path, asked: Path) -> None:
    made = suite(tmp_path, CASES.format(image="some/image"), "true", 'image = "{{ image }}"')
    session = Session(made, Settings())
    try:
        ((trial,),) = session.wanted(None)
        request = session.targets["agent"].request(trial.column, trial.case)
        assert isinstance(request, dict)
        assert request["image"] == {"name": "some/image", "id": None}
    finally:
        session.close()
    (tmp_path / "images" / "some_image").write_text(f"sha256:{DIGEST}\t/app\n")
    session = Session(made, Settings())
    try:
        request = session.targets["agent"].request(trial.column, trial.case)
        assert isinstance(request, dict)
        assert request["image"] == {"id": DIGEST}
    finally:
        session.close()


REWARD = """\
cat /tests/kind > /dev/null
cd "$(pwd)"
value=0
[ "$(cat made)" = HELLO ] && value=1
echo $value > /logs/verifier/reward.txt
pwd >&2
exit 7
"""
SUMMARY = """\
echo "=== short test summary info ==="
echo "PASSED tests/test_a.py::test_a"
word=FAILED
[ "$(cat made)" = HELLO ] && word=PASSED
echo "$word tests/test_a.py::test_b - so it is"
"""
BASH = '#!/bin/sh\nexec /bin/sh "$@"\n'


@pytest.mark.whole
@pytest.mark.usefixtures("podman")
async def test_a_task_is_graded_by_its_own_tests_in_its_image(tmp_path: Path) -> None:
    dockerfile = f"FROM {IMAGE}\nCOPY data kept /app/\nCOPY bash /bin/bash\n"
    context = {
        "environment/data": "hello\n",
        "environment/kept": "before\n",
        "environment/bash": BASH,
        "tests/test.sh": REWARD,
        "tests/kind": "harbor",
    }
    harbor(tmp_path / "tasks", "good", dockerfile, **context)
    (tmp_path / "tasks" / "good" / "environment" / "bash").chmod(0o755)
    # what an agent leaves there is no reward
    harness = Harness(tmp_path / "store.db")
    dataset = '[dataset]\nformat = "harbor"\npath = "tasks"\n'
    for agent, passed in ((AGENT, 1), ("mkdir logs; echo 1 > logs/reward.txt; pwd", 0)):
        made = suite(tmp_path, dataset, agent)
        assert [scorer.name for scorer in made.scorers] == ["includes", "tests"]
        run = await harness.run(made)
        found = {one.scorer: one for one in wholes(harness, run)["good"].scores}
        assert (found["tests"].value, found["includes"].value) == (passed, 1), found["tests"].reason


@pytest.mark.whole
@pytest.mark.usefixtures("podman")
async def test_a_task_of_terminal_bench_is_graded_by_its_summary(tmp_path: Path) -> None:
    task = tmp_path / "tasks" / "good"
    for name, text in {
        "task.yaml": "instruction: Shout.\nparser_name: pytest\n",
        "Dockerfile": f"FROM {IMAGE}\nCOPY data /app/\nCOPY bash /bin/bash\n",
        "data": "hello\n",
        "bash": BASH,
        "run-tests.sh": f'[ "$TEST_DIR" = /tests ] || exit 1\n. $TEST_DIR/own.sh\n{SUMMARY}',
        "tests/own.sh": "true\n",
    }.items():
        (task / name).parent.mkdir(parents=True, exist_ok=True)
        (task / name).write_text(text)
    (task / "bash").chmod(0o755)
    harness = Harness(tmp_path / "store.db")
    dataset = '[dataset]\nformat = "terminal-bench"\npath = "tasks"\n'
    for agent, value in ((AGENT, 1.0), ("pwd", 0.5)):
        run = await harness.run(suite(tmp_path, dataset, agent))
        (found,) = (one for one in wholes(harness, run)["good"].scores if one.scorer == "tests")
        assert found.value == value, found.reason
