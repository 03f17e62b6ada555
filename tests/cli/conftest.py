"""The command line, in this process and in one of its own."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tui_eval.cli.main import run as run_command_line
from tui_eval.cli.running import foreground
from tui_eval.cli.running.signals import TOGETHER_S

SUITE = """\
name = "sums"

[[targets]]
name = "made-up"
kind = "simulated"
answers = ["{{{{ answer }}}}", "wrong"]
{target}

[prompt]
user = "{{{{ question }}}}"

[[scorers]]
kind = "exact"
expected = "{{{{ answer }}}}"

{more}
{cases}
"""


def cases(n: int) -> str:
    return "\n".join(
        f'[[cases]]\nid = "case-{i}"\nquestion = "{i} + 1?"\nanswer = "{i + 1}"\ntags = ["sum"]'
        for i in range(n)
    )


@dataclass(frozen=True)
class Done:
    """What a command line gave."""

    code: int
    out: str
    err: str


Command = Callable[..., Done]
"""The command line with these words, in this process."""
Beside = Callable[..., Awaitable[Done]]
"""The same, beside a server in the test's loop."""


def document(done: Done) -> dict[str, Any]:
    """Give the one JSON object on a command's stdout."""
    whole = json.loads(done.out)
    assert isinstance(whole, dict)
    return whole


@dataclass(frozen=True)
class Place:
    """A folder with a store of its own."""

    folder: Path
    environment: dict[str, str]

    @property
    def store(self) -> Path:
        return self.folder / "store.sqlite3"

    def suite(self, *, n: int = 4, target: str = "", more: str = "", name: str = "s.toml") -> str:
        """Write a suite with a simulated target; give its name."""
        text = SUITE.format(target=target, more=more, cases=cases(n))
        (self.folder / name).write_text(text)
        return name

    def asking(self, base_url: str, *, n: int, more: str = "") -> str:
        """Write a suite that asks a server; give its name."""
        self.suite(n=n, more=more)
        text = (self.folder / "s.toml").read_text()
        made_up = text[text.index("[[targets]]") : text.index("[prompt]")]
        asked = f'[[targets]]\nname = "served"\nbase_url = "{base_url}"\nmodel = "fake-model"\n\n'
        (self.folder / "s.toml").write_text(text.replace(made_up, asked))
        return "s.toml"

    def program(self, *arguments: str) -> Done:
        """Run the command in a process of its own."""
        done = subprocess.run(
            [sys.executable, "-m", "tui_eval", *arguments],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    async def start(self, *arguments: str, **environment: str) -> "Running":
        """Start the command in a process of its own."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tui_eval",
            *arguments,
            cwd=self.folder,
            env={**self.environment, **environment},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        return Running(process)


class Running:
    """A command that goes on."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self._heard = b""

    async def signal_again(self, number: signal.Signals) -> None:
        """Send a signal that belongs to none before it."""
        await asyncio.sleep(1.2 * TOGETHER_S)
        self.signal(number)

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    async def says(self, words: str) -> None:
        """Wait until the command says something on stderr."""
        assert self.process.stderr is not None
        try:
            async with asyncio.timeout(30):
                while words.encode() not in self._heard:
                    line = await self.process.stderr.readline()
                    assert line, f"it ended without a word of {words!r}: {self._heard!r}"
                    self._heard += line
        except TimeoutError:
            raise AssertionError(f"no word of {words!r}: {self._heard!r}") from None

    async def ended(self) -> Done:
        try:
            async with asyncio.timeout(30):
                out, err = await self.process.communicate()
        except TimeoutError:
            raise AssertionError(f"it does not end; it said {self._heard!r}") from None
        assert self.process.returncode is not None
        return Done(self.process.returncode, out.decode(), (self._heard + err).decode())


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    given = {
        "TUI_EVAL_STORE": str(tmp_path / "store.sqlite3"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "TUI_EVAL_CONFIG": str(tmp_path / "config"),
    }
    kept = ("PATH", "HOME", "LANG", "PYTHONPATH", "VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE")
    source = str(Path(__file__).parents[2])
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(
        [source, *filter(None, [environment.get("PYTHONPATH")])]
    )
    for name, value in {**given, "PYTHONPATH": environment["PYTHONPATH"]}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return Place(tmp_path, {**environment, **given})


@pytest.fixture
def tui_eval(place: Place, capsys: pytest.CaptureFixture[str]) -> Command:
    """Give the command line, in this process: quicker where signals and streams do not matter."""

    def call(*arguments: str) -> Done:
        capsys.readouterr()
        code = run_command_line(arguments)
        return Done(code, *capsys.readouterr())

    return call


@pytest.fixture
def beside(tui_eval: Command, monkeypatch: pytest.MonkeyPatch) -> Beside:
    """Give the command line in a thread, beside a server in the test's loop; deaf to signals."""
    monkeypatch.setattr(foreground, "_SIGNALS", ())

    async def call(*arguments: str) -> Done:
        return await asyncio.to_thread(tui_eval, *arguments)

    return call
