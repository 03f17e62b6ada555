"""The simulated user of a suite: a model that goes on with conversations."""

from typing import ClassVar, Literal

from pydantic import StrictStr

from tui_eval.suites.spec.asked.model_endpoint import OWN_PARAMS, ModelEndpointSpec
from tui_eval.suites.spec.run import Concurrency
from tui_eval.suites.spec.table import Positive, Text, Whole


class UserSpec(ModelEndpointSpec):
    """A model that speaks as the user. Give `provider` or `base_url`."""

    WHAT: ClassVar[str] = "user"
    TEMPLATED: ClassVar[tuple[str, ...]] = ("instructions",)
    OWN_PARAMS: ClassVar[dict[str, str]] = {
        **OWN_PARAMS,
        "messages": "the conversation says it",
        "input": "the conversation says it",
        "tools": "the user calls none",
        "n": "it says one thing at a time",
    }

    kind: Literal["model"] = "model"
    """What it is; may be left out."""
    name: Text = "user"
    """How messages call it."""
    instructions: StrictStr
    """Who it is, and what it wants: a template."""
    stop: Text = "DONE"
    """The word by which it ends the conversation."""
    max_turns: Whole = 8
    """How often it speaks in a conversation, at most."""
    concurrency: Concurrency = 4
    """Requests in flight to it: a whole number ≥ 1, or "auto". It has a limit of its own, whatever
    the targets ask at the same place."""
    timeout: Positive = 300.0
    """Seconds for one of its turns."""
