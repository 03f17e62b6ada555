"""What every target and every judge is to the rest of the program.

Making one, `identity`, `request` and `problem` are cheap and open nothing: staging and `check` use
them without a key. `async with` opens what calls need.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from tui_eval.model.answer_source import AnswerSource
from tui_eval.model.bounds import MOST_CALLS
from tui_eval.model.case import Case, Column
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.processes.program import Sandbox
from tui_eval.processes.workspace.source import WorkspaceSource
from tui_eval.suites.spec import AskedSpec, CallRates, JudgeSpec, TargetSpec
from tui_eval.suites.spec.asked.programs import Limits
from tui_eval.suites.templates.renderer import Renderer
from tui_eval.targets.attempt.attempt_context import AttemptContext
from tui_eval.targets.attempt.attempt_view import AttemptView
from tui_eval.targets.bulk_access import BulkAccess


class NothingToSendError(Exception):
    """A target's request cannot be sent by hand; the message says why."""


def at_most(most: int) -> str:
    """Return what is said where more calls at once are wanted than there can be."""
    why = "" if most == MOST_CALLS else ": its target has no more `workers`"
    return f"concurrency {most} at most{why}"


class Asked(ABC):
    """A target or a judge, made of what the suite says of it."""

    endpoint: str
    """Which limiter bounds its calls: those of equal endpoints share one."""
    default_concurrency: int | None = None
    """Calls in flight where the launch does not say; None: as many as it takes, found out."""
    most_concurrency: int = MOST_CALLS
    """Calls in flight at most, whoever wants more."""

    def __init__(self, spec: AskedSpec, endpoint: str) -> None:
        """Take over what does not depend on its kind.

        Args:
            spec: What the suite says of it.
            endpoint: Which limiter bounds its calls.
        """
        self.name = spec.name
        """How the suite calls it."""
        self.kind = spec.kind
        """One of the kinds of the suite format."""
        self.model = spec.asked_model()
        """The model it asks for; None where it asks none."""
        self.source: AnswerSource = spec.SOURCE
        """Where its answers come from."""
        self.rates: CallRates = spec.call_rates()
        """How often it may be asked."""
        self.endpoint = endpoint

    @property
    def simulated(self) -> bool:
        """Whether its answers are simulated; said wherever they are shown."""
        return self.source is AnswerSource.SIMULATED

    def problem(self) -> str | None:
        """Say what keeps it from being asked: a key that is not set, a missing model.

        None: nothing that is known beforehand.
        """
        return None

    def note(self) -> str | None:
        """Return a warning: of the key that it sends, of limits that this machine cannot keep.

        None: there is nothing to say.
        """
        return None

    @abstractmethod
    def identity(self) -> JsonObject:
        """Return what decides about its answers beside the request: part of every key.

        Raises:
            UnavailableError: where that cannot be known (a model file that is not there).
        """

    async def __aenter__(self) -> Self:
        """Open what calls need.

        Raises:
            UnavailableError: where that is not possible, saying what to do.
        """
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close what was opened."""
        return


class Target(Asked):
    """Something that is asked with a case and answers."""

    limits_here: Limits | None = None
    """What each of its trials may take of this machine; None: they take nothing worth counting."""
    has_user = False
    """Whether its conversations are gone on with by the simulated user."""
    by_epoch = False
    """Whether its requests differ from epoch to epoch."""
    only_here: str | None = None
    """Why no other machine can make its attempts; None: each can that has its files and keys."""

    def __init__(self, spec: TargetSpec, renderer: Renderer, endpoint: str | None = None) -> None:
        """Set what does not depend on the kind.

        Args:
            spec: What the suite says of it.
            renderer: Renders the suite's prompts.
            endpoint: Which limiter bounds its calls; None: one of its own.
        """
        super().__init__(spec, endpoint or f"{spec.kind}|{spec.name}|")
        self._renderer = renderer

    @abstractmethod
    def request(self, column: Column, case: Case, epoch: int = 0) -> JsonObject | Failure:
        """Render the request of a case in an epoch (from 0), or say why there is none."""

    def reads_files(self, request: JsonObject) -> bool:
        """Return whether a request holds what files were as it was rendered.

        Such a one is another request once they are changed.
        """
        return False

    def depends_on_more(self, request: JsonObject) -> bool:
        """Return whether a request follows from more than the suite, its data and `identity`.

        From files that it names, or from programs: it may be another one the next time.
        """
        return True

    @abstractmethod
    async def generate(self, request: JsonObject, attempt: AttemptContext) -> Output | Failure:
        """Make one attempt.

        Args:
            request: As `request` gave it.
            attempt: How long it may take, where its files go, and whom to tell how far it is.
        """

    def bulk(self) -> BulkAccess | None:
        """Return how it is asked through its provider's batch API; None: it is asked live."""
        return None

    async def prepare(self) -> None:
        """Find out what `identity` needs and only running something tells, as a program's version.

        Called by an engine before it stages a run, before it goes on with one whose target told its
        version, and by nobody else.

        Raises:
            UnavailableError: where that cannot be known, saying what to do.
        """

    @property
    def version(self) -> str | None:
        """Which version it is, so that a run goes on with no other.

        None: it tells none, or not before `prepare`.
        """
        return None

    def shown(self, column: Column, case: Case) -> list[JsonObject]:
        """Return what it is asked as chat messages, as people read them; none: it needs no prompt.

        Raises:
            TemplateError: when a template cannot be rendered for the case.
        """
        return self._renderer.messages(column, case)

    def workspace_source(self, column: Column, case: Case) -> WorkspaceSource | None:
        """Return what the workspace of a case is made of; None: of nothing, or there is none.

        Raises:
            TemplateError: when a template cannot be rendered for the case.
        """
        return None

    def own_files(self) -> Sequence[Path]:
        """Return the files it is made of that lie beside the suite: a machine without is sent them.

        Blocking.
        """
        return ()

    def source_of(self, request: JsonObject) -> tuple[str, WorkspaceSource] | None:
        """Return what the workspace of a request is made of, and a name that equal ones share.

        None: of nothing, or there is none. Who makes the attempt elsewhere is given a copy.
        """
        return None

    def moved(self, request: JsonObject, source: Path) -> JsonObject:
        """Return a request whose workspace is made of a folder: a copy of what `source_of` gave."""
        return request

    @property
    def protected(self) -> tuple[str, ...]:
        """Patterns of paths in its workspaces that whoever grades those finds as they were."""
        return ()

    def image_of(self, column: Column, case: Case) -> JsonObject | None:
        """Return the image of a case's container, as its request has it; None: it runs in none.

        Raises:
            TemplateError: when a template cannot be rendered for the case.
            WorkspaceError: there is nothing to build it from.
        """
        return None

    async def graded_in(self, column: Column, case: Case) -> Sandbox | Failure | None:
        """Return the container in which a case's workspace is graded, or why there is none.

        None: it is graded on this machine.
        """
        return None

    def view(self, case: Case, folder: Path) -> AttemptView | None:
        """Return what can be seen of an attempt while it runs; None: nothing.

        Args:
            case: The case it is asked with.
            folder: The attempt's own; see `AttemptContext.folder`.
        """
        return None

    def as_command(self, column: Column, case: Case) -> str:
        """Return a shell command that sends the same request; it names keys and holds none.

        Raises:
            NothingToSendError: there is none, saying why.
        """
        raise NothingToSendError(f"{self.name} is a {self.kind} target: no request leaves for it")


class Judge(Asked):
    """Somebody who is sent a request for grades and replies.

    Its limiter is its own, whatever targets ask at the same place.
    """

    def __init__(self, spec: JudgeSpec, endpoint: str) -> None:
        """Set what does not depend on the kind.

        Args:
            spec: What the suite says of it.
            endpoint: Where it is asked.
        """
        super().__init__(spec, f"judge|{endpoint}")
        self.model: str = spec.asked_model() or spec.kind
        """The model it asks for; its kind where it asks none."""

    def bulk(self) -> BulkAccess | None:
        """Return how it is asked through its provider's batch API; None: it is asked live."""
        return None

    @abstractmethod
    def body(self, messages: Sequence[JsonObject], schema: JsonObject) -> JsonObject:
        """Return a request as it goes out, as far as the endpoint takes a form."""

    @abstractmethod
    async def ask(
        self, messages: Sequence[JsonObject], schema: JsonObject, *, timeout_s: float
    ) -> Output | Failure:
        """Make one attempt at a reply.

        Args:
            messages: The request's messages.
            schema: The JSON Schema of the reply.
            timeout_s: Seconds from now until the whole reply must be here.
        """
