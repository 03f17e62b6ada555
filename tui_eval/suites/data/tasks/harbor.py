"""`harbor`: a folder a task, with `task.toml`, `instruction.md`, `environment/` and `tests/`."""

import re
import tomllib
from collections.abc import Mapping
from typing import Final

from tui_eval.model.json import JsonObject
from tui_eval.suites.data.tasks.task_file import (
    TaskError,
    TaskFile,
    TaskLeftOutError,
    seconds,
    texts,
)

FILE: Final = "task.toml"
SCORER: Final[JsonObject] = {
    "kind": "command",
    "name": "tests",
    "command": ["bash", "/tests/test.sh"],
    "workspace": True,
    "files": {"/tests": "{{ tests }}"},
    "reply": ["file:/logs/verifier/reward.json", "file:/logs/verifier/reward.txt"],
    "timeout": "{{ tests_timeout or 600 }}",
    "when": "{{ tests }}",
}
"""What a task is graded by, where it runs in its image."""
_USUAL: Final = {"environment.allow_internet": True, "environment.gpus": 0}
_KNOWN: Final = frozenset(
    ("version", "schema_version", "task.", "metadata.", "source", "agent.timeout_sec",
     "verifier.timeout_sec", "environment.build_timeout_sec", "environment.docker_image",
     "environment.memory_mb", "environment.storage_mb", "environment.memory",
     "environment.storage")
)  # fmt: skip
_SIZE: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?) ?([KMGT])i?B?")
_LINE: Final = re.compile(r"\(at line (\d+)")


def harbor_row(file: TaskFile) -> JsonObject:
    """Return the case of a task.

    Raises:
        TaskError: it cannot be one.
        TaskLeftOutError: it asks for what there is not here, and is no task without it.
    """
    try:
        said = tomllib.loads(file.text())
    except tomllib.TOMLDecodeError as error:
        line = _LINE.search(str(error))
        raise TaskError(f"is not TOML: {error}", line=int(line[1]) if line else None) from None
    except RecursionError:
        raise TaskError("nests too deeply") from None
    for name in ("task", "metadata", "agent", "verifier", "environment"):
        if not isinstance(said.get(name, {}), dict):
            raise TaskError("must be a table", name)
    if said.get("steps"):
        raise TaskLeftOutError("steps are not supported")
    if compose := file.there("environment/docker-compose.yaml", "docker-compose.yaml"):
        raise TaskLeftOutError(f"{file.within(compose)}: compose is not supported")
    row = file.columns(said, _KNOWN, _USUAL)
    environment = said.get("environment", {})
    dockerfile = file.there("environment/Dockerfile", "Dockerfile")
    image = environment.get("docker_image")
    tags = [
        *texts(said.get("metadata", {}).get("tags")),
        *texts(said.get("task", {}).get("keywords")),
    ]
    limit = seconds(said.get("agent", {}).get("timeout_sec"), "agent.timeout_sec")
    return {
        **row,
        "instruction": file.text("instruction.md"),
        "environment": file.there("environment"),
        "dockerfile": dockerfile,
        "image": image if isinstance(image, str) and image else dockerfile,
        "limits": {
            name: most
            for name, most in (
                ("memory", _bytes(environment, "memory")),
                ("disk", _bytes(environment, "storage")),
            )
            if most is not None
        },
        "tests": file.there("tests"),
        "tests_timeout": seconds(
            said.get("verifier", {}).get("timeout_sec"), "verifier.timeout_sec"
        ),
        **({"timeout": limit} if limit is not None else {}),
        **({"tags": tags} if tags else {}),
    }


def _bytes(environment: Mapping[str, object], name: str) -> int | None:
    """Return a size: `NAME_mb`, a number of MiB, or `NAME`, a text such as `2G`; None: no limit.

    Raises:
        TaskError: it is none.
    """
    megabytes, text = environment.get(f"{name}_mb"), environment.get(name)
    if megabytes is not None:
        if isinstance(megabytes, bool) or not isinstance(megabytes, int) or not 0 < megabytes < 1e9:
            raise TaskError("must be a number of MiB", f"environment.{name}_mb")
        return megabytes << 20
    if text is None:
        return None
    found = _SIZE.fullmatch(str(text))
    if found is None:
        raise TaskError('must be a size such as "2G"', f"environment.{name}")
    return round(float(found[1]) * (1 << 10 * (1 + "KMGT".index(found[2]))))
