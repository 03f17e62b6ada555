"""The keys of the Run screen: lower case for the trial or the marked ones, capital for the run."""

from textual.binding import Binding

from tui_eval.ui.widgets.keyline import WHILE_POSSIBLE

_IN_THE_KEY_LINE = (
    ("u", "resume", "resume", "Finish what is missing; asks for nothing twice"),
    ("r", "retry", "retry", "Ask again for this trial or the marked ones"),
    ("s", "rescore", "rescore", "Score this trial or the marked ones again"),
    ("c", "cancel", "cancel", "Cancel this trial or the marked ones"),
    ("p", "pause", "pause", "Start nothing new, or go on"),
    ("n", "next_unmet(1)", "next", "The next failure, or find hit in the text"),
    ("f", "filter", "filter", "List some of the trials; with counts"),
    ("slash", "find", "find", "Narrow the list by text, or find in the detail"),
    ("enter", "zoom", "zoom", "Give the detail the whole screen, or take it back"),
    ("space", "mark", "mark", "Mark this trial: keys then act on all marked ones"),
    ("o", "sort", "sort", "Sort the list; ties stay in dataset order"),
    ("y", "copy", "copy", "Copy output, prompt, id, or the request as curl"),
    ("C", "stop_run", "stop run", "Stop the run; it can be resumed"),
)
_ELSEWHERE = (
    ("N", "next_unmet(-1)", "previous", "The failure or find hit before"),
    ("a", "mark_all", "mark all shown", "Mark all trials that are listed"),
    ("R", "retry_all", "retry all", "Retry everything errored or ungraded"),
    ("S", "rescore_all", "rescore all", "Score everything again"),
    ("plus", "limit(1)", "more concurrency", "One call more at once at the trial's endpoint"),
    ("minus", "limit(-1)", "less concurrency", "One call fewer at once at the trial's endpoint"),
    ("tab", "switch_focus", "table/detail", "Between the table and the detail"),
    ("right_square_bracket", "turn_tab(1)", "next tab", "The next tab of the detail"),
    ("left_square_bracket", "turn_tab(-1)", "tab before", "The tab before"),
)
_OF_THE_RUN = frozenset(("pause", "resume", "stop_run"))


def _binding(key: str, action: str, words: str, tooltip: str, *, show: bool) -> Binding:
    name = words.replace(" ", "-").replace("/", "-")
    return Binding(
        key,
        action,
        words,
        show=show,
        id=f"run.{name}",
        tooltip=tooltip,
        group=WHILE_POSSIBLE if action in _OF_THE_RUN else None,
    )


KEYS: list[Binding] = [
    *(_binding(*row, show=True) for row in _IN_THE_KEY_LINE),
    *(_binding(*row, show=False) for row in _ELSEWHERE),
]
