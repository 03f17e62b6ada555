"""What the process that speaks with Ray makes of workers and heads; Ray is played."""

import asyncio
import importlib
import platform
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import tui_eval
from tui_eval.engine.executors.ray.frames import frame, next_frame

MOST = 100
BRIDGE = "tui_eval.engine.executors.ray.bridge"
PYTHON = platform.python_version()
OURS = {"tui-eval": tui_eval.__version__, "python": PYTHON}


class RayError(Exception):
    pass


class ActorDiedError(RayError):
    pass


class Call:
    """A method of an actor, as Ray gives it."""

    def __init__(self, does: Callable[..., Any]) -> None:
        self._does = does

    def remote(self, *args: Any) -> Any:
        return self._does(*args)


@dataclass
class Actor:
    """A worker as this Ray has it."""

    said: dict[str, str]
    takes: Exception | None = None
    unmade: Exception | None = None
    silent: bool = False
    sends: list[bytes] = field(default_factory=list)
    taken: list[bytes] = field(default_factory=list)
    begun: bool = False
    killed: bool = False
    ends: asyncio.Event = field(default_factory=asyncio.Event)
    """Set: its process has ended."""

    def __getattr__(self, name: str) -> Call:
        return Call(getattr(self, f"_{name}"))

    async def _versions(self) -> dict[str, str]:
        if self.unmade is not None:
            raise self.unmade
        return self.said

    async def _begin(self) -> None:
        self.begun = True

    async def _take(self, body: bytes, shared: dict[str, Any]) -> None:
        if self.takes is not None:
            raise self.takes
        self.taken.append(body)

    async def _fetch(self) -> list[bytes]:
        if self.silent:
            await asyncio.Event().wait()
        if self.sends:
            return [self.sends.pop(0)]
        await self.ends.wait()
        raise ActorDiedError("gone")

    async def _end(self) -> None:
        return


class PlayedRay:
    """A cluster with one node."""

    def __init__(self) -> None:
        self.actor: Callable[[], Actor] = lambda: Actor(dict(OURS))
        self.made: list[Actor] = []
        self.hangs: threading.Event | None = None
        """Set: the head takes connections, and says nothing until then."""

    def start(self, *_: Any) -> Actor:
        self.made.append(self.actor())
        return self.made[-1]

    def kill(self, actor: Actor) -> None:
        actor.killed = True

    def nodes(self) -> list[dict[str, Any]]:
        if self.hangs is not None:
            self.hangs.wait()
        there = {"NodeID": "n1", "Alive": True, "NodeManagerHostname": "box"}
        return [{**there, "Resources": {"CPU": 2.0}}]

    def module(self, head: str) -> ModuleType:
        ray: Any = ModuleType("ray")
        started = SimpleNamespace(options=lambda **_: SimpleNamespace(remote=self.start))
        ray.remote = lambda **_: lambda cls: started
        ray.kill, ray.nodes = self.kill, self.nodes
        ray.get_runtime_context = lambda: SimpleNamespace(gcs_address=head)
        ray.exceptions = SimpleNamespace(
            RayError=RayError,
            ActorDiedError=ActorDiedError,
            ActorUnavailableError=type("ActorUnavailableError", (RayError,), {}),
            RayTaskError=type("RayTaskError", (RayError,), {}),
        )
        made: ModuleType = ray
        return made


@pytest.fixture
def played() -> PlayedRay:
    return PlayedRay()


@dataclass
class Engine:
    """The engine's end of the socket."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def told(self, *wanted: str) -> dict[str, str]:
        """Return the next frame that is of these."""
        async with asyncio.timeout(20):
            while True:
                got = await next_frame(self.reader)
                assert got is not None
                if got[0]["is"] in wanted:
                    return got[0]


@pytest.fixture
def bridge(played: PlayedRay, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Give what runs a bridge between an engine and the played Ray, with times of its own."""

    @asynccontextmanager
    async def run(**seconds: float) -> AsyncIterator[Engine]:
        with socket.create_server(("127.0.0.1", 0)) as head:
            ray = played.module(f"127.0.0.1:{head.getsockname()[1]}")
            strategies: Any = ModuleType("ray.util.scheduling_strategies")
            strategies.NodeAffinitySchedulingStrategy = lambda node, soft: None
            monkeypatch.setitem(sys.modules, "ray", ray)
            monkeypatch.setitem(sys.modules, "ray.util", ModuleType("ray.util"))
            monkeypatch.setitem(sys.modules, "ray.util.scheduling_strategies", strategies)
            monkeypatch.delitem(sys.modules, BRIDGE, raising=False)
            module: Any = importlib.import_module(BRIDGE)
            monkeypatch.delitem(sys.modules, BRIDGE)
            monkeypatch.setattr(module, "_LOOK_S", 0.01)
            for name, value in seconds.items():
                monkeypatch.setattr(module, f"_{name}", value)
            ours, theirs = socket.socketpair()
            engine = Engine(*await asyncio.open_connection(sock=ours))
            reader, writer = await asyncio.open_connection(sock=theirs)
            made = module.Bridge(reader, writer, b"setup", MOST)
            running = asyncio.create_task(made.run())
            try:
                yield engine
            finally:
                engine.writer.close()
                if played.hangs is not None:
                    played.hangs.set()
                with suppress(ConnectionError):
                    await asyncio.wait_for(running, 20)
                for one in (engine.writer, writer):
                    one.close()
                    with suppress(ConnectionError):
                        await one.wait_closed()

    return run


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"python": "3.9.1"}, f"box has python 3.9.1, and here it is {PYTHON}"),
        (
            {"tui-eval": "0.0.9"},
            f"box has tui-eval 0.0.9, and here it is {tui_eval.__version__}",
        ),
    ],
)
async def test_a_node_of_another_version_is_refused_before_it_reads_anything(
    played: PlayedRay, bridge: Callable[..., Any], said: dict[str, str], told: str
) -> None:
    played.actor = lambda: Actor({**OURS, **said})
    async with bridge(NONE_S=0.2) as engine:
        unplaced = await engine.told("unplaced", "joined")
        failed = await engine.told("failed", "joined")
    assert (unplaced["node"], unplaced["why"]) == ("box", f"{told}: install the same there")
    assert f"no worker can be placed: {told}: install the same there" in failed["why"]
    assert "resume" in failed["why"]
    assert all(one.killed and not one.begun for one in played.made)


