"""A model as a judge."""

from typing import ClassVar, Final, Literal

from pydantic import model_validator

from tui_eval.providers.presets import PRESETS
from tui_eval.suites.spec.asked.bulk_endpoint import BulkEndpointSpec
from tui_eval.suites.spec.asked.model_endpoint import OWN_PARAMS
from tui_eval.suites.spec.judges.judge_spec import JudgeSpec

_BUDGET_OF_A_SLOT: Final = 800
"""Of the 2,048 tokens an embedded server's slot has: the rest is for instructions and the reply."""


class ModelJudgeSpec(JudgeSpec, BulkEndpointSpec):
    """A model behind an OpenAI-compatible endpoint. Give `provider` or `base_url`."""

    OWN_PARAMS: ClassVar[dict[str, str]] = {
        **OWN_PARAMS,
        "messages": "the rubric says it",
        "input": "the rubric says it",
        "tools": "a judge calls none",
        "n": "grade several times with `repeats`",
        "response_format": "the form of grades is asked for by itself",
    }

    kind: Literal["model"] = "model"
    """What it is; may be left out."""

    @model_validator(mode="before")
    @classmethod
    def _batches_fit_into_a_slot(cls, data: object) -> object:
        if isinstance(data, dict) and data.get("token_budget") is None:
            preset = PRESETS.get(str(data.get("provider")))
            if preset is not None and preset.embedded:
                return {**data, "token_budget": _BUDGET_OF_A_SLOT}
        return data
