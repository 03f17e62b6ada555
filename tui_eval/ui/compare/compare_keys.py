"""The keys of the Compare screen."""

from textual.binding import Binding

_IN_THE_KEY_LINE = (
    ("n", "next(1)", "next", "next", "The next flip"),
    ("f", "kind", "worse/better", "kind", "List the cases that got worse, that got better, or all"),
    ("b", "groups", "groups", "groups", "Group the cases by tag, by scorer, or not"),
    ("enter", "diff", "diff", "diff", "What differs between both outputs, word by word"),
    ("x", "swap", "swap", "swap", "A in B's place, and B in A's"),
    ("o", "order", "order", "order", "Worse first and by size, or in dataset order"),
    ("t", "trial(1)", "trial in B", "trial-b", "Open B's run at this trial; esc leads back"),
    ("equals_sign", "other", "other", "other", "Compare with another run, target or baseline file"),
    ("E", "export", "export", "export", "Write the comparison into a file, as JSON or text"),
)
_ELSEWHERE = (
    ("N", "next(-1)", "previous", "previous", "The flip before"),
    ("T", "trial(-1)", "trial in A", "trial-a", "Open A's run at this trial; esc leads back"),
    (
        "m",
        "question",
        "whole question",
        "question",
        "Show all of a long question, or its beginning",
    ),
    ("right_square_bracket", "epoch(1)", "next epoch", "next-epoch", "The next epoch of this case"),
    ("left_square_bracket", "epoch(-1)", "epoch before", "epoch-before", "The epoch before"),
    ("R", "reread", "read again", "read", "Read both sides again, as they are now"),
    (
        "tab",
        "switch_focus(1)",
        "next pane",
        "pane",
        "From the rows to the flips, and to the outputs",
    ),
    ("shift+tab", "switch_focus(-1)", "pane before", "pane-before", "The other way round"),
)
"""Key, action, words, id and what comes of it."""


def _binding(row: tuple[str, str, str, str, str], *, show: bool) -> Binding:
    key, action, words, name, tooltip = row
    return Binding(key, action, words, show=show, id=f"compare.{name}", tooltip=tooltip)


COMPARE_KEYS = [
    *(_binding(row, show=True) for row in _IN_THE_KEY_LINE),
    *(_binding(row, show=False) for row in _ELSEWHERE),
]
"""All of them; those that stand in the last line first."""