async def test_a_node_without_what_a_worker_needs_says_what(
    played: PlayedRay, bridge: Callable[..., Any]
) -> None:
    said = (
        "The actor died because of an error raised in its creation task, RayWorker\n"
        "  File worker.py, line 4\nModuleNotFoundError: No module named 'tui_eval'\n"
    )
    played.actor = lambda: Actor(dict(OURS), unmade=ActorDiedError(said))
    async with bridge() as engine:
        unplaced = await engine.told("unplaced", "joined")
    why = "it could not begin: ModuleNotFoundError: No module named 'tui_eval'"
    assert (unplaced["node"], unplaced["why"]) == ("box", why)


async def test_a_worker_that_says_nothing_is_lost_and_ended(
    played: PlayedRay, bridge: Callable[..., Any]
) -> None:
    played.actor = lambda: Actor(dict(OURS), silent=not played.made)
    async with bridge(SILENT_S=0.05) as engine:
        first = await engine.told("joined")
        lost = await engine.told("lost")
        assert lost["worker"] == first["worker"]
        assert lost["why"] == "it has said nothing for 0.05 s"
        assert played.made[0].killed
        assert (await engine.told("joined"))["worker"] != first["worker"]  # another takes its place


async def test_a_worker_that_sends_more_than_is_read_is_lost(
    played: PlayedRay, bridge: Callable[..., Any]
) -> None:
    played.actor = lambda: Actor(dict(OURS), sends=[b"x" * MOST, b"x" * (MOST + 1), b"x"])
    async with bridge() as engine:
        worker = (await engine.told("joined"))["worker"]
        assert (await engine.told("came", "lost"))["is"] == "came"
        lost = await engine.told("came", "lost")
    assert lost == {"is": "lost", "worker": worker, "why": "it sent 101 bytes at once"}
    assert played.made[0].killed


async def test_a_worker_that_does_not_take_its_orders_is_lost(
    played: PlayedRay, bridge: Callable[..., Any]
) -> None:
    played.actor = lambda: Actor(dict(OURS), takes=RayError("the object store is full"))
    async with bridge() as engine:
        worker = (await engine.told("joined"))["worker"]
        engine.writer.write(frame({"do": "give", "worker": worker}, b"orders"))
        lost = await engine.told("lost")
    assert lost["worker"] == worker
    assert "did not take what it was sent: RayError: the object store is full" in lost["why"]
    assert played.made[0].killed


async def test_workers_go_on_while_the_head_hangs_and_without_any_it_is_said(
    played: PlayedRay, bridge: Callable[..., Any]
) -> None:
    async with bridge(REACHED_S=0.01, NONE_S=0.5, ALIVE_S=0.02) as engine:
        worker = (await engine.told("joined"))["worker"]
        played.hangs = threading.Event()
        for _ in range(10):
            await engine.told("alive")
        engine.writer.write(frame({"do": "give", "worker": worker}, b"orders"))
        while not played.made[0].taken:
            await engine.told("alive")
        played.made[0].ends.set()
        failed = await engine.told("failed")
    assert "no worker can be placed: Ray's head does not answer" in failed["why"]


async def test_what_cannot_be_shared_is_told(played: PlayedRay, bridge: Callable[..., Any]) -> None:
    async with bridge() as engine:
        await engine.told("joined")
        engine.writer.write(frame({"do": "share", "name": "w"}, b"files"))
        failed = await engine.told("failed")
    assert failed["why"].startswith("Ray: ")
