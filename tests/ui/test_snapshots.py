"""How the screens look, small and large, dark and light.

`pytest tests/ui/test_snapshots.py --snapshot-update` keeps what is shown now: look at the diff.
"""

import secrets
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from textual.pilot import Pilot
from textual.widgets import Input

from tests.sampling import some
from tests.ui.agents import agent_suite
from tests.ui.picturing import LOOKS, Asking, apart, pictures, together
from tests.ui.playing import app_on, finished, run_screen, shown_on, until_shown
from tui_eval.suites.loading.suite_file import load

NOW = 1_760_000_000.0
"""Unix seconds at which every picture is taken."""
SUITE = """
name = "capitals"
description = "Capitals of the world, in one word."

[prompt]
system = "Answer with the city only."
user = "What is the capital of {{ country }}?"

[[targets]]
kind = "simulated"
name = "quick"
answers = ["{{ capital }}", "Atlantis"]
accuracy = 0.8

[[targets]]
kind = "simulated"
name = "thorough"
answers = ["The capital of {{ country }} is **{{ capital }}**."]

[[scorers]]
kind = "includes"
expected = "{{ capital }}"

[[scorers]]
kind = "regex"
name = "one-word"
expected = "^\\\\w+$"
required = false

[gate]
pass_rate = 0.7
"""
CASES = """
[[cases]]
id = "{id}"
country = "{country}"
capital = "{capital}"
tags = ["{tag}"]
"""
PLACES = (
    ("fr", "France", "Paris", "europe"),
    ("de", "Germany", "Berlin", "europe"),
    ("bf", "Burkina Faso", "Ouagadougou", "africa"),
    ("ke", "Kenya", "Nairobi", "africa"),
    ("jp", "Japan", "Tokyo", "asia"),
    ("in", "India", "New Delhi", "asia"),
    ("pe", "Peru", "Lima", "america"),
    ("ca", "Canada", "Ottawa", "america"),
)


class TextSnapshot(SingleFileSnapshotExtension):
    """A file for each scene, to be read."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"


@dataclass(frozen=True)
class Scene:
    """A place in the app, and how one gets there."""

    name: str
    keys: tuple[str, ...] = ()
    """Keys to press; words of several are waited for."""
    shown: tuple[str, ...] = ()
    """What stands there once all keys have been taken."""
    run: bool = False
    """Whether the app is opened on the run."""
    agent: bool = False
    """Whether that is the run of a program in a workspace."""


SCENES = (
    Scene("suites", shown=("capitals", "Capitals of the world")),
    Scene("launch", ("enter",), ("concurrency", "Start")),
    Scene("runs", ("2",), ("capitals-aaaa",)),
    Scene("run", run=True),
    Scene("run scores", ("right_square_bracket",) * 2, ("includes",), run=True),
    Scene("run messages", ("right_square_bracket",), ("system",), run=True),
    Scene("run attempts", ("right_square_bracket",) * 3, ("answered",), run=True),
    Scene("run case", ("left_square_bracket",), ("number 1",), run=True),
    Scene("run zoomed", ("n", "enter"), ("Atlantis",), run=True),
    Scene(
        "run marked",
        ("space", "1 marked", "space", "2 marked", "s"),
        ("Score 2 trials again?",),
        run=True,
    ),
    Scene("run found", ("slash", *"atlantis", "enter"), ("Atlantis",), run=True),
    Scene("filter", ("f",), ("space tick",), run=True),
    Scene("filtered", ("f", "space", "enter"), ("not passed",), run=True),
    Scene("sort", ("o",), ("sort by",), run=True),
    Scene("groups", ("b",), ("did not pass",), run=True),
    Scene("copy", ("y",), ("request as curl",), run=True),
    Scene("note", ("t",), ("note on",), run=True),
    Scene("diff", ("n", "d"), ("Nairobi",), run=True),
    Scene("history", ("h",), ("full run",), run=True),
    Scene("charts", ("v",), ("throughput",), run=True),
    Scene("charts latency", ("v", "right_square_bracket"), ("p95",), run=True),
    Scene("charts by tag", ("v", "left_square_bracket"), ("europe",), run=True),
    Scene("help", ("question_mark",), ("do it",), run=True),
    Scene("help found", ("question_mark", "slash", *"score"), ("Score",), run=True),
    Scene("palette", ("ctrl+p",), ("Search for commands", "retry"), run=True),
    Scene("workspace", ("w",), ("greet.py", "picture.bin"), run=True, agent=True),
    Scene(
        "run attempts program",
        ("right_square_bracket",) * 3,
        ("isolation none", "collecting"),
        run=True,
        agent=True,
    ),
    Scene("import", ("i",), ("Import another tool's file",)),
)


@pytest.fixture(autouse=True)
def unchanging(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the clock stand still, names be the same, and nothing blink."""
    monkeypatch.setattr(time, "time", lambda: NOW)
    monkeypatch.setattr(secrets, "choice", lambda letters: letters[0])
    monkeypatch.setattr(Input, "cursor_blink", False)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


