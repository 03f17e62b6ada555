"""A program as a target: one process and one workspace for each trial."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal

from pydantic import AfterValidator, Field, StrictInt, StrictStr

from tui_eval.model.home import from_home
from tui_eval.model.json import JsonObject
from tui_eval.suites.data import jsonpath
from tui_eval.suites.loading.errors import FieldMistake
from tui_eval.suites.program_fields import CONTAINERS, Command, shown_command
from tui_eval.suites.spec.agents import AGENTS, TRANSCRIPT_FORMATS
from tui_eval.suites.spec.asked.asked_spec import OUTPUT_LIMITS
from tui_eval.suites.spec.asked.programs import Limits, RunsPrograms, is_dockerfile
from tui_eval.suites.spec.run import Concurrency
from tui_eval.suites.spec.table import Spec, Text
from tui_eval.suites.spec.targets.target import TargetSpec
from tui_eval.suites.templates.marks import is_template
from tui_eval.suites.trust.permissions import Permission

_OUTPUTS: Final = "stdout, last_message, diff, file:PATH or json:$.path"


def _inside(pattern: str) -> str:
    parts = pattern.split("/")
    if not pattern or ".." in parts or "" in parts[:-1]:
        raise ValueError(f'must be a path inside the workspace, not "{pattern}"')
    return pattern


def _known_output(output: str) -> str:
    head, _, rest = output.partition(":")
    if output in ("stdout", "last_message", "diff"):
        return output
    if head == "file" and rest:
        return output
    if head == "json" and rest:
        jsonpath.parse(rest)
        return output
    raise ValueError(f'must be {_OUTPUTS}, not "{output}"')


def _known_agent(agent: str) -> str:
    if agent not in AGENTS:
        raise ValueError(f'must be one of {", ".join(AGENTS)}, not "{agent}"')
    return agent


def _known_format(name: str) -> str:
    if name not in TRANSCRIPT_FORMATS:
        raise ValueError(f'must be one of {", ".join(TRANSCRIPT_FORMATS)}, not "{name}"')
    return name


def _known_source(source: str) -> str:
    if source == "stdout" or (source.startswith("file:") and source != "file:"):
        return source
    raise ValueError(f'must be stdout or file:PATH, not "{source}"')


class GitWorkspace(Spec):
    """The files of a commit, without history."""

    git: Text
    """The repository's folder, relative to the suite: a template."""
    at: Text
    """The commit: a template."""


class Transcript(Spec):
    """Where a program tells what it does, and in which form."""

    from_: Annotated[StrictStr, AfterValidator(_known_source)] = Field(
        default="stdout", alias="from"
    )
    """`stdout`, or `file:PATH` in its workspace."""
    format: Annotated[StrictStr, AfterValidator(_known_format)]
    """`messages`, `atif`, or an agent's name."""


