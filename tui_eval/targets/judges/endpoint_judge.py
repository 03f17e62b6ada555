"""What judges have in common that ask an endpoint."""

from tui_eval.suites.spec import EmbeddingSpec, ModelJudgeSpec
from tui_eval.targets.base import Judge
from tui_eval.targets.build_context import BuildContext, ceiling
from tui_eval.targets.model.model_caller import ModelCaller


class EndpointJudge(ModelCaller, Judge):
    """A judge behind an endpoint, which bounds its calls."""

    def __init__(self, spec: ModelJudgeSpec | EmbeddingSpec, context: BuildContext) -> None:
        """Make it; its connection is shared with whoever asks at the same address.

        Raises:
            ValueError: its provider or base URL makes no sense.
        """
        self._connection = context.connection(spec)
        super().__init__(spec, self._connection.name)
        self.default_concurrency = ceiling(spec.concurrency, self._connection)
        self._connection.used_by_judge(spec.name, self.default_concurrency)
