"""Waiting for room on a full disk."""

import asyncio
import errno
import os
from functools import partial
from pathlib import Path

import pytest

from tui_eval.targets import disk_room
from tui_eval.targets.disk_room import DiskRoom


class Disk:
    """A disk with so much room; what is written is taken back where it does not fit."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.most = self._writing = 0

    async def write(self, size: int) -> int:
        self._writing += 1
        self.most = max(self.most, self._writing)
        await asyncio.sleep(0)
        self._writing -= 1
        if size > self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.room -= size
        return size


async def test_those_that_do_not_fit_wait_and_try_one_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(disk_room, "_LOOK_S", 0.0)
    disk, room = Disk(1), DiskRoom(Path("/there"))
    tasks = [asyncio.create_task(room.patiently(lambda: disk.write(2))) for _ in range(5)]
    for _ in range(10):
        await asyncio.sleep(0)
    disk.most = 0
    for _ in range(50):
        await asyncio.sleep(0)
    assert disk.most == 1
    assert room.lacking == (
        f"the files of trials cannot be written in /there: {os.strerror(28)}; make room"
    )
    tasks.pop().cancel()
    disk.room = 8
    assert await asyncio.gather(*tasks) == [2] * 4
    assert room.lacking is None


async def test_what_never_fits_keeps_nobody_from_what_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_room, "_LOOK_S", 0.0)
    disk, room = Disk(1), DiskRoom()
    large, small = (asyncio.create_task(room.patiently(partial(disk.write, n))) for n in (9, 2))
    while room.lacking is None or disk.most < 2:
        await asyncio.sleep(0)
    disk.room = 3
    async with asyncio.timeout(5):
        assert await small == 2
    assert not large.done()
    disk.room = 9
    assert await large == 9


async def test_what_is_wrong_otherwise_is_no_matter_of_room() -> None:
    async def refused() -> None:
        raise PermissionError(errno.EACCES, "no")

    room = DiskRoom()
    with pytest.raises(PermissionError):
        await room.patiently(refused)
    assert room.lacking is None
