"""A bug of ours as a value: it ends what it met, not the run."""

import traceback

from tui_eval.model.outputs.output import Failure
from tui_eval.model.visible import visible_line
from tui_eval.providers.keys import redact


def bug() -> Failure:
    """Return the exception that is being handled as a failure, with its traceback."""
    trace = redact(traceback.format_exc())
    last = trace.strip().rsplit("\n", 1)[-1]
    return Failure(
        "bug", f"a bug in tui-eval, please report it: {visible_line(last, 200)}\n{trace}"
    )
