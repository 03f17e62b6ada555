"""The tools: how each is installed, told to run the cases, and asked what came of them.

Each is used as its own documentation shows, storing what it stores by default, with its progress
display off where it has one. Where a tool asks nobody itself, its task is the `openai` client as
it comes.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks import processes, suites
from benchmarks.peers import environments

_PROGRAMS = Path(__file__).parent / "programs"
_TOLD_LENGTH = 200


class BrokenError(Exception):
    """A tool did not tell what came of the cases; the message is what it said instead."""


@dataclass(frozen=True)
class Job:
    """The cases of one run of one tool; its folder takes what the tool writes."""

    folder: Path
    base_url: str
    cases: int
    in_flight: int
    timeout_s: float | None = None
    """Seconds for an attempt; None: as the tool has it."""

    def write(self) -> None:
        """Write down what the tools read: the cases, and how to ask them."""
        suites.write(self.folder, self.base_url, self.cases, self.in_flight, self.timeout_s)
        told = {
            "base_url": self.base_url,
            "in_flight": self.in_flight,
            "timeout_s": self.timeout_s,
        }
        (self.folder / "job.json").write_text(json.dumps(told), "utf-8")


@dataclass(frozen=True)
class Outcome:
    """What a tool says came of the cases; those it says nothing of were never run."""

    right: int
    wrong: int
    errored: int
    ungraded: int = 0

    def never_run(self, cases: int) -> int:
        """Give how many it says nothing of."""
        return cases - self.right - self.wrong - self.errored - self.ungraded


@dataclass(frozen=True)
class Tool:
    """One tool, in an environment of its own."""

    name: str
    install: Callable[[Path], None]
    """Makes its environment in a folder."""
    command: Callable[[Path, Job], list[str]]
    """Gives its command line, to be run in the job's folder."""
    read: Callable[[Path, Job], Outcome]
    """Reads what it wrote there."""
    environment: Callable[[Job], Mapping[str, str]] = lambda _: {}
    """Gives what it finds around it beside what everybody does."""
    version: str = ""


@dataclass(frozen=True)
class Installed:
    """A tool and the environment it is installed in."""

    tool: Tool
    environment: Path

    def run(self, job: Job) -> processes.Cost:
        """Run it on a job; raises `processes.TimedOutError`."""
        job.write()
        home = self.environment / "home"  # its caches and settings are kept from run to run
        home.mkdir(parents=True, exist_ok=True)
        return processes.run(
            self.tool.command(self.environment, job),
            folder=job.folder,
            environment=processes.surroundings(home, self.tool.environment(job)),
        )

    def outcome(self, job: Job) -> Outcome:
        """Ask what came of a job.

        Raises:
            BrokenError: it did not say.
        """
        try:
            return self.tool.read(self.environment, job)
        except (OSError, ValueError, LookupError, subprocess.CalledProcessError) as error:
            said = [
                line
                for name in ("output.txt", "output.txt.err")
                for line in (job.folder / name).read_text("utf-8", "replace").splitlines()
                if line.strip()
            ]
            raise BrokenError((said or [repr(error)])[-1].strip()[:_TOLD_LENGTH]) from error


def _nothing(_: Path) -> None:
    """Install nothing: it runs with the Python and the libraries that run this."""


def _packages(*packages: str) -> Callable[[Path], None]:
    return lambda folder: environments.python(folder, packages)


def _python(environment: Path) -> str:
    return str(environment / "bin" / "python")


def _program(name: str) -> Callable[[Path, Job], list[str]]:
    program = str(_PROGRAMS / name)
    return lambda environment, job: [_python(environment), program, str(job.folder)]


def _written(_: Path, job: Job) -> Outcome:
    """Read what our own programs write."""
    return Outcome(**json.loads((job.folder / "outcome.json").read_text("utf-8")))


# -- tui-eval and the floor


def _own_command(_: Path, job: Job) -> list[str]:
    store = str(job.folder / "store.sqlite3")
    return processes.program("run", "bench.toml", "--json", "--store", store)


def _own_outcome(_: Path, job: Job) -> Outcome:
    counts = json.loads((job.folder / "output.txt").read_text("utf-8"))["counts"]
    return Outcome(counts["passed"], counts["failed"], counts["error"], counts["ungraded"])


# -- inspect_ai


def _inspect_command(environment: Path, job: Job, *more: str) -> list[str]:
    waits = [] if job.timeout_s is None else ["--attempt-timeout", f"{job.timeout_s:g}"]
    return [
        *(str(environment / "bin" / "inspect"), "eval", f"{_PROGRAMS / 'inspect_task.py'}@bench"),
        *("--model", "openai-api/bench/fake-model", "--display", "none", "--log-dir", "logs"),
        *("--max-connections", str(job.in_flight), *waits, *more),
    ]


def _inspect_environment(job: Job) -> Mapping[str, str]:
    return {
        "BENCH_FOLDER": str(job.folder),
        "BENCH_API_KEY": "none",
        "BENCH_BASE_URL": job.base_url,
    }


def _inspect_outcome(environment: Path, job: Job) -> Outcome:
    # its log is packed in a way only newer Pythons read: its own environment does
    command = [_python(environment), str(_PROGRAMS / "inspect_read.py"), str(job.folder)]
    home = processes.surroundings(environment / "home")
    subprocess.run(command, check=True, capture_output=True, env=home, timeout=300)
    return _written(environment, job)


# -- promptfoo


