"""A Ray cluster whose nodes are processes of this machine."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

_PATIENCE_S = 60.0
_PRINTED_S = 0.1


class Node:
    """A node of a cluster: `ray start --block` with all that it starts."""

    def __init__(self, *options: str, env: dict[str, str]) -> None:
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `end`
        command = [str(Path(sys.executable).with_name("ray")), "start", "--block"]
        options = ("--object-store-memory", "80000000", "--disable-usage-stats", *options)
        self.process = subprocess.Popen(
            [*command, *options],
            stdin=subprocess.DEVNULL,
            stdout=self._printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=env,
            cwd="/",
        )
        self._wait()

    def _wait(self) -> None:
        until = time.monotonic() + _PATIENCE_S
        while b"Ray runtime started" not in (said := self.said()):
            assert self.process.poll() is None, said
            assert time.monotonic() < until, said
            time.sleep(_PRINTED_S)

    def said(self) -> bytes:
        self._printed.seek(0)
        return self._printed.read()

    def processes(self, name: str = "") -> list[psutil.Process]:
        """Return the node's processes, or those whose command line has a name in it."""
        found = []
        with suppress(psutil.NoSuchProcess):
            for one in psutil.Process(self.process.pid).children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    if name in " ".join(one.cmdline()):
                        found.append(one)
        return found

    def workers(self) -> list[psutil.Process]:
        return self.processes("ray::RayWorker")

    def kill(self) -> None:
        """End it as a machine ends whose power has gone."""
        gone = [*self.processes(), psutil.Process(self.process.pid)]
        for one in gone:
            with suppress(psutil.NoSuchProcess):
                one.send_signal(signal.SIGKILL)
        self.process.wait()

    def end(self) -> None:
        if self.process.poll() is None:
            self.kill()
        self._printed.close()


@contextmanager
def cluster(folder: Path, **env: str) -> Iterator[tuple[str, list[Node]]]:
    """Give the address of a head with two processors, and its nodes: add to them, they are ended.

    Args:
        folder: Where Ray has its files.
        **env: The nodes' environment, beside what they need.
    """
    there = {
        name: os.environ[name] for name in ("PATH", "HOME", "LD_LIBRARY_PATH") if name in os.environ
    }
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    made = {**there, "LC_ALL": "C.UTF-8", **env}
    options = ("--node-ip-address", "127.0.0.1", "--include-dashboard", "false")
    temporary = ("--temp-dir", str(folder))
    nodes = [Node("--head", "--port", str(port), "--num-cpus", "2", *options, *temporary, env=made)]
    try:
        yield f"127.0.0.1:{port}", nodes
    finally:
        for one in reversed(nodes):
            one.end()


def joined(address: str, **env: str) -> Node:
    """Return a further node of a cluster, with a processor."""
    there = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return Node(
        *("--address", address, "--node-ip-address", "127.0.0.1", "--num-cpus", "1"),
        env={**there, "LC_ALL": "C.UTF-8", **env},
    )
