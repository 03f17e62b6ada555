"""The request of a case to a program: what is run, what it reads, what its workspace is made of."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tui_eval.model.case import Case, Column
from tui_eval.model.home import from_home
from tui_eval.model.json import Json, JsonObject
from tui_eval.processes.isolation.images import ContainerEngine
from tui_eval.processes.workspace.bounds import WorkspaceError
from tui_eval.processes.workspace.source import (
    FolderSource,
    GitSource,
    WorkspaceSource,
    source_digest,
)
from tui_eval.suites import loop_bounds
from tui_eval.suites.loop_bounds import NotAtOnceError
from tui_eval.suites.program_fields import CONTAINERS, is_there, own_files
from tui_eval.suites.spec import CommandTargetSpec
from tui_eval.suites.spec.agents import AGENTS
from tui_eval.suites.spec.asked.programs import is_dockerfile
from tui_eval.suites.templates.marks import is_template
from tui_eval.suites.templates.renderer import Renderer
from tui_eval.suites.templates.template import Names, Template, TemplateError
from tui_eval.suites.trust.capabilities import Folder

_LONGEST_ARGUMENT: Final = 100_000
"""Bytes of an argument; systems refuse one of 128 KiB."""


@dataclass(frozen=True)
class CommandRequest:
    """What a case asks of a program."""

    command: tuple[str, ...]
    stdin: str | None
    env: Mapping[str, str]
    source: WorkspaceSource | None
    image: JsonObject | None
    """Of its container, see `CommandRenderer.image`; None: it runs in none."""

    @classmethod
    def of(cls, request: JsonObject, folder: Path) -> "CommandRequest":
        """Read what `CommandRenderer.request` gave.

        Args:
            request: The request.
            folder: The suite's own.
        """
        command, env, stdin = request["command"], request["env"], request["stdin"]
        image = request.get("image")
        assert image is None or isinstance(image, dict)
        assert isinstance(command, list)
        assert isinstance(env, dict)
        return cls(
            tuple(str(word) for word in command),
            None if stdin is None else str(stdin),
            {name: str(value) for name, value in env.items()},
            _source(request["workspace"], folder),
            image,
        )


class CommandRenderer:
    """Renders the requests of a target's cases."""

    def __init__(
        self, spec: CommandTargetSpec, renderer: Renderer, folder: Path, reach: Folder
    ) -> None:
        """Compile its templates.

        Args:
            spec: The target.
            renderer: Renders the suite's prompts.
            folder: The suite's own.
            reach: What the suite may read.

        Raises:
            TemplateError: one is no template.
        """
        at = f"targets.{spec.name}"
        self._spec = spec
        self._renderer = renderer
        self._folder = folder
        self._reach = reach
        preset = None if spec.agent is None else AGENTS[spec.agent]
        self._preset = preset
        words = spec.command or ()
        if preset is not None:
            model = () if spec.model is None else (*preset.model, spec.model)
            words = (*preset.command, *model, *spec.args)
        self.code: dict[str, Path] = {}
        """Files that its commands name: what they hold is part of what the program is."""
        self._own = self._own_places(words)
        self.setup = tuple(self.located(one, self._own_places(one)) for one in spec.setup)
        """The commands of `setup`, own files being named by their whole paths."""
        version = spec.version or ()
        self.version = self.located(version, self._own_places(version))
        """Likewise the command that prints the version; empty: there is none."""
        self._first = words[0]
        self._command = [
            Template(word, f"{at}.command[{place}]") for place, word in enumerate(words)
        ]
        env = {**(preset.env if preset else {}), **spec.env}
        self._env = {name: Template(text, f"{at}.env.{name}") for name, text in env.items()}
        self._stdin = None if spec.stdin is None else Template(spec.stdin, f"{at}.stdin")
        self._workspace = {
            name: Template(text, f"{at}.workspace") for name, text in _written(spec).items()
        }
        self._templated = any(is_template(text) for text in _written(spec).values())
        self._digests: dict[WorkspaceSource, str] = {}
        contained = spec.image is not None and spec.isolation in CONTAINERS
        self._image = Template(spec.image, f"{at}.image") if contained and spec.image else None
        self._engine = ContainerEngine(spec.isolation)
        self._images: dict[str, str | None] = {}
        """The digests of images, by name."""

    @property
    def program(self) -> str | None:
        """What is executed, where that is the same for all cases."""
        return None if is_template(self._first) else self.located((self._first,))[0]

    @property
    def installed(self) -> str | None:
        """What is executed, where it is there without any workspace."""
        program = self.program
        inside = program is not None and "/" in program and not program.startswith("/")
        return None if inside else program

    def no_commit(self) -> str | None:
        """Say that the commit of its workspace is not there; None: it is, or cases name it."""
        written: JsonObject = {**_written(self._spec)}
        source = None if self._templated else _source(written, self._folder)
        try:
            if isinstance(source, GitSource):
                source_digest(source)
        except WorkspaceError as error:
            return f"target {self._spec.name!r}: its workspace: {error}"
        return None

    def located(
        self, command: tuple[str, ...], own: Mapping[int, str] | None = None
    ) -> tuple[str, ...]:
        """Return a command with whole paths for files of the suite's folder.

        Requests have them as they are written, so that a suite may be moved.

        Args:
            command: The command.
            own: The places of such files in it; None: it is the target's own command, rendered.
        """
        places = self._own if own is None else own
        return tuple(places.get(place, word) for place, word in enumerate(command))

    def _own_places(self, command: tuple[str, ...]) -> dict[int, str]:
        """Return the places of a command that name files of the suite's folder, with their paths.

        What its workspace has under that name is meant instead, where that is a folder.
        """
        given = self._spec.workspace
        fixture = self._folder / from_home(given) if isinstance(given, str) else None
        own = {
            word: path
            for word, path in own_files(command, self._folder).items()
            if fixture is None or not (fixture / word).exists()
        }
        self.code |= {**scripts(command), **own}
        return {place: str(own[word]) for place, word in enumerate(command) if word in own}

    def request(self, column: Column, case: Case) -> JsonObject:
        """Return the request of a case; its values are all that decides what the program does.

        Raises:
            TemplateError: a template cannot be rendered for the case.
            WorkspaceError: there is nothing to make its workspace of.
        """
        names = self._renderer.target_names(column, case)
        command: list[Json] = [_without_nul(one, one.text(names)) for one in self._command]
        stdin = None if self._stdin is None else self._stdin.text(names)
        if self._preset is not None:
            asked = names["prompt"]
            if not isinstance(asked, str):
                raise TemplateError("prompt", "an agent is asked with the prompt: there is none")
            if self._preset.prompt is None or len(asked.encode()) > _LONGEST_ARGUMENT:
                stdin = asked
            else:
                command += [*self._preset.prompt, asked]
        rendered: JsonObject = {
            "command": command,
            "stdin": stdin,
            "env": {name: _without_nul(one, one.text(names)) for name, one in self._env.items()},
            "workspace": self._made_of(names),
        }
        image = self.image(names)
        return rendered if image is None else {**rendered, "image": image}

    def image(self, names: Names) -> JsonObject | None:
        """Return the image of a case's container; None: it runs in none.

        `{"id": …}`, its digest; `{"name": …, "id": null}` where it is not here, so that nobody
        knows its digest; or `{"dockerfile": …, "digest": …}`, what it is built from.

        Raises:
            TemplateError: the template cannot be rendered, or names nothing.
            WorkspaceError: there is nothing to build it from.
        """
        if self._image is None:
            return None
        named = self._image.value(names)
        if not isinstance(named, str) or not named or "\0" in named:
            raise TemplateError(self._image.field, "names no image")
        if is_dockerfile(named):
            context = FolderSource((self._folder / named).parent)
            if is_template(self._spec.image):
                self._see_that_it_may_be_read(context.path)
            return {"dockerfile": named, "digest": self._digest(context)}
        if "@sha256:" in named:
            return {"id": named}
        if named not in self._images:
            if loop_bounds.asked():
                raise NotAtOnceError  # the engine is asked
            found = self._engine.image(named)
            self._images[named] = None if found is None else found.id
        known = self._images[named]
        return {"name": named, "id": None} if known is None else {"id": known}

    def image_of(self, column: Column, case: Case) -> JsonObject | None:
        """Return the image of a case's container, see `image`."""
        return self.image(self._renderer.target_names(column, case))

    def source(self, column: Column, case: Case) -> WorkspaceSource | None:
        """Return what the workspace of a case is made of; None: of nothing.

        Raises:
            TemplateError: a template cannot be rendered for the case.
        """
        names = self._renderer.target_names(column, case)
        return _source(self._source_written(names), self._folder)

    def _source_written(self, names: Names) -> JsonObject:
        return {name: one.text(names) for name, one in self._workspace.items()}

    def _made_of(self, names: Names) -> Json:
        """Return what a workspace is made of, with the digest of it."""
        written = self._source_written(names)
        source = _source(written, self._folder)
        if source is None:
            return None
        if self._templated:
            self._see_that_it_may_be_read(source.place)
        return {**written, "digest": self._digest(source)}

    def _digest(self, source: WorkspaceSource) -> str:
        if source not in self._digests:
            if loop_bounds.asked():
                raise NotAtOnceError  # it reads all the files there are
            self._digests[source] = source_digest(source).hex()
        return self._digests[source]

    def _see_that_it_may_be_read(self, path: Path) -> None:
        """Hold what a case has named to what the suite was allowed to read.

        Raises:
            WorkspaceError: it may not be read.
        """
        if not self._reach.may_read(path):
            raise WorkspaceError(
                f"{path} lies outside the suite's folder and what it may read, and a template has "
                "named it: name a folder outside as it is"
            )