def _promptfoo_command(environment: Path, job: Job) -> list[str]:
    rows = [
        json.loads(line) for line in (job.folder / "cases.jsonl").read_text("utf-8").splitlines()
    ]
    model = {"apiBaseUrl": job.base_url, "apiKey": "none"}
    settings = {
        "description": "bench",
        "prompts": ["{{q}}"],
        "providers": [{"id": "openai:chat:fake-model", "config": model}],
        "tests": [
            {"vars": {"q": row["q"]}, "assert": [{"type": "equals", "value": row["q"]}]}
            for row in rows
        ],
    }
    (job.folder / "promptfooconfig.json").write_text(json.dumps(settings), "utf-8")
    return [
        *(str(environment / "node_modules" / ".bin" / "promptfoo"), "eval"),
        *("-c", "promptfooconfig.json", "-o", "out.json", "-j", str(job.in_flight)),
        *("--no-cache", "--no-progress-bar", "--no-table", "--no-share"),
    ]


def _promptfoo_environment(job: Job) -> Mapping[str, str]:
    waits = (
        {} if job.timeout_s is None else {"REQUEST_TIMEOUT_MS": str(round(job.timeout_s * 1000))}
    )
    silent = dict.fromkeys(("PROMPTFOO_DISABLE_TELEMETRY", "PROMPTFOO_DISABLE_UPDATE"), "1")
    return {**silent, "PROMPTFOO_DISABLE_REMOTE_GENERATION": "true", **waits}


def _promptfoo_outcome(_: Path, job: Job) -> Outcome:
    stats = json.loads((job.folder / "out.json").read_text("utf-8"))["results"]["stats"]
    return Outcome(stats["successes"], stats["failures"], stats["errors"])


# -- lm-eval


def _lm_eval_command(environment: Path, job: Job) -> list[str]:
    task = {
        "task": "bench",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": "cases.jsonl"}},
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "{{q}}",
        "doc_to_target": "{{q}}",
        "generation_kwargs": {"until": ["\n\n"], "max_gen_toks": 64},
        "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
    }
    (job.folder / "bench.yaml").write_text(json.dumps(task), "utf-8")  # JSON is YAML
    model = {
        "model": "fake-model",
        "base_url": f"{job.base_url}/chat/completions",
        "num_concurrent": job.in_flight,
        "tokenized_requests": False,
        **({} if job.timeout_s is None else {"timeout": round(job.timeout_s)}),
    }
    arguments = ",".join(f"{name}={value}" for name, value in model.items())
    return [
        *(str(environment / "bin" / "lm_eval"), "run", "--model", "local-chat-completions"),
        *("--model_args", arguments, "--tasks", "bench", "--include_path", "."),
        *("--apply_chat_template", "--output_path", "out", "--log_samples"),
    ]


def _lm_eval_outcome(_: Path, job: Job) -> Outcome:
    (samples,) = (job.folder / "out").rglob("samples_bench_*.jsonl")
    rights = [
        json.loads(line)["exact_match"] == 1.0 for line in samples.read_text("utf-8").splitlines()
    ]
    return Outcome(sum(rights), len(rights) - sum(rights), 0)


_OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
_OPENAI = "openai==3.54.0"

FLOOR = Tool(
    "floor",
    _nothing,
    lambda _, job: [sys.executable, str(_PROGRAMS / "floor.py"), str(job.folder)],
    _written,
    lambda _: processes.OWN,
)
TUI_EVAL = Tool("tui-eval", _nothing, _own_command, _own_outcome, lambda _: processes.OWN)

INSPECT_AI = Tool(
    "inspect_ai",
    _packages("inspect-ai==0.3.285", _OPENAI),
    _inspect_command,
    _inspect_outcome,
    _inspect_environment,
    "0.3.285",
)
PROMPTFOO = Tool(
    "promptfoo",
    lambda folder: environments.node(folder, ["promptfoo@0.121.20"]),  # the last for Node 20
    _promptfoo_command,
    _promptfoo_outcome,
    _promptfoo_environment,
    "0.121.20",
)
PYDANTIC_EVALS = Tool(
    "pydantic-evals",
    _packages("pydantic-evals==2.62.0", _OPENAI),
    _program("pydantic_run.py"),
    _written,
    version="2.62.0",
)
DEEPEVAL = Tool(
    "deepeval",
    _packages("deepeval==4.3.1", _OPENAI),
    _program("deepeval_run.py"),
    _written,
    lambda _: {"DEEPEVAL_TELEMETRY_OPT_OUT": "1"},
    "4.3.1",
)
LM_EVAL = Tool(
    "lm-eval",
    _packages("lm-eval[api]==0.4.13"),
    _lm_eval_command,
    _lm_eval_outcome,
    lambda _: {**_OFFLINE, "OPENAI_API_KEY": "none"},
    "0.4.13",
)
VERIFIERS = Tool(
    "verifiers",
    _packages("verifiers==0.1.14"),  # later ones run agents in sandboxes, not calls
    _program("verifiers_run.py"),
    _written,
    lambda _: _OFFLINE,
    "0.1.14",
)
PEERS = {
    tool.name: tool
    for tool in (INSPECT_AI, PROMPTFOO, PYDANTIC_EVALS, DEEPEVAL, LM_EVAL, VERIFIERS)
}
"""By name; cheap and usual ones first."""

INSPECT_GOES_ON = replace(
    INSPECT_AI,
    name="inspect_ai, --no-fail-on-error",
    command=lambda environment, job: _inspect_command(environment, job, "--no-fail-on-error"),
)
"""As one uses it to get through a run with faults."""
