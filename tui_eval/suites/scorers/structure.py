"""Scorers of JSON: `json`, `json_schema`."""

from collections.abc import Iterator
from typing import ClassVar, Final, Literal

from pydantic import Field, JsonValue, StrictBool, StrictStr, model_validator

from tui_eval.model.json import JsonObject
from tui_eval.model.visible import visible_line
from tui_eval.suites.scorers.scorer import Scorer, check_pattern
from tui_eval.suites.scorers.setting_error import SettingError
from tui_eval.texts import json_in_text
from tui_eval.texts.wording import quoted


class JsonScorer(Scorer):
    """The text is JSON, and the expected value where one is given."""

    kind: Literal["json"]
    expected: JsonValue = Field(
        default=None,
        description="The value the JSON must equal; a text that is itself JSON is read as such. "
        "Left out: any JSON will do.",
    )
    extract: StrictBool = Field(
        default=False, description="true: the JSON may stand in prose or in a code fence."
    )

    def own_settings(self) -> JsonObject:
        """Return its settings; without `expected` where any JSON will do."""
        settings = super().own_settings()
        if settings["expected"] is None:
            del settings["expected"]
        return settings

    @classmethod
    def settle(cls, settings: JsonObject) -> JsonObject:
        """Return settings with the value that is expected: a text that is JSON is read."""
        expected = settings.get("expected")
        if not isinstance(expected, str):
            return settings
        try:
            return {**settings, "expected": json_in_text.parse(expected)}
        except ValueError:
            return settings  # a text that is not itself JSON is meant as it stands


class JsonSchemaScorer(Scorer):
    """The text is JSON that a JSON Schema allows."""

    TEMPLATED: ClassVar[tuple[str, ...]] = ()

    kind: Literal["json_schema"]
    json_schema: dict[str, JsonValue] | None = Field(
        default=None, alias="schema", description="The JSON Schema as a table."
    )
    schema_file: StrictStr | None = Field(
        default=None,
        min_length=1,
        description="A file that holds the JSON Schema, relative to the suite, in place of "
        "`schema`.",
    )
    extract: StrictBool = Field(
        default=False, description="true: the JSON may stand in prose or in a code fence."
    )

    @model_validator(mode="after")
    def _has_one_schema(self) -> "JsonSchemaScorer":
        if (self.json_schema is None) == (self.schema_file is None):
            raise ValueError("give the schema either as `schema` or as `schema_file`")
        if self.json_schema is not None:
            check_schema(self.json_schema)
        return self

    @classmethod
    def settle(cls, settings: JsonObject) -> JsonObject:
        """Return its settings; the schema has to be in them."""
        if settings.get("schema") is None:
            raise SettingError("schema_file has not been read into schema", "schema_file")
        return settings

    def see_that_it_asks_something(self) -> None:
        """See that the schema's references lead somewhere; one in a file is read later."""
        for reference in () if self.json_schema is None else missing_references(self.json_schema):
            raise SettingError(
                f"schema refers to {quoted(reference)}, which is no part of it: nothing is fetched",
                "schema",
            )

    def unfit_for_a_case(self) -> tuple[str, str] | None:
        """Say that cases are read as data: none of them has files put into it."""
        if self.schema_file is None:
            return None
        return "a case's own schema cannot be in a file", "put it into `schema`"


def check_schema(schema: JsonObject) -> None:
    """See that a JSON Schema is one, by the draft it names (2020-12 where it names none).

    Raises:
        ValueError: when it is not, or holds a pattern that is none, or refers to what is no part
            of it; the message says where.
    """
    import jsonschema  # late: 60 ms that only suites with a schema pay

    if not isinstance(schema.get("$schema", ""), str):
        raise ValueError(  # noqa: TRY004 - of the suite, not of the caller
            "no JSON Schema: at $['$schema']: the draft is named by a text"
        )
    draft = jsonschema.validators.validator_for(
        schema, default=jsonschema.validators.Draft202012Validator
    )
    try:
        # not `check_schema`, which looks at patterns too, as another dialect has them
        wrong = jsonschema.exceptions.best_match(draft(draft.META_SCHEMA).iter_errors(schema))
    except RecursionError as error:
        raise ValueError("no JSON Schema: it nests too deeply to be checked") from error
    if wrong is not None:
        message = visible_line(wrong.message, 200)
        raise ValueError(f"no JSON Schema: at {wrong.json_path}: {message}")
    for pattern in _patterns_of(schema):
        check_pattern(pattern)


def missing_references(schema: JsonObject) -> Iterator[str]:
    """Yield the references of a JSON Schema that lead nowhere in it, as far as that is plain."""
    import jsonschema  # late, as above
    from referencing import Registry, exceptions
    from referencing.jsonschema import specification_with

    tables = [*_tables_of(schema)]
    if any("$id" in table or "id" in table for table in tables):
        return  # what they refer to depends on where they stand: said once it is used
    draft = jsonschema.validators.validator_for(
        schema, default=jsonschema.validators.Draft202012Validator
    )
    specification = specification_with(str(draft.META_SCHEMA["$schema"]))
    registry = Registry[JsonValue]().with_resource("", specification.create_resource(schema))
    for table in tables:
        reference = table.get("$ref")
        if isinstance(reference, str):
            try:
                registry.resolver().lookup(reference)
            except (exceptions.Unresolvable, ValueError):
                yield reference


def _patterns_of(schema: JsonObject) -> Iterator[str]:
    """Yield the regular expressions a JSON Schema holds."""
    for table in _tables_of(schema):
        pattern, properties = table.get("pattern"), table.get("patternProperties")
        if isinstance(pattern, str):
            yield pattern
        if isinstance(properties, dict):
            yield from properties


def _tables_of(schema: JsonObject) -> Iterator[JsonObject]:
    waiting: list[JsonValue] = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, dict):
            waiting.extend(inner for name, inner in value.items() if name not in _PLAIN_VALUES)
            yield value


_PLAIN_VALUES: Final = frozenset(("const", "default", "enum", "example", "examples"))
"""Keywords of JSON Schema that hold values, not schemas."""
