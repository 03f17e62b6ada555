"""What a confined program reaches, and what an unconfined one does: the control of each."""

import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from tests.containers import IMAGE, Podman
from tests.processes.conftest import PYTHON, Lab, run, started
from tests.waiting import until
from tui_eval.processes.isolation.choice import choose, try_level
from tui_eval.processes.isolation.landlock import abi
from tui_eval.processes.isolation.reach import without
from tui_eval.processes.isolation.sweep import sweep
from tui_eval.processes.program import (
    EndCause,
    NotStarted,
    Program,
    Sandbox,
    StartFailure,
)
from tui_eval.processes.supervisor import Processes

CONFINED = ["landlock", "bwrap"]
ALL = ["none", *CONFINED]


@pytest.fixture(params=ALL)
async def level(request: pytest.FixtureRequest, lab: Lab, processes: Processes) -> str:
    """Give each level that works here; say of the others why they do not."""
    name: str = request.param
    report = await try_level(processes, lab.program("sh", name="tried"), name)
    if not report.works:
        pytest.skip(f"{name}: {report.why}")
    return name


@pytest.fixture
def listener() -> Iterator[int]:
    """Listen on the loopback; give the port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def script(lab: Lab, level: str, text: str, **sandbox: object) -> Program:
    program = lab.program(PYTHON, "-I", "-S", "-c", text)
    return replace(program, sandbox=Sandbox(level, **sandbox))  # type: ignore[arg-type]


async def says(processes: Processes, program: Program) -> str:
    """Run a program; give what it printed."""
    ending = await run(processes, program)
    err = (program.folder / "err").read_text()
    assert ending.exit_code == 0, err
    return (program.folder / "out").read_text().strip()


TRY = (
    "def attempt(call, *arguments):\n"
    "    try: call(*arguments); return 'yes'\n"
    "    except OSError as error: return type(error).__name__\n"
)


async def test_it_writes_to_its_workspace_alone(lab: Lab, processes: Processes, level: str) -> None:
    other, more = lab.folder("other"), lab.folder("more")
    text = TRY + "".join(
        f"print(attempt(open, {str(path)!r}, 'w'))\n"
        for path in (lab.workspace / "file", more / "file", other / "file", "/usr/tui-eval-file")
    )
    try:
        said = (await says(processes, script(lab, level, text, writable=(more,)))).split()
    finally:
        with suppress(OSError):
            os.unlink("/usr/tui-eval-file")
    assert said[:2] == ["yes", "yes"]
    assert (lab.workspace / "file").exists()
    assert (more / "file").exists()
    assert (said[2] == "yes") is (level == "none")
    assert (other / "file").exists() is (level == "none")
    if level != "none":
        assert said[3] != "yes"


async def test_it_reads_the_system_and_what_is_named_but_not_the_home(
    lab: Lab, processes: Processes, level: str
) -> None:
    home, named = lab.folder("home"), lab.folder("named")
    (home / "secret").touch()
    (named / "file").touch()
    text = TRY + "".join(
        f"print(attempt(open, {str(path)!r}))\n"
        for path in ("/etc/passwd", named / "file", home / "secret")
    )
    program = script(lab, level, text, readable=(named,), hidden=(home,))
    said = (await says(processes, program)).split()
    assert said[:2] == ["yes", "yes"]
    assert (said[2] == "yes") is (level == "none")


async def test_what_is_hidden_is_hidden_within_what_is_readable(
    lab: Lab, processes: Processes, level: str
) -> None:
    root = lab.folder("tree")
    for path in ("open/file", "closed/file"):
        (root / path).parent.mkdir()
        (root / path).touch()
    text = TRY + "".join(
        f"print(attempt(open, {str(root / path)!r}))\n" for path in ("open/file", "closed/file")
    )
    program = script(lab, level, text, readable=(root,), hidden=(root / "closed",))
    said = (await says(processes, program)).split()
    assert said[0] == "yes"
    assert (said[1] == "yes") is (level == "none")


async def test_without_network_nothing_connects(
    lab: Lab, processes: Processes, level: str, listener: int
) -> None:
    text = (
        "import socket\n"
        + TRY
        + f"print(attempt(socket.create_connection, ('127.0.0.1', {listener}), 10))\n"
    )
    assert await says(processes, script(lab, level, text)) == "yes"
    without_network = script(lab, level, text, network="none")
    if level == "none":
        refused = await processes.start(without_network)
        assert isinstance(refused, NotStarted)
        assert refused.failure is StartFailure.ISOLATION
    else:
        assert await says(processes, without_network) != "yes"


async def test_signals_and_environments_of_others_are_out_of_reach(
    lab: Lab, processes: Processes, level: str
) -> None:
    text = (
        "import os\n"
        + TRY
        + f"print(attempt(os.kill, {os.getpid()}, 0))\n"
        + f"print(attempt(lambda: open('/proc/{os.getpid()}/environ').read()))\n"
    )
    said = (await says(processes, script(lab, level, text))).split()
    if level == "none":
        assert said[0] == "yes"
    else:
        assert "yes" not in said


async def test_its_tree_is_ended_and_its_figures_are_known(
    lab: Lab, processes: Processes, level: str
) -> None:
    agent = lab.agent("storms", "20")
    sandbox = Sandbox(level, readable=(Path(__file__).parent,), writable=(lab.root,))
    running = await started(processes, replace(agent, sandbox=sandbox))
    out: int | None = 0
    async for sample in running.samples():
        out = sample.processes
        if (out or 0) > 20:
            running.cancel()
    ending = await running.ended()
    assert (ending.cause, ending.isolation) == (EndCause.CANCELLED, level)
    assert ending.survivors == ()
    assert (ending.resources.peak_memory or 0) > 1_000_000
    assert not [name for name in os.listdir("/proc") if _is_of(name, lab)]


def _is_of(name: str, lab: Lab) -> bool:
    """Whether a process has this test's ledger in its environment: within namespaces ids differ."""
    try:
        return (
            name.isdigit()
            and str(lab.ledger).encode() in Path(f"/proc/{name}/environ").read_bytes()
        )
    except OSError:
        return False


