"""What all scorers have in common."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictStr,
    field_validator,
)

from tui_eval.model.bounds import MOST_WEIGHT
from tui_eval.model.frozen import frozen
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.visible import visible_line
from tui_eval.suites import patterns
from tui_eval.suites.data import jsonpath
from tui_eval.suites.loading.toml_lines import Path as FieldPath
from tui_eval.suites.templates.marks import is_template
from tui_eval.suites.trust.permissions import Permission

Number: TypeAlias = StrictFloat
"""Whole numbers are taken too, texts and booleans are not."""

PARTS: Final = (
    "text",
    "json:$.path",
    "field:NAME",
    "turn:N",
    "reasoning",
    "last_line",
    "regex:PATTERN",
)
"""The forms `of` may have."""

Asks: TypeAlias = Literal["judge", "embedding"]
"""Who grades where no rule does: a judge by a rubric, or the suite's embedding by a cosine."""
EMBEDDING: Final = "embedding"
"""The name of a suite's embedding, which is asked as judges are. No judge can be called so."""

_NO_SETTINGS: Final = {
    *("kind", "name", "weight", "required", "when", "targets", "negate", "schema_file")
}
"""Fields that decide nothing about the grade, or stand in the check itself."""


@frozen
class PartsGiven:
    """What outputs may have beside a text, by the targets of a suite."""

    several_turns: bool
    """More than one reply."""
    fields: bool
    tool_calls: bool
    """Calls of tools that are told of."""


