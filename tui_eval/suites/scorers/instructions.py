"""The scorer of instructions that can be checked: `instructions`."""

from collections.abc import Mapping
from typing import ClassVar, Final, Literal, TypeAlias

from pydantic import Field, JsonValue, StrictBool

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.scorers.scorer import Scorer
from tui_eval.suites.scorers.setting_error import SettingError, named
from tui_eval.texts import json_in_text
from tui_eval.texts.wording import quoted

Argument: TypeAlias = Literal["count", "relation", "text", "texts", "letter"]
"""What an instruction's argument is."""

RELATIONS: Final = ("at least", "less than")

ARGUMENTS: Final[Mapping[str, Mapping[str, Argument]]] = {
    "keywords:existence": {"keywords": "texts"},
    "keywords:frequency": {"keyword": "text", "frequency": "count", "relation": "relation"},
    "keywords:forbidden_words": {"forbidden_words": "texts"},
    "keywords:letter_frequency": {
        "letter": "letter",
        "let_frequency": "count",
        "let_relation": "relation",
    },
    "language:response_language": {"language": "text"},
    "length_constraints:number_sentences": {"num_sentences": "count", "relation": "relation"},
    "length_constraints:number_paragraphs": {"num_paragraphs": "count"},
    "length_constraints:number_words": {"num_words": "count", "relation": "relation"},
    "length_constraints:nth_paragraph_first_word": {
        "num_paragraphs": "count",
        "nth_paragraph": "count",
        "first_word": "text",
    },
    "detectable_content:number_placeholders": {"num_placeholders": "count"},
    "detectable_content:postscript": {"postscript_marker": "text"},
    "detectable_format:number_bullet_lists": {"num_bullets": "count"},
    "detectable_format:constrained_response": {},
    "detectable_format:number_highlighted_sections": {"num_highlights": "count"},
    "detectable_format:multiple_sections": {"section_spliter": "text", "num_sections": "count"},
    "detectable_format:json_format": {},
    "detectable_format:title": {},
    "combination:two_responses": {},
    "combination:repeat_prompt": {"prompt_to_repeat": "text"},
    "startend:end_checker": {"end_phrase": "text"},
    "startend:quotation": {},
    "change_case:capital_word_frequency": {
        "capital_frequency": "count",
        "capital_relation": "relation",
    },
    "change_case:english_capital": {},
    "change_case:english_lowercase": {},
    "punctuation:no_comma": {},
}
"""The instructions of IFEval with their arguments, named as there.

Zhou et al., "Instruction-Following Evaluation for Large Language Models", 2023, arXiv:2311.07911;
https://github.com/google-research/google-research/tree/master/instruction_following_eval
"""


class InstructionsScorer(Scorer):
    """The instructions were followed, each of which is checked by a rule."""

    TEMPLATED: ClassVar[tuple[str, ...]] = ("instructions", "kwargs")

    kind: Literal["instructions"]
    instructions: JsonValue = Field(
        description="The ids of the instructions: a list, or a template that gives one."
    )
    kwargs: JsonValue = Field(
        description="A table for each of them, with its arguments; what is null is left out."
    )
    loose: StrictBool = Field(
        default=False,
        description="true: also without the first or last line, or without asterisks.",
    )

    @classmethod
    def settle(cls, settings: JsonObject) -> JsonObject:
        """Return settings with `instructions` as tables of `id` and its arguments."""
        ids, tables = _list(settings, "instructions"), _list(settings, "kwargs")
        if not ids:
            raise SettingError("instructions is an empty list", "instructions")
        if len(ids) != len(tables):
            raise SettingError(
                f"kwargs has {len(tables)} tables for {len(ids)} instructions", "kwargs"
            )
        asked: list[Json] = [_asked(one, table) for one, table in zip(ids, tables, strict=True)]
        settled = {name: value for name, value in settings.items() if name != "kwargs"}
        return {**settled, "instructions": asked}


def _list(settings: JsonObject, field: str) -> list[Json]:
    value = settings[field]
    if isinstance(value, str):
        try:
            value = json_in_text.parse(value)
        except ValueError as error:
            raise SettingError(f"{field} is a text that is no JSON: {error}", field) from error
    if not isinstance(value, list):
        raise SettingError(f"{field} is {named(value)} where a list is meant", field)
    return value


def _asked(instruction: Json, table: Json) -> JsonObject:
    arguments = ARGUMENTS.get(instruction) if isinstance(instruction, str) else None
    if arguments is None:
        shown = named(instruction)
        raise SettingError(f"instructions has {shown}, which is none of IFEval's", "instructions")
    if not isinstance(table, dict | None):
        raise SettingError(f"kwargs has {named(table)} where a table is meant", "kwargs")
    given = {name: value for name, value in (table or {}).items() if value is not None}
    unknown = sorted(given.keys() - arguments.keys())
    if unknown:
        raise SettingError(f"kwargs: {instruction} takes no {quoted(unknown[0])}", "kwargs")
    read: JsonObject = {"id": instruction}
    for name, kind in arguments.items():
        if name not in given:
            raise SettingError(f"kwargs: {instruction} needs {name}", "kwargs")
        wrong = _wrong(kind, given[name])
        if wrong:
            raise SettingError(f"kwargs: {name} of {instruction} is {wrong}", "kwargs")
        read[name] = given[name]
    return read


def _wrong(kind: Argument, value: Json) -> str | None:
    """Say what an argument is instead of what it should be."""
    shown = named(value)
    match kind:
        case "count":
            right = isinstance(value, int) and not isinstance(value, bool) and value >= 0
            return None if right else f"{shown}, not a whole number from 0"
        case "relation":
            return None if value in RELATIONS else f'{shown}, neither "at least" nor "less than"'
        case "letter":
            right = isinstance(value, str) and len(value) == 1
            return None if right else f"{shown}, not one character"
        case "text":
            right = isinstance(value, str) and bool(value.strip())
            return None if right else f"{shown}, not a text"
        case "texts":
            texts = value if isinstance(value, list) else []
            right = bool(texts) and all(isinstance(one, str) and one for one in texts)
            return None if right else f"{shown}, not a list of texts"
