"""What all parts of a suite have in common."""

from typing import Annotated, Final

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
    WithJsonSchema,
)

from tui_eval.model.bounds import MOST_EPOCHS, MOST_OF_ALL
from tui_eval.model.json import JsonObject


class Spec(BaseModel):
    """One table of a suite: strict about its keys and their types, never changed once read."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        use_attribute_docstrings=True,
        serialize_by_alias=True,
    )


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
