"""What targets and judges are made with, beside what the suite says of each."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

from tui_eval.processes.isolation.images import ContainerEngine
from tui_eval.processes.supervisor import Processes
from tui_eval.providers.presets import address
from tui_eval.suites.data.attachments import Attachments
from tui_eval.suites.spec import ModelEndpointSpec, Suite
from tui_eval.suites.templates.renderer import Renderer
from tui_eval.targets.command.trial_image import ImageStock
from tui_eval.targets.conversation.simulated_user import SimulatedUser
from tui_eval.targets.model.endpoint_connection import EndpointConnection

Connections: TypeAlias = dict[str, EndpointConnection]
"""Where a suite's targets and judges ask, by the name of the endpoint."""
Concurrency: TypeAlias = int | Literal["auto"] | None
"""Calls in flight as a suite says it; None: it does not."""


@dataclass(frozen=True)
class BuildContext:
    """The suite around a target or judge, and what it shares with the others."""

    suite: Suite
    connections: Connections = field(default_factory=dict)
    """Those made so far; new ones are put there."""
    usual: Concurrency = None
    """Calls in flight where neither the suite nor a preset says; None: found out."""
    processes: Processes | None = None
    """Runs the programs of an engine; None: this is no engine, and nothing is run."""
    _images: dict[str, ImageStock] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """The suite's own folder; the current one, where it has no file."""
        return Path(self.suite.file).parent if self.suite.file else Path.cwd()

    def images(self, engine: str) -> ImageStock:
        """Return the images of a container engine, by its name."""
        new = ImageStock(ContainerEngine(engine), self.folder, self.processes)
        return self._images.setdefault(engine, new)

    @cached_property
    def attachments(self) -> Attachments:
        """The files that the suite's messages name."""
        return Attachments(self.suite)

    @cached_property
    def renderer(self) -> Renderer:
        """The suite's prompts."""
        return Renderer(self.suite)

    @cached_property
    def user(self) -> SimulatedUser | None:
        """The simulated user; None: the suite has none.

        Raises:
            ValueError: its provider or base URL makes no sense.
            TemplateError: its instructions are no template.
        """
        spec = self.suite.user
        if spec is None:
            return None
        connection = self.connection(spec)
        connection.used_by_user(spec.name, ceiling(spec.concurrency, connection))
        return SimulatedUser(spec, connection)

    def connection(self, spec: ModelEndpointSpec) -> EndpointConnection:
        """Return the connection to where a target or judge asks; a new one is added.

        Raises:
            ValueError: its provider or base URL makes no sense.
        """
        folder = Path(self.suite.file).parent if self.suite.file else None
        where = address(spec.provider, spec.base_url, spec.api_key_env)
        made = EndpointConnection(where, spec.model, folder, self.attachments)
        return self.connections.setdefault(made.name, made)


def fixed(concurrency: Concurrency) -> int | None:
    """Return a ceiling as limiters take it: None finds it out."""
    return None if concurrency == "auto" else concurrency


def ceiling(
    wanted: Concurrency, connection: EndpointConnection, usual: Concurrency = None
) -> int | None:
    """Return the calls in flight at an endpoint as limiters take them: None finds it out."""
    where = connection.address
    found = fixed(wanted)
    if wanted is None:
        found = where.default_concurrency or fixed(usual)
    # an embedded server queues what is beyond its slots instead of refusing it
    return found or where.default_concurrency if where.embedded else found
