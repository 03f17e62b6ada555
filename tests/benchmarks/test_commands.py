"""Each benchmark is run with tiny numbers: that it works, never how long it takes."""

import importlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import benchmarks
from benchmarks import __main__ as listing
from benchmarks import (
    auto,
    compare,
    engine,
    large,
    memory,
    pace,
    profile,
    programs,
    resume,
    screen,
    start,
    store,
    transport,
)

Figures = dict[str, list[dict[str, Any]]]
Measured = Callable[..., Figures]

pytestmark = pytest.mark.timeout(300)  # processes are started, and the machine may be busy

FOLDER = Path(benchmarks.__file__).parent
PAGE = FOLDER.parent / "docs" / "explanation" / "benchmarks.md"


def column(rows: list[dict[str, Any]], key: str) -> list[Any]:
    return [row[key] for row in rows]


def test_all_that_can_be_run_are_listed() -> None:
    commands = {
        file.stem
        for file in FOLDER.glob("*.py")
        if "__main__" in file.read_text("utf-8") and file.stem != "__main__"
    } | {file.parent.name for file in FOLDER.glob("*/__main__.py")}
    assert commands == set(listing.NAMES)


def test_the_list_says_what_each_measures(capsys: pytest.CaptureFixture[str]) -> None:
    listing.main()
    lines = capsys.readouterr().out.splitlines()[2:]
    assert len(lines) == len(listing.NAMES)
    assert all(re.fullmatch(r"  \w+ +\w.*\.", line) for line in lines)


