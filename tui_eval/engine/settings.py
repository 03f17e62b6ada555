"""What a person chooses when launching a run, beside the suite itself; frozen with the run."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Literal

from tui_eval.engine.limits.spend_caps import Caps
from tui_eval.model.json import JsonObject
from tui_eval.model.runs.executor_choice import ExecutorChoice
from tui_eval.model.runs.run_part import RunPart
from tui_eval.model.runs.sweep_plan import SweepPlan


@dataclass(frozen=True, slots=True)
class Settings:
    """The choices of one launch. An empty tuple or None leaves it to the suite."""

    targets: tuple[str, ...] = ()
    """Names of the targets to run; empty: all."""
    cases: tuple[str, ...] = ()
    """Ids of the cases to run; empty: all."""
    tags: tuple[str, ...] = ()
    """Only cases with one of these tags; empty: all."""
    limit: int | None = None
    """Only so many cases, the first ones."""
    sample: int | None = None
    """Only so many cases, drawn with the dataset's seed."""
    only: str | None = None
    """Only cases whose latest verdict in this store is so: `failed`, `errors`, `ungraded`."""
    epochs: int | None = None
    concurrency: int | Literal["auto"] | None = None
    """For every endpoint."""
    usual_concurrency: int | Literal["auto"] | None = None
    """Of the person's configuration: where neither the launch, the suite nor a preset says."""
    max_cost_usd: float | None = None
    """In place of the suite's; raised when a run is resumed."""
    max_tokens: int | None = None
    max_errors: float | None = None
    """Likewise."""
    fresh: bool = False
    """Use no output and no grade of an earlier run."""
    no_judge: bool = False
    """Ask no judge: checks that judges decide are ungraded, until somebody scores again."""
    changed_dataset: bool = False
    """A `--set` changed which cases there are."""
    sweep: SweepPlan | None = None
    """How the endpoint is driven, level by level; None: it is no sweep."""
    part: RunPart | None = None
    """The part of the cases that are run here; None: all of them."""
    whole_caps: Mapping[str, float] | None = None
    """Of a part, the caps of the whole run, as the fields here are called."""
    executor: ExecutorChoice | None = None
    """Who makes the attempts; None: the engine itself."""
    board: str | None = None
    """A folder, where the engine says now and then how far it is; None: nowhere."""
    submit: bool = False
    """Leave the run once all that is left is to wait for providers that were asked in bulk."""
    permit: str | None = None
    """The mark that its maker was trusted with what the suite wants, see `engine.permission`."""

    @property
    def partial(self) -> bool:
        """Whether the run leaves cases or targets of its suite out."""
        narrowed = self.targets or self.cases or self.tags or self.only or self.changed_dataset
        few = self.limit is not None or self.sample is not None or self.part is not None
        return bool(narrowed) or few or self.sweep is not None

    def as_json(self) -> dict[str, object]:
        """Return what the run's row keeps: only what was chosen."""
        return {
            name: value for name, value in asdict(self).items() if value not in ((), None, False)
        }

    @classmethod
    def from_json(cls, kept: JsonObject) -> "Settings":
        """Read back what `as_json` gave."""
        values: dict[str, object] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in kept.items()
        }
        if isinstance(plan := kept.get("sweep"), dict):
            levels = tuple(plan["levels"])  # type: ignore[arg-type]  # written by as_json alone
            values["sweep"] = SweepPlan(**{**plan, "levels": levels})  # type: ignore[arg-type]
        if isinstance(part := kept.get("part"), dict):
            values["part"] = RunPart(**part)  # type: ignore[arg-type]  # likewise
        if isinstance(executor := kept.get("executor"), dict):
            values["executor"] = ExecutorChoice(**executor)  # type: ignore[arg-type]  # likewise
        return cls(**values)  # type: ignore[arg-type]  # likewise


def caps_in_force(rules: Mapping[str, object], chosen: Mapping[str, object]) -> Caps:
    """Return where a run pauses and asks: what its launch chose outranks its suite.

    Args:
        rules: The `[run]` table of its frozen suite.
        chosen: What its row keeps of the launch, see `Settings.as_json`.
    """

    def cap(name: str) -> float | None:
        named = (value for value in (chosen.get(name), rules.get(name)) if value is not None)
        first = next(named, None)
        return float(first) if isinstance(first, int | float) else None

    tokens = cap("max_tokens")
    return Caps(cap("max_cost_usd"), None if tokens is None else int(tokens), cap("max_errors"))


def shared_out(settings: Settings, rules: Mapping[str, object]) -> Settings:
    """Return the settings of a part of a run, whose caps are its share of the whole run's.

    A share of the errors (below 1) is one of any part; a number of them is divided.

    Args:
        settings: What was chosen for the whole; without a part it is returned as it is.
        rules: The `[run]` table of the suite.
    """
    if (part := settings.part) is None:
        return settings
    caps = caps_in_force(rules, settings.as_json())
    errors = caps.errors
    if errors is not None and errors >= 1:
        errors = float(part.share(int(errors)))
    whole = {"max_cost_usd": caps.cost_usd, "max_tokens": caps.tokens, "max_errors": caps.errors}
    return replace(
        settings,
        whole_caps={name: cap for name, cap in whole.items() if cap is not None} or None,
        max_cost_usd=None if caps.cost_usd is None else caps.cost_usd / part.of,
        max_tokens=None if caps.tokens is None else part.share(caps.tokens),
        max_errors=errors,
    )
