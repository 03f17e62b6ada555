"""The memory of cgroups, of both versions, from files as the kernel has them."""

from pathlib import Path

import pytest

from tui_eval.processes.cgroup_memory import memory_groups

GB = 1 << 30


def described(at: Path, mounts: list[str], own: list[str]) -> Path:
    """Describe a process; give where."""
    (at / "proc/self").mkdir(parents=True)
    (at / "proc/self/mountinfo").write_text("".join(f"{line}\n" for line in mounts))
    (at / "proc/self/cgroup").write_text("".join(f"{line}\n" for line in own))
    return at / "proc"


def group(folder: Path, **files: str) -> None:
    """Write a group's files; `__` in a name stands for a point."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


def available(proc: Path) -> list[int]:
    found = (one.available() for one in memory_groups(proc))
    return [one for one in found if one is not None]


def test_version_2_counts_what_can_be_given_back_and_every_group_above(tmp_path: Path) -> None:
    place = tmp_path / "fs"
    proc = described(
        tmp_path,
        ["20 1 0:1 / / rw - ext4 /dev/a rw", f"31 23 0:28 / {place} rw shared:9 - cgroup2 cg rw"],
        ["0::/outer/inner"],
    )
    group(place)
    stat = f"anon 5\ninactive_file {GB}\nactive_file 7\n"
    group(
        place / "outer",
        memory__max=f"{8 * GB}\n",
        memory__high="max\n",
        memory__current=f"{7 * GB}\n",
        memory__stat=stat,
    )
    group(
        place / "outer/inner",
        memory__max="max\n",
        memory__high=f"{4 * GB}\n",
        memory__current=f"{3 * GB}\n",
        memory__stat="inactive_file 0\n",
    )
    assert available(proc) == [GB, 2 * GB]
    assert [one.limit() for one in memory_groups(proc)] == [4 * GB, 8 * GB, None]


def test_version_1_has_a_huge_number_for_no_limit(tmp_path: Path) -> None:
    place = tmp_path / "fs"
    proc = described(
        tmp_path,
        [
            f"35 31 0:32 / {place} rw,relatime - cgroup cgroup rw,memory",
            f"33 31 0:30 / {tmp_path} rw,relatime - cgroup cgroup rw,cpuacct",
        ],
        ["4:memory:/box", "1:cpu:/box", "0::/"],
    )
    group(place, memory__limit_in_bytes="9223372036854771712\n", memory__usage_in_bytes="5\n")
    group(
        place / "box",
        memory__limit_in_bytes=f"{GB}\n",
        memory__usage_in_bytes=f"{2 * GB}\n",
        memory__stat="total_inactive_file 1024\n",
    )
    assert available(proc) == [0]


@pytest.mark.parametrize("path", ["/docker/abc", "/../../other"])
def test_a_container_that_sees_its_own_group_alone_is_found(tmp_path: Path, path: str) -> None:
    place = tmp_path / "fs"
    proc = described(
        tmp_path, [f"31 23 0:28 /docker/abc {place} rw - cgroup2 cg rw"], [f"0::{path}"]
    )
    group(place, memory__max=f"{GB}\n", memory__current="0\n", memory__stat="")
    assert available(proc) == [GB]


def test_where_there_are_no_cgroups_there_is_no_limit(tmp_path: Path) -> None:
    assert memory_groups(tmp_path) == []