class CommandTargetSpec(TargetSpec, RunsPrograms):
    """A program: a process and a workspace for each trial. Give `command` or `agent`."""

    TEMPLATED: ClassVar[tuple[str, ...]] = (
        "command", "args", "stdin", "env", "workspace", "image",
    )  # fmt: skip

    kind: Literal["command"]
    """What it is."""
    command: Command | None = None
    """The program and its arguments: templates."""
    agent: Annotated[StrictStr, AfterValidator(_known_agent)] | None = None
    """An agent that is known here, in place of a command: claude-code, codex, gemini, opencode,
    aider, mini-swe-agent. It is asked with the prompt."""
    model: Text | None = None
    """The model that the agent asks. Default: its own."""
    args: tuple[StrictStr, ...] = ()
    """Further arguments of the agent: templates."""
    stdin: StrictStr | None = None
    """What it reads on its standard input: a template. Default: nothing, it is closed."""
    workspace: Text | GitWorkspace | None = None
    """A folder that is copied into each trial's own, relative to the suite: a template; or
    `{ git, at }`, the files of a commit. Default: an empty folder."""
    setup: tuple[Command, ...] = ()
    """Commands that are run in the workspace before; what fails there is an error."""
    output: Annotated[StrictStr, AfterValidator(_known_output)] | None = None
    """What the output's text is: stdout, last_message, diff, file:PATH or json:$.path. Default:
    stdout; for an agent its last message."""
    transcript: Transcript | None = None
    """Where it tells what it does. Default: nowhere; for an agent its own."""
    protected: tuple[Annotated[StrictStr, AfterValidator(_inside)], ...] = ()
    """Patterns of paths in the workspace whose changes are in no diff: `tests`, `**/*.cfg`."""
    version: Command | None = None
    """A command that prints the program's version, which is in the key: run once, before."""
    exit_codes: Annotated[tuple[StrictInt, ...], Field(min_length=1)] = (0,)
    """Exit codes that are no error."""
    keep: Literal["never", "failed", "always"] = "never"
    """Whether an attempt's folder stays after it: never, where it ended as an error or was cut
    short (a score does not matter), always."""
    concurrency: Concurrency | None = None
    """Trials at once, in place of [run] concurrency. Default: auto, as many as the machine has
    memory, disk and processors for."""

    @classmethod
    def written_mistakes(cls, table: Mapping[str, object]) -> Iterator[FieldMistake]:
        """Yield what does not go together."""
        agent = table.get("agent")
        if (table.get("command") is None) == (agent is None):
            given = "stands beside agent" if agent is not None else "is missing"
            yield FieldMistake(("command",), given, "give either command or agent")
        for field in ("model", "args"):
            if agent is None and table.get(field) is not None:
                yield FieldMistake((field,), "is for an agent", "write it into the command")
        tells = agent is not None or table.get("transcript") is not None
        if table.get("output") == "last_message" and not tells:
            yield FieldMistake(("output",), "needs a transcript", "say where it is: transcript")
        limits = table.get("limits")
        for name in Limits.TOLD:
            if isinstance(limits, Mapping) and limits.get(name) is not None and not tells:
                yield FieldMistake(("limits", name), "cannot be watched without a transcript")
        yield from _values_that_cannot_be(table)
        contained = table.get("isolation") in CONTAINERS
        if contained and table.get("image") is None:
            yield FieldMistake(("image",), "is missing", "a container is made of an image")
        if table.get("image") is not None and not contained:
            hint = 'add isolation = "podman" or "docker"'
            yield FieldMistake(("image",), "is for a container", hint)
        if table.get("version") is not None and is_template(table.get("image")):
            hint = "leave it out: the digest of each image is in the key"
            yield FieldMistake(("version",), "has no one container to run in", hint)

    @classmethod
    def fill_from_tasks(cls, table: JsonObject) -> None:
        """Let a container be of the image that its task names, or is built of."""
        if table.get("isolation") in CONTAINERS and table.get("image") is None:
            table["image"] = "{{ image }}"

    @classmethod
    def fill_from_repositories(cls, table: JsonObject) -> None:
        """Let it work in the repository of its issue, and give what it changes there."""
        if table.get("workspace") is None:
            table["workspace"] = {"git": "{{ repository }}", "at": "{{ base_commit }}"}
            table.setdefault("output", "diff")

    @classmethod
    def hint_for_param(cls, name: str) -> str | None:
        """Return that the program asks its model itself; what it takes may be limited."""
        if name in OUTPUT_LIMITS:
            return "a program is ended at tokens of its own word: limits = { tokens = … }"
        return "a program asks its model itself: hand it on in command, args, stdin or env"

    @classmethod
    def files_read(cls, table: Mapping[str, object], folder: Path) -> Iterator[tuple[str, Path]]:
        """Yield the folders that its workspace and its image are made of, where each is one."""
        found = table.get("workspace")
        git = found.get("git") if isinstance(found, Mapping) else getattr(found, "git", found)
        if isinstance(git, str) and git and not is_template(git):
            yield "workspace", folder / from_home(git)
        image = table.get("image")
        if isinstance(image, str) and is_dockerfile(image) and not is_template(image):
            yield "image", (folder / image).parent

    @classmethod
    def permissions(cls, table: Mapping[str, object], folder: Path | None) -> Iterator[Permission]:
        """Yield the programs it runs, and what they are given."""
        commands = [_words(table.get("command"))]
        preset = AGENTS.get(str(table.get("agent")))
        if preset is not None:
            model = table.get("model")
            named = [] if model is None else [*preset.model, str(model)]
            commands.append([*preset.command, *named, *_words(table.get("args"))])
        setup = table.get("setup")
        commands += [_words(one) for one in (setup if isinstance(setup, list | tuple) else ())]
        commands.append(_words(table.get("version")))
        fixture = table.get("workspace")
        workspace = None
        if folder is not None and isinstance(fixture, str) and not is_template(fixture):
            workspace = folder / from_home(fixture)
        yield from cls.program_permissions(table, filter(None, commands), folder, workspace)
        if (stdin := table.get("stdin")) is not None:
            yield Permission(f"have its program read {str(stdin)!r}", f"standard input {stdin!r}")

    def permissions_by_case(self, data: Path | None, tasks: Path | None) -> Iterator[Permission]:
        """Yield the containers that its cases have started, and the images they have built."""
        if self.image is not None and is_template(self.image):
            named = f"images {self.image}"
            yield Permission("start containers of the images that its cases name", named, data)
            built = f"build {self.image}"
            yield Permission("build images from the Dockerfiles that its cases name", built, tasks)

    @classmethod
    def leaves_workspace(cls, table: Mapping[str, object]) -> bool:
        """Say that it does, be it an empty one."""
        return True

    @classmethod
    def runs_images(cls, table: Mapping[str, object]) -> bool:
        """Say whether its cases run in containers."""
        return table.get("isolation") in CONTAINERS

    @classmethod
    def gives_messages(cls, table: Mapping[str, object]) -> bool:
        """Say whether it tells what it does."""
        return table.get("agent") is not None or table.get("transcript") is not None

    @property
    def told(self) -> Transcript | None:
        """Where it tells what it does; None: nowhere."""
        if self.transcript is not None or self.agent is None:
            return self.transcript
        return Transcript.model_validate(
            {"from": AGENTS[self.agent].transcript, "format": self.agent}
        )

    @property
    def text_of(self) -> str:
        """What the output's text is, in the words of `output`."""
        if self.output is not None:
            return self.output
        return "stdout" if self.agent is None else AGENTS[self.agent].output

    def asked_model(self) -> str | None:
        """Return the model that its agent is told to ask."""
        return self.model

    def in_words(self) -> str:
        """Say what is run."""
        return f"agent {self.agent}" if self.command is None else f"program {self.command[0]}"

    def runs(self) -> Iterator[str]:
        """Yield its command, its isolation and its network."""
        words = self.command or (*AGENTS[str(self.agent)].command, *self.args)
        auto = " (the strongest that works here)" if self.isolation == "auto" else ""
        yield f"{shown_command(words)}: isolation {self.isolation}{auto}, network {self.network}"

    def input_tokens(self, estimate: int) -> int | None:
        """Say that nobody knows: it asks what it likes."""
        return None

    def output_limit(self) -> int | None:
        """Return the tokens at which it is ended."""
        return self.limits.tokens

    def cost_limit(self) -> float | None:
        """Return the money at which it is ended."""
        return self.limits.cost_usd

    def price_problem(self) -> str | None:
        """Say how its cost can be bounded; None: a limit does."""
        if self.limits.cost_usd is not None:
            return None
        return (
            "max_cost_usd needs to know what a trial may cost: give it limits = { cost_usd = … } "
            "and a transcript that tells its cost, or drop the cap"
        )


def _values_that_cannot_be(table: Mapping[str, object]) -> Iterator[FieldMistake]:
    """Yield values that no program can meet; no validators, as stored runs may have them."""
    told = table.get("transcript")
    files: dict[tuple[str, ...], object] = {
        ("output",): table.get("output"),
        ("transcript", "from"): told.get("from") if isinstance(told, Mapping) else None,
    }
    for path, given in files.items():
        head, _, rest = str(given).partition(":")
        try:
            _inside(rest if head == "file" else "any")
        except ValueError as error:
            yield FieldMistake(path, str(error))
    codes = table.get("exit_codes")
    for index, code in enumerate(codes if isinstance(codes, list | tuple) else ()):
        if isinstance(code, int) and not 0 <= code <= 255:
            yield FieldMistake(("exit_codes", index), f"must be from 0 to 255, not {code}")
    if _words(table.get("command"))[:1] == [""]:
        yield FieldMistake(("command",), "must begin with a program, not with an empty text")


def _words(command: object) -> list[str]:
    return [str(word) for word in command] if isinstance(command, list | tuple) else []
