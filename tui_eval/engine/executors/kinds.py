"""The executors there are: one module each."""

from collections.abc import Callable, Collection, Mapping
from typing import Final

from tui_eval.engine.executors.executor import Executor, suite_problems
from tui_eval.engine.executors.ray.ray_executor import RayExecutor
from tui_eval.engine.executors.worker_setup import WorkerSetup
from tui_eval.model.runs.executor_choice import ExecutorChoice
from tui_eval.suites.spec import Suite
from tui_eval.targets.base import Target

EXECUTORS: Final[Mapping[str, type[Executor]]] = {"ray": RayExecutor}
"""By the name on the command line; each is made of an address."""


def executor_of(choice: ExecutorChoice | None, setup: Callable[[], WorkerSetup]) -> Executor | None:
    """Return what a launch has chosen; None: the engine makes the attempts itself.

    Args:
        choice: As its settings have it.
        setup: Gives what its workers are made of, as they are started.

    Raises:
        ValueError: there is no such executor: a version that knew more has made the run.
    """
    if choice is None:
        return None
    make = EXECUTORS.get(choice.kind)
    if make is None:
        raise ValueError(f"there is no executor {choice.kind!r} here")
    return make(choice.address, setup)


def executor_problems(
    choice: ExecutorChoice, suite: Suite, targets: Collection[Target]
) -> list[str]:
    """Say what speaks against having attempts of these targets made so, as far as one knows here.

    Keys and files are the workers' own: what is missing there is said as a target is opened.
    """
    if choice.kind not in EXECUTORS:
        return [f"there is no executor {choice.kind!r} here"]
    missing = EXECUTORS[choice.kind].missing()
    found = [] if missing is None else [missing]
    return [*found, *suite_problems(choice.kind, suite, targets)]
