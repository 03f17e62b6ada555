"""A suite that runs programs, as the command line has it: asked for, refused, run, judged."""

import json
import os
import sys

import pytest

from tests.cli.conftest import Command, Place, document

SUITE = """\
name = "shout"
[[cases]]
id = "a"
word = "hello"
[[cases]]
id = "b"
word = "bye"
[[targets]]
kind = "command"
name = "agent"
command = [{python}, "agent.py", "{{{{ word }}}}"]
workspace = "fixture"
{more}
[[scorers]]
kind = "exact"
expected = "{{{{ word | upper }}}}"
"""
AGENT = "import sys; print(sys.argv[-1].upper()); open('made', 'w').write(sys.argv[-1])\n"


def written(place: Place, more: str = "", python: str = sys.executable) -> str:
    """Write a suite with its program and its workspace."""
    (place.folder / "agent.py").write_text(AGENT, encoding="utf-8")
    (place.folder / "fixture").mkdir(exist_ok=True)
    (place.folder / "fixture" / "given").write_text("given", encoding="utf-8")
    path = place.folder / "shout.toml"
    text = SUITE.format(python=json.dumps(python), more=more)
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_what_would_run_is_listed_and_not_run(place: Place, tui_eval: Command) -> None:
    suite = written(place, 'keys = ["AGENT_KEY"]\nsetup = [["make", "ready"]]')
    for word, code in (("check", 0), ("run", 2)):
        done = tui_eval(word, suite)
        said = done.out + done.err
        assert done.code == code
        assert f"run {sys.executable} agent.py '{{{{ word }}}}'" in said
        assert "run what agent.py holds" in said
        assert "run make ready" in said
        assert "hand AGENT_KEY to the programs it runs" in said
        assert "let its programs reach the network" in said
    assert not place.store.exists()


def test_a_program_is_run_judged_and_shown(place: Place, tui_eval: Command) -> None:
    suite = written(place)
    done = document(tui_eval("run", suite, "--trust", "--json"))
    assert (done["exit_code"], done["counts"]["passed"]) == (0, 2)
    assert done["targets"]["agent"]["kind"] == "command"
    trial = json.loads(tui_eval("export", "last", "--format", "jsonl").out.splitlines()[0])
    assert trial["exit"] == {"code": 0, "signal": None}
    assert trial["isolation"] in ("bwrap", "landlock", "none")
    assert trial["changes"] == {"added": 1, "changed": 0, "removed": 0, "bytes": 5}
    assert trial["resources"]["wall_s"] > 0
    assert trial["phase"] is None
    again = document(tui_eval("run", suite, "--trust", "--json"))
    assert again["requests"]["cached_outputs"] == 2
    (place.folder / "fixture" / "given").write_text("something else", encoding="utf-8")
    changed = document(tui_eval("run", suite, "--trust", "--json"))
    assert changed["requests"]["cached_outputs"] == 0


def test_trust_is_over_what_the_program_holds(place: Place, tui_eval: Command) -> None:
    suite = written(place)
    assert tui_eval("trust", "add", suite).code == 0
    assert tui_eval("run", suite).code == 0
    (place.folder / "agent.py").write_text(AGENT + "# another\n", encoding="utf-8")
    done = tui_eval("run", suite)
    assert done.code == 2
    assert "agent.py" in done.err


def test_a_program_of_the_workspace_is_run_on_any_level(place: Place, tui_eval: Command) -> None:
    suite = written(place, python="./shout")
    program = place.folder / "fixture" / "shout"
    program.write_text('#!/bin/sh\necho "$2" | tr a-z A-Z\n', encoding="utf-8")
    program.chmod(0o755)
    done = document(tui_eval("run", suite, "--trust", "--json"))
    assert (done["exit_code"], done["counts"]["passed"]) == (0, 2)


@pytest.mark.parametrize(
    ("more", "python", "said"),
    [
        ("", "no-such-program", "the program no-such-program is not there on PATH: install it"),
        ("", "./none", "/fixture/none is not there: install it"),
        ("", "./given", "/fixture/given is not executable: chmod +x it"),
        ('keys = ["NO_SUCH_KEY"]', sys.executable, "NO_SUCH_KEY is not set"),
        ('version = ["false"]', sys.executable, "did not print it"),
        ('isolation = "chroot"', sys.executable, 'not "chroot"'),
        ("limits = { turns = 3 }", sys.executable, "cannot be watched without a transcript"),
    ],
)
def test_what_is_missing_is_told_at_launch(
    place: Place, tui_eval: Command, more: str, python: str, said: str
) -> None:
    done = tui_eval("run", written(place, more, python), "--trust")
    assert done.code == 2
    assert said in done.err + done.out


def test_a_commit_that_is_not_there_is_told_at_launch(place: Place, tui_eval: Command) -> None:
    suite = written(place)
    path = place.folder / "shout.toml"
    at = 'workspace = { git = "fixture", at = "HEAD" }'
    path.write_text(path.read_text().replace('workspace = "fixture"', at))
    done = tui_eval("run", suite, "--trust")
    assert done.code == 2
    assert "target 'agent': its workspace: " in done.err
    assert "fixture at HEAD: " in done.err


def test_what_a_version_prints_is_in_the_key(place: Place, tui_eval: Command) -> None:
    name = place.folder / "version"
    name.write_text("1", encoding="utf-8")
    suite = written(place, f'isolation = "none"\nversion = ["cat", {json.dumps(str(name))}]')
    assert tui_eval("run", suite, "--trust").code == 0
    again = document(tui_eval("run", suite, "--trust", "--json"))
    assert again["requests"]["cached_outputs"] == 2
    name.write_text("2", encoding="utf-8")
    other = document(tui_eval("run", suite, "--trust", "--json"))
    assert other["requests"]["cached_outputs"] == 0


def test_a_level_that_does_not_work_is_told_at_launch(
    place: Place, tui_eval: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = place.folder / "bin" / "podman"
    stand_in.parent.mkdir()
    stand_in.write_text("#!/bin/sh\necho no engine answers >&2; exit 125\n", encoding="utf-8")
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{stand_in.parent}{os.pathsep}{os.environ['PATH']}")
    suite = written(place, 'isolation = "podman"\nimage = "none/such"')
    done = tui_eval("run", suite, "--trust")
    assert done.code == 2
    assert "target 'agent': its isolation cannot be had: podman: " in done.err
    assert "no engine answers" in done.err


def test_containers_that_a_killed_warden_left_are_removed_when_an_engine_starts(
    place: Place, tui_eval: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, digest = place.folder / "asked", "c0ffee00" * 8
    stand_in = place.folder / "bin" / "podman"
    stand_in.parent.mkdir()
    stand_in.write_text(
        f"""#!/bin/sh
echo "$*" >> {log}
case "$1" in
  image) echo {digest} ;;
  run) while [ "$1" != {digest} ]; do shift; done; shift; exec "$@" ;;
  ps) echo left ;;
  inspect) printf 'left\\t{place.folder}/gone\\n' ;;
esac
""",
        encoding="utf-8",
    )
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{stand_in.parent}{os.pathsep}{os.environ['PATH']}")
    done = tui_eval("run", written(place, 'isolation = "podman"\nimage = "IMAGE"'), "--trust")
    assert done.code == 0, done.err
    assert "rm --force left" in log.read_text("utf-8").splitlines()
