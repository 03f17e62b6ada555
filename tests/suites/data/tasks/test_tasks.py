"""Folders of tasks and rows of issues are read as their benchmarks write them."""

import json
import subprocess
from pathlib import Path

import pytest

from tui_eval.model.case import Case
from tui_eval.suites.data.data_files import DataChangedError, check_unchanged, data_files
from tui_eval.suites.data.dataset import cases
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.suites.loading.suite_file import load
from tui_eval.suites.spec import CommandTargetSpec, Suite
from tui_eval.suites.spec.targets.command import GitWorkspace
from tui_eval.suites.survey.template_check import survey

HARBOR = """
schema_version = "1.1"
[task]
name = "us/hello"
keywords = ["easy"]
[metadata]
author_name = "us"
tags = ["files"]
written = 2026-01-02
[agent]
timeout_sec = 90.0
[verifier]
timeout_sec = 30
[environment]
build_timeout_sec = 600
docker_image = "example.org/hello:1"
allow_internet = false
cpus = 2
gpus = 0
"""
TERMINAL_BENCH = """
instruction: |-
  Make hello.txt.
author_name: us
difficulty: easy
category: files
tags: [files, easy]
parser_name: pytest
max_agent_timeout_sec: 120.0
max_test_timeout_sec: 60.0
run_tests_in_same_shell: false
"""
ISSUE = {
    "instance_id": "us__tool-1",
    "repo": "us/tool",
    "base_commit": "0" * 40,
    "problem_statement": "It fails.",
    "patch": "diff",
}


def suite_of(folder: Path, dataset: str) -> Suite:
    """Load a suite with a dataset and a target that needs nothing."""
    file = folder / "suite.toml"
    file.write_text(
        f'[dataset]\n{dataset}\n[[targets]]\nkind = "simulated"\nanswers = "x"\n'
        '[[scorers]]\nkind = "includes"\nexpected = "x"\n'
    )
    return load(file)


