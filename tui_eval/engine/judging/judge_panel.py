"""The judges that grade a run from some moment on."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tui_eval.engine.judging.pool.judge_pool import JudgePool
from tui_eval.engine.judging.question_plan import NamedJudge
from tui_eval.model.json import JsonObject


@dataclass(frozen=True, slots=True)
class JudgePanel:
    """The judges by name, at work and as questions are put to them."""

    pools: Mapping[str, JudgePool] = field(default_factory=dict)
    identities: Mapping[str, JsonObject] = field(default_factory=dict)
    """What each is, as far as it changes grades."""
    scoring_version: int = 0
    """Their number (`Session.scoring_version`): what was made for others is not theirs to grade."""

    def named(self, judge: str) -> NamedJudge:
        """Return a judge as questions are put to it."""
        return NamedJudge(judge, self.identities[judge], self.pools[judge].spec.repeats)
