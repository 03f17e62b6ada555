import asyncio
import json
import os
import queue
from pathlib import Path

import pytest

from tests.engine.harness import Harness, suite
from tests.waiting import until
from tui_eval.engine import board_poster
from tui_eval.engine.board_poster import BoardPoster
from tui_eval.engine.settings import Settings
from tui_eval.model.runs.board_post import BoardPost
from tui_eval.model.runs.run_part import RunPart
from tui_eval.reports.board import SILENT_S, read_board
from tui_eval.reports.terminal.board_text import board_text
from tui_eval.reports.terminal.tables import AnsiStyle
from tui_eval.store.connection import readable

NOW = 1_800_000_000.0


def post(run: str = "capitals-7f3k", **changes: object) -> BoardPost:
    described = {
        "run": run, "suite": "capitals", "host": "one", "state": "running", "at": NOW - 3,
        "total": 900, "settled": 640, "passed": 500, "failed": 130, "ungraded": 4, "errors": 6,
        "cancelled": 0, "wall_s": 42.0, "part": "1/3", "cost_usd": 0.25,
    }  # fmt: skip
    return BoardPost(**(described | changes))  # type: ignore[arg-type]


def put(folder: Path, *posts: BoardPost) -> None:
    for at, one in enumerate(posts):
        (folder / f"{at}.json").write_text(json.dumps(one.as_json()))


def test_runs_are_summed_and_listed_by_part(tmp_path: Path) -> None:
    put(tmp_path, post("b", part="10/10", cost_usd=None), post("a", part="2/10", state="done"))
    board = read_board(tmp_path, NOW)
    assert [one.post.run for one in board.entries] == ["a", "b"]
    assert (board.sum("settled"), board.sum("passed")) == (1280, 1000)
    assert board.cost_usd is None  # of one nobody knows
    assert not board.ended
    put(tmp_path, post("b", state="interrupted"), post("a", state="done"))
    assert read_board(tmp_path, NOW).ended
    assert read_board(tmp_path, NOW).cost_usd == 0.5
    shown = board_text(board, NOW, 200, AnsiStyle())
    assert "1,280/1,800" in shown


def test_a_screen_shows_what_goes_on_and_the_sum_of_all(tmp_path: Path) -> None:
    put(tmp_path, *[
        post(f"run-{n:02}", part=f"{n + 1}/30", state="running" if n in (3, 28) else "done")
        for n in range(30)
    ])  # fmt: skip
    board = read_board(tmp_path, NOW)
    lines = board_text(board, NOW, 60, AnsiStyle(), 19).splitlines()
    assert len(lines) == 19
    assert max(map(len, lines)) <= 60
    assert {"run-03", "run-28"} < {line.split()[0] for line in lines}
    assert "settled" in lines[0]
    assert "19,200/27,000" in lines[-2]
    assert lines[-1] == "14 more, 28 of all have ended"
    whole = board_text(board, NOW, 60, AnsiStyle())
    assert all(f"run-{n:02}" in whole for n in range(30))


def test_a_part_that_was_lost_and_run_again_counts_once(tmp_path: Path) -> None:
    silent = NOW - SILENT_S - 5
    put(
        tmp_path,
        post("lost", part="1/3", at=silent),
        post("left", part="2/3", state="interrupted", at=silent),
        post("again", part="1/3", state="done", settled=900),
        post("anew", part="2/3"),
        post("alone", part="3/3", state="interrupted", at=silent),
    )
    board = read_board(tmp_path, NOW)
    again = {one.post.run for one in board.entries if one.run_again}
    assert again == {"lost", "left"}
    assert (board.sum("settled"), board.sum("total")) == (900 + 2 * 640, 3 * 900)
    assert board.cost_usd == 5 * 0.25  # what was paid is paid
    assert not board.ended
    shown = board_text(board, NOW, 200, AnsiStyle())
    assert shown.count("run again") == 2


def test_a_board_has_ended_where_what_was_lost_was_run_again(tmp_path: Path) -> None:
    put(tmp_path, post("lost", at=NOW - SILENT_S - 5), post("again", state="done"))
    assert read_board(tmp_path, NOW).ended


def test_a_run_that_goes_on_at_another_machine_is_one(tmp_path: Path) -> None:
    put(tmp_path, post(host="two", settled=700), post(state="interrupted", at=NOW - 9))
    (entry,) = read_board(tmp_path, NOW).entries
    assert (entry.post.host, entry.post.settled) == ("two", 700)


@pytest.mark.parametrize(
    ("money", "said"),
    [
        ({"cost_usd": None}, "at least $0.25"),
        ({"cost_usd": None, "known_usd": 0.5, "unestimated": True}, "at least $0.75"),
        ({"cost_usd": None, "about_usd": 0.5}, "about $0.75"),
        ({"cost_usd": None, "about_usd": 0.5, "unestimated": True}, "at least about $0.75"),
        ({"cost_usd": 0.75}, "$1.00"),
    ],
)
def test_money_of_which_some_is_known_is_told(
    tmp_path: Path, money: dict[str, object], said: str
) -> None:
    put(tmp_path, post("a"), post("b", part="2/3", **money))
    lines = board_text(read_board(tmp_path, NOW), NOW, 200, AnsiStyle()).splitlines()
    assert f"  {said}  " in lines[-1] + "  "


