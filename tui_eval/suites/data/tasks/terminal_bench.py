"""`terminal-bench`: a folder a task: `task.yaml`, a Dockerfile, `run-tests.sh` and `tests/`."""

from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.data.tasks.task_file import (
    TaskError,
    TaskFile,
    TaskLeftOutError,
    seconds,
    texts,
)
from tui_eval.suites.importers.reading import yaml_document
from tui_eval.suites.loading.errors import SuiteError

FILE: Final = "task.yaml"
SCORER: Final[JsonObject] = {
    "kind": "command",
    "name": "tests",
    "command": ["bash", "/tests/run-tests.sh"],
    "env": {"TEST_DIR": "/tests"},
    "workspace": True,
    "files": {"/tests": "{{ tests }}", "/tests/run-tests.sh": "{{ run_tests }}"},
    "reply": "pytest",
    "timeout": "{{ tests_timeout or 180 }}",
    "when": "{{ tests and run_tests and parser == 'pytest' }}",
}
"""What a task is graded by, where it runs in its image."""
_PARSER: Final = "pytest"
_COMPOSE: Final = "docker-compose.yaml"
_CLIENT: Final = "client"
"""The service in which the agent works."""
_CLIENT_FIELDS: Final = frozenset(
    ("build", "image", "container_name", "command", "environment", "volumes")
)
_PLAIN_BUILDS: Final[tuple[Json, ...]] = (
    None, ".", {"dockerfile": "Dockerfile"}, {"context": "."},
    {"context": ".", "dockerfile": "Dockerfile"},
)  # fmt: skip
_USUAL: Final = {"run_tests_in_same_shell": False}
_KNOWN: Final = frozenset(
    ("instruction", "descriptions", "author_name", "author_email", "difficulty", "category", "tags",
     "parser_name", "max_agent_timeout_sec", "max_test_timeout_sec", "estimated_duration_sec",
     "expert_time_estimate_min", "junior_time_estimate_min", "disable_asciinema")
)  # fmt: skip


def terminal_bench_row(file: TaskFile) -> JsonObject:
    """Return the case of a task.

    Raises:
        TaskError: it cannot be one.
        TaskLeftOutError: it asks for what there is not here, and is no task without it.
    """
    said = _yaml(file.path.name, file.text())
    if not isinstance(said, dict):
        raise TaskError("must hold a mapping")
    row = file.columns(said, _KNOWN, _USUAL)
    more = row["unsupported"]
    assert isinstance(more, list)
    instruction, others = _instruction(said)
    more += [f"{FILE}: description {name}" for name in others]
    parser = said.get("parser_name", _PARSER)
    if parser != _PARSER:
        more.append(f"{FILE}: parser_name {parser}")
    dockerfile = file.there("Dockerfile")
    if file.there(_COMPOSE) and (beyond := _beyond(_yaml(_COMPOSE, file.text(_COMPOSE)))):
        raise TaskLeftOutError(f"{_COMPOSE}: {', '.join(beyond)}: compose is not supported")
    tags = texts(said.get("tags"))
    limit = seconds(said.get("max_agent_timeout_sec"), "max_agent_timeout_sec")
    return {
        **row,
        "instruction": instruction,
        "dockerfile": dockerfile,
        "image": dockerfile,
        "tests": file.there("tests"),
        "run_tests": file.there("run-tests.sh"),
        "parser": parser,
        "tests_timeout": seconds(said.get("max_test_timeout_sec"), "max_test_timeout_sec"),
        **({"timeout": limit} if limit is not None else {}),
        **({"tags": tags} if tags else {}),
    }


def _yaml(name: str, text: str) -> Json:
    try:
        return yaml_document(name, text).value
    except SuiteError as error:
        first = error.mistakes[0]
        raise TaskError(f"{name}: {first.message}", first.field, first.line) from None


def _beyond(compose: Json) -> list[str]:
    """Return what a compose file asks for beyond one container of the Dockerfile beside it.

    Most tasks have one that does not: its client sleeps, and the rest are places of the harness.
    """
    services = compose.get("services") if isinstance(compose, dict) else None
    if not isinstance(services, dict):
        return ["no services"]
    others = [f"service {name}" for name in services if name != _CLIENT]
    client = services.get(_CLIENT)
    if not isinstance(client, dict):
        return others or [f"no service {_CLIENT}"]
    odd = [name for name in client if name not in _CLIENT_FIELDS]
    build = client.get("build")
    if build not in _PLAIN_BUILDS:
        odd.append("build")
    for name in ("environment", "volumes"):
        value = client.get(name, [])
        own = value if isinstance(value, list) else [value]
        if not all("${T_BENCH_" in str(one) for one in own):
            odd.append(name)
    return [*others, *odd]


def _instruction(said: JsonObject) -> tuple[str, list[str]]:
    """Return the instruction, and the names of further ones; older tasks have several."""
    instruction = said.get("instruction")
    if isinstance(instruction, str) and instruction:
        return instruction, []
    found = said.get("descriptions")
    by_name: dict[str, Json] = {
        str(one.get("key")): one.get("description")
        for one in (found if isinstance(found, list) else ())
        if isinstance(one, dict)
    }
    name = "base" if "base" in by_name else next(iter(by_name), "")
    instruction = by_name.pop(name, None)
    if not isinstance(instruction, str) or not instruction:
        raise TaskError("is missing, or no text", "instruction")
    return instruction, [*by_name]
