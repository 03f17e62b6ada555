"""How outputs ended, as SQL conditions: the table of `model/outputs/finish.py` for any row."""

from tui_eval.model.outputs.finish import Ending, folded_words


def ended(column: str, *of: Ending) -> str:
    """Return the condition that a column of finish reasons says one of these; null says none."""
    words = ", ".join(f"'{word}'" for word in folded_words(*of))
    return f"replace(replace(replace(lower({column}), '_', ''), '-', ''), ' ', '') IN ({words})"
