import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Command, Place
from tui_eval.cli.main import run as run_command_line

PAGE = next((Path(__file__).parents[4] / "docs").rglob("split-a-run.md"))
_HERE = (
    'tui-eval() { printf "%s\\0" "$@" >"$SAID"; touch "${@: -1}" "${@: -1}-wal"; '
    'mkdir -p "${@: -1}.files"; return 0; }\n'
)
"""What stands for the command in a recipe: it writes down its arguments, and makes a store."""


def test_parts_that_are_merged_are_the_whole_run(place: Place, tui_eval: Command) -> None:
    suite = place.suite(n=9)
    for part in ("1/2", "2/2"):
        done = tui_eval("run", suite, "--part", part, "--store", f"{part[0]}.sqlite3", "--json")
        document = json.loads(done.out)
        assert document["partial"]
        assert document["parts"]["there"] == [int(part[0])]
        assert document["parts"]["of_cases"] == 9
    done = tui_eval("merge", "2.sqlite3", "--into", "all.sqlite3")
    assert done.code == 0
    assert re.search(r"partial: part 2 of 2, \d of 9 cases; missing: 1", done.out)
    shown = tui_eval("show", "last", "--store", "all.sqlite3")
    assert "partial: part 2 of 2" in shown.out
    done = tui_eval("merge", "1.sqlite3", "2.sqlite3", "--into", "all.sqlite3", "--json")
    told = json.loads(done.out)
    ((name, parts),) = told["parts"].items()
    assert parts == {"there": [1, 2], "missing": [], "of": 2, "cases": 9, "of_cases": 9}
    assert [run["run"] for store in told["stores"] for run in store["runs"]] == [name, name]
    whole = json.loads(tui_eval("run", suite, "--json").out)
    united = json.loads(tui_eval("show", "last", "--store", "all.sqlite3", "--json").out)
    assert united["counts"] == whole["counts"]
    assert united["targets"] == whole["targets"] | {
        name: rates | {"latency_s": united["targets"][name]["latency_s"]}
        for name, rates in whole["targets"].items()
    }
    assert not united["partial"]
    # what a part has asked is found by the next run of the whole
    again = json.loads(tui_eval("run", suite, "--store", "all.sqlite3", "--json").out)
    assert again["requests"]["cached_outputs"] == 9


def test_of_few_cases_a_part_may_have_none(place: Place, tui_eval: Command) -> None:
    suite = place.suite(n=1)
    codes = [
        tui_eval("run", suite, "--part", f"{n}/3", "--store", f"{n}.sqlite3").code
        for n in (1, 2, 3)
    ]
    assert codes == [0, 0, 0]
    done = tui_eval("merge", *(f"{n}.sqlite3" for n in (1, 2, 3)), "--into", "all.sqlite3")
    assert "all 3 parts are there, 1 case\n" in done.out


@pytest.mark.parametrize(
    ("part", "why"),
    [("0/3", "is not of the form K/N"), ("4/3", "there is no part 4 of 3"), ("a", "not of the")],
)
def test_a_part_that_is_none_is_refused(
    part: str, why: str, place: Place, tui_eval: Command
) -> None:
    done = tui_eval("run", place.suite(), "--part", part)
    assert done.code == 2
    assert why in done.err


def test_nothing_is_written_by_check_nor_where_a_store_is_missing(
    place: Place, tui_eval: Command
) -> None:
    tui_eval("run", place.suite(), "--store", "one.sqlite3")
    done = tui_eval("merge", "one.sqlite3", "--into", "all.sqlite3", "--check")
    assert "4 new would be merged" in done.out
    assert not Path("all.sqlite3").exists()
    done = tui_eval("merge", "one.sqlite3", "none.sqlite3", "--into", "all.sqlite3")
    assert (done.code, Path("all.sqlite3").exists()) == (2, False)
    assert "none.sqlite3: not there; nothing was merged" in done.err


def test_caps_and_limits_are_shared_out(place: Place, tui_eval: Command) -> None:
    suite = place.suite(more="[run]\nmax_tokens = 1000\nmax_errors = 10\n")
    done = tui_eval("run", suite, "--part", "1/4", "--json")
    assert json.loads(done.out)["caps"] == {
        "max_cost_usd": None,
        "max_tokens": 250,
        "max_errors": 2.0,
    }


