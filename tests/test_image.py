"""The Dockerfile names what is there, and its image is what the documentation says of it."""

import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
STEPS = [
    tuple(line.split(maxsplit=1))
    for line in TEXT.splitlines()
    if line.strip() and not line.startswith("#")
]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def told(instruction: str) -> list[str]:
    return [rest for name, rest in STEPS if name == instruction]


def copied() -> list[str]:
    words = [rest.split() for rest in told("COPY") if "--from=" not in rest]
    return [source for line in words for source in line[:-1]]


@pytest.mark.parametrize("source", copied())
def test_what_is_copied_is_there_and_not_kept_out(source: str) -> None:
    assert (ROOT / source).exists()
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    patterns = [line for line in ignored if line and not line.startswith("#")]
    assert not [one for one in patterns if fnmatch(source.partition("/")[0], one)]


def test_all_that_the_wheel_is_built_of_is_copied() -> None:
    project, built = PROJECT["project"], PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {"pyproject.toml", "hatch_build.py", project["readme"], *project["license-files"]}
    needed |= {*built["packages"], *built["force-include"]}
    assert needed <= set(copied())


def test_only_instructions_that_there_are_and_each_file_that_pip_reads_is_copied() -> None:
    assert {name for name, _ in STEPS} <= {
        "FROM", "RUN", "COPY", "ENV", "WORKDIR", "USER", "VOLUME", "ENTRYPOINT", "CMD",
    }  # fmt: skip
    read = set(re.findall(r"-r (\S+)", TEXT))
    assert read
    assert read <= set(copied())
    assert all("--require-hashes" in line for line in TEXT.splitlines() if " -r " in line)


def test_it_is_slim_has_no_rights_and_keeps_the_store_in_a_volume() -> None:
    bases = {base.split()[0] for base in told("FROM")}
    assert len(bases) == 1
    version = re.fullmatch(r"python:3\.(\d+)-slim", bases.pop())
    assert version is not None
    assert f"Programming Language :: Python :: 3.{version[1]}" in PROJECT["project"]["classifiers"]
    (user,) = told("USER")
    assert user.isdecimal()
    assert int(user) > 0
    (volume,) = told("VOLUME")
    (env,) = told("ENV")
    assert f"TUI_EVAL_STORE={volume}/" in env
    (entry,) = told("ENTRYPOINT")
    assert entry == f'["{next(iter(PROJECT["project"]["scripts"]))}"]'
