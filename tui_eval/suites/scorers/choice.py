"""The scorer of multiple choice: `choice`."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, PlainValidator, WithJsonSchema, field_validator

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.scorers.expected import (
    SCALAR_SCHEMA,
    Scalar,
    Texts,
    as_text,
    expected_texts,
)
from tui_eval.suites.scorers.scorer import Number, PartsGiven, Scorer
from tui_eval.suites.scorers.setting_error import SettingError, named
from tui_eval.suites.templates.marks import is_template
from tui_eval.texts import options
from tui_eval.texts.wording import quoted


def _choices(value: object) -> str | list[Scalar] | dict[str, Scalar]:
    if isinstance(value, str) and is_template(value):
        return value
    if isinstance(value, list) and value and all(isinstance(item, Scalar) for item in value):
        return value
    if isinstance(value, dict) and value and all(isinstance(v, Scalar) for v in value.values()):
        return value
    raise ValueError(
        "a list of options, a table of label and option, or a template that gives one is "
        "expected here"
    )


Choices = Annotated[
    str | list[Scalar] | dict[str, Scalar],
    PlainValidator(_choices),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": SCALAR_SCHEMA, "minItems": 1},
                {"type": "object", "additionalProperties": SCALAR_SCHEMA, "minProperties": 1},
            ]
        }
    ),
]
"""The options of a choice."""


class ChoiceScorer(Scorer):
    """The chosen option is the expected one."""

    TEMPLATED: ClassVar[tuple[str, ...]] = ("expected", "choices")

    kind: Literal["choice"]
    expected: Texts = Field(
        description="The letter or the text of the right option; of a list any will do."
    )
    choices: Choices | None = Field(
        default=None,
        description="The options in their order (A, B, C …), or a table of label and text, or a "
        "template that gives one of these. Left out: any single letter.",
    )

    @classmethod
    def settle(cls, settings: JsonObject) -> JsonObject:
        """Return settings with the labels that are right, and all options in one form."""
        expected = expected_texts(settings)
        offered = _offers(settings["choices"], expected)
        labels: list[Json] = []
        for one in expected:
            label = offered.labelled(one)
            if label is None:
                raise SettingError(_no_option(one, offered, named=settings["choices"] is not None))
            labels.append(label)
        choices: JsonObject = {"labels": [*offered.labels], "texts": [*offered.texts]}
        return {**settings, "expected": labels, "choices": choices}

    def see_that_it_asks_something(self) -> None:
        """See to the options too where only what is expected is a template."""
        settings = self.own_settings()
        if self.templates_in(settings) == {"expected"} and settings["choices"] is not None:
            _offers(settings["choices"], [])
        else:
            super().see_that_it_asks_something()


class LikelihoodScorer(ChoiceScorer):
    """The likeliest option is the expected one, by the first token's log-probabilities."""

    kind: Literal["likelihood"]  # type: ignore[assignment]  # it reads options as `choice` does
    threshold: Annotated[Number, Field(ge=0, le=1)] | None = Field(
        default=None,
        description="The least probability of the right option, among the options, that passes; "
        "giving it makes the value that probability. Default: the likeliest option decides.",
    )

    @field_validator("of")
    @classmethod
    def _has_no_parts(cls, of: str) -> str:
        if of != "text":
            raise ValueError("this kind looks at the first token, not at a part: leave it out")
        return of

    @classmethod
    def missing_part(cls, of: str, given: PartsGiven) -> tuple[str, str, str] | None:
        """Say that no target gives log-probabilities, and how to ask for them."""
        if given.fields:
            return None
        hint = "ask for them: params = { logprobs = true, top_logprobs = 20 }"
        return "kind", "no target gives log-probabilities", hint


def _offers(choices: Json, expected: list[str]) -> options.Options:
    try:
        return _offered(choices, expected)
    except SettingError:
        raise
    except ValueError as error:
        raise SettingError(f"choices: {error}", "choices") from error


def _offered(choices: Json, expected: list[str]) -> options.Options:
    if choices is None:
        return options.options(None, expected)
    if isinstance(choices, dict) and choices:
        return options.labelled([(label, as_text(text)) for label, text in choices.items()])
    if isinstance(choices, list) and choices:
        return options.options([as_text(text) for text in choices])
    message = f"choices gives {named(choices)} where a list of options is meant"
    raise SettingError(message, "choices")


def _no_option(expected: str, offered: options.Options, *, named: bool) -> str:
    if not named:
        return f"expected {quoted(expected)} is no letter: name the options with `choices`"
    labels = ", ".join(offered.labels)
    if not offered.texts:
        return (
            f"expected {quoted(expected)} is none of the options {labels}; as these are single "
            "letters, they are the labels themselves"
        )
    return f"expected {quoted(expected)} is none of the options {labels} and none of their texts"
