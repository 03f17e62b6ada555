"""Distributions that are put on the path, as pip leaves them."""

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest


def install(
    folder: Path, name: str = "acme", version: str = "1.0", *points: str, **modules: str
) -> Path:
    """Put a distribution into a folder.

    Args:
        folder: A folder of `sys.path`, as site-packages is.
        name: The distribution.
        version: Its version.
        points: Its entry points: `scorer.even = acme_even`.
        modules: Its modules, by their names.
    """
    for module, text in modules.items():
        (folder / f"{module}.py").write_text(dedent(text), "utf-8")
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text("\n".join(("[tui_eval]", *points)) + "\n")
    (info / "RECORD").write_text(
        f"{info.name}/METADATA,,\n{info.name}/RECORD,,\n{hash(points)}.py,,\n"
    )
    return info


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give a folder of `sys.path`."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    yield folder
    assert not [one for one in sys.modules if one.startswith("acme")], "a plugin was imported here"
