"""A running program on the screen: its row, what it takes and prints, and its steps."""

import asyncio
from pathlib import Path

from tests.ui.agents import agent_suite
from tests.ui.playing import (
    app_on,
    assert_clean,
    row_texts,
    run_screen,
    shown_on,
    text,
    until,
    until_shown,
)
from tui_eval.engine.engine import Engine
from tui_eval.engine.launch.create_run import create
from tui_eval.engine.settings import Settings
from tui_eval.model.json import JsonObject
from tui_eval.targets.attempt.attempt_view import AttemptView
from tui_eval.ui.run.detail.live_reader import TAIL, LiveReader

WAITS = """
import json, pathlib, sys, time

def say(role, **more):
    print(json.dumps({"role": role, **more}), flush=True)

function = {"name": "build", "arguments": "{}"}
calls = [{"id": "c1", "type": "function", "function": function}]
say("assistant", content="first", tool_calls=calls)
print("odd \\x1b[31m\\x1b]8;;http://x\\x07 [bold]words", file=sys.stderr, flush=True)
go = pathlib.Path(GO)
for _ in range(2400):
    if go.exists():
        break
    time.sleep(0.05)
say("tool", tool_call_id="c1", content="built")
say("assistant", content="It is done.")
"""


async def test_a_running_program_is_looked_at_until_it_ends(store: Path, tmp_path: Path) -> None:
    go = tmp_path / "go"
    code = WAITS.replace("GO", repr(str(go)))
    suite = agent_suite(tmp_path, code, limits={"memory": "500MB", "turns": 10})
    run_id = create(store, suite, Settings())
    running = asyncio.create_task(Engine(store, run_id).run())
    app = app_on(store, run="last")
    try:
        async with shown_on(app, (200, 56)) as pilot:
            screen = await run_screen(pilot)
            await until(pilot, lambda: "turn 1 · build" in "".join(row_texts(screen)))
            await until(pilot, lambda: "Live" in text(app))
            await pilot.press("left_square_bracket")
            await until_shown(pilot, "wall", "of 500 MB", "1 of 10", "build({})")
            page = screen.detail.page
            await until(pilot, lambda: page.following, "the end to be followed")
            await pilot.press("F")
            await until(pilot, lambda: not page.following, "the end to be left")
            await pilot.press("m")
            await until_shown(pilot, "as it is printed", "[bold]words")
            assert_clean(app)
            go.touch()
            await until(pilot, lambda: screen.detail.found is not None
                        and screen.detail.found.trial.state.settled)  # fmt: skip
            await until(pilot, lambda: "Live" not in text(app))
    finally:
        go.touch()
        await running


def test_of_a_stream_the_end_is_read_and_no_more(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_bytes(b"".join(b"line %06d\n" % n for n in range(100_000)))
    (tail,) = LiveReader(1, AttemptView({"out": out, "err": tmp_path / "none"})).look().tails
    assert len(tail.text) <= TAIL
    assert tail.text.startswith("line ")
    assert tail.text.endswith("line 099999\n")
    assert tail.before + len(tail.text) == out.stat().st_size


def test_no_link_and_no_pipe_is_read(tmp_path: Path) -> None:
    import os

    (tmp_path / "secret").write_text("secret")
    (tmp_path / "out").symlink_to("secret")
    os.mkfifo(tmp_path / "err")
    streams = {name: tmp_path / name for name in ("out", "err")}
    assert LiveReader(1, AttemptView(streams)).look().tails == ()


class Told:
    """A transcript of very many messages."""

    def __init__(self) -> None:
        from tui_eval.targets.transcripts import reader_of

        self.reader = reader_of("messages")
        many: list[JsonObject] = [
            {"role": "assistant", "content": "x" * 100_000} for _ in range(1_000)
        ]
        self.reader.messages += many
        self.reader.turn = 1_000

    def look(self) -> None:
        """Read nothing more."""


def test_of_a_long_transcript_the_last_steps_are_shown(tmp_path: Path) -> None:
    seen = LiveReader(1, AttemptView(transcript=Told())).look()
    assert seen.messages is not None
    assert (len(seen.messages), seen.before, seen.turns_before) == (200, 800, 800)
    assert all(len(str(one["content"])) <= 20_000 for one in seen.messages)
