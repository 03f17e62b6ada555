"""Scorers that compare texts: `exact`, `includes`, `starts_with`, `regex`."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StrictBool

from tui_eval.model.json import JsonObject
from tui_eval.suites import patterns
from tui_eval.suites.scorers.expected import EXPECTED, Scalar, Texts, expected_texts, with_texts
from tui_eval.suites.scorers.scorer import Scorer, check_pattern
from tui_eval.suites.scorers.setting_error import SettingError
from tui_eval.suites.templates.marks import is_template
from tui_eval.texts.normal import normalized
from tui_eval.texts.wording import quoted


def _not_empty(expected: Scalar | list[Scalar]) -> Scalar | list[Scalar]:
    if "" in (expected if isinstance(expected, list) else [expected]):
        raise ValueError("an empty text would be found in every output")
    return expected


SoughtTexts = Annotated[Texts, AfterValidator(_not_empty)]
"""Texts that are searched for."""


def _compiling(expected: Scalar | list[Scalar]) -> Scalar | list[Scalar]:
    for pattern in expected if isinstance(expected, list) else [expected]:
        if isinstance(pattern, str) and not is_template(pattern):
            check_pattern(pattern)
    return expected


Patterns = Annotated[Texts, AfterValidator(_compiling)]
"""Regular expressions."""


class ComparingScorer(Scorer):
    """The fields that say in what two texts may differ and count as equal."""

    ignore_case: StrictBool = Field(default=False, description="Upper and lower case are one.")
    strip: StrictBool = Field(default=False, description="White space around does not count.")
    normalize: StrictBool = Field(
        default=False,
        description="Case, punctuation, the articles a, an, the and runs of white space do not "
        "count.",
    )

    @classmethod
    def settle(cls, settings: JsonObject) -> JsonObject:
        """Return settings with texts to compare; `normalize` has to leave something of each."""
        for expected in expected_texts(settings) if settings["normalize"] is True else ():
            if expected and not normalized(expected):
                raise SettingError(f"normalize leaves nothing of expected {quoted(expected)}")
        return with_texts(settings)


class _TextScorer(ComparingScorer):
    """The fields of scorers that compare with one or several texts."""

    expected: Texts = Field(description=EXPECTED)
    match: Literal["any", "all"] = Field(
        default="any", description="Whether any or all of several expected texts must match."
    )


class ExactScorer(_TextScorer):
    """The text is the expected one."""

    kind: Literal["exact"]
    strip: StrictBool = Field(
        default=True,
        description="White space around the text and what is expected does not count.",
    )


class _SearchingScorer(_TextScorer):
    """The fields of scorers that look for texts in others."""

    expected: SoughtTexts = Field(description=EXPECTED)

    @classmethod
    def settle(cls, settings: JsonObject) -> JsonObject:
        """Return settings with texts to look for, none of them empty."""
        if "" in expected_texts(settings):
            raise SettingError("expected is an empty text, which is found in every output")
        return super().settle(settings)


class IncludesScorer(_SearchingScorer):
    """The text has the expected ones in it."""

    kind: Literal["includes"]
    match: Literal["any", "all"] = Field(
        default="all", description="Whether any or all of several expected texts must be found."
    )


class StartsWithScorer(_SearchingScorer):
    """The text starts with the expected one."""

    kind: Literal["starts_with"]
    strip: StrictBool = Field(
        default=True,
        description="White space before the text and what is expected does not count.",
    )


class RegexScorer(_TextScorer):
    """A regular expression is found in the text."""

    kind: Literal["regex"]
    expected: Patterns = Field(
        description="A regular expression or a list of them, searched for anywhere in the text; "
        "templates are rendered first. In TOML write it between single quotes."
    )

    @classmethod
    def settle(cls, settings: JsonObject) -> JsonObject:
        """Return settings with patterns that compile, none of them empty."""
        texts = expected_texts(settings)
        if "" in texts:
            raise SettingError("expected is an empty pattern, which is found in every output")
        for pattern in texts:
            try:
                patterns.compiled(pattern, settings["ignore_case"] is True)
            except patterns.PatternError as error:
                message = f"expected {quoted(pattern)} is not a regular expression: {error}"
                raise SettingError(message) from error
        return with_texts(settings)
