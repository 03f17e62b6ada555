"""What programs left is listed and written as a folder, whatever names it has."""

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command, Place, document

AGENT = """\
import os, sys
open("added \\x1b[2J.txt", "w").write("added by " + sys.argv[1])
open("README", "w").write("changed\\n")
os.remove("old")
os.symlink("/etc/passwd", "escape")
os.mkdir("deep")
open(b"deep/caf\\xe9", "w").write("odd")
os.mkfifo("fifo")
open("run", "w").write("#!/bin/sh")
os.chmod("run", 0o4755)
print("done")
"""
SUITE = """\
name = "agents"

[[targets]]
name = "agent"
kind = "command"
command = ["{python}", "agent.py", "{{{{ id }}}}"]
workspace = "fixture"
isolation = "none"

[[targets]]
name = "quiet"
kind = "command"
command = ["/bin/sh", "-c", "echo done"]
isolation = "none"

[run]
epochs = {epochs}

[[scorers]]
kind = "exact"
expected = "done"

[[cases]]
id = "one"
"""


@pytest.fixture
def fixture(place: Place) -> Path:
    """Give the folder that the agent's workspaces are copies of."""
    folder = place.folder / "fixture"
    folder.mkdir()
    (folder / "agent.py").write_text(AGENT)
    (folder / "README").write_text("as it was\n")
    (folder / "old").write_text("old")
    return folder


@pytest.fixture
def ran(place: Place, fixture: Path, tui_eval: Command) -> Path:
    """Run the agents once; give the fixture."""
    run(place, tui_eval)
    return fixture


def run(place: Place, tui_eval: Command, epochs: int = 1) -> None:
    suite = place.folder / "agents.toml"
    suite.write_text(SUITE.format(python=sys.executable, epochs=epochs))
    done = tui_eval("run", str(suite), "--trust")
    assert done.code == 0, done.err


def listed(done: dict[str, Any], target: str = "agent") -> dict[str, dict[str, Any]]:
    [trial] = [one for one in done["trials"] if one["target"] == target]
    return {one["path"]: one for one in trial["files"]}


def test_files_are_listed_with_signs_and_bytes(ran: Path, tui_eval: Command) -> None:
    done = tui_eval("show", "last", "--case", "one", "--files", "--target", "agent")
    assert done.code == 0
    head, *lines = done.out.splitlines()
    assert head == "one · agent · epoch 1"
    assert "\x1b" not in done.out
    assert lines[0] == "  * README  8 bytes"
    assert lines[1].startswith("  + added ")
    assert lines[1].endswith(".txt  12 bytes")
    assert "  + deep  folder" in lines
    assert "  + escape  link to /etc/passwd" in lines
    assert "  + fifo  no file: FIFO, socket or device" in lines
    assert "  - old" in lines
    assert lines[-1] == "  6 added, 1 changed, 1 removed, 32 bytes"


def test_json_has_each_trials_files_and_what_it_took(ran: Path, tui_eval: Command) -> None:
    whole = document(tui_eval("show", "last", "--case", "one", "--files", "--json"))
    found = listed(whole)
    assert found["README"]["change"] == "changed"
    assert found["old"] == {"path": "old", "change": "removed"}
    assert found["deep/caf\udce9"]["path_hex"] == b"deep/caf\xe9".hex()
    assert found["run"]["mode"] == "4755"
    assert listed(whole, "quiet") == {}
    [agent, _] = whole["trials"]
    assert agent["exit"] == {"code": 0, "signal": None}
    assert agent["isolation"] == "none"
    assert agent["changes"] == {"added": 6, "changed": 1, "removed": 1, "bytes": 32}
    assert agent["resources"]["cpu_s"] > 0
    assert agent["phase"] is None
    [line, _] = map(json.loads, tui_eval("export", "last", "--format", "jsonl").out.splitlines())
    assert {name: line[name] for name in ("exit", "changes", "resources")} == {
        name: agent[name] for name in ("exit", "changes", "resources")
    }
    header, first, *_ = tui_eval("export", "last", "--format", "csv").out.splitlines()
    assert "exit_code,exit_signal,isolation,cpu_s" in header
    assert ",0,,none," in first


def test_the_summary_tells_what_programs_took(ran: Path, tui_eval: Command) -> None:
    said = " ".join(tui_eval("show", "last").out.split())
    assert "programs: 2 starts with isolation none, " in said
    assert "of processor time" in said
    assert "8 files changed" in said
    assert "limit" not in said
    told = document(tui_eval("show", "last", "--json"))["programs"]
    assert (told["starts"], told["changed_files"], told["limits"]) == (2, 8, {})
    assert told["cpu_s"] > 0


