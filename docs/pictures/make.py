"""The pictures of the documentation, made from the app itself on the sample suites.

    make pictures                       or, where Pillow is installed: python docs/pictures/make.py
    make pictures ONLY="run charts"     some of them

Everything happens in a temporary folder. The samples run on their recorded answers; one is asked
of the small model, live while its picture is taken. What needs time, more than one target or an
answer before another is asked of simulated models, in suites that are written here.
"""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from drawing import drawn, strips
from textual.pilot import Pilot

from tui_eval.resources import samples_dir
from tui_eval.ui.app import TuiEvalApp

HERE = Path(__file__).parent
PATIENCE_S = 120.0
"""Seconds to wait for what a picture is to show."""

SIMULATED = """\
# The capitals again, asked of two simulated models: what they say was never said by a model.
name = "simulated"
description = "Two simulated models with latencies and rate limits: for charts, not for results."
tags = ["simulated"]
include = "parts/capitals.toml"

[dataset]
path = "data/capitals.jsonl"
tags = "region"

[[targets]]
name = "large"
kind = "simulated"
answers = ["The capital of {{ country }} is {{ capital[0] }}.", "I do not know."]
accuracy = 0.93
latency_s = [0.5, 2.6]
faults = { rate_limit = 0.04 }

[[targets]]
name = "small"
kind = "simulated"
answers = [
  "The capital of {{ country }} is {{ capital[0] }}.",
  "It is the city of {{ country }}.",
  "I do not know.",
]
accuracy = 0.71
latency_s = [0.1, 0.9]
faults = { rate_limit = 0.1, server_error = 0.03, empty = 0.02 }
seed = 7

[run]
concurrency = "auto"

[gate]
pass_rate = 0.8
"""

ORDERS = """\
# Two answers of a simulated model, before and after: for the picture of a diff.
name = "orders"
description = "Orders as JSON, from a simulated model."
tags = ["simulated"]

[[cases]]
id = "lamp-and-bulbs"
text = "Two lamps and six bulbs to Oslo, by Friday."
before = '''
{"city": "Oslo", "items": [{"name": "lamps", "count": 2}, {"name": "bulbs", "count": 6}],
"by": "Friday", "gift": false}'''
after = '''
{"city": "Oslo", "country": "Norway", "items": [{"name": "lamp", "count": 2},
{"name": "bulb", "count": 6}], "by": "next Friday", "gift": false}'''

[prompt]
user = "Write this order as JSON: {{ text }}"

[[targets]]
name = "simulated"
kind = "simulated"
answers = ["{{ after }}"]

[[scorers]]
kind = "json"
"""

AGENTS = """\
# The repairs again, by the scripted agent: slower, so that it can be looked at.
name = "agents"
description = "Small repairs of Python files by a scripted agent, no model."
tags = ["agents"]
include = ["parts/repairs.toml"]

[dataset]
path = "data/repairs.jsonl"
tags = "kind"

[[targets]]
name = "scripted"
kind = "command"
command = ["python3", "agents/scripted_agent.py"]
stdin = "{{ prompt }}"
workspace = "repairs/{{ id }}"
output = "diff"
transcript = { from = "stdout", format = "messages" }
env = { STEP_SECONDS = "0.4" }
limits = { wall = 60, cpu_s = 20, memory = "30MB", disk = "2MB", turns = 24, tokens = 400 }
"""

LOAD = """\
# Capitals, asked of a server that works on sixteen calls at once: for a sweep.
name = "load"
include = "parts/capitals.toml"

[dataset]
path = "data/capitals.jsonl"

[[targets]]
name = "queueing"
base_url = "{base_url}"
model = "queueing"
prices = {{ input = 0, output = 0 }}
"""

CONFIGURATION = """\
theme = "light"

[keys]
OPENAI_API_KEY = ["models.example"]

[keymap]
"run.copy" = ["Y"]
"""


@dataclass(frozen=True)
class Seen:
    """Wait until words stand on the screen."""

    words: str


@dataclass(frozen=True)
class Settled:
    """Wait until so many trials are settled, by the first line of the screen."""

    trials: int


@dataclass(frozen=True)
class Edited:
    """Edit a file beside the suites."""

    file: str
    old: str
    new: str


Step = str | Seen | Settled | Edited


@dataclass(frozen=True)
class Picture:
    """One picture: where the app is opened, how large, and what leads there.

    Attributes:
        name: The file's name without `.png`.
        size: Columns and rows.
        steps: Keys by name, and what is waited for between them.
        run: The suite whose newest finished run is opened; None: the suites are.
        live: Whether that run is launched anew, and goes on while the picture is taken.
        theme: The theme's name, where the configuration says none.
        config: What the configuration says.
    """

    name: str
    size: tuple[int, int]
    steps: Sequence[Step] = ()
    run: str | None = None
    live: bool = False
    theme: str = "dark"
    config: str = ""