async def test_term_reaches_the_program_and_its_grace_is_kept(
    lab: Lab, processes: Processes, level: str
) -> None:
    text = (
        "import os, signal, time\n"
        "def end(*_): os.write(1, b'ended well'); os._exit(0)\n"
        "signal.signal(signal.SIGTERM, end)\n"
        "os.write(1, b'begun, '); time.sleep(60)"
    )
    program = script(lab, level, text)
    running = await started(processes, program)
    await until((program.folder / "out").read_text)
    running.cancel(grace=30.0)
    await running.ended()
    assert (program.folder / "out").read_text() == "begun, ended well"


async def test_exit_codes_and_missing_programs_are_told(
    lab: Lab, processes: Processes, level: str
) -> None:
    program = script(lab, level, "raise SystemExit(7)")
    assert (await run(processes, program)).exit_code == 7
    refused = await processes.start(replace(program, command=("no-such-program",)))
    assert isinstance(refused, NotStarted)
    assert refused.failure is StartFailure.NOT_FOUND


async def test_auto_takes_the_strongest_that_works(lab: Lab, processes: Processes) -> None:
    choice = await choose(processes, replace(lab.program("sh"), sandbox=Sandbox("auto")))
    assert choice.level is not None
    levels = ("bwrap", "landlock", "none")
    reports = [await try_level(processes, lab.program("sh"), level) for level in levels]
    assert choice.level == next(one.level for one in reports if one.works)
    assert all(one.why for one in reports if not one.works)


async def test_auto_passes_over_levels_on_which_the_program_cannot_be_read(
    lab: Lab, processes: Processes
) -> None:
    program = lab.root / "somewhere" / "agent"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    sandbox = Sandbox("auto", hidden=(program.parent,))
    choice = await choose(processes, replace(lab.program(str(program)), sandbox=sandbox))
    assert choice.level == "none"
    assert len(choice.tried) == 3
    assert all(
        str(program) in str(one.why) for one in choice.tried if one.level == "landlock" and abi()
    )
    visible = replace(lab.program(str(program)), sandbox=Sandbox("auto"))
    strongest = (await choose(processes, visible)).level
    assert strongest == (await choose(processes, replace(visible, command=("sh",)))).level


async def test_a_level_that_is_named_and_does_not_work_says_why(
    lab: Lab, processes: Processes
) -> None:
    named = replace(lab.program("sh"), sandbox=Sandbox("none", network="none"))
    choice = await choose(processes, named)
    assert choice.level is None
    assert "network" in str(choice.tried[0].why)
    report = await try_level(processes, named, "no-such-level")
    assert not report.works


@pytest.mark.skipif(not abi(), reason="this kernel has no landlock")
async def test_a_program_cannot_shake_landlock_off(lab: Lab, processes: Processes) -> None:
    target = lab.folder("other") / "file"
    text = (
        "import os, subprocess, sys\n"
        f"code = {f'import os; os.setsid(); open({str(target)!r}, chr(119))'!r}\n"
        "print(subprocess.run([sys.executable, '-I', '-S', '-c', code], stderr=-3).returncode)\n"
    )
    assert await says(processes, script(lab, "landlock", text)) == "1"
    assert not target.exists()
    assert await says(processes, script(lab, "none", text)) == "0"  # the control


