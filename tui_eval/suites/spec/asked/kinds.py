"""The kinds that a table of a suite may be of, looked up by its field `kind`."""

from collections.abc import Mapping
from typing import Annotated, Any, Generic, TypeVar, Union, get_args

from pydantic import Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema

from tui_eval.suites.spec.asked.asked_spec import AskedSpec

_Model = TypeVar("_Model", bound=AskedSpec)

DEFAULT_KIND = "model"
"""The kind of a table that says none."""


class Kinds(Generic[_Model]):
    """The kinds of targets, or of judges: the one list that a new kind is added to.

    `Annotated[BASE, kinds]` is for pydantic the union of all of them, told apart by `kind`.
    """

    def __init__(self, base: type[_Model], *models: type[_Model]) -> None:
        """Make a registry.

        Args:
            base: What all of them derive from.
            models: The kinds in the order of the documentation.
        """
        self._base = base
        self.models: dict[str, type[_Model]] = {_kind_of(model): model for model in models}

    @property
    def names(self) -> tuple[str, ...]:
        """Every kind there is."""
        return tuple(self.models)

    def of(self, table: Mapping[str, object]) -> type[_Model]:
        """Return the kind of a table as it was written; the base for one that is not known."""
        return self.models.get(str(table.get("kind", DEFAULT_KIND)), self._base)

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Return the schema of the union."""
        union: Any = Union[tuple(self.models.values())]  # noqa: UP007 - made of a tuple
        return handler.generate_schema(Annotated[union, Field(discriminator="kind")])


def _kind_of(model: type[AskedSpec]) -> str:
    (kind,) = get_args(model.model_fields["kind"].annotation)
    return str(kind)