SIMULATED_RUN = "simulated"
EDIT = Edited("parts/capitals.toml", 'match = "any"', 'match = "all"')
COMPARED = ("equals_sign", "enter", Seen("Question"))
BY_TAG = ("shift+tab", "down", "down", "down")
WHO = ("G", Seen("who grades"), *["backspace"] * 20, *"anna", "enter")
PICTURES = (
    Picture("run", (120, 34), [Settled(220), "n", "n"], SIMULATED_RUN, live=True),
    Picture("suites", (100, 30), ["/", *"capitals", "enter", Seen("What is the capital")]),
    Picture("launch", (100, 30), ["/", *"capitals", "enter", "enter", Seen("reusable")]),
    Picture("runs", (100, 24), [Settled(55), "2", Seen("running")], SIMULATED_RUN, live=True),
    Picture("run-wide", (160, 48), [Settled(100), "n", "n"], SIMULATED_RUN, live=True),
    Picture("charts", (100, 30), [Settled(250), "v"], SIMULATED_RUN, live=True),
    Picture("result", (120, 36), ["n", "tab"], "explain"),
    Picture("detail", (100, 24), ["/", *"json-04", "enter", "enter"], "instructions"),
    Picture("attempts", (100, 24), ["/", *"ghana", "enter", "j", "enter", *"]]]"], SIMULATED_RUN),
    Picture("live", (100, 30), ["end", Seen("turn 14"), "enter", "["], "agents", live=True),
    Picture("workspace", (100, 12), ["/", *"two", "enter", "enter", "w"], "agents"),
    Picture("judge", (100, 30), ["n", "enter", *"]]]]"], "explain"),
    Picture("grade", (100, 24), [*WHO, Seen("1 of"), "3", Seen("2 of")], "explain"),
    Picture("filter", (100, 30), ["f", "j", "space"], "capitals"),
    Picture("cases", (100, 30), ["M", "n", "right"], SIMULATED_RUN),
    Picture("groups", (100, 30), ["b"], "instructions"),
    Picture("confusion", (100, 20), ["b", Seen("choice"), "["], "choices"),
    Picture("latency", (100, 30), ["v", "]"], SIMULATED_RUN),
    Picture("sweep", (100, 36), ["v"], "load"),
    Picture("diff", (120, 24), ["d"], "orders"),
    Picture("compare", (120, 36), [*COMPARED, "n"], SIMULATED_RUN),
    Picture("compare-groups", (100, 30), [*COMPARED, "b", Seen("africa"), *BY_TAG], SIMULATED_RUN),
    Picture("history", (100, 30), ["n", "h"], SIMULATED_RUN),
    Picture("edited", (100, 30), [EDIT, Seen("d shows")], SIMULATED_RUN),
    Picture("would-change", (100, 30), [EDIT, Seen("d shows"), "D"], SIMULATED_RUN),
    Picture("settings", (100, 30), ["comma"], config=CONFIGURATION),
    Picture("help", (100, 30), ["question_mark"], "capitals", theme="dark-contrast"),
)