async def test_a_container_that_cannot_be_watched_is_refused(
    lab: Lab, processes: Processes
) -> None:
    program = lab.program("sh", cpu_s=1.0)
    refused = await processes.start(replace(program, sandbox=Sandbox("docker", image="any")))
    assert isinstance(refused, NotStarted)
    assert refused.failure is StartFailure.ISOLATION
    assert "cpu_s" in refused.reason or "installed" in refused.reason


async def test_a_container_runs_and_is_taken_away(
    lab: Lab, processes: Processes, podman: Podman
) -> None:
    before, env = podman.containers(), dict(os.environ)
    sandbox = Sandbox("podman", image=IMAGE, client_env=env)
    program = replace(lab.program("sh", "-c", "pwd; exit 7"), sandbox=sandbox)
    report = await try_level(processes, program, "podman")
    assert report.works, report.why
    assert (await run(processes, program)).exit_code == 7
    assert (program.folder / "out").read_text().strip() == str(lab.workspace)
    inside = replace(program, sandbox=replace(sandbox, workdir=Path("/app")))
    assert (await run(processes, inside)).exit_code == 7
    assert (program.folder / "out").read_text().strip() == "/app"
    hanging = replace(program, command=("sh", "-c", "trap '' TERM; sleep 60"))
    running = await started(processes, hanging)
    running.cancel(0.0)
    await running.ended()
    assert podman.containers() == before


FAKE_CLIENT = """#!/bin/sh
# A container engine's command: it notes what it is asked, and runs what it is to run itself.
echo "$*" >> {log}
case "$1" in
  run) while [ "$1" != IMAGE ]; do shift; done; shift; exec "$@" ;;
  ps) cut -f 1 {listed} ;;
  inspect) cat {listed} ;;
esac
"""


@pytest.fixture
def client(lab: Lab) -> tuple[Path, Path, Path]:
    """Give a stand-in for docker: its folder, what it was asked, and what it lists."""
    folder, log, listed = lab.folder("bin"), lab.root / "asked", lab.root / "listed"
    listed.touch()
    command = folder / "docker"
    command.write_text(FAKE_CLIENT.format(log=log, listed=listed))
    command.chmod(0o700)
    return folder, log, listed


async def test_what_a_container_engine_is_asked(
    lab: Lab, processes: Processes, client: tuple[Path, Path, Path]
) -> None:
    folder, log, _ = client
    program = lab.program("sh", "-c", "echo $SECRET; exit 7", memory=10_000_000)
    program = replace(
        program,
        env={"PATH": f"{folder}:{os.environ['PATH']}", "SECRET": "a key", "HOME": "/own"},
        sandbox=Sandbox(
            "docker",
            network="none",
            image="IMAGE",
            client_env={"HOME": "/users", "PATH": os.environ["PATH"]},
        ),
    )
    ending = await run(processes, program)
    assert ending.exit_code == 7
    assert (program.folder / "out").read_text() == "a key\n"
    assert ending.resources.peak_memory is None  # it is the client's, not the program's
    asked, removed = log.read_text().splitlines()
    options = asked.split()
    for option in (
        "--network=none",
        "--memory=10000000",
        "--pids-limit=512",
        "--env=SECRET",
        "--env=HOME=/own",
        f"--volume={lab.workspace}:{lab.workspace}",
    ):
        assert option in options
    assert "a key" not in asked
    name = next(one for one in options if one.startswith("--name=")).removeprefix("--name=")
    assert removed == f"rm --force {name}"


async def test_containers_without_a_warden_are_swept(
    lab: Lab, processes: Processes, client: tuple[Path, Path, Path]
) -> None:
    folder, log, listed = client
    running = await started(processes, lab.agent("sleeps"))
    folder_of_none = lab.folder("other")
    listed.write_text(f"kept\t{running.folder}\nleft\t{folder_of_none}\nnobody's\t\n")
    assert await sweep(str(folder / "docker"), {"PATH": os.environ["PATH"]}) == ["left"]
    assert log.read_text().splitlines()[2:] == ["rm --force left"]
    assert await sweep("no-such-client", {}) == []


def test_what_is_hidden_is_left_out_of_a_folder(tmp_path: Path) -> None:
    for name in ("a/x", "a/y", "b"):
        (tmp_path / name).mkdir(parents=True)
    assert list(without(tmp_path, ())) == [tmp_path]
    assert set(without(tmp_path, (tmp_path / "a" / "x",))) == {tmp_path / "a/y", tmp_path / "b"}
    assert not list(without(tmp_path / "a", (tmp_path,)))