async def made(folder: Path) -> Path:
    """Make a suite, and a store with a finished run of it."""
    suite = folder / "capitals.toml"
    names = ("id", "country", "capital", "tag")
    cases = [CASES.format(**dict(zip(names, place, strict=True))) for place in PLACES]
    suite.write_text(SUITE + "".join(cases))
    (folder / "broken.toml").write_text('name = "broken"\n[[scorers]]\nkind = "exakt"\n')
    return suite


@asynccontextmanager
async def scene(folder: Path, store: Path, shown: Scene) -> AsyncIterator[Pilot[None]]:
    """Give the app where a scene is."""
    suite = await made(folder)
    await finished(store, agent_suite(folder) if shown.agent else load(suite))
    _settle_times(store)
    app = app_on(store, Path(), run="last" if shown.run else None)
    async with shown_on(app) as pilot:
        if shown.run:
            await run_screen(pilot)
            late = ("coder",) if shown.agent else ("includes 1", "vs ", "Expected")
            await until_shown(pilot, *late)  # under a dialog it would not come any more
        else:
            await until_shown(pilot, "Suites  22", "88 100")  # likewise
        for key in shown.keys:
            await (until_shown(pilot, key) if " " in key else pilot.press(key))
        await until_shown(pilot, *shown.shown)
        yield pilot


def _settle_times(store: Path) -> None:
    """Give everything that took time a time of its own that is always the same."""
    db = sqlite3.connect(store)
    begun = NOW - 3600
    for statement in (
        f"UPDATE runs SET created_at={begun}, started_at={begun}, ended_at={begun + 60}, wall_s=60",
        f"UPDATE trials SET since = {begun} + id, latency_s = 0.4 + id * 0.05",
        "UPDATE outputs SET latency_s = 0.4 + id * 0.05",
        f"UPDATE attempts SET sent_at = {begun} + id, queue_s = 0.01 * id, call_s = 0.4 + id * .05",
        f"UPDATE scores SET at = {begun} + trial",
        f"UPDATE limits SET at = {begun}",
        "UPDATE attempt_records SET cpu_s = 1.5, wall_s = 4, peak_rss_bytes = 4e7",
        """UPDATE attempt_records SET peak_processes = 2, disk_bytes = 2e6,
        phases = '[["preparing", 0], ["running", 0.05], ["collecting", 0.4]]',
        samples = '[[0, 0, 1e7], [0.2, 0.3, 4e7], [0.4, 0.4, 2e7]]'""",
    ):
        db.execute(statement)
    db.commit()
    db.close()


@pytest.mark.usefixtures("samples")
@pytest.mark.parametrize("shown", SCENES, ids=lambda shown: shown.name)
async def test_every_screen_looks_as_it_did(
    shown: Scene,
    tmp_path: Path,
    store: Path,
    snapshot: SnapshotAssertion,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    kept = Path(__file__).parent / "__snapshots__" / "test_snapshots" / f"{request.node.name}.txt"
    update = request.config.option.update_snapshots or not kept.exists()
    expected = {} if update else apart(kept.read_text("utf-8"))
    looks = LOOKS if update else some(len(LOOKS) - 1, LOOKS)  # small and dark, large and light
    asking = Asking(monkeypatch)
    async with scene(tmp_path, store, shown) as pilot:
        taken = await pictures(pilot, asking, expected, looks)
    assert together({**expected, **taken}) == snapshot(extension_class=TextSnapshot)