def program(*arguments: str) -> str:
    """Run the command line; give what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "tui_eval", *arguments], capture_output=True, text=True, check=False
    )
    assert done.stdout, done.stderr
    return done.stdout.strip()


def lines(app: TuiEvalApp) -> str:
    """Give what stands on the screen."""
    return "\n".join(strip.text for strip in strips(app))


def settled(shown: str) -> int:
    """Read off the first line how many trials are settled; 0: it does not say yet."""
    found = re.search(r"([\d,]+)/[\d,]+", shown.partition("\n")[0])
    return 0 if found is None else int(found[1].replace(",", ""))


async def until(pilot: Pilot[None], holds: Callable[[str], bool]) -> None:
    """Wait until something holds of what is on the screen."""
    app = pilot.app
    assert isinstance(app, TuiEvalApp)
    late = time.monotonic() + PATIENCE_S
    while not holds(lines(app)):
        assert time.monotonic() < late, f"it never came to be in\n{lines(app)}"
        await pilot.pause(0.1)


async def do(step: Step, pilot: Pilot[None]) -> None:
    """Do one step."""
    match step:
        case Seen(words):
            await until(pilot, lambda shown: words in shown)
        case Settled(trials):
            await until(pilot, lambda shown: settled(shown) >= trials)
        case Edited(name, old, new):
            file = Path("evals") / name
            before = file.read_text(encoding="utf-8")
            assert old in before, f"{name} has no {old!r}"
            file.write_text(before.replace(old, new), encoding="utf-8")
        case str(key):
            await pilot.press(
                {
                    "/": "slash",
                    "[": "left_square_bracket",
                    "]": "right_square_bracket",
                    "-": "minus",
                }.get(key, key)
            )
            await pilot.pause(0.4)


async def take(picture: Picture, store: Path, run: str | None) -> None:
    """Open the app, do the steps, and keep what is on the screen."""
    app = TuiEvalApp(store, [Path("evals")], run)
    async with app.run_test(size=picture.size) as pilot:
        await pilot.pause(1.5)
        if not picture.config:
            app.theme = picture.theme
        for step in picture.steps:
            await do(step, pilot)
        await pilot.pause(1.0)
        app.clear_notifications()
        await pilot.pause(0.5)
        image = drawn(app)
    file = HERE / f"{picture.name}.png"
    image.save(file, optimize=True)
    print(f"{file.name}  {file.stat().st_size // 1000} kB")


@contextmanager
def opened(picture: Picture) -> Iterator[str | None]:
    """Give the run a picture is of; a live one goes on until the picture is taken."""
    if picture.run is None:
        yield None
    elif not picture.live:
        runs = json.loads(program("runs", "--json"))
        finished = (run for run in runs if run["state"] == "done")
        yield next(run["run"] for run in finished if run["suite"] == picture.run)
    else:
        own = Path("evals", f"{picture.run}.toml")
        suite = own if own.exists() else samples_dir() / own.name
        run = program("run", str(suite), "--fresh", "--detach", "--trust")
        try:
            yield run
        finally:
            program("cancel", run)
            # one that is cut off would be what the next picture compares with
            program("delete", run, "--yes")


def as_it_was(config: str = "") -> None:
    """Put back what a picture changed: files of the suite, and what the app remembers."""
    Path("config").mkdir(exist_ok=True)
    Path("config", "config.toml").write_text(config, encoding="utf-8")
    for part in ("agents", "data", "parts", "repairs"):
        shutil.copytree(samples_dir() / part, Path("evals", part), dirs_exist_ok=True)
    Path("state.json").unlink(missing_ok=True)


class Queueing(BaseHTTPRequestHandler):
    """A model server that works on sixteen calls at once, a quarter of a second each."""

    protocol_version = "HTTP/1.1"
    free = threading.Semaphore(16)

    def do_POST(self) -> None:
        """Answer a call, when it is its turn."""
        self.rfile.read(int(self.headers["Content-Length"]))
        with self.free:
            time.sleep(0.25)
        message = {"role": "assistant", "content": "Paris"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 20, "completion_tokens": 40, "total_tokens": 60}
        said = json.dumps({"choices": [choice], "model": "queueing", "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class QueueingServer(ThreadingHTTPServer):
    """Has room for all calls of a sweep at once."""

    request_queue_size = 256


def sweep() -> None:
    """Drive a server of our own harder and harder."""
    with QueueingServer(("127.0.0.1", 0), Queueing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        suite = Path("evals", "load.toml")
        base_url = f"http://127.0.0.1:{server.server_port}/v1"
        suite.write_text(LOAD.format(base_url=base_url), encoding="utf-8")
        program("sweep", str(suite), "--levels", "1,4,8,16,32,64", "--trust")
        suite.unlink()  # it is not among the suites that are shown
        server.shutdown()


def prepare() -> None:
    """Copy the samples, write the simulated suite, and run them."""
    as_it_was()
    simulated = Path("evals", "simulated.toml")
    simulated.write_text(SIMULATED, encoding="utf-8")
    for accuracy, seed in ((0.2, 3), (0.4, 5), (0.55, 8), (0.5, 1)):
        # earlier runs; they need not be slow to have been
        changes = [f"targets.{n}.{one}" for n in (0, 1) for one in ("latency_s=0", "faults={}")]
        changes += [f"targets.1.accuracy={accuracy}", f"targets.1.seed={seed}"]
        changes += [f"targets.0.accuracy={min(accuracy + 0.3, 0.93)}", f"targets.0.seed={seed}"]
        sets = [word for change in changes for word in ("--set", change)]
        program("run", str(simulated), *sets)
    program("run", str(simulated))
    orders = Path("evals", "orders.toml")
    orders.write_text(ORDERS, encoding="utf-8")
    program("run", str(orders), "--set", 'targets.0.answers=["{{ before }}"]')
    program("run", str(orders))
    orders.unlink()  # it is not among the suites that are shown
    agents = Path("evals", "agents.toml")
    agents.write_text(AGENTS, encoding="utf-8")
    program("run", str(agents), "--trust", "--set", "targets.0.limits.wall=4")
    sweep()
    for name in ("dates", "choices", "messages", "instructions", "explain", "capitals"):
        program("run", str(samples_dir() / f"{name}.toml"))


def main(names: Sequence[str]) -> None:
    """Make those named, or all of them."""
    unknown = set(names) - {picture.name for picture in PICTURES}
    assert not unknown, f"no such pictures: {unknown}"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        store = Path("evals.sqlite3")  # as it is shown: no path of the machine it is made on
        places = {"STORE": str(store), "STATE": "state.json", "CONFIG": "config"}
        os.environ.update({f"TUI_EVAL_{name}": place for name, place in places.items()})
        os.environ["PYTHONPATH"] = str(
            HERE.parents[1]
        )  # for the programs that are started from here
        prepare()
        for picture in PICTURES:
            if not names or picture.name in names:
                as_it_was(picture.config)
                with opened(picture) as run:
                    asyncio.run(take(picture, store, run))


if __name__ == "__main__":
    main(sys.argv[1:])