class Scorer(BaseModel):
    """The fields every scorer takes, and how each kind makes a check of them."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", serialize_by_alias=True, defer_build=True
    )

    TEMPLATED: ClassVar[tuple[str, ...]] = ("expected",)
    """The fields (by Python name) that are rendered for each case, beside `when`."""

    RUNS_PROGRAM: ClassVar[bool] = False
    """Whether a program decides, and no rule."""

    kind: str
    name: Annotated[StrictStr, Field(min_length=1, max_length=100)] = Field(
        default_factory=lambda data: data["kind"],
        description="How the scorer is called in results. Default: its kind. "
        "Two scorers of one name are a mistake.",
    )
    weight: Annotated[Number, Field(gt=0, le=MOST_WEIGHT, allow_inf_nan=False)] = Field(
        default=1.0, description="Its share in the trial's score, above 0."
    )
    threshold: Annotated[Number, Field(ge=0, le=1)] | None = Field(
        default=None,
        description="The least value, 0 to 1, that passes. Where all of several texts are asked "
        "for, giving it makes the value the share of them that was found.",
    )
    required: StrictBool = Field(
        default=True, description="false: reported beside the verdict, never part of it."
    )
    negate: StrictBool = Field(
        default=False,
        alias="not",
        description="true: passes where it would fail and fails where it would pass; "
        "ungraded stays ungraded.",
    )
    when: StrictStr | None = Field(
        default=None,
        description="A template. Where it gives false, the scorer does not apply to the case: "
        "it is not counted at all.",
    )
    targets: Annotated[tuple[StrictStr, ...], Field(min_length=1)] | None = Field(
        default=None,
        description="The targets whose outputs it grades. To the others' it does not apply. "
        "Default: all.",
    )
    of: StrictStr = Field(
        default="text",
        description="The part of the output that is scored: " + ", ".join(PARTS) + ". "
        "With regex it is group 1 of the last match. Nothing matched is a fail that says so.",
    )

    @field_validator("of")
    @classmethod
    def _of_has_a_known_form(cls, of: str) -> str:
        check_part(of)
        return of

    @field_validator("name")
    @classmethod
    def _name_is_plain(cls, name: str) -> str:
        if name != name.strip() or not name.isprintable():
            raise ValueError(
                "a scorer's name has no line breaks, no control or formatting characters and no "
                "spaces around it"
            )
        return name

    @classmethod
    def asks(cls, table: Mapping[str, object]) -> Asks | None:
        """Return who grades, by its fields as they were written; None: a rule does."""
        return None

    @property
    def asks_judge(self) -> bool:
        """Whether somebody is asked for its grades, and no rule decides."""
        return self.asks(self.__dict__) is not None

    def templates(self) -> dict[str, Json]:
        """Return what is rendered for each case, by the name the suite file uses for the field."""
        rendered: dict[str, Json] = {}
        for field in ("when", *self.TEMPLATED):
            value: Json = getattr(self, field, None)
            if is_template(value):
                rendered[field] = value
        return rendered

    def own_settings(self) -> JsonObject:
        """Return all that decides the grade, as the suite has it: templates are not rendered."""
        settings: JsonObject = self.model_dump(by_alias=True, exclude=_NO_SETTINGS)
        return settings

    @classmethod
    def templates_in(cls, settings: JsonObject) -> set[str]:
        """Return the names of the settings that are rendered for each case, beside `when`."""
        return {name for name in cls.TEMPLATED if is_template(settings.get(name))}

    @classmethod
    def settle(cls, settings: JsonObject) -> JsonObject:
        """Bring rendered settings into their one form, which the score key is made of.

        What may be written in several ways has one form, so that the same question always has
        the same score key.

        Raises:
            SettingError: for a null, a wrong type, or a value that asks nothing.
        """
        return settings

    def see_that_it_asks_something(self) -> None:
        """See that it can be made, as far as that is known before any case is.

        Raises:
            SettingError: as `settle` does; for settings that are no templates.
        """
        settings = self.own_settings()
        if not self.templates_in(settings):
            self.settle(settings)

    def unfit_for_a_case(self) -> tuple[str, str] | None:
        """Say why no case can bring it along, and what to do; None: one can."""
        return None

    @classmethod
    def missing_part(cls, of: str, given: PartsGiven) -> tuple[str, str, str] | None:
        """Say which of its fields asks for what no output has, why, and what to do; None: none.

        Args:
            of: What it looks at.
            given: What the suite's outputs may have.
        """
        head, _, rest = of.partition(":")
        what_to_do = "score the text, or another part of it"
        if head == "field" and not given.fields:
            return "of", "no target gives fields", what_to_do
        if head == "turn" and rest != "1" and not given.several_turns:
            return "of", "no target gives more than one reply", what_to_do
        return None

    def judges_named(self) -> tuple[str, ...]:
        """Return the judges that it names; empty: none, or the suite's only one."""
        return ()

    @classmethod
    def permissions(cls, table: Mapping[str, object], folder: Path | None) -> Iterator[Permission]:
        """Yield what a person has to allow first: programs that it runs.

        Args:
            table: Its fields, checked or not.
            folder: The suite's own; None: it was made by this program, not read from a file.
        """
        yield from ()

    def permissions_by_case(self, data: Path | None, tasks: Path | None) -> Iterator[Permission]:
        """Yield what else it does that its cases decide.

        Args:
            data: The path or glob of the data; None: the cases stand in the suite.
            tasks: A glob of all files of the tasks; None: the cases are no folders of tasks.
        """
        yield from ()

    def given_functions(self) -> Mapping[str, str]:
        """Return the functions of a Python program that it calls: names by digests of code."""
        return {}

    def missing_program(self, folder: Path) -> str | None:
        """Say which program it needs that is not there; None: none that is known beforehand.

        Args:
            folder: The suite's own.
        """
        return None

    @classmethod
    def files_read(
        cls, table: Mapping[str, object], folder: Path
    ) -> Iterator[tuple[FieldPath, Path]]:
        """Yield the files and folders that it reads when it grades, each with its field.

        Args:
            table: Its fields.
            folder: The suite's own.
        """
        yield from ()

    @classmethod
    def file_mistakes(
        cls, table: Mapping[str, object], folder: Path
    ) -> Iterator[tuple[FieldPath, str, str | None]]:
        """Yield what is wrong with the files that it names: path in the scorer, message, hint."""
        yield from ()

    @classmethod
    def code(cls, table: Mapping[str, object], folder: Path | None) -> Iterator[Path]:
        """Yield the files and folders beside the suite that decide how it grades."""
        yield from ()


def check_part(of: str) -> None:
    """See that `of` has one of the forms in `PARTS`.

    Raises:
        ValueError: when it has not; the message names the forms, or what is wrong with its rest.
    """
    head, colon, rest = of.partition(":")
    if not colon and head in ("text", "reasoning", "last_line"):
        return
    if not colon or head not in ("json", "field", "turn", "regex") or not rest:
        raise ValueError(f"{of!r} names no part of an output: use {', '.join(PARTS)}")
    if head == "json":
        jsonpath.parse(rest)
    elif head == "turn" and not re.fullmatch(r"[1-9][0-9]{0,5}", rest):
        raise ValueError(f"{of!r}: turns are numbered from 1, as in turn:1")
    elif head == "regex":
        check_pattern(rest)


def check_pattern(pattern: str) -> None:
    """See that a regular expression can be compiled.

    Raises:
        ValueError: when it cannot; the message says why.
    """
    try:
        patterns.compiled(pattern)
    except patterns.PatternError as error:
        shown = visible_line(pattern, 60)
        raise ValueError(f"the pattern {shown!r} is not a regular expression: {error}") from error
