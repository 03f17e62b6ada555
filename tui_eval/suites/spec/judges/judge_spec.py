"""What every judge says of itself."""

from typing import Annotated, ClassVar, Final

from pydantic import JsonValue, StrictStr, WithJsonSchema, model_validator

from tui_eval.suites.spec.asked.asked_spec import AskedSpec
from tui_eval.suites.spec.run import Concurrency
from tui_eval.suites.spec.table import Amount, Count, Positive, Share, Text, Times, Whole

UNNAMED: Final = "judge"
"""What a judge is called that has no name of its own."""


class JudgeSpec(AskedSpec):
    """The fields every judge takes, and what it is asked about itself."""

    WHAT: ClassVar[str] = "judge"
    HAS_TASTE: ClassVar[bool] = True
    """Whether it may be kinder to a model of its own family than to others."""

    name: Text = UNNAMED
    """How scorers and results call it. Several judges need a name each."""
    concurrency: Concurrency = 4
    """Requests in flight to this judge: a whole number ≥ 1, or "auto". It has a limit of its own,
    whatever the targets ask at the same place."""
    batch_size: Whole = 5
    """Outputs graded in one request; 1: one at a time."""
    repeats: Times = 1
    """How often the same output is graded; the spread is the judge's own."""
    audit: Share = 0.0
    """The share of batched outputs that is graded again alone, twice, to see what the batch
    changes. Default: none."""
    max_excess_flips: Share = 0.05
    """The share of verdicts that batching may flip beyond the judge's own noise; where the audit
    shows more, batching is turned off."""
    timeout: Positive = 300.0
    """Seconds for one attempt at one output; a batch has half as much more for each further one."""
    retries: Count = 5
    """Further attempts after a passing fault of a request."""
    instructions: StrictStr | None = None
    """What the judge is told beside the rubric: the style to grade in, the language, a persona."""
    linger: Amount = 60.0
    """Seconds a batch that is not full waits for more outputs, as long as there may be any."""
    token_budget: Whole = 8000
    """Tokens, estimated, that what is asked in one request may have together. Default: 8000; for
    `local` 800, which its slots have room for."""
    gold: (
        Annotated[
            Text | tuple[dict[str, JsonValue], ...],
            WithJsonSchema(
                {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "object"}}]}
            ),
        ]
        | None
    ) = None
    """Outputs a person has graded, a .jsonl file relative to the suite or the rows themselves:
    `input`, `output`, `grade`. They are graded first, and the judge's agreement is shown."""
    min_agreement: Share | None = None
    """The least agreement with `gold`; under it the run pauses before it spends. Default: none."""
    min_spearman: Share | None = None
    """The least rank correlation (Spearman) with the grades of `gold`, for scorers with a scale;
    under it the run pauses before it spends. Default: none."""

    def timeout_of(self, outputs: int) -> float:
        """Return the seconds that one attempt at so many outputs may take."""
        return self.timeout * (1 + outputs) / 2

    @model_validator(mode="after")
    def _agrees_with_something(self) -> "JudgeSpec":
        for name in ("min_agreement", "min_spearman"):
            if getattr(self, name) is not None and self.gold is None:
                raise ValueError(f"{name} needs gold: outputs that a person has graded")
        return self
