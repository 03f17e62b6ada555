"""Outputs that another tool recorded: a replay target for each column of answers."""

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.importers.shape import Losses, unique


class Tracks:
    """Columns of recorded answers, in the order they came up; each becomes a replay target."""

    def __init__(self, losses: Losses) -> None:
        self._losses = losses
        self._names: dict[str, str] = {}
        self._fields: dict[str, set[str]] = {}
        self._prompts: dict[str, str] = {}

    def add(self, key: str, name: str, prompt: str | None = None) -> None:
        """Say that there is a column.

        Args:
            key: What tells it apart in the file.
            name: What its target is to be called.
            prompt: The prompt its target runs; None: all there are.
        """
        if key not in self._names:
            self._names[key] = unique(name, self._names.values(), "recorded")
            self._fields[key] = set()
            if prompt is not None:
                self._prompts[key] = prompt

    def _slot(self, key: str) -> str:
        return f"r{list(self._names).index(key) + 1}"

    def put(self, row: JsonObject, key: str, output: Json, **more: Json) -> None:
        """Put an answer into a case; nothing where there is none.

        Args:
            row: The case.
            key: The column.
            output: What was said; None: nothing.
            more: What else is known of it: `latency_s`, `finish_reason`, `messages`, `scores`.
        """
        if output is None:
            return
        known = {name: value for name, value in more.items() if value is not None}
        self._fields[key] |= known.keys()
        recorded = row.setdefault("recorded", {})
        assert isinstance(recorded, dict)
        recorded[self._slot(key)] = {"output": output, **known}

    def targets(self) -> list[Json]:
        """Give the targets; their path is the dataset's."""
        found: list[Json] = []
        for key, name in self._names.items():
            base = f"recorded.{self._slot(key)}"
            target: JsonObject = {"name": name, "kind": "replay", "output": f"{base}.output"}
            for field in ("latency_s", "finish_reason", "messages"):
                if field in self._fields[key]:
                    target[field] = f"{base}.{field}"
            if key in self._prompts:
                target["prompts"] = [self._prompts[key]]
            found.append(target)
        if any("scores" in fields for fields in self._fields.values()):
            self._losses.guess("the scores of the file are kept in the cases (recorded.rN.scores); "
                               "outputs are graded anew here")  # fmt: skip
        return found