def test_an_engine_that_says_nothing_is_told(tmp_path: Path) -> None:
    put(tmp_path, post("a", at=NOW - SILENT_S - 5), post("b", at=NOW - SILENT_S - 5, state="done"))
    silent = {one.post.run: one.silent_s for one in read_board(tmp_path, NOW).entries}
    assert silent == {"a": SILENT_S + 5, "b": None}
    assert "running? silent" in board_text(read_board(tmp_path, NOW), NOW, 200, AnsiStyle())


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "EOF"),
        (b"[1]", "should be"),
        (b"\xff\xfe", "Invalid JSON"),
        (b'{"run": 3}', "run: Input should be a valid string"),
        (b" " * 70_000, "larger than what an engine writes (64 kB)"),
    ],
)
def test_what_is_no_post_is_told_and_left_out(content: bytes, why: str, tmp_path: Path) -> None:
    put(tmp_path, post())
    (tmp_path / "other.json").write_bytes(content)
    (tmp_path / ".half.json").write_bytes(content)
    (tmp_path / "notes.txt").write_bytes(content)
    board = read_board(tmp_path, NOW)
    assert len(board.entries) == 1
    (said,) = board.unreadable
    assert said.startswith("other.json: ")
    assert why in said


def test_names_draw_nothing(tmp_path: Path) -> None:
    put(tmp_path, post("\x1b[2Jrun", host="\x07host"))
    assert "\x1b" not in board_text(read_board(tmp_path, NOW), NOW, 200, AnsiStyle())


def test_a_folder_that_is_not_there_yet_is_empty(tmp_path: Path) -> None:
    board = read_board(tmp_path / "later", NOW)
    assert not board.ended
    assert "no run has written here yet" in board_text(board, NOW, 80, AnsiStyle())


async def test_an_engine_posts_while_it_works_and_how_it_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(board_poster, "EVERY_S", 0.01)
    folder = tmp_path / "board"
    quick = {"kind": "simulated", "name": "one", "answers": ["{{ q }}"], "latency_s": 0.02}
    harness = Harness(tmp_path / "store.sqlite3")
    described = suite("", 8, targets=[quick], run={"concurrency": 2})
    settings = Settings(board=str(folder), part=RunPart(1, 1))
    run = await harness.run(described, settings)
    (file,) = folder.iterdir()
    last = BoardPost.from_json(file.read_bytes())
    assert (last.run, last.state, last.part) == (harness.row(run).name, "done", "1/1")
    assert (last.total, last.settled, last.passed) == (8, 8, 8)


async def test_a_board_that_cannot_be_written_to_stops_no_run(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    quick = {"kind": "simulated", "name": "one", "answers": ["{{ q }}"]}
    harness = Harness(tmp_path / "store.sqlite3")
    described = suite("", 2, targets=[quick])
    run = await harness.run(described, Settings(board=str(tmp_path / "file" / "board")))
    assert harness.counts(run).passed == 2


async def test_a_run_that_is_deleted_meanwhile_is_said_in_the_log_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    Harness(tmp_path / "store.sqlite3")
    async with (
        readable(tmp_path / "store.sqlite3") as reading,
        BoardPoster(tmp_path / "board", reading, 7, None),
    ):
        pass
    assert "nothing can be said on the board" in caplog.text


class LookedAt(queue.SimpleQueue["tuple[Path, BoardPost] | None"]):
    """Counts how often it was asked whether something waits in it."""

    times = 0

    def empty(self) -> bool:
        self.times += 1
        return super().empty()


def test_a_board_that_hangs_keeps_neither_the_engine_nor_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What each post is written into is a pipe that nobody reads: opening it waits for good."""
    monkeypatch.setattr(board_poster, "EVERY_S", 0.01)
    monkeypatch.setattr(board_poster, "_LAST_S", 0.1)
    harness = Harness(tmp_path / "store.sqlite3")
    quick = {"kind": "simulated", "name": "one", "answers": ["{{ q }}"]}
    board = tmp_path / "board"
    board.mkdir()

    async def post_run() -> None:
        run = await harness.run(suite("", 2, targets=[quick]))
        async with readable(harness.path) as reading:
            poster = BoardPoster(board, reading, run, None)
            file, _ = await poster._now()
            os.mkfifo(file.with_name(f".{file.name}.{os.getpid()}"))
            poster._posts = looked = LookedAt()
            async with poster:
                await until(lambda: looked.times >= 5)
                assert looked.qsize() <= 1  # one is being written, and no more pile up than one

    asyncio.run(post_run())  # it ends, and with it the executor of the loop
    assert "does not answer" in caplog.text
    (pipe,) = board.iterdir()
    os.close(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK))  # lets the thread go on
