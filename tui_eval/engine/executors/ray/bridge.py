"""The process that has Ray in it, beside an engine: `python -m …bridge`, a socket as its input.

Ray is kept out of the engine: it may end its process where its head has gone, it installs handlers
for signals, and its threads and memory would be an engine's. And no key is in its environment that
it could hand on. It ends with the engine, whose job and workers Ray ends then.
"""

import asyncio
import os
import platform
import socket
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from typing import Any, Final

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

import tui_eval
from tui_eval.engine.executors.ray.frames import frame, next_frame
from tui_eval.engine.executors.ray.ray_worker import ANSWERS_S, RayWorker
from tui_eval.model.json import JsonObject

_REACHED_S: Final = 5.0
"""Seconds in which the head has to take a connection."""
_JOINED_S: Final = 60.0
"""Seconds in which the head has to let this process join its cluster."""
_ALIVE_S: Final = 5.0
"""Seconds between two signs of life to the engine."""
_PLACED_S: Final = 60.0
"""Seconds in which a worker has to begin on a node that has room for it."""
_NONE_S: Final = 30.0
"""Seconds to wait while there is no worker, until it is said that there will be none."""
_LOOK_S: Final = 2.0
"""Between two looks which nodes there are."""
_SILENT_S: Final = 6 * ANSWERS_S
"""Seconds without an answer after which a worker is taken as lost."""
_GONE_LOOKS: Final = 3
"""Looks in a row at which the head was not there, after which it has gone."""
_ENDED_S: Final = 5.0
"""Seconds that workers have to end what they run, when the engine ends."""

_NOT_MADE: Final = "raised in its creation task"
"""What Ray says of a worker whose process could not make it."""
_GOING_ON: Final = (
    "A run that has begun goes on with `resume`, elsewhere with --address HOST:PORT, on this "
    "machine with --executor local"
)


class _NoClusterError(Exception):
    """There is no cluster to be used; the message says why, and what to do."""


