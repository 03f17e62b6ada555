"""Who makes the attempts of a run."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping

from tui_eval.engine.executors.remote_attempts import RemoteAttempts
from tui_eval.engine.executors.remote_target import RemoteTarget
from tui_eval.engine.executors.worker_setup import WorkerSetup
from tui_eval.model.answer_source import AnswerSource
from tui_eval.suites.spec import Suite
from tui_eval.targets.base import Target


class Executor(ABC):
    """Has workers elsewhere make attempts; a kind is a module, named in `EXECUTORS`."""

    @abstractmethod
    def __init__(self, address: str | None, setup: Callable[[], WorkerSetup]) -> None:
        """Describe it; nothing is started.

        Args:
            address: Where its cluster is; None: as it finds it on this machine.
            setup: Gives what its workers are made of, as they are started; it blocks.
        """

    @staticmethod
    @abstractmethod
    def missing() -> str | None:
        """Say what is not installed here that it needs; None: nothing. Cheap, nothing is loaded."""

    @property
    @abstractmethod
    def attempts(self) -> RemoteAttempts:
        """The attempts that its workers make."""

    @abstractmethod
    async def connect(self) -> None:
        """Have workers started, and wait until the first one is ready; once.

        Raises:
            UnavailableError: there is none, saying what to do.
        """

    @abstractmethod
    async def close(self) -> None:
        """End the workers, with all that they run."""


def stays_here(target: Target) -> bool:
    """Return whether a target's attempts are made by the engine whoever makes others'."""
    return target.source is AnswerSource.RECORDED


def suite_problems(kind: str, suite: Suite, targets: Collection[Target]) -> list[str]:
    """Say what of a suite workers cannot do; keys and files of targets are their own business."""
    found = [
        f"target {target.name!r}: --executor {kind} cannot make its attempts: {target.only_here}"
        for target in targets
        if target.only_here is not None
    ]
    found += [
        f"target {target.name!r} is asked in bulk, which no worker does: leave out `bulk` or "
        f"--executor {kind}"
        for target in targets
        if target.bulk() is not None
    ]
    if suite.run.orphans == "finish":
        found.append(
            f'[run] orphans = "finish" cannot be with --executor {kind}: no program outlives its '
            "worker. Leave it out (--set run.orphans=end)"
        )
    return found


def journey_targets(
    executor: Executor | None, targets: Mapping[str, Target]
) -> Mapping[str, Target | RemoteTarget]:
    """Return the targets that a journey asks, by name.

    Args:
        executor: Who makes their attempts; None: the engine itself.
        targets: As the suite has them.
    """
    if executor is None:
        return targets
    return {
        name: target if stays_here(target) else RemoteTarget(target, executor)
        for name, target in targets.items()
    }
