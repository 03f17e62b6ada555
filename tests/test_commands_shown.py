"""The commands of reference pages and of the README are run, each on its own copy of one folder."""

import json
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.test_docs import ROOT, CommandLine, blocks, calls
from tests.test_guides import ran

PAGES = {
    ROOT / "README.md",
    *(ROOT / "docs" / "reference").glob("*.md"),
    ROOT / "docs" / "explanation" / "trust.md",
    ROOT / "docs" / "development" / "debugging.md",
}
ELSEWHERE = {
    "": "opens the app: tests/ui",
    "watch": "opens the app: tests/ui",
    "serve": "answers until it is ended: tests/web",
    "grade last": "opens the app: tests/ui/grade",
    "import": "imports are made in the how-to pages about other tools: tests/test_guides.py",
    "init": "run to make the folder of the others",
    "merge": "followed in docs/how-to/split-a-run.md",
    "trust remove": "needs a suite that was trusted: tests/cli/commands/suites/test_trust.py",
    "workspace": "followed in docs/tutorials/evaluate-an-agent.md",
    "sweep suite.toml --json": "takes its time: followed in docs/how-to/how-hard-can-i-drive-it.md",
    "sweep suite.toml": "takes its time, likewise",
}
"""The beginnings of commands that are not run here, each with who runs them."""

SUITE = """\
name = "capitals"

[dataset]
path = "capitals.jsonl"
tags = "region"

[prompt]
user = "What is the capital of {{ country }}?"

[[targets]]
name = "gpt-5-mini"
model = "gpt-5-mini"
base_url = "ADDRESS"

[[targets]]
kind = "simulated"
name = "small"
answers = "{{ capital }}"
accuracy = 0.5

[[targets]]
kind = "simulated"
name = "large"
answers = "{{ capital }}"

[[scorers]]
kind = "exact"
expected = "{{ capital }}"

[[scorers]]
kind = "judge"
name = "faithful"
rubric = "Is it the capital?"
scale = [1, 5]
reference = "{{ capital }}"
required = false

[judge]
kind = "simulated"
"""
CASES = [
    {"id": "fr", "country": "France", "capital": "Paris", "region": "Europe"},
    {"id": "pt", "country": "Portugal", "capital": "Lisbon", "region": "Europe"},
    {"id": "FR", "country": "the French Republic", "capital": "Paris", "region": "Europe"},
    {"id": "jp", "country": "Japan", "capital": "Tokyo", "region": "Asia"},
]
NAMES = ("capitals-7f3k", "capitals-8x2m")
"""What the pages call runs; the second is the last."""


class _Model(BaseHTTPRequestHandler):
    """Says Paris, whatever it is asked."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"role": "assistant", "content": "Paris"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6}
        said = {"id": "x", "model": "m", "choices": [choice], "usage": usage}
        body = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Give the address of a model."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Model)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, address: str) -> Path:
    """Make a folder that has all that the commands name: suites, a store with two runs, files."""
    folder = tmp_path_factory.mktemp("shown")
    (folder / "evals").mkdir()
    for name in ("suite.toml", "capitals.toml", "smoke.toml", "evals/suite.toml"):
        (folder / name).write_text(SUITE.replace("ADDRESS", address))
    for place in (folder, folder / "evals"):
        rows = "".join(json.dumps(row) + "\n" for row in CASES)
        (place / "capitals.jsonl").write_text(rows)
    grades = [
        {"case_id": "fr", "target": target, "epoch": 0, "grade": 5}
        for target in ("gpt-5-mini", "small")
    ]
    (folder / "grades.jsonl").write_text("".join(json.dumps(row) + "\n" for row in grades))
    with pytest.MonkeyPatch.context() as patch:
        at(folder, patch)
        for name, epochs in zip(NAMES, ("1", "2"), strict=True):
            code, said = ran(["tui-eval", "run", "suite.toml", "--epochs", epochs])
            assert code == 0, said
            with closing(sqlite3.connect(folder / "store.sqlite3")) as db, db:
                db.execute("UPDATE runs SET name = ? WHERE id = (SELECT max(id) FROM runs)", [name])
        for path in ("baseline.jsonl", "evals/main.jsonl"):
            assert ran(["tui-eval", "baseline", "capitals", "last", "--write", path])[0] == 0
        assert ran(["tui-eval", "baseline", "capitals", NAMES[0]])[0] == 0
        for words in (["rescore", "last"], ["init", "my-evals"]):
            assert ran(["tui-eval", *words])[0] == 0
    return folder


def at(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Have commands run in a folder, with its store."""
    patch.chdir(folder)
    patch.setenv("TUI_EVAL_STORE", str(folder / "store.sqlite3"))
    patch.setenv("TUI_EVAL_CONFIG", str(folder / "config"))


def shown() -> Iterator[CommandLine]:
    """Give the commands of the pages, each once."""
    found: dict[tuple[str, ...], CommandLine] = {}
    for block in blocks("sh"):
        if block.file in PAGES:
            for line in block.text.replace("\\\n", " ").splitlines():
                for call in calls(block.id, line):
                    found.setdefault(call.words, call)
    return iter(found.values())


def elsewhere(command: CommandLine) -> bool:
    """Say whether a command is run by another test."""
    said = " ".join(command.words)
    if any("$" in word for word in command.words) or said.startswith("capitals.toml"):
        return True  # of a script, or the app
    if said.startswith("grade") and "--from" in command.words:
        return False
    return any(said == one or (one and said.startswith(f"{one} ")) for one in ELSEWHERE)


@pytest.mark.whole
@pytest.mark.parametrize(
    "command",
    [one for one in shown() if not elsewhere(one)],
    ids=lambda one: f"{one.place} {' '.join(one.words)}",
)
def test_a_command_that_is_shown_does_something(
    command: CommandLine, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "here"
    shutil.copytree(made, folder)
    at(folder, monkeypatch)
    words = [*command.words, *(["--yes"] if command.words[0] == "delete" else [])]
    code, said = ran(["tui-eval", *words])
    assert code in (0, 1, 3), said
