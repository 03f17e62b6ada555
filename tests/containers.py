"""A real podman with images and containers of its own, where this machine can have one."""

import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

IMAGE = "localhost/tui-eval-test:latest"
"""Busybox, in which programs start in /app."""
_COMMANDS = ("sh", "true", "cat", "echo", "ls", "pwd", "rm", "sleep", "tr")
_SETTINGS = """\
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
netns = "none"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "{runtime}"
tmp_dir = "{root}/tmp"
"""
_STORAGE = '[storage]\ndriver = "vfs"\ngraphroot = "{root}/images"\nrunroot = "{root}/run"\n'


@dataclass(frozen=True)
class Podman:
    """A podman that works."""

    environment: dict[str, str]
    """What it reads: where its images are."""

    def __call__(self, *arguments: str) -> str:
        """Run a command of it; give what it printed."""
        return _said(self.environment, *arguments)

    def containers(self) -> list[str]:
        """Give the ids of all its containers."""
        return self("ps", "--all", "--quiet", "--no-trunc").split()


@contextmanager
def working_podman() -> Iterator[Podman]:
    """Give a podman with one image; skip where there is none that works, with the reason."""
    # a short path: below a long one each start takes 20 seconds
    with tempfile.TemporaryDirectory(prefix="podman-") as root:
        yield from _working(Path(root))


def _working(root: Path) -> Iterator[Podman]:
    busybox = shutil.which("busybox")
    if shutil.which("podman") is None or busybox is None:
        pytest.skip("podman and busybox are not installed: apt install podman runc busybox-static")
    system = root / "system.tar"
    with tarfile.open(system, "w") as archive:
        archive.add(busybox, "bin/busybox")
        folder = tarfile.TarInfo("app")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o755
        archive.addfile(folder)
        for name in _COMMANDS:
            link = tarfile.TarInfo(f"bin/{name}")
            link.type, link.linkname = tarfile.SYMTYPE, "busybox"
            archive.addfile(link)
    storage = root / "storage.conf"
    storage.write_text(_STORAGE.format(root=root))
    why = "no runtime is installed"
    for runtime in ("crun", "runc"):
        settings = root / f"{runtime}.conf"
        settings.write_text(_SETTINGS.format(runtime=runtime, root=root))
        podman = Podman({"CONTAINERS_CONF": str(settings), "CONTAINERS_STORAGE_CONF": str(storage)})
        try:
            podman("import", "--quiet", "--change=WORKDIR=/app", str(system), IMAGE)
            podman("run", "--rm", IMAGE, "true")
        except subprocess.CalledProcessError as error:
            why = error.stderr.strip().splitlines()[-1]
            continue
        yield podman
        podman("rm", "--all", "--force")
        return
    pytest.skip(f"podman runs no containers here: {why}")


def _said(environment: dict[str, str], *arguments: str) -> str:
    return subprocess.run(
        ["podman", *arguments],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
