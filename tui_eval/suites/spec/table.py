"""A table of a suite, and the types of its fields."""

import ast
import inspect
import textwrap
from itertools import pairwise
from typing import Annotated, Final

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    StrictFloat,
    StrictInt,
    StrictStr,
    WithJsonSchema,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from tui_eval.model.bounds import MOST_EPOCHS, MOST_OF_ALL
from tui_eval.model.json import JsonObject


class Spec(BaseModel):
    """One table of a suite: strict about its keys and their types, never changed once read."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        serialize_by_alias=True,
        defer_build=True,
    )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Describe each field by the text below it.

        As pydantic's `use_attribute_docstrings` does, which reads the sources at every start though
        hardly any needs a schema.
        """
        schema = handler(core_schema)
        fields = handler.resolve_ref_schema(schema).get("properties", {})
        for name, text in _texts_below_fields(cls).items():
            found = cls.model_fields.get(name)
            described = None if found is None else fields.get(found.alias or name)
            if described is not None:
                described.setdefault("description", text)
        return schema


def _texts_below_fields(model: type[BaseModel]) -> dict[str, str]:
    """Return the texts below a model's fields; those of a subclass outrank its bases'."""
    texts: dict[str, str] = {}
    for of in reversed(model.__mro__):
        if issubclass(of, Spec) and of is not Spec:
            (made,) = ast.parse(textwrap.dedent(inspect.getsource(of))).body
            assert isinstance(made, ast.ClassDef), "the source of a class"
            for field, below in pairwise(made.body):
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                    texts.pop(field.target.id, None)
                    if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                        texts[field.target.id] = inspect.cleandoc(str(below.value.value))
    return texts


Text = Annotated[StrictStr, Field(min_length=1)]
"""A text that is not empty."""
Whole = Annotated[StrictInt, Field(ge=1, le=MOST_OF_ALL)]
"""A whole number of at least 1."""
Times = Annotated[StrictInt, Field(ge=1, le=MOST_EPOCHS)]
"""How often something is done."""
Count = Annotated[StrictInt, Field(ge=0, le=MOST_OF_ALL)]
"""A whole number of at least 0."""
Share = Annotated[StrictFloat, Field(ge=0, le=1)]
"""A number between 0 and 1."""
Amount = Annotated[StrictFloat, Field(ge=0)]
"""A number of at least 0."""
Positive = Annotated[StrictFloat, Field(gt=0)]
"""A number above 0."""

TEXT_OR_TEXTS: Final[JsonObject] = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
}


def _one_or_many(value: object) -> object:
    return [value] if isinstance(value, str) else value


Texts = Annotated[tuple[Text, ...], BeforeValidator(_one_or_many), WithJsonSchema(TEXT_OR_TEXTS)]
"""One text or a list of them; kept as a tuple."""
