"""What an engine says of its run to whoever watches several from elsewhere."""

from dataclasses import asdict, dataclass
from typing import Annotated, Final

from pydantic import Field, TypeAdapter, ValidationError

from tui_eval.model.json import Json, JsonObject

_Count = Annotated[int, Field(ge=0, strict=True)]
_Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True)
class BoardPost:
    """A run as its engine saw it at one moment."""

    run: str
    suite: str
    host: str
    state: str
    at: _Amount
    """When it was said (Unix seconds)."""
    total: _Count
    settled: _Count
    passed: _Count
    failed: _Count
    ungraded: _Count
    errors: _Count
    cancelled: _Count
    wall_s: _Amount
    part: str | None = None
    """Its part of a whole run, as in `3/16`; None: it is no part."""
    cost_usd: _Amount | None = None
    """What its targets cost so far; None: some of it is unknown."""
    known_usd: _Amount = 0.0
    """What is known of that."""
    about_usd: _Amount | None = None
    """That, and estimates where no endpoint told; None: nothing is estimated."""
    unestimated: bool = False
    """Whether some of what is unknown is not in `about_usd` either."""

    def as_json(self) -> JsonObject:
        """Return what the file holds."""
        found: dict[str, Json] = asdict(self)
        return found

    @classmethod
    def from_json(cls, content: bytes) -> "BoardPost":
        """Read what a file holds; what else is in it is left alone.

        Raises:
            ValueError: it is no post; the message says why.
        """
        try:
            return _POST.validate_json(content)
        except ValidationError as error:
            found = error.errors()[0]
            where = ".".join(map(str, found["loc"])) or "all of it"
            raise ValueError(f"{where}: {found['msg']}") from None


_POST: Final = TypeAdapter(BoardPost)
