"""The kinds of targets: one module each.

A new kind derives from `TargetSpec`, answers of `AskedSpec` and `TargetSpec` what is not as the
defaults say, and is listed in `TARGETS`.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Final

from tui_eval.suites.scorers import PartsGiven
from tui_eval.suites.spec.asked.kinds import Kinds
from tui_eval.suites.spec.targets.command import CommandTargetSpec
from tui_eval.suites.spec.targets.function import FunctionTargetSpec
from tui_eval.suites.spec.targets.http import HttpTargetSpec
from tui_eval.suites.spec.targets.model import ModelTargetSpec
from tui_eval.suites.spec.targets.plugin import PluginTargetSpec
from tui_eval.suites.spec.targets.python import PythonTargetSpec
from tui_eval.suites.spec.targets.replay import ReplayTargetSpec
from tui_eval.suites.spec.targets.simulated import SimulatedTargetSpec
from tui_eval.suites.spec.targets.target import TargetSpec

__all__ = [
    "TARGETS",
    "AnyTarget",
    "CommandTargetSpec",
    "FunctionTargetSpec",
    "HttpTargetSpec",
    "ModelTargetSpec",
    "PluginTargetSpec",
    "PythonTargetSpec",
    "ReplayTargetSpec",
    "SimulatedTargetSpec",
    "TargetSpec",
    "parts_given",
]

TARGETS: Final = Kinds(
    TargetSpec,
    ModelTargetSpec,
    HttpTargetSpec,
    CommandTargetSpec,
    PythonTargetSpec,
    FunctionTargetSpec,
    PluginTargetSpec,
    ReplayTargetSpec,
    SimulatedTargetSpec,
)
"""Every kind there is."""

AnyTarget = Annotated[TargetSpec, TARGETS]
"""One target of a suite; its `kind` says which model it is."""


def parts_given(targets: Sequence[Mapping[str, object]], *, turns: bool) -> PartsGiven:
    """Return what the outputs of targets may have beside a text.

    Args:
        targets: As they are written.
        turns: Whether a prompt has several.
    """
    kinds = [(TARGETS.of(target), target) for target in targets]
    asked_again = turns and any(kind.takes_turns(target) for kind, target in kinds)
    return PartsGiven(
        several_turns=asked_again or any(kind.gives_messages(target) for kind, target in kinds),
        fields=any(kind.gives_fields(target) for kind, target in kinds),
        tool_calls=any(kind.gives_tool_calls(target) for kind, target in kinds),
    )