class Bridge:
    """Starts a worker on each node of a cluster, and carries bytes between them and the engine."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        setup: bytes,
        most: int,
    ) -> None:
        """Begin with no worker.

        Args:
            reader: What the engine says.
            writer: What it is told.
            setup: What workers are made of.
            most: Bytes of a handful that the engine reads.
        """
        self._reader = reader
        self._writer = writer
        self._setup = setup
        self._most = most
        self._actors: dict[str, Any] = {}
        """Those that are ready, by name."""
        self._nodes: dict[str, asyncio.Task[None]] = {}
        """What follows the worker of each node, by the node's id."""
        self._count = 0
        self._shared: dict[str, list[Any]] = {}
        self._giving: set[asyncio.Task[None]] = set()
        """Handfuls that workers have not taken yet."""
        self._sent: dict[str, set[str]] = {}
        """What each worker was told to be shared."""
        self._why_none = "no node has a free processor"

    async def run(self) -> None:
        """Work until the engine closes its end, or there is no worker to be had."""
        looking = asyncio.create_task(self._look())
        listening = asyncio.create_task(self._listen())
        living = asyncio.create_task(self._say_that_it_lives())
        await asyncio.wait((looking, listening), return_when=asyncio.FIRST_COMPLETED)
        if (why := _reason(looking) or _reason(listening)) is not None:
            self._tell({"is": "failed", "why": why})
            with suppress(ConnectionError):
                await self._writer.drain()
        ends = [self._ended(actor) for actor in self._actors.values()]
        await asyncio.gather(*ends)
        for task in (looking, listening, living, *self._nodes.values(), *self._giving):
            task.cancel()

    async def _ended(self, actor: Any) -> None:  # noqa: ANN401  # Ray makes its class
        with suppress(Exception):
            await asyncio.wait_for(actor.end.remote(), _ENDED_S)

    async def _say_that_it_lives(self) -> None:
        while True:
            await asyncio.sleep(_ALIVE_S)
            self._tell({"is": "alive"})

    async def _listen(self) -> None:
        while (got := await next_frame(self._reader)) is not None:
            head, body = got
            if head["do"] == "share":
                self._shared[head["name"]] = [await asyncio.to_thread(ray.put, body)]
            elif (actor := self._actors.get(head["worker"])) is not None:
                giving = asyncio.create_task(self._give(head["worker"], actor, body))
                self._giving.add(giving)
                giving.add_done_callback(self._giving.discard)

    async def _give(self, worker: str, actor: Any, body: bytes) -> None:  # noqa: ANN401  # likewise
        """Have a worker take messages; one that cannot is lost, as its attempts would never end."""
        known = self._sent[worker]
        new = {name: self._shared[name] for name in self._shared.keys() - known}
        known |= new.keys()
        try:
            await actor.take.remote(body, new)
        except Exception as error:  # noqa: BLE001 - whatever Ray says is told to a person
            self._lose(worker, f"it did not take what it was sent: {_why(error, '')}")

    async def _look(self) -> str:
        """Keep a worker on each node; return why there is none, once that is so.

        A head that does not answer is no reason to end what workers do.
        """
        loop = asyncio.get_running_loop()
        had_one, gone = loop.time(), 0
        asking: asyncio.Task[list[dict[str, Any]] | None] | None = None
        while True:
            asking = asking or asyncio.create_task(asyncio.to_thread(_nodes))
            answered, _ = await asyncio.wait((asking,), timeout=_REACHED_S)
            if answered:
                nodes, asking = asking.result(), None
                gone = gone + 1 if nodes is None else 0
                if gone >= _GONE_LOOKS:
                    return f"Ray's head has gone: start the cluster again. {_GOING_ON}"
                self._follow_new(nodes or ())
            now = loop.time()
            if self._actors:
                had_one = now
            elif now - had_one > _NONE_S:
                why = "Ray's head does not answer" if asking is not None else self._why_none
                return f"no worker can be placed: {why}. {_GOING_ON}"
            await asyncio.sleep(_LOOK_S)

    def _follow_new(self, nodes: Iterable[dict[str, Any]]) -> None:
        for node in nodes:
            if node["NodeID"] not in self._nodes:
                task = asyncio.create_task(self._follow(node))
                self._nodes[node["NodeID"]] = task
                task.add_done_callback(partial(self._over, node["NodeID"]))

    def _over(self, node: str, _: "asyncio.Task[None]") -> None:
        del self._nodes[node]

    async def _follow(self, node: dict[str, Any]) -> None:
        """Have a worker on a node, as long as it lives, and say what it sends."""
        host = str(node["NodeManagerHostname"])
        cpus = float(node["Resources"].get("CPU", 0))
        self._count += 1
        name = f"{host}-{self._count}"
        there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        # any number of calls at once: each is a few lines, what they begin is not waited for
        made = ray.remote(num_cpus=1, max_restarts=0, max_concurrency=1000)(RayWorker)
        actor = made.options(scheduling_strategy=there).remote(self._setup)
        try:
            said = await asyncio.wait_for(actor.versions.remote(), _PLACED_S)
            _see_that_it_is_ours(said, host)
            await asyncio.wait_for(actor.begin.remote(), _PLACED_S)
        except Exception as error:  # noqa: BLE001 - likewise
            self._why_none = _why(error, f"on {host} none began within {_PLACED_S:g} s: its "
                                  f"{cpus:g} processors may be others'")  # fmt: skip
            self._tell({"is": "unplaced", "node": host, "why": self._why_none})
            ray.kill(actor)
            await asyncio.sleep(_LOOK_S)
            return
        self._actors[name], self._sent[name] = actor, set()
        self._tell({"is": "joined", "worker": name, "node": host, "cpus": str(cpus)})
        try:
            while True:
                for handful in await asyncio.wait_for(actor.fetch.remote(), _SILENT_S):
                    if len(handful) > self._most:
                        self._lose(name, f"it sent {len(handful):,} bytes at once")
                        return
                    self._tell({"is": "came", "worker": name}, handful)
        except Exception as error:  # noqa: BLE001 - likewise
            self._lose(name, _why(error, f"it has said nothing for {_SILENT_S:g} s"))
        finally:
            self._actors.pop(name, None)
            with suppress(Exception):
                ray.kill(actor)

    def _lose(self, worker: str, why: str) -> None:
        """Give a worker up, and say so; it is ended."""
        if (actor := self._actors.pop(worker, None)) is None:
            return  # it was lost before
        self._tell({"is": "lost", "worker": worker, "why": why})
        with suppress(Exception):
            ray.kill(actor)

    def _tell(self, head: JsonObject, body: bytes = b"") -> None:
        self._writer.write(frame(head, body))


