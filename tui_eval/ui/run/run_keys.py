"""The keys of the Run screen: lower case for the trial or the marked ones, capital for the run.

The method of an action `retry` is `action_retry`, in `actions/`, `list/list_actions.py`,
`detail/detail_actions.py`, `edit_loop/edit_actions.py` or on the widget itself.
"""

from textual.binding import Binding

from tui_eval.format import number
from tui_eval.model.states import RunState
from tui_eval.ui.run.actions.availability import ABOUT_TRIALS, RunSituation
from tui_eval.ui.widgets.keyline import WHILE_POSSIBLE

_TRIALS = "trials"
_RUN = "run"

_IN_THE_KEY_LINE = (
    (_RUN, "u", "resume", "resume", "Finish what is missing; asks for nothing twice"),
    (_TRIALS, "r", "retry", "retry", "Ask again for this trial or the marked ones"),
    (_TRIALS, "s", "rescore", "rescore", "Score this trial or the marked ones again"),
    (_TRIALS, "c", "cancel", "cancel", "Cancel this trial or the marked ones"),
    (_TRIALS, "g", "grade", "grade", "Grade this trial or the marked ones by hand, for good"),
    (_RUN, "p", "pause", "pause", "Start nothing new, or resume"),
    (_TRIALS, "n", "next_unmet(1)", "next", "The next failure, or find hit in the text"),
    (
        _TRIALS,
        "M",
        "by_case",
        "by case",
        "List a case a row with a mark for each target, or trials",
    ),
    (
        _TRIALS,
        "right",
        "turn_column(1)",
        "next target",
        "By case: the trial of the next target",
    ),
    (_TRIALS, "f", "filter", "filter", "List some of the trials; with counts"),
    (_TRIALS, "b", "groups", "groups", "Group the listed trials: why do so many fail?"),
    (_TRIALS, "slash", "find", "find", "Narrow the list by text, or find in the detail"),
    (
        _TRIALS,
        "enter",
        "zoom",
        "zoom",
        "Zoom the detail, or back to the list",
    ),
    (_TRIALS, "space", "mark", "mark", "Mark this trial: keys then act on all marked ones"),
    (_TRIALS, "o", "sort", "sort", "Sort the list; ties stay in dataset order"),
    (
        _TRIALS,
        "y",
        "copy",
        "copy",
        "Copy by the terminal (OSC 52; tmux: set-clipboard on)",
    ),
    (_TRIALS, "d", "diff", "diff", "What differs from what is expected, or came before"),
    (_TRIALS, "t", "note", "note", "Write a note on this trial or the marked ones"),
    (_TRIALS, "U", "undo", "undo", "Undo the last cancel, note, scores or marks"),
    (_RUN, "C", "stop_run", "stop run", "Stop the run; it can be resumed"),
    (_RUN, "v", "charts", "charts", "Throughput, latency, concurrency, cost and scores, drawn"),
)
_ELSEWHERE = (
    (
        _TRIALS,
        "F",
        "follow",
        "follow",
        "Go along with what is settled, or printed, until you move",
    ),
    (
        _TRIALS,
        "left",
        "turn_column(-1)",
        "target before",
        "By case: the trial of the target before",
    ),
    (_TRIALS, "backspace", "drop_filter", "drop filter", "Take the newest condition away"),
    (_TRIALS, "N", "next_unmet(-1)", "previous", "The failure or find hit before"),
    (_TRIALS, "a", "mark_all", "mark all shown", "Mark all trials that are listed"),
    (_RUN, "R", "retry_all", "retry all", "Retry everything errored or ungraded"),
    (_RUN, "S", "rescore_all", "rescore all", "Score everything again"),
    (_RUN, "G", "grading", "grading", "Grade outputs blindly, to measure the judge"),
    (_RUN, "E", "export", "export", "Write the trials into a file"),
    (_RUN, "B", "baseline", "baseline", "Pin the run as its suite's baseline, or unpin it"),
    (
        _RUN,
        "equals_sign",
        "compare",
        "compare",
        "Compare the run with its baseline, or another",
    ),
    (_RUN, "e", "edit", "edit suite", "Edit the run's suite in $VISUAL or $EDITOR"),
    (
        _RUN,
        "D,d",
        "would_change",
        "what would change",
        "What the suite's edited scorers would change",
    ),
    (
        _RUN,
        "plus",
        "limit(1)",
        "more concurrency",
        "One concurrent call more at the trial's endpoint",
    ),
    (
        _RUN,
        "minus",
        "limit(-1)",
        "less concurrency",
        "One concurrent call fewer at the trial's endpoint",
    ),
    (_TRIALS, "tab", "switch_focus", "table/detail", "Between the table and the detail"),
    (_TRIALS, "w", "workspace", "workspace", "What the trial's program changed in its workspace"),
    (_TRIALS, "h", "history", "history", "How this case went in the runs before"),
    (_TRIALS, "m", "raw", "raw", "The output as it came, or laid out"),
    (
        _TRIALS,
        "x",
        "unfold",
        "unfold",
        "Unfold tool calls and long texts, or fold them again",
    ),
    (_TRIALS, "right_square_bracket", "turn_tab(1)", "next tab", "The next tab of the detail"),
    (_TRIALS, "left_square_bracket", "turn_tab(-1)", "tab before", "The tab before"),
)
_WHILE_POSSIBLE = frozenset(("pause", "resume", "stop_run", "by_case", "turn_column(1)"))


def _binding(key: str, action: str, words: str, tooltip: str, *, show: bool) -> Binding:
    name = words.replace(" ", "-").replace("/", "-")
    return Binding(
        key,
        action,
        words,
        show=show,
        id=f"run.{name}",
        tooltip=tooltip,
        group=WHILE_POSSIBLE if action in _WHILE_POSSIBLE else None,
    )


def _bindings(of: str) -> list[Binding]:
    return [
        *(_binding(*row, show=True) for on, *row in _IN_THE_KEY_LINE if on == of),
        *(_binding(*row, show=False) for on, *row in _ELSEWHERE if on == of),
    ]


TRIAL_KEYS = _bindings(_TRIALS)
"""What acts on trials, on their list and on the detail."""
RUN_KEYS = _bindings(_RUN)
_IN_ORDER = [str(_binding(*row, show=True).id) for _, *row in _IN_THE_KEY_LINE]
"""Ids in the order of the last line: what helps most comes first."""
_LAST_OF_FINISHED = ("run.cancel", "run.resume")
"""Keys that one looks for last in a run whose trials are all settled."""


def key_order(now: RunSituation | None) -> list[str]:
    """Return the ids of keys in the order in which the last line wants them now."""
    if now is None or now.live or not now.all_settled:
        return _IN_ORDER
    looked_at = [name for name in _IN_ORDER if name not in _LAST_OF_FINISHED]
    return [*looked_at, *_LAST_OF_FINISHED]


def key_words(binding: Binding, now: RunSituation | None) -> str:
    """Return the words of a key; what acts on trials says on how many, where it is not plain."""
    words = binding.description
    if now is None:
        return words
    if binding.action == "zoom" and now.zoomed:
        return "list"
    if binding.action == "by_case" and now.by_case:
        return "by trial"
    if binding.action == "pause" and now.state is RunState.PAUSED:
        return "resume"
    if binding.action not in ABOUT_TRIALS or not (now.marked or now.hidden_marks):
        return words
    return f"{words} this one" if now.hidden_marks else f"{words} {number(now.marked)}"
