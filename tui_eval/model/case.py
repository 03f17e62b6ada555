"""What is asked: cases, and the columns that ask them."""

from dataclasses import dataclass, field

from tui_eval.model.frozen import frozen
from tui_eval.model.json import Json, JsonObject, compact, dotted

_compact = compact(sort_keys=True)


def cluster_of(fields: JsonObject, column: str) -> str | None:
    """Return which other cases a case is not independent of, as a text that is equal for these.

    Args:
        fields: The case's row.
        column: The column that says it; a dotted path.

    Returns:
        None: of none, for the row has nothing there.
    """
    try:
        value = dotted(fields, column)
    except KeyError:
        return None
    return None if value is None else _compact(value)


@frozen
class Case:
    """One item of the dataset."""

    seq: int
    """Position in the dataset after sampling and shuffling, from 0."""
    id: str
    fields: JsonObject
    """The whole row as it was read."""
    tags: tuple[str, ...] = ()
    scorers: tuple[JsonObject, ...] = ()
    """Scorers this case adds to the suite's, each as validated settings."""
    skip: tuple[str, ...] = ()
    """Names of the suite's scorers this case leaves out."""
    weight: float = 1.0
    timeout: float | None = None
    """Seconds for one attempt; None: the run's."""
    limits: dict[str, int] = field(default_factory=dict)
    """What one attempt may take, as a task says it: `memory` and `disk`, in bytes."""
    recorded: dict[str, JsonObject] = field(default_factory=dict)
    """For each replay target, by name, what was recorded for this case; absent: nothing was. It
    holds an output with what is known of it, `epochs` with a list of such, or `prompts` with such
    for each prompt, by name; either may stand in the other. See `recording`."""
    session: tuple[JsonObject, ...] | None = None
    """What was said before it is asked, in place of the prompt's own; None: the case says
    nothing of it."""
    number: int | None = None
    """Its position in the whole run, where it is in a part of one; None: it is `seq`."""

    def recording(self, column: "Column", epoch: int = 0) -> JsonObject | None:
        """Return what was recorded of a column in an epoch (from 0); None: nothing was.

        A recording without epochs stands for each of them.
        """
        found: Json = self.recorded.get(column.target)
        while isinstance(found, dict):
            if "prompts" in found:
                found = _object(found["prompts"]).get(column.prompt or "")
            elif "epochs" in found:
                epochs = _list(found["epochs"])
                found = epochs[epoch] if epoch < len(epochs) else None
            else:
                return found
        return None

    def epochs_recorded(self, column: "Column") -> int:
        """Return how many epochs were recorded of a column; 0: nothing was, or for all at once."""
        found: Json = self.recorded.get(column.target)
        while isinstance(found, dict):
            if "epochs" in found:
                return len(_list(found["epochs"]))
            prompts = found.get("prompts")
            found = prompts.get(column.prompt or "") if isinstance(prompts, dict) else None
        return 0

    def as_json(self) -> JsonObject:
        """Return what the frozen copy of the case holds beside its place and id."""
        kept: JsonObject = {"fields": self.fields}
        if self.tags:
            kept["tags"] = list(self.tags)
        if self.scorers:
            kept["scorers"] = list(self.scorers)
        if self.skip:
            kept["skip"] = list(self.skip)
        if self.weight != 1.0:
            kept["weight"] = self.weight
        if self.timeout is not None:
            kept["timeout"] = self.timeout
        if self.limits:
            kept["limits"] = dict(self.limits)
        if self.recorded:
            kept["recorded"] = dict(self.recorded)
        if self.session is not None:
            kept["session"] = list(self.session)
        return kept

    @classmethod
    def from_json(cls, seq: int, case_id: str, kept: JsonObject) -> "Case":
        """Read a case back from its frozen copy (see `as_json`)."""
        return cls(
            seq=seq,
            id=case_id,
            fields=_object(kept["fields"]),
            tags=tuple(str(tag) for tag in _list(kept.get("tags"))),
            scorers=tuple(_object(scorer) for scorer in _list(kept.get("scorers"))),
            skip=tuple(str(name) for name in _list(kept.get("skip"))),
            weight=float(str(kept.get("weight", 1.0))),
            timeout=None if kept.get("timeout") is None else float(str(kept["timeout"])),
            limits={name: int(str(most)) for name, most in _object(kept.get("limits", {})).items()},
            recorded={
                name: _object(row) for name, row in _object(kept.get("recorded", {})).items()
            },
            session=None
            if "session" not in kept
            else tuple(_object(one) for one in _list(kept["session"])),
        )


def _object(value: Json) -> JsonObject:
    if not isinstance(value, dict):
        raise TypeError(f"a JSON object was expected, not {type(value).__name__}")
    return value


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


@dataclass(frozen=True, slots=True)
class Column:
    """One target with one prompt: one row of a summary, one column of a results table."""

    index: int
    name: str
    """`target` where there is one unnamed prompt, else `target/prompt`."""
    target: str
    prompt: str | None
    """The prompt's name; None for the unnamed one."""
