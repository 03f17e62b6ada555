"""The kinds of judges: one module each.

A new kind derives from `JudgeSpec`, answers of `AskedSpec` what is not as the defaults say, and is
listed in `JUDGES`.
"""

from typing import Annotated, Final

from tui_eval.suites.spec.asked.kinds import Kinds
from tui_eval.suites.spec.judges.embedding_spec import EmbeddingSpec
from tui_eval.suites.spec.judges.judge_spec import JudgeSpec
from tui_eval.suites.spec.judges.model_judge_spec import ModelJudgeSpec
from tui_eval.suites.spec.judges.simulated_judge_spec import SimulatedJudgeSpec

__all__ = [
    "JUDGES",
    "RUBRIC_JUDGES",
    "AnyJudge",
    "EmbeddingSpec",
    "JudgeSpec",
    "ModelJudgeSpec",
    "RubricJudge",
    "SimulatedJudgeSpec",
]

RUBRIC_JUDGES: Final = Kinds(JudgeSpec, ModelJudgeSpec, SimulatedJudgeSpec)
"""The kinds that grade by a rubric, which `[judge]` may be of."""
JUDGES: Final = Kinds(JudgeSpec, *RUBRIC_JUDGES.models.values(), EmbeddingSpec)
"""Every kind there is: also what `[embedding]` is, which is asked as judges are."""

RubricJudge = Annotated[JudgeSpec, RUBRIC_JUDGES]
"""One judge in a suite's file; its `kind` says which model it is."""
AnyJudge = Annotated[JudgeSpec, JUDGES]
"""One judge of a suite that was read."""
