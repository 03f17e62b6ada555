"""The keys of the screen on which outputs are graded."""

from typing import Final

from textual.binding import Binding, BindingType

GRADE_KEYS: Final[list[BindingType]] = [
    Binding("y", "verdict(True)", "pass", id="grade.pass", tooltip="It passes"),
    Binding("n", "verdict(False)", "fail", id="grade.fail", tooltip="It fails"),
    Binding(
        "0",
        "number",
        "grade",
        key_display="0–9",
        id="grade.number",
        tooltip="A number of the scale, or a requirement to turn",
    ),
    Binding("enter", "enter", "give", show=False, id="grade.give", tooltip="End a number"),
    Binding(
        "u",
        "cannot_tell",
        "cannot tell",
        id="grade.cannot-tell",
        tooltip="Keep that you cannot tell: it is in no figure",
    ),
    Binding(
        "backspace",
        "back_one",
        "one back",
        id="grade.before",
        tooltip="Erase the last key, else go to the output before",
    ),
    Binding("t", "note", "note", id="grade.note", tooltip="Say why; kept with the grade"),
    Binding(
        "v",
        "agreement",
        "agreement",
        id="grade.agreement",
        tooltip="How far judge and people agree so far",
    ),
    Binding(
        "x",
        "question",
        "whole question",
        show=False,
        id="grade.question",
        tooltip="Show all of a long question, or its beginning",
    ),
    Binding("m", "more", "50 more", show=False, id="grade.more", tooltip="Draw 50 more"),
    Binding(
        "A",
        "apply",
        "apply",
        show=False,
        id="grade.apply",
        tooltip="Make your grades verdicts of the run",
    ),
]