def recipes() -> dict[str, str]:
    """Give the shell lines of the page's recipes that run a part, by whose they are."""
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    slurm = next(text for name, text in blocks if name == "bash" and "SLURM" in text)
    documents = [yaml.safe_load(text) for name, text in blocks if name == "yaml"]
    job = next(one for one in documents if one.get("kind") == "Job")
    (container,) = job["spec"]["template"]["spec"]["containers"]
    steps = next(one for one in documents if "jobs" in one)["jobs"]["part"]["steps"]
    matrix = next(step["run"] for step in steps if "--part" in step.get("run", ""))
    return {"slurm": slurm, "kubernetes": container["args"][0], "matrix": matrix}


@pytest.mark.parametrize("whose", ["slurm", "kubernetes", "matrix"])
def test_a_recipe_runs_its_part_and_leaves_a_store(
    whose: str, place: Place, tui_eval: Command, tmp_path: Path
) -> None:
    Path(place.suite(n=6)).rename("capitals.toml")
    for n in (1, 2):
        said = tmp_path / "said"
        environment = {
            **os.environ,
            "SLURM_ARRAY_TASK_ID": str(n),
            "SLURM_ARRAY_TASK_COUNT": "2",
            "JOB_COMPLETION_INDEX": str(n - 1),
            "PARTS": "2",
            "SHARED": str(tmp_path),
            "SAID": str(said),
            "TMPDIR": str(tmp_path / "scratch"),
        }
        (tmp_path / "scratch").mkdir(exist_ok=True)
        script = recipes()[whose].replace("${{ matrix.part }}", str(n)).replace("/4", "/2")
        script = script.replace('"/tmp/$part"', '"$TMPDIR/$part"')
        ran = subprocess.run(
            ["bash", "-c", _HERE + script], env=environment, capture_output=True, text=True
        )
        assert (ran.returncode, ran.stderr) == (0, "")
        words = said.read_text().split("\0")[:-1]
        assert words[:4] == ["run", "capitals.toml", "--part", f"{n}/2"]
        copied = Path(f"part{n}.sqlite3")
        copied.unlink()  # an empty one: the command was only asked
        Path(f"{copied}-wal").unlink()
        Path(f"{copied}.files").rmdir()
        assert run_command_line([*words[:-1], str(copied)]) == 0
    done = tui_eval("merge", "part1.sqlite3", "part2.sqlite3", "--into", "all.sqlite3")
    assert "all 2 parts are there" in done.out


def test_a_board_shows_the_parts_that_run(place: Place, tui_eval: Command) -> None:
    suite = place.suite(n=6)
    for n in (1, 2):
        tui_eval("run", suite, "--part", f"{n}/2", "--store", f"{n}.sqlite3", "--board", "board")
    told = json.loads(tui_eval("watch", "--board", "board", "--json").out)
    assert told["counts"]["settled"] == 6
    assert told["ended"]
    assert "all" in tui_eval("watch", "--board", "board").out
    assert tui_eval("watch").code == 2
    assert tui_eval("watch", "last", "--board", "board").code == 2
    assert tui_eval("watch", "last", "--json").code == 2


def test_one_that_the_disk_breaks_off_says_that_merging_again_goes_on(
    place: Place, tui_eval: Command
) -> None:
    tui_eval("run", place.suite(n=1), "--store", "few.sqlite3")
    tui_eval("merge", "few.sqlite3", "--into", "all.sqlite3")
    tui_eval("run", place.suite(n=150), "--store", "many.sqlite3")
    merge = [sys.executable, "-m", "tui_eval", "merge", "many.sqlite3", "--into", "all.sqlite3"]
    broken = subprocess.run(
        ["/bin/sh", "-c", f"ulimit -f 120; exec {shlex.join(merge)}"],  # of 512 bytes
        cwd=place.folder,
        env=place.environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert broken.returncode == 2
    goes_on, error = broken.stderr.splitlines()[-2:]
    assert goes_on == "stopped: what was merged stays; merging the same stores again goes on"
    assert error.startswith("error: ")
    again = tui_eval("merge", "many.sqlite3", "--into", "all.sqlite3")
    assert (again.code, "150 new" in again.out) == (0, True)
