"""How outputs ended, as SQL conditions: the table of `model/outputs/finish.py` for any row."""

from tui_eval.model.outputs.finish import Ending, folded_words


def ended(column: str, *of: Ending) -> str:
    """Return the condition that a column of finish reasons says one of these; null says none."""
    words = ", ".join(f"'{word}'" for word in folded_words(*of))
    folded = f"replace(replace(replace(lower({column}), '_', ''), '-', ''), ' ', '')"
    if Ending.FINISHED in of:
        return f"{folded} IN ({words})"
    # nearly all there are: seen before they are folded, which takes as long as finding them
    return f"({column} <> 'stop' AND {folded} IN ({words}))"
