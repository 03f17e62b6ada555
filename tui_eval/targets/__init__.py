"""What is evaluated, and who judges: one module for each kind.

A new kind of target is

- its spec, a module of `suites/spec/targets/`: its fields, and what it says of itself before
  anybody is asked (files, keys, programs, templates, prices, limits, where its answers come from);
  the questions and their defaults are the methods of `AskedSpec` and `TargetSpec`;
- its target, a module of `targets/`: the request of a case, what its generation key is made of,
  what is missing before a launch, the call, and how people see and repeat the request; the
  questions and their defaults are the methods of `Asked` and `Target`;
- a line in `TARGETS` of `suites/spec/targets/__init__.py`, and one in `TARGETS` here;
- its section in `docs/reference/suites.md`, which `tests/test_docs.py` compares with the fields.

Nothing else names a kind: whoever wants to know something asks the spec or the target, and a
question that is new becomes a method with a default there. The same holds for judges with
`suites/spec/judges/`, `targets/judges/` and `JUDGES`. `tests/targets/test_kinds.py` adds a kind of
its own and takes it through everything.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from tui_eval.processes.supervisor import Processes
from tui_eval.suites.spec import Suite
from tui_eval.targets.app.http_target import HttpTarget
from tui_eval.targets.base import Judge, NothingToSendError, Target
from tui_eval.targets.build_context import BuildContext, Concurrency, Connections, fixed
from tui_eval.targets.caller.function_target import FunctionTarget
from tui_eval.targets.command.program_target import CommandTarget
from tui_eval.targets.judges.embedding_judge import EmbeddingJudge
from tui_eval.targets.judges.model_judge import ModelJudge
from tui_eval.targets.judges.simulated_judge import SimulatedJudge
from tui_eval.targets.model.model_target import ModelTarget
from tui_eval.targets.plugin_target import PluginTarget
from tui_eval.targets.python_function.python_target import PythonTarget
from tui_eval.targets.replay import ReplayTarget
from tui_eval.targets.simulated import SimulatedTarget

__all__ = [
    "JUDGES",
    "TARGETS",
    "Connections",
    "Judge",
    "NothingToSendError",
    "Target",
    "build",
    "build_judges",
    "fixed",
    "notes",
    "problems",
]

TARGETS: Final[dict[str, Callable[[Any, BuildContext], Target]]] = {
    "model": ModelTarget,
    "http": HttpTarget,
    "command": CommandTarget,
    "python": PythonTarget,
    "function": FunctionTarget,
    "plugin": PluginTarget,
    "replay": ReplayTarget,
    "simulated": SimulatedTarget,
}
"""What makes a target of a spec, by its kind."""
JUDGES: Final[dict[str, Callable[[Any, BuildContext], Judge]]] = {
    "model": ModelJudge,
    "simulated": SimulatedJudge,
    "embedding": EmbeddingJudge,
}
"""What makes a judge of a spec, by its kind."""


def build(
    suite: Suite,
    connections: Connections | None = None,
    usual: Concurrency = None,
    processes: Processes | None = None,
) -> dict[str, Target]:
    """Make a suite's targets, by name; cheap: nothing is opened and no key is read.

    Args:
        suite: The suite.
        connections: Those made so far, new ones are put there; None: none is shared.
        usual: Calls in flight where neither the suite nor a preset says; None: found out.
        processes: Runs the programs of an engine; None: nothing is run.

    Raises:
        ValueError: for a target whose provider or base URL makes no sense.
        TemplateError: for a simulated target whose answers are no templates.
    """
    shared = {} if connections is None else connections
    context = BuildContext(suite, shared, usual, processes)
    return {spec.name: TARGETS[spec.kind](spec, context) for spec in suite.targets}


def build_judges(suite: Suite, connections: Connections | None = None) -> dict[str, Judge]:
    """Make a suite's judges, by name; cheap: nothing is opened and no key is read.

    Args:
        suite: The suite.
        connections: Those of its targets (see `build`), so that a judge and a target that use
            one embedded model share its server; None: none is shared.

    Raises:
        ValueError: for a judge whose provider or base URL makes no sense.
    """
    context = BuildContext(suite, {} if connections is None else connections)
    return {spec.name: JUDGES[spec.kind](spec, context) for spec in suite.judges}


def problems(asked: Mapping[str, Target | Judge]) -> list[str]:
    """Return what keeps targets and judges from being asked, each once: missing keys and models."""
    found = (one.problem() for one in asked.values())
    return list(dict.fromkeys(problem for problem in found if problem is not None))


def notes(suite: Suite) -> list[str]:
    """Return what a suite's targets and judges warn of, each once."""
    connections: Connections = {}
    targets = build(suite, connections)
    judges = build_judges(suite, connections)  # before anything is said: a note names all users
    found = [one.note() for one in (*targets.values(), *judges.values())]
    return list(dict.fromkeys(note for note in found if note is not None))
