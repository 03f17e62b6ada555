"""What is evaluated: models, replays of recorded outputs, simulated models."""

from pathlib import Path
from typing import Literal

from tui_eval.providers.presets import address
from tui_eval.suites.prompts import Renderer
from tui_eval.suites.spec import ModelTarget, ReplayTarget, Suite
from tui_eval.targets.base import Target
from tui_eval.targets.connection import Connection
from tui_eval.targets.model import Model
from tui_eval.targets.replay import Replay
from tui_eval.targets.simulated import Simulated

__all__ = ["Target", "build", "fixed", "problems"]


def build(suite: Suite) -> dict[str, Target]:
    """Make a suite's targets, by name; cheap: nothing is opened and no key is read.

    Raises:
        ValueError: for a target whose provider or base URL makes no sense.
        TemplateError: for a simulated target whose answers are no templates.
    """
    renderer = Renderer(suite)
    folder = Path(suite.file).parent if suite.file else None
    connections: dict[str, Connection] = {}
    targets: dict[str, Target] = {}
    for spec in suite.targets:
        if isinstance(spec, ReplayTarget):
            targets[spec.name] = Replay(spec, fixed(suite.run.concurrency))
            continue
        own = spec.concurrency or suite.run.concurrency
        if not isinstance(spec, ModelTarget):
            targets[spec.name] = Simulated(spec, renderer, fixed(own))
            continue
        where = address(spec.provider, spec.base_url, spec.api_key_env)
        made = Connection(where, spec.model, folder)
        connection = connections.setdefault(made.name, made)
        concurrency = where.default_concurrency if own is None else fixed(own)
        if where.embedded:
            # an embedded server queues what is beyond its slots instead of refusing it
            concurrency = concurrency or where.default_concurrency
        connection.needed_by.append(spec.name)
        connection.concurrency = max(connection.concurrency, concurrency or 1)
        targets[spec.name] = Model(spec, renderer, connection, concurrency)
    return targets


def fixed(concurrency: int | Literal["auto"] | None) -> int | None:
    """Give a ceiling as limiters take it: None finds it out."""
    return None if concurrency == "auto" else concurrency


def problems(targets: dict[str, Target]) -> list[str]:
    """Give what keeps targets from being started, each thing once: missing keys and models."""
    found = (target.problem() for target in targets.values())
    return list(dict.fromkeys(problem for problem in found if problem is not None))