def test_a_workspace_is_written_as_it_was_left(ran: Path, place: Place, tui_eval: Command) -> None:
    to = place.folder / "out"
    done = tui_eval("workspace", "last", "--case", "one", "--target", "agent", "-o", str(to))
    assert done.code == 0
    assert done.out == f"{to}: 6 added, 1 changed, 1 removed, 32 bytes\n"
    assert "1 thing not kept: fifo" in done.err
    assert (to / "README").read_text() == "changed\n"
    assert (to / "agent.py").read_text() == AGENT
    assert not (to / "old").exists()
    assert (to / "escape").readlink() == Path("/etc/passwd")
    assert Path(os.fsdecode(os.fsencode(to) + b"/deep/caf\xe9")).read_text() == "odd"
    assert stat.S_IMODE((to / "run").stat().st_mode) == 0o755  # it runs as nobody else
    assert stat.S_IMODE(to.stat().st_mode) == 0o700


def test_changes_alone_need_no_fixture(ran: Path, place: Place, tui_eval: Command) -> None:
    (ran / "README").write_text("another one\n")
    to = place.folder / "out"
    about = ("workspace", "last", "--case", "one", "--target", "agent", "-o", str(to))
    refused = tui_eval(*about)
    assert refused.code == 2
    assert "have changed since; --changes-only" in refused.err
    assert not to.exists()
    ran.rename(place.folder / "elsewhere")
    gone = tui_eval(*about)
    assert (gone.code, to.exists()) == (2, False)
    assert "--changes-only" in gone.err
    done = tui_eval(*about, "--changes-only")
    assert done.code == 0
    assert (to / "README").read_text() == "changed\n"
    assert not (to / "agent.py").exists()


def test_what_is_there_is_not_written_over(ran: Path, place: Place, tui_eval: Command) -> None:
    to = place.folder / "out"
    to.mkdir()
    about = ("workspace", "last", "--case", "one", "--target", "agent", "-o", str(to))
    (to / "mine").touch()
    refused = tui_eval(*about)
    assert refused.code == 2
    assert "is not empty" in refused.err
    assert [path.name for path in to.iterdir()] == ["mine"]
    (to / "mine").unlink()
    assert tui_eval(*about).code == 0
    link = place.folder / "link"
    link.symlink_to(place.folder / "nowhere")
    refused = tui_eval(*about[:-1], str(link))
    assert refused.code == 2
    assert not (place.folder / "nowhere").exists()


def test_which_trial_is_meant_has_to_be_said(
    place: Place, fixture: Path, tui_eval: Command
) -> None:
    run(place, tui_eval, epochs=2)
    about = ("workspace", "last", "--case", "one", "-o", str(place.folder / "out"))
    refused = tui_eval(*about)
    assert refused.code == 2
    assert "left 4 workspaces (agent epoch 1, agent epoch 2" in refused.err
    assert tui_eval(*about, "--target", "agent", "--epoch", "2").code == 0
    assert "--files needs --case" in tui_eval("show", "last", "--files").err
    assert "epoch is at most 2" in tui_eval(*about, "--epoch", "3").err


def test_the_doctor_tells_what_is_kept_unneeded_and_missing(
    ran: Path, place: Place, tui_eval: Command
) -> None:
    store = json.loads(tui_eval("doctor", "--json").out)["store"]
    kept = place.store.with_name(f"{place.store.name}.files")
    paths = sorted(kept.glob("*/*"))
    assert store["kept_files"] == len(paths)
    assert not {"kept_files_unneeded", "kept_files_missing"} & store.keys()
    (paths[0].parent / ("0" * 62)).write_text("of an engine that was killed")
    paths[0].unlink()
    store = json.loads(tui_eval("doctor", "--json").out)["store"]
    assert store["kept_files_unneeded"] == 1
    assert store["kept_files_missing"].startswith(f"1: put them back into {kept}")


def test_without_the_folder_beside_the_store_nothing_crashes(
    ran: Path, place: Place, tui_eval: Command
) -> None:
    kept = place.store.with_name(f"{place.store.name}.files")
    kept.rename(place.folder / "moved")
    shown = tui_eval("show", "last", "--case", "one", "--files", "--target", "agent")
    assert shown.code == 0
    assert "put it back beside the store" in shown.out
    whole = document(tui_eval("show", "last", "--case", "one", "--files", "--json"))
    assert whole["trials"][0]["files"] is None
    assert "not there" in whole["trials"][0]["files_incomplete"]
    to = place.folder / "out"
    refused = tui_eval("workspace", "last", "--case", "one", "--target", "agent", "-o", str(to))
    assert (refused.code, to.exists()) == (2, False)
    assert "put it back" in refused.err


def test_runs_of_programs_go_with_their_files(ran: Path, place: Place, tui_eval: Command) -> None:
    kept = place.store.with_name(f"{place.store.name}.files")
    assert list(kept.glob("*/*"))
    done = tui_eval("delete", "last", "--yes")
    assert "files of" in done.out
    assert not list(kept.glob("*/*"))


def test_what_asked_nobody_has_no_workspace(place: Place, tui_eval: Command) -> None:
    tui_eval("run", place.suite(n=1))
    out = str(place.folder / "out")
    refused = tui_eval("workspace", "last", "--case", "case-0", "-o", out)
    assert refused.code == 2
    assert "left no workspace" in refused.err
    shown = tui_eval("show", "last", "--case", "case-0", "--files")
    assert "it left no workspace" in shown.out
