"""A person's grade in words."""

from tui_eval.model.json import Json


def grade_words(grade: Json) -> str:
    """Return a grade as a person reads it."""
    if grade is None:
        return "cannot tell"
    if isinstance(grade, list):
        return ", ".join(f"{at} {_part_words(one)}" for at, one in enumerate(grade, 1))
    return _part_words(grade)


def _part_words(grade: Json) -> str:
    if isinstance(grade, bool):
        return "met" if grade else "not met"
    return f"{grade:g}" if isinstance(grade, int | float) else str(grade)
