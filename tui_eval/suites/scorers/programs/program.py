"""What scorers have in common that have a program decide."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import ClassVar, Literal

from pydantic import Field, StrictBool, StrictStr, field_validator

from tui_eval.model.home import from_home
from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.loading.toml_lines import Path as FieldPath
from tui_eval.suites.scorers.programs.bounded import BoundedScorer
from tui_eval.suites.scorers.setting_error import SettingError, named
from tui_eval.suites.templates.marks import before_marks
from tui_eval.suites.trust.permissions import Permission


class ProgramScorer(BoundedScorer):
    """A program decides: it sees the case and what came of it, and says what that is worth."""

    TEMPLATED: ClassVar[tuple[str, ...]] = (*BoundedScorer.TEMPLATED, "files")

    isolation: Literal["auto", "none", "landlock", "bwrap"] = Field(
        default="auto",
        description="What keeps it from the rest of the machine: none, landlock, bwrap. Default: "
        "the strongest that works here. With `workspace` it runs in the image of a target that "
        "runs in containers.",
    )
    network: Literal["full", "none"] = Field(
        default="full", description="Whether it reaches the network."
    )
    workspace: StrictBool = Field(
        default=False,
        description="true: it works in a copy of the workspace as the target left it, made anew; "
        "its `protected` files are those that the target was given.",
    )
    files: dict[StrictStr, StrictStr] = Field(
        default_factory=dict,
        description="Files and folders that are laid over its folder before it starts, by where "
        'they go: { tests = "hidden/{{ id }}" }. A path from the root (/tests) is theirs in a '
        "container and with bwrap.",
    )

    @field_validator("files")
    @classmethod
    def _destinations_are_inside(cls, files: dict[str, str]) -> dict[str, str]:
        for name, source in files.items():
            see_that_it_is_a_place(name)
            if not source:
                raise ValueError(f"{name}: names no file or folder")
        return files

    @classmethod
    def settle(cls, settings: JsonObject) -> JsonObject:
        """Return settings with texts and numbers where those are wanted."""
        files = settings["files"]
        if not isinstance(files, dict):
            raise SettingError(f"files must be a table, not {named(files)}", "files")
        for name, source in files.items():
            if not isinstance(source, str) or not source or "\0" in source:
                raise SettingError(f"files.{name} names no file: {named(source)}", "files")
        return super().settle(settings)

    @classmethod
    def permissions(cls, table: Mapping[str, object], folder: Path | None) -> Iterator[Permission]:
        """Yield what is laid over its folder, and what its program may reach."""
        for source in cls.sources(table, folder):
            shown = os.path.relpath(source, folder)
            held = source / "**/*" if source.is_dir() else source
            yield Permission(f"grade with what {shown} holds", f"grade with {source}", held)
        if table.get("network", cls.model_fields["network"].default) != "none":
            yield Permission("let its programs reach the network", "programs: network")
        yield from super().permissions(table, folder)

    def permissions_by_case(self, data: Path | None, tasks: Path | None) -> Iterator[Permission]:
        """Yield the files that its cases alone name."""
        for source in self.files.values():
            if not _fixed(source):
                held = f"grade with the files that its cases name: {source}"
                yield Permission(held, f"grade with {source}", tasks or data)

    @classmethod
    def files_read(
        cls, table: Mapping[str, object], folder: Path
    ) -> Iterator[tuple[FieldPath, Path]]:
        """Yield the files and folders that it names; where cases do, the folder they are in."""
        yield from _laid_over(table, folder)

    @classmethod
    def file_mistakes(
        cls, table: Mapping[str, object], folder: Path
    ) -> Iterator[tuple[FieldPath, str, str | None]]:
        """Yield which of its files are not there; those that cases name are looked for later."""
        for at, path in cls.files_read(table, folder):
            if path.is_relative_to(folder) and not path.exists():
                yield at, "no such file or folder", f"there is no {path}"

    @classmethod
    def code(cls, table: Mapping[str, object], folder: Path | None) -> Iterator[Path]:
        """Yield the files and folders that decide what it grades like, as far as they are known.

        Args:
            table: Its fields.
            folder: The suite's own; None: it has none.
        """
        yield from cls.sources(table, folder)

    @classmethod
    def sources(cls, table: Mapping[str, object], folder: Path | None) -> Iterator[Path]:
        """Yield what its `files` are taken from: where cases name them, the folder they are in."""
        if folder is None:
            return
        yield from (path for _, path in _laid_over(table, folder))


def see_that_it_is_a_place(name: str) -> None:
    """See that a name stays in a grader's folder, or is one of its own from the root.

    Raises:
        ValueError: it does not.
    """
    parts = PurePosixPath(name).parts
    if not name or "\0" in name or ".." in parts or name in ("/", "."):
        raise ValueError(f'must be a path inside its folder, or one from the root, not "{name}"')


def _laid_over(table: Mapping[str, object], folder: Path) -> Iterator[tuple[FieldPath, Path]]:
    for name, source in _files(table).items():
        if known := _fixed(source):
            yield ("files", name), Path(os.path.normpath(folder / from_home(known)))


def _fixed(source: str) -> str:
    """Return what of a path is the same for all cases: whole folders; empty: nothing."""
    known = before_marks(source)
    return known if known == source else known.rpartition("/")[0]


def _files(table: Mapping[str, object]) -> dict[str, str]:
    found = table.get("files")
    given: Mapping[object, object] = found if isinstance(found, Mapping) else {}
    return {str(name): one for name, one in given.items() if isinstance(one, str) and one}


def texts_of(settings: JsonObject, field: str) -> list[str]:
    """Return a setting that is a list of texts.

    Raises:
        SettingError: it is none, or holds a NUL character, which no program can be given.
    """
    found: Json = settings[field]
    if not isinstance(found, list | tuple) or not found:
        raise SettingError(f"{field} must be a list of texts, not {named(found)}", field)
    for word in found:
        if isinstance(word, dict | list | bool) or word is None or "\0" in str(word):
            raise SettingError(f"{field} must hold texts, not {named(word)}", field)
    return [str(word) for word in found]