def _written(spec: CommandTargetSpec) -> dict[str, str]:
    """Return what a workspace is made of, as the suite says it; empty: of nothing."""
    if spec.workspace is None:
        return {}
    if isinstance(spec.workspace, str):
        return {"folder": spec.workspace}
    return {"git": spec.workspace.git, "at": spec.workspace.at}


def file_digests(files: Mapping[str, Path]) -> JsonObject:
    """Return the digests of files, by name; None for one that cannot be read."""
    found: JsonObject = {}
    for name, path in files.items():
        try:
            with path.open("rb") as opened:
                found[name] = hashlib.file_digest(opened, "sha256").hexdigest()
        except OSError:
            found[name] = None
    return found


def scripts(command: tuple[str, ...]) -> dict[str, Path]:
    """Return the files that a command names by their whole paths; of its program, a script."""
    named = {word: Path(word) for word in command if word.startswith("/") and not is_template(word)}
    found = {word: path for word, path in named.items() if is_there(path)}
    if command and command[0] in found and not _is_script(found[command[0]]):
        del found[command[0]]
    return found


def _is_script(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def _source(written: Json, folder: Path) -> FolderSource | GitSource | None:
    if not isinstance(written, dict) or not written:
        return None
    if "git" in written:
        return GitSource(folder / from_home(str(written["git"])), str(written["at"]))
    return FolderSource(folder / from_home(str(written["folder"])))


def _without_nul(template: Template, text: str) -> str:
    if "\0" in text:
        raise TemplateError(template.field, "holds a NUL character, which no program can be given")
    return text
