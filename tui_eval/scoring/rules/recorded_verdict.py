"""The rule of verdicts that the rows bring along: `recorded`."""

from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Output
from tui_eval.model.score import Grade
from tui_eval.model.states import Verdict
from tui_eval.scoring.settings import number
from tui_eval.texts.wording import plain


def recorded(settings: JsonObject, _: Output) -> Grade:
    """Give the verdict or the value that the row says, whatever the output is."""
    value, why = settings["value"], settings.get("reason")
    said = "" if why in (None, "") else f": {plain(str(why), 200)}"
    if value == "ungraded":
        return Grade.ungraded(f"recorded as ungraded{said}")
    if isinstance(value, str):
        return Grade.of(value == "pass", f"recorded as {value}{said}")
    measured = number(value) or 0.0
    threshold = number(settings["threshold"])
    passed = measured >= (1.0 if threshold is None else threshold)
    verdict = Verdict.PASS if passed else Verdict.FAIL
    return Grade(verdict, measured, f"recorded as {measured:g}{said}", measured)
