"""Checks of judges for tests."""

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.output import Output
from tui_eval.scoring.check import Check

OUTPUT = Output("Paris is the capital of France.")

RUBRIC: JsonObject = {
    "form": "scale",
    "scale": [1, 5],
    "rubric": "Right and short.",
    "requirements": None,
    "criteria": None,
    "reference": None,
    "show": None,
    "pass_at": None,
    "threshold": 0.5,
    "of": "text",
    "per_requirement": False,
    "vote": "majority",
    "ungraded_requirements": "ungraded",
    "judges": ["judge"],
}
"""What the settings of a judge scorer come to."""


def check(*, negate: bool = False, asked: Json = "Capital of France?", **settings: Json) -> Check:
    """Make a check as rendered for a case."""
    return _made(settings, asked, negate)


def requirements(*texts: str, **settings: Json) -> Check:
    """Make a check of requirements."""
    form: JsonObject = {"form": "requirements", "scale": None, "rubric": None, "threshold": 1.0}
    return _made({**form, "requirements": [*texts], **settings})


def criteria(*weights: float, **settings: Json) -> Check:
    """Make a check of criteria with these weights."""
    listed: list[Json] = [
        {"name": f"c{i}", "text": f"criterion {i}", "weight": weight}
        for i, weight in enumerate(weights, 1)
    ]
    return _made({"form": "criteria", "rubric": None, "criteria": listed, **settings})


def _made(settings: JsonObject, asked: Json = "Capital of France?", negate: bool = False) -> Check:
    return Check("polite", "judge", {**RUBRIC, **settings}, input=asked, negate=negate)