@pytest.mark.parametrize("name", listing.NAMES)
def test_each_has_a_help_and_a_section(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = importlib.import_module(
        "benchmarks.peers.comparison" if name == "peers" else f"benchmarks.{name}"
    )
    with pytest.raises(SystemExit) as ended:
        found.main(["--help"])
    assert ended.value.code == 0
    told = capsys.readouterr().out
    page = PAGE.read_text("utf-8")
    assert f"\n## {name}\n" in page
    assert f"python -m benchmarks.{name}" in page
    for option in re.findall(r"^  (--[a-z-]+)", told, re.MULTILINE):
        assert f"`{option}`" in page, option


def test_auto(measured: Measured) -> None:
    rows = measured(auto.main, "--cases", "100", "--levels", "1,8", "--rounds", "1")["endpoints"]
    assert column(rows, "endpoint") == [*auto.ENDPOINTS]
    queue = rows[1]
    assert (queue["endpoint"], queue["best"]) == ("queue 8", 8)
    assert 0.5 < queue["share"] <= 1.0
    assert all(row["asked"] >= 1 for row in rows)


def test_programs(measured: Measured) -> None:
    figures = measured(
        programs.main, "--starts", "2", "--at-once", "3", "--seconds", "0.5", "--output", "1000000"
    )
    assert column(figures["starts"], "kind")[:2] == ["bare", "none"]
    assert figures["many"][0]["private_mb"] > 0
    assert figures["output"][0]["kept_mb"] > 0.9


def test_engine(measured: Measured) -> None:
    found = measured(engine.main, "--cases", "20", "--in-flight", "5", "--rounds", "1")
    assert column(found["costs"], "what") == ["floor", "run", "second run"]
    assert found["costs"][0]["cpu_ratio"] == 1.0
    assert found["disk"][0]["commit_ms"] > 0


def test_pace(measured: Measured) -> None:
    tiny = ("--at-once", "1,4", "--turns", "3", "--latency", "0.05", "--rounds", "1")
    found = measured(pace.main, *tiny, "--feed", "5", "--cases", "20")
    alone, four = found["waiting"]
    assert alone["speed_up"] == 1.0
    assert four["share"] * 4 == pytest.approx(four["speed_up"])
    assert alone["ratio"] > 1.0  # nothing is quicker than the latency
    assert column(found["feeding"], "at_once") == [5]
    assert found["disk"][0]["commit_ms"] > 0


def test_transport(measured: Measured) -> None:
    (rows,) = measured(
        transport.main, "--calls", "20", "--rounds", "1", "--in-flight", "2,5"
    ).values()
    assert column(rows, "in_flight") == [2] * 3 + [5] * 3
    assert all(row["cpu_ms"] > 0 for row in rows)


@pytest.mark.whole
def test_resume(measured: Measured) -> None:
    tiny = ("--cases", "10", "--done", "60", "--rounds", "1", "--in-flight", "5")
    found = measured(resume.main, *tiny)
    assert column(found["again"], "requests") == [10, 0]
    assert column(found["resume"], "requests") == [10]
    assert all(row["first_request_s"] > 0 for row in found["resume"])


@pytest.mark.whole
def test_start(measured: Measured) -> None:
    (rows,) = measured(start.main, "--trials", "300", "--rounds", "1").values()
    assert rows[0]["start"] == "python -c pass"
    assert len(rows) == 9
    paints = [row["median_s"] for row in rows if row["start"].startswith("app")]
    assert all(first <= whole for first, whole in zip(paints[::2], paints[1::2], strict=True))


def test_store(measured: Measured) -> None:
    rows, _ = measured(store.main, "--trials", "500", "--rounds", "1").values()
    assert "last page" in column(rows, "question")
    assert [row["ratio"] for row in rows if row["question"].startswith("floor")] == [1.0]


@pytest.mark.whole
def test_memory(measured: Measured) -> None:
    found = measured(memory.main, "--sizes", "10", "--in-flight", "5")
    (peaks,) = found["peaks"]
    assert peaks["cases"] == 10
    assert peaks["engine_mb"] > 10
    assert peaks["app_mb"] > 10


def test_what_a_case_adds_to_the_memory() -> None:
    least = {"cases": 1000, "engine_mb": 70.0, "app_mb": 60.0, "both_mb": 130.0}
    most = {"cases": 2024, "engine_mb": 71.0, "app_mb": 60.5, "both_mb": 131.5}
    assert memory.growth(least, most) == {"engine_kb": 1.0, "app_kb": 0.5, "both_kb": 1.5}


@pytest.mark.whole
def test_screen(measured: Measured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen, "_STEADY", (10, 0.1))
    tiny = ("--in-flight", "4", "--seconds", "0.5", "--cases", "20", "--rounds", "1")
    found = measured(screen.main, *tiny)
    assert set(column(found["keys"], "while")) == {"live", "idle"}
    kinds = ["j, k of the floor", "j, k", "j, k: the detail"]
    kinds += ["tab", "zoom", "unzoom", "find", "leave find"]
    assert column(found["keys"], "kind") == 2 * kinds
    assert all(row["keys"] >= 2 and row["p50_ms"] <= row["max_ms"] for row in found["keys"])
    assert all(row["first_ms"] > 0 and row["bursts"] >= 1 for row in found["dialogs"])
    assert found["watching"][0]["app_cpu"] > 0
    assert column(found["open"], "app") == ["without", "with"]


@pytest.mark.whole
def test_compare(measured: Measured) -> None:
    found = measured(compare.main, "--cases", "200", "--rounds", "1")
    floor, compared = found["compared"]
    assert (floor["ratio"], compared["cpu_ms"] > 0) == (1.0, True)
    assert [row["command"] for row in found["command"]][1] == "tui-eval compare A B"
    assert column(found["app"], "until") == ["rows", "texts", "next"]
    assert all(row["median_ms"] <= row["max_ms"] for row in found["app"])


@pytest.mark.whole
def test_large_asks_each_question_in_a_process_of_its_own(
    measured: Measured, tmp_path: Path
) -> None:
    tiny = ("--trials", "200", "--chars", "30", "--folder", str(tmp_path / "kept"))
    found = measured(large.main, *tiny, "--only", "questions,searches")
    assert found["store"][0]["trials"] == 200
    assert len(found["questions"]) > 20
    assert all(row["peak_mb"] > 10 for row in found["questions"] + found["searches"])
    assert column(found["searches"], "hits") == [0, 1]
    kept = (tmp_path / "kept" / "store.sqlite3").stat().st_ino
    measured(large.main, *tiny, "--only", "searches")
    assert (tmp_path / "kept" / "store.sqlite3").stat().st_ino == kept
    with pytest.raises(SystemExit, match="other settings"):
        large.main([*tiny, "--trials", "204"])
    with pytest.raises(SystemExit, match="as many for each target"):
        large.main([*tiny, "--trials", "203"])
    with pytest.raises(SystemExit, match="there is no pancakes"):
        large.main([*tiny, "--only", "pancakes"])


@pytest.mark.whole
def test_large(measured: Measured) -> None:
    found = measured(large.main, "--trials", "400", "--chars", "30", "--only", _LARGE)
    assert column(found["app"], "until") == [
        "first letter",
        "the rows",
        "the last row",
        "the next failure",
    ]
    assert column(found["commands"], "command") == _LARGE.split(",")[1:]
    of = {row["command"]: row for row in found["commands"]}
    assert {name for name, row in of.items() if row["requests"]} == {"resume"}
    assert of["resume"]["requests"] == 10
    assert of["resume"]["first_request_s"] > 0
    assert all(of[f"export {kind}"]["bytes"] > 1000 for kind in ("jsonl", "csv", "parquet"))


_LARGE = (
    "app,show --json,show --json again,show,compare,export jsonl,export csv,export parquet,"
    "resume,second run"
)


@pytest.mark.parametrize("second", [False, True])
def test_profile(measured: Measured, second: bool) -> None:
    found = measured(
        profile.main, "--cases", "60", "--in-flight", "5", *(["--second"] if second else [])
    )
    for name in ("threads", "packages", "ours", "functions"):
        assert 0 < sum(column(found[name], "share")) <= 1.0001, name
    assert "tui_eval.store" in column(found["packages"], "of")
