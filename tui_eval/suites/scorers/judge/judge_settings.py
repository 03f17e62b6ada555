"""The settings of a judge scorer, as rendered for a case, in their one form."""

from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.scorers.judge.judge_fields import MET_OR_NOT, settled_criteria
from tui_eval.suites.scorers.scorer import EMBEDDING
from tui_eval.suites.scorers.setting_error import SettingError, named

_HALF: Final = 0.5
"""The least value that passes on a scale, where the suite does not say."""
_ALL: Final = 1.0
"""The least share of requirements that passes, where the suite does not say."""


def judged(settings: JsonObject) -> JsonObject:
    """Bring what a suite says of a judge scorer into the one form that questions are made of.

    Args:
        settings: The fields of `JudgeScorer`, rendered.

    Returns:
        `form` (`scale`, `pass-fail`, `requirements` or `criteria`), `scale` as lowest and highest
        grade (None for requirements), `rubric`, `requirements`, `criteria`, `reference`, `show`
        (None where there is none), `pass_at` in units of the scale, `threshold` of the value (one
        of the two, neither for `pass-fail`), `of`, `per_requirement`, `vote`,
        `ungraded_requirements`, and `judges`, the names of those who are asked.

    Raises:
        SettingError: for a null, an empty text or list, or a wrong type.
    """
    return {
        **deciding(settings),
        "rubric": _rubric(settings.get("rubric")),
        "requirements": _requirements(settings.get("requirements")),
        "criteria": _criteria(settings.get("criteria")),
        "reference": settings.get("reference"),
        "show": _show(settings.get("show")),
        "of": settings["of"],
        "per_requirement": settings["per_requirement"],
        "vote": settings["vote"],
        "ungraded_requirements": settings.get("ungraded_requirements") or "ungraded",
        "judges": settings.get("judge") or [],
    }


def deciding(settings: JsonObject) -> JsonObject:
    """Return what makes a verdict of a value, in the form of `judged`; no template decides it.

    Args:
        settings: The fields of `JudgeScorer`, rendered or not.
    """
    form = _form(settings)
    threshold = settings.get("threshold")
    if threshold is None and settings.get("pass_at") is None and form != MET_OR_NOT:
        threshold = _ALL if form == "requirements" else _HALF
    return {
        "form": form,
        "scale": _scale(settings.get("scale"), form),
        "pass_at": settings.get("pass_at"),
        "threshold": threshold,
    }


SIMILARITY: Final = "similarity"
"""The form of a question for the cosine of two texts; its scale is that of values."""


def compared(settings: JsonObject) -> JsonObject:
    """Bring what a suite says of a similarity by embedding into the form of `judged`.

    Args:
        settings: The fields of `SimilarityScorer`, rendered, `expected` as texts.
    """
    return {
        "form": SIMILARITY,
        "scale": [0, 1],
        "rubric": None,
        "requirements": None,
        "criteria": None,
        "reference": settings["expected"],
        "show": None,
        "pass_at": None,
        "threshold": settings["threshold"],
        "of": settings["of"],
        "judges": [EMBEDDING],
    }


def _form(settings: JsonObject) -> str:
    if settings.get("requirements") is not None:
        return "requirements"
    if settings.get("criteria") is not None:
        return "criteria"
    return MET_OR_NOT if settings.get("scale") == MET_OR_NOT else "scale"


def _scale(given: Json, form: str) -> Json:
    if form == "requirements":
        return None
    if form == MET_OR_NOT:
        return [0, 1]
    return given


def _rubric(given: Json) -> Json:
    if given is None:
        return None
    if not isinstance(given, str):
        raise SettingError(f"rubric is {named(given)} where a text is meant", "rubric")
    if not given.strip():
        raise SettingError("rubric is empty", "rubric")
    return given


def _requirements(given: Json) -> Json:
    if given is None:
        return None
    texts: list[Json] = []
    for item in given if isinstance(given, list) else [given]:
        texts.extend(item if isinstance(item, list) else [item])
    if not texts:
        raise SettingError(
            "requirements is an empty list: give the scorer a `when`, or the case a `skip`",
            "requirements",
        )
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise SettingError(
                f"requirement {number} is {named(text)} where a text is meant", "requirements"
            )
        if not text.strip():
            raise SettingError(f"requirement {number} is empty", "requirements")
    return texts


def _criteria(given: Json) -> Json:
    if given is None:
        return None
    if not isinstance(given, list):
        raise SettingError(
            f"criteria is {named(given)} where a list of tables is meant", "criteria"
        )
    if not given:
        raise SettingError(
            "criteria is an empty list: give the scorer a `when`, or the case a `skip`", "criteria"
        )
    try:
        return list[Json](settled_criteria(given))
    except ValueError as error:
        raise SettingError(str(error), "criteria") from error


def _show(given: Json) -> Json:
    if not isinstance(given, dict):
        return None
    for name, value in given.items():
        if value is None:
            raise SettingError(f"show.{name} is null", "show")
    return given
