"""What a suite may say of its scorers: one strict model for each kind.

A kind is its model here, which brings what a suite says into one form (`Scorer.settle`), and the
function that grades by it, in the module of the same name in `tui_eval.scoring.rules`. A new one is
listed in `ScorerSpec` and in `RULES` of `tui_eval.scoring.grading`, and has its section in
`docs/reference/suites.md`.
"""

from collections.abc import Mapping
from typing import Annotated, Final, TypeVar, get_args

from pydantic import AfterValidator, Field, ValidationInfo

from tui_eval.suites.scorers.call_figures import (
    CostScorer,
    FinishScorer,
    LatencyScorer,
    TokensScorer,
)
from tui_eval.suites.scorers.choice import ChoiceScorer, LikelihoodScorer
from tui_eval.suites.scorers.instructions import InstructionsScorer
from tui_eval.suites.scorers.judge.judge_fields import ARITHMETIC, unweighted
from tui_eval.suites.scorers.judge.judge_scorer import JudgeScorer
from tui_eval.suites.scorers.mathematics import MathScorer
from tui_eval.suites.scorers.numeric import NumericScorer
from tui_eval.suites.scorers.programs.code import CodeScorer
from tui_eval.suites.scorers.programs.command_scorer import CommandScorer
from tui_eval.suites.scorers.programs.function_scorer import FunctionScorer
from tui_eval.suites.scorers.programs.plugin_scorer import PluginScorer
from tui_eval.suites.scorers.programs.python_scorer import PythonScorer
from tui_eval.suites.scorers.recorded_verdict import RecordedScorer
from tui_eval.suites.scorers.scorer import PARTS, PartsGiven, Scorer, check_part
from tui_eval.suites.scorers.similarity import F1Scorer, FuzzyScorer, SimilarityScorer
from tui_eval.suites.scorers.structure import JsonSchemaScorer, JsonScorer, check_schema
from tui_eval.suites.scorers.text import (
    ExactScorer,
    IncludesScorer,
    RegexScorer,
    StartsWithScorer,
)
from tui_eval.suites.scorers.tool_calls import ToolCallsScorer
from tui_eval.suites.templates.marks import is_template

__all__ = [
    "ARITHMETIC",
    "AS_WRITTEN",
    "PARTS",
    "SCORERS",
    "JudgeScorer",
    "PartsGiven",
    "Scorer",
    "ScorerSpec",
    "check_part",
    "check_schema",
    "is_template",
    "scorer_of",
    "unweighted",
]

_Spec = TypeVar("_Spec", bound=Scorer)


AS_WRITTEN: Final = {"as written": True}
"""The context for validating what somebody has just written: whether it makes sense, too.

What a store has is taken as it is.
"""


def _that_asks_something(spec: _Spec, info: ValidationInfo) -> _Spec:
    if info.context is AS_WRITTEN:
        spec.see_that_it_asks_something()
    return spec


ScorerSpec = Annotated[
    ExactScorer
    | IncludesScorer
    | StartsWithScorer
    | RegexScorer
    | NumericScorer
    | MathScorer
    | ChoiceScorer
    | LikelihoodScorer
    | FuzzyScorer
    | F1Scorer
    | SimilarityScorer
    | JsonScorer
    | JsonSchemaScorer
    | ToolCallsScorer
    | InstructionsScorer
    | RecordedScorer
    | LatencyScorer
    | TokensScorer
    | CostScorer
    | FinishScorer
    | CodeScorer
    | CommandScorer
    | PythonScorer
    | FunctionScorer
    | PluginScorer
    | JudgeScorer,
    Field(discriminator="kind"),
    AfterValidator(_that_asks_something),
]
"""One scorer of a suite; its `kind` says which model it is."""

SCORERS: Final[dict[str, type[Scorer]]] = {
    get_args(model.model_fields["kind"].annotation)[0]: model
    for model in get_args(get_args(ScorerSpec)[0])
}
"""Every kind there is, in the order of the documentation."""


def scorer_of(table: Mapping[str, object]) -> type[Scorer]:
    """Return the kind of a table as it was written; the base for one that is not known."""
    return SCORERS.get(str(table.get("kind")), Scorer)