def task(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def harbor_task(folder: Path, toml: str = HARBOR, **more: str) -> None:
    files = {
        "task.toml": toml,
        "instruction.md": "Make hello.txt.\n",
        "environment/Dockerfile": "FROM scratch\n",
        "environment/data.csv": "a\n",
        "tests/test.sh": "exit 0\n",
        "solution/solve.sh": "touch hello.txt\n",
        **more,
    }
    task(folder, files)


def read(suite: Suite) -> list[Case]:
    return list(cases(suite))


def test_a_harbor_task_is_a_case_with_its_instruction_limits_and_hidden_tests(
    tmp_path: Path,
) -> None:
    harbor_task(tmp_path / "tasks" / "hello")
    (tmp_path / "tasks" / "README.md").write_text("no task")
    [case] = read(suite_of(tmp_path, 'format = "harbor"\npath = "tasks"'))
    assert case.id == "hello"
    assert case.timeout == 90
    assert case.tags == ("files", "easy")
    fields = case.fields
    assert fields["instruction"] == "Make hello.txt.\n"
    assert fields["folder"] == "tasks/hello"
    assert fields["environment"] == "tasks/hello/environment"
    assert fields["dockerfile"] == "tasks/hello/environment/Dockerfile"
    assert fields["image"] == "example.org/hello:1"
    assert fields["tests"] == "tasks/hello/tests"
    assert fields["tests_timeout"] == 30
    task_said = fields["task"]
    assert isinstance(task_said, dict)
    assert task_said["metadata"] == {
        "author_name": "us",
        "tags": ["files"],
        "written": "2026-01-02",
    }
    assert "touch hello.txt" not in json.dumps(fields)


def test_check_names_what_of_each_task_is_not_supported(tmp_path: Path) -> None:
    harbor_task(tmp_path / "tasks" / "one")
    hooks = HARBOR.replace('docker_image = "example.org/hello:1"', "") + (
        '[environment.healthcheck]\ncommand = "true"\n[[verifier.collect]]\ncommand = "tar"\n'
    )
    harbor_task(tmp_path / "tasks" / "two", hooks)
    suite = suite_of(tmp_path, 'format = "harbor"\npath = "tasks"')
    warnings = survey(suite).warnings
    told = [one for one in warnings if "not supported" in one]
    assert told == [
        "task.toml: environment.allow_internet is not supported, in 2 tasks: one, two",
        "task.toml: environment.cpus is not supported, in 2 tasks: one, two",
        "task.toml: environment.healthcheck.command is not supported, in 1 task: two",
        "task.toml: verifier.collect is not supported, in 1 task: two",
    ]


def test_a_task_that_cannot_be_run_is_left_out_with_the_reason(tmp_path: Path) -> None:
    harbor_task(tmp_path / "tasks" / "good")
    compose = {"environment/docker-compose.yaml": "services: {}\n"}
    harbor_task(tmp_path / "tasks" / "many", **compose)
    harbor_task(tmp_path / "tasks" / "steps", "[[steps]]\nname = 'a'\n")
    suite = suite_of(tmp_path, 'format = "harbor"\npath = "tasks"')
    assert [case.id for case in read(suite)] == ["good"]
    assert [one for one in survey(suite).warnings if "left out" in one] == [
        (
            "tasks/many/task.toml is left out: environment/docker-compose.yaml: "
            "compose is not supported"
        ),
        "tasks/steps/task.toml is left out: steps are not supported",
    ]


@pytest.mark.parametrize(
    ("resources", "limits"),
    [
        ("memory_mb = 512\nstorage_mb = 1024", {"memory": 512 << 20, "disk": 1 << 30}),
        ('memory = "2G"\nstorage = "1.5 GB"', {"memory": 2 << 30, "disk": 3 << 29}),
        ("", {}),
    ],
)
def test_what_a_task_may_take_limits_its_attempts(
    tmp_path: Path, resources: str, limits: dict[str, int]
) -> None:
    harbor_task(tmp_path / "tasks" / "hello", f"{HARBOR}{resources}\n")
    [case] = read(suite_of(tmp_path, 'format = "harbor"\npath = "tasks"'))
    assert case.limits == limits
    assert Case.from_json(0, case.id, case.as_json()) == case


def test_a_column_of_other_data_limits_nothing(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"id": "a", "limits": {"memory": 1}}\n')
    [case] = read(suite_of(tmp_path, 'path = "rows.jsonl"'))
    assert case.limits == {}


def test_a_task_without_an_image_has_its_dockerfile_in_the_column(tmp_path: Path) -> None:
    without = HARBOR.replace('docker_image = "example.org/hello:1"', "")
    harbor_task(tmp_path / "tasks" / "hello", without)
    [case] = read(suite_of(tmp_path, 'format = "harbor"\npath = "tasks"'))
    assert case.fields["image"] == "tasks/hello/environment/Dockerfile"


def test_containers_of_tasks_are_of_the_tasks_images(tmp_path: Path) -> None:
    harbor_task(tmp_path / "tasks" / "hello")
    file = tmp_path / "suite.toml"
    file.write_text(
        '[dataset]\nformat = "harbor"\npath = "tasks"\n'
        '[[targets]]\nkind = "command"\nname = "usual"\ncommand = ["a"]\nisolation = "podman"\n'
        '[[targets]]\nkind = "command"\nname = "own"\ncommand = ["a"]\nisolation = "podman"\n'
        'image = "mine"\n'
        '[[targets]]\nkind = "command"\nname = "none"\ncommand = ["a"]\n'
        '[[scorers]]\nkind = "includes"\nexpected = "x"\n'
    )
    images = [getattr(one, "image", "") for one in load(file, trusted=True).targets]
    assert images == ["{{ image }}", "mine", None]


@pytest.mark.parametrize("path", ["tasks/hello", "tasks/*/task.toml", "tasks/hello/task.toml"])
def test_one_task_and_a_glob_are_read_too(tmp_path: Path, path: str) -> None:
    harbor_task(tmp_path / "tasks" / "hello")
    [case] = read(suite_of(tmp_path, f'format = "harbor"\npath = "{path}"'))
    assert case.id == "hello"


@pytest.mark.parametrize(
    ("toml", "line", "field", "said"),
    [
        ("[agent\n", 1, "", "is not TOML"),
        ("agent = 3\n", None, "agent", "must be a table"),
        ('[agent]\ntimeout_sec = "long"\n', None, "agent.timeout_sec", "number of seconds"),
        ("[agent]\ntimeout_sec = nan\n", None, "agent.timeout_sec", "number of seconds"),
        ("[environment]\nmemory_mb = 0\n", None, "environment.memory_mb", "number of MiB"),
        ("[environment]\nstorage = 'much'\n", None, "environment.storage", "a size"),
    ],
)
def test_a_task_that_cannot_be_a_case_is_told_with_file_and_field(
    tmp_path: Path, toml: str, line: int | None, field: str, said: str
) -> None:
    harbor_task(tmp_path / "tasks" / "bad", toml)
    harbor_task(tmp_path / "tasks" / "good")
    suite = suite_of(tmp_path, 'format = "harbor"\npath = "tasks"')
    with pytest.raises(SuiteError) as caught:
        read(suite)
    [mistake] = caught.value.mistakes
    assert (mistake.file, mistake.field) == ("tasks/bad/task.toml", field)
    assert said in mistake.message
    assert line is None or mistake.line is not None


def test_a_task_without_an_instruction_is_told(tmp_path: Path) -> None:
    harbor_task(tmp_path / "tasks" / "bad")
    (tmp_path / "tasks" / "bad" / "instruction.md").unlink()
    with pytest.raises(SuiteError, match=r"instruction\.md cannot be read"):
        read(suite_of(tmp_path, 'format = "harbor"\npath = "tasks"'))


def test_an_instruction_that_leads_out_of_the_suite_is_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("mine")
    here = tmp_path / "suite"
    harbor_task(here / "tasks" / "bad")
    (here / "tasks" / "bad" / "instruction.md").unlink()
    (here / "tasks" / "bad" / "instruction.md").symlink_to(secret)
    with pytest.raises(SuiteError, match="leads out of the suite's folder"):
        read(suite_of(here, 'format = "harbor"\npath = "tasks"'))


def test_a_folder_without_tasks_is_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    with pytest.raises(SuiteError, match=r'no task.toml of a task matches "tasks"'):
        suite_of(tmp_path, 'format = "harbor"\npath = "tasks"')


def test_a_changed_task_is_a_changed_data_file(tmp_path: Path) -> None:
    harbor_task(tmp_path / "tasks" / "hello")
    suite = suite_of(tmp_path, 'format = "harbor"\npath = "tasks"')
    then = data_files(suite)
    check_unchanged(suite, then)
    (tmp_path / "tasks" / "hello" / "task.toml").write_text(HARBOR + "\n# more\n")
    with pytest.raises(DataChangedError):
        check_unchanged(suite, then)


COMPOSE = """
services:
  client:
    build:
      dockerfile: Dockerfile
    image: ${T_BENCH_TASK_DOCKER_CLIENT_IMAGE_NAME}
    container_name: ${T_BENCH_TASK_DOCKER_CLIENT_CONTAINER_NAME}
    command: ["sh", "-c", "sleep infinity"]
    environment:
      - TEST_DIR=${T_BENCH_TEST_DIR}
    volumes:
      - ${T_BENCH_TASK_LOGS_PATH}:${T_BENCH_CONTAINER_LOGS_PATH}
"""


def test_a_terminal_bench_task_is_a_case(tmp_path: Path) -> None:
    folder = tmp_path / "tasks" / "hello"
    files = {"task.yaml": TERMINAL_BENCH, "Dockerfile": "FROM scratch\n", "run-tests.sh": "exit\n",
             "tests/test_it.py": "", "docker-compose.yaml": COMPOSE}  # fmt: skip
    task(folder, files)
    suite = suite_of(tmp_path, 'format = "terminal-bench"\npath = "tasks"')
    [case] = read(suite)
    assert (case.id, case.timeout, case.tags) == ("hello", 120, ("files", "easy"))
    fields = case.fields
    assert fields["instruction"] == "Make hello.txt."
    assert fields["tests"] == "tasks/hello/tests"
    assert fields["run_tests"] == "tasks/hello/run-tests.sh"
    assert fields["tests_timeout"] == 60
    assert fields["image"] == "tasks/hello/Dockerfile"
    assert fields["unsupported"] == []


@pytest.mark.parametrize(
    ("compose", "said"),
    [
        (f"{COMPOSE}  database:\n    image: postgres\n", "service database"),
        (f"{COMPOSE}    privileged: true\n", "privileged"),
        (f"{COMPOSE}      - /etc:/etc\n", "volumes"),
        (COMPOSE.replace("dockerfile: Dockerfile", "context: other"), "build"),
        ("a: 1\n", "no services"),
        ("services: {web: {}}\n", "service web"),
    ],
)
def test_a_compose_file_beyond_one_container_leaves_its_task_out(
    tmp_path: Path, compose: str, said: str
) -> None:
    files = {"task.yaml": TERMINAL_BENCH, "Dockerfile": "FROM scratch\n"}
    task(tmp_path / "tasks" / "good", files)
    task(tmp_path / "tasks" / "many", {**files, "docker-compose.yaml": compose})
    suite = suite_of(tmp_path, 'format = "terminal-bench"\npath = "tasks"')
    assert [case.id for case in read(suite)] == ["good"]
    told = (
        f"tasks/many/task.yaml is left out: docker-compose.yaml: {said}: compose is not supported"
    )
    assert told in survey(suite).warnings


def test_an_old_terminal_bench_task_with_descriptions_gives_the_base_and_names_the_others(
    tmp_path: Path,
) -> None:
    yaml = "descriptions:\n- {key: base, description: Do it.}\n- {key: hard, description: Do.}\n"
    task(tmp_path / "tasks" / "old", {"task.yaml": yaml})
    [case] = read(suite_of(tmp_path, 'format = "terminal-bench"\npath = "tasks"'))
    assert case.fields["instruction"] == "Do it."
    assert case.fields["unsupported"] == ["task.yaml: description hard"]


@pytest.mark.parametrize(
    ("yaml", "said"),
    [
        ("- a\n", "must hold a mapping"),
        ("a: [", "is not YAML"),
        ("instruction: 3\n", "is missing"),
        ("instruction: !!python/object:os.system x\n", "tags are not followed"),
        ("instruction: a\nmax_agent_timeout_sec: -1\n", "number of seconds"),
    ],
)
def test_a_bad_terminal_bench_task_is_told(tmp_path: Path, yaml: str, said: str) -> None:
    task(tmp_path / "tasks" / "bad", {"task.yaml": yaml})
    with pytest.raises(SuiteError) as caught:
        read(suite_of(tmp_path, 'format = "terminal-bench"\npath = "tasks"'))
    assert said in str(caught.value)
    assert "tasks/bad/task.yaml" in str(caught.value)


@pytest.mark.parametrize("place", ["us__tool.git", "us/tool.git"])
def test_an_issue_has_its_repository_as_it_lies_there(tmp_path: Path, place: str) -> None:
    bare = tmp_path / "mirrors" / place
    bare.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    (tmp_path / "swe.jsonl").write_text(json.dumps(ISSUE) + "\n")
    dataset = 'format = "swebench"\npath = "swe.jsonl"\nrepos = "mirrors"'
    [case] = read(suite_of(tmp_path, dataset))
    assert case.id == "us__tool-1"
    assert case.fields["repository"] == f"mirrors/{place}"
    assert {name: case.fields[name] for name in ISSUE} == ISSUE
    assert case.fields["image"] == "docker.io/swebench/sweb.eval.x86_64.us_1776_tool-1:latest"


@pytest.mark.parametrize(
    ("change", "field", "said"),
    [
        ({"repo": "us/other"}, "repo", "neither us__other.git nor us/other.git"),
        ({"repo": "../../etc"}, "repo", 'must be "OWNER/NAME"'),
        ({"repo": "../x"}, "repo", 'must be "OWNER/NAME"'),
        ({"base_commit": None}, "base_commit", "is missing"),
        ({"instance_id": 3}, "instance_id", "is missing, or no text"),
    ],
)
def test_an_issue_that_cannot_be_a_case_is_told_with_line_and_column(
    tmp_path: Path, change: dict[str, object], field: str, said: str
) -> None:
    subprocess.run(
        ["git", "init", "-q", "--bare", str(tmp_path / "mirrors/us__tool.git")], check=True
    )
    rows = [ISSUE, {**ISSUE, "instance_id": "us__tool-2", **change}]
    (tmp_path / "swe.jsonl").write_text("\n".join(map(json.dumps, rows)))
    suite = suite_of(tmp_path, 'format = "swebench"\npath = "swe.jsonl"\nrepos = "mirrors"')
    with pytest.raises(SuiteError) as caught:
        read(suite)
    [mistake] = caught.value.mistakes
    assert (mistake.file, mistake.line, mistake.field) == ("swe.jsonl", 2, field)
    assert said in mistake.message


def test_repos_that_are_no_folder_or_for_nothing_are_mistakes(tmp_path: Path) -> None:
    (tmp_path / "swe.jsonl").write_text(json.dumps(ISSUE))
    with pytest.raises(SuiteError, match=r"dataset\.repos.*is no folder"):
        suite_of(tmp_path, 'format = "swebench"\npath = "swe.jsonl"\nrepos = "gone"')
    with pytest.raises(SuiteError, match=r"dataset\.repos.*is for swebench"):
        suite_of(tmp_path, 'path = "swe.jsonl"\nrepos = "."')


def test_a_program_works_in_the_repository_of_its_issue_and_gives_the_diff(tmp_path: Path) -> None:
    subprocess.run(
        ["git", "init", "-q", "--bare", str(tmp_path / "mirrors/us__tool.git")], check=True
    )
    (tmp_path / "swe.jsonl").write_text(json.dumps(ISSUE))
    file = tmp_path / "suite.toml"
    file.write_text(
        '[dataset]\nformat = "swebench"\npath = "swe.jsonl"\nrepos = "mirrors"\n'
        '[[targets]]\nkind = "command"\nname = "usual"\ncommand = ["true"]\n'
        '[[targets]]\nkind = "command"\nname = "own"\ncommand = ["true"]\n'
        'workspace = "mirrors"\noutput = "stdout"\n'
        '[[scorers]]\nkind = "includes"\nexpected = "x"\n'
    )
    usual, own = load(file, trusted=True).targets
    assert isinstance(usual, CommandTargetSpec)
    assert isinstance(own, CommandTargetSpec)
    assert usual.workspace == GitWorkspace(git="{{ repository }}", at="{{ base_commit }}")
    assert usual.text_of == "diff"
    assert (own.workspace, own.text_of) == ("mirrors", "stdout")