def _reason(task: "asyncio.Task[str] | asyncio.Task[None]") -> str | None:
    """Return what a task has ended with that is to be told; None: it goes on, or nothing."""
    if not task.done():
        return None
    try:
        return task.result()
    except Exception as error:  # noqa: BLE001 - whatever Ray says is told to a person
        return f"Ray: {_why(error, 'it has not answered')}"


def _nodes() -> list[dict[str, Any]] | None:
    """Return the nodes that live and have processors; None where the head does not answer."""
    try:
        _see_head(ray.get_runtime_context().gcs_address)
    except OSError:
        return None
    return [one for one in ray.nodes() if one["Alive"] and one["Resources"].get("CPU", 0) >= 1]


def _see_head(address: str) -> None:
    """Connect to a head; Ray itself waits for one for a minute and longer.

    Raises:
        OSError: nobody answers there.
        ValueError: it is no address.
    """
    host, _, port = address.rpartition(":")
    socket.create_connection((host, int(port)), _REACHED_S).close()


def _see_that_it_is_ours(said: dict[str, str], host: str) -> None:
    """Refuse a worker that is not what the engine is.

    Raises:
        _NoClusterError: it has another Python or tui-eval.
    """
    ours = {"tui-eval": tui_eval.__version__, "python": platform.python_version()}
    for what, version in ours.items():
        if said[what] != version:
            raise _NoClusterError(
                f"{host} has {what} {said[what]}, and here it is {version}: install the same there"
            )


def _why(error: Exception, silent: str) -> str:
    """Return what a person reads of an exception of Ray's."""
    if isinstance(error, TimeoutError) and not isinstance(error, ray.exceptions.RayError):
        return silent
    if isinstance(error, ray.exceptions.ActorDiedError):
        if _NOT_MADE in str(error):  # a traceback follows, whose last line says why
            return f"it could not begin: {str(error).strip().splitlines()[-1].strip()}"
        return "its process, or its node, has ended"
    if isinstance(error, ray.exceptions.ActorUnavailableError):
        return "its node does not answer"
    if isinstance(error, ray.exceptions.RayTaskError):
        error = error.cause
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = ": ".join(lines[:2]) if lines else "nothing was said"
    return told if isinstance(error, _NoClusterError) else f"{type(error).__name__}: {told}"


def _connect(address: str) -> None:
    """Join a cluster.

    Raises:
        _NoClusterError: there is none, or it cannot be used.
    """
    named = address or os.environ.get("RAY_ADDRESS", "")
    if "://" in named:
        raise _NoClusterError(
            f"{named} is an address of Ray's client, which is not supported: start the run on a "
            "machine of the cluster, with --address HOST:PORT"
        )
    try:
        if named and named != "auto":
            _see_head(named)
        ray.init(
            address=named or "auto",
            namespace="tui-eval",
            runtime_env={},
            log_to_driver=False,
            configure_logging=False,
        )
    except (OSError, ValueError) as error:
        if named and named != "auto":
            raise _NoClusterError(
                f"no Ray cluster answers at {named}: {_why(error, '')}. {_GOING_ON}"
            ) from error
        raise _NoClusterError(
            "no Ray cluster runs on this machine: start one with `ray start --head`, join one "
            f"with `ray start --address=HOST:PORT`, or name one with --address. {_GOING_ON}"
        ) from error
    except Exception as error:
        raise _NoClusterError(f"Ray: {' '.join(str(error).split())}") from error


async def _main() -> None:
    connection = socket.socket(fileno=os.dup(0))
    reader, writer = await asyncio.open_connection(sock=connection, limit=1 << 20)
    started = await next_frame(reader)
    if started is None:
        return
    head, body = started
    try:
        joining = asyncio.to_thread(_connect, head["address"])
        await asyncio.wait_for(joining, _JOINED_S)
    except (_NoClusterError, TimeoutError) as error:
        why = str(error) or f"Ray's head has not answered for {_JOINED_S:g} s. {_GOING_ON}"
        writer.write(frame({"is": "failed", "why": why}))
        await writer.drain()
        return
    await Bridge(reader, writer, body, int(head["most"])).run()
    await asyncio.to_thread(ray.shutdown)


if __name__ == "__main__":
    asyncio.run(_main())
    sys.stdout.flush()
    os._exit(0)  # threads of Ray's may wait for a head that has gone
