"""What a person sees of an output that is to be graded: what its judge sees, and nothing more."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tui_eval.engine.control.output_questions import OutputQuestion
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.conversation import text_of
from tui_eval.model.score import Grade
from tui_eval.scoring.judge.item import MESSAGES, item
from tui_eval.ui.grade.grade_entry import GradeEntry
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.text.beginnings import beginning
from tui_eval.ui.text.prose import Para, lay_out, marked
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone

_LOW = 14
"""Lines below which nothing is left free between question and output."""


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    """The texts of a question; all of them are foreign."""

    question: OutputQuestion
    asked: Json
    """What was asked: a text, messages, or the case's columns."""
    output: str
    messages: Sequence[JsonObject]
    """What the output has beside its text."""
    expected: Sequence[str]
    """Right answers; empty: the scorer has none."""
    context: Json
    """What the judge sees beside these, by name; None: nothing."""
    rubric: str | None
    """By what it is graded; None: requirements, or pass and fail."""


def shown_question(question: OutputQuestion) -> ShownQuestion:
    """Return what is shown of a question: of a judge's what it is sent, without target and id."""
    check, output = question.check, question.output
    body: JsonObject = {}
    if check.asks_judge:
        found = item(check, output)
        body = {} if isinstance(found, Grade) else found.body
    expected = check.settings.get("expected", check.settings.get("reference"))
    listed = expected if isinstance(expected, list) else [] if expected is None else [expected]
    said, rubric = body.get("output"), check.settings.get("rubric")
    messages = body.get(MESSAGES)
    return ShownQuestion(
        question=question,
        asked=body["input"] if "input" in body else _nameless(check.input),
        output=said if isinstance(said, str) else output.text or "",
        messages=[one for one in messages if isinstance(one, dict)]
        if isinstance(messages, list)
        else (),
        expected=[_text(one) for one in listed],
        context=body.get("context"),
        rubric=rubric if isinstance(rubric, str) else None,
    )


def _nameless(asked: Json) -> Json:
    """Return a row without the case's id, which may say whose output it is."""
    if isinstance(asked, dict):
        return {name: value for name, value in asked.items() if name != "id"}
    return asked


def question_paras(
    of: ShownQuestion, output: Sequence[Para], width: int, height: int, *, whole: bool = False
) -> Iterator[Para]:
    """Yield question, output and what is expected.

    Args:
        of: The question.
        output: The output's text, laid out.
        width: Cells of a line.
        height: Lines in view: of a long question so many are shown that the output is in view.
        whole: Whether all of the question is shown.
    """
    below = list(_below(of, output))
    asked = list(lay_out(_asked(of.asked), width))
    free = height - sum(1 for _ in lay_out(below, width)) - 1
    room = len(asked) if whole else max(free, height // 4, 1)
    yield Para("Question", "accent")
    yield from beginning(asked, room, key("grade.question", "x"))
    if height >= _LOW:
        yield Para("")
    yield from below


def _below(of: ShownQuestion, output: Sequence[Para]) -> Iterator[Para]:
    yield Para("Output", "accent")
    for message in of.messages:
        yield from _message(message)
    if of.output and not _said_last(of):
        yield from output
    elif not of.messages:
        yield Para("The answer has no text.", "dim")
    if of.expected:
        yield Para("")
        yield Para("Expected", "accent")
        for at, text in enumerate(of.expected):
            if at:
                yield Para("or", "dim")
            yield Para(text)
    if of.context is not None:
        yield Para("")
        yield Para("Shown to the judge too", "accent")
        yield Para(_text(of.context))


def _said_last(of: ShownQuestion) -> bool:
    """Return whether the output's text is what the last of its messages says."""
    return (
        bool(of.messages) and text_of(of.messages[-1].get("content")).strip() == of.output.strip()
    )


def asked_paras(of: ShownQuestion) -> Iterator[Para]:
    """Yield by what the output is graded; its requirements or criteria follow (`line_paras`)."""
    if of.rubric is not None:
        yield Para(of.rubric)
    elif not of.question.lines:
        yield Para("Does it pass?")
    if of.question.check.negate:
        yield Para("The scorer says `not`: pass is where this does not hold.", "dim")


def line_paras(entry: GradeEntry, glyphs: Glyphs) -> Iterator[Para]:
    """Yield the requirements or criteria, each with what is said of it so far."""
    for at, text in enumerate(entry.lines):
        yield _line(at, text, entry, glyphs)


def _line(at: int, text: str, entry: GradeEntry, glyphs: Glyphs) -> Para:
    label = f"{at + 1} "
    if not entry.takes_lines:
        given = entry.grades[at] if at < len(entry.grades) else None
        tone: Tone = "plain" if given is None else "strong"
        said = "  " if given is None else f"{given} "
        return Para(text, tone, label=f"{label}{said}")
    match entry.marks[at]:
        case True:
            return Para(text, "pass", label=f"{label}{glyphs.passed} ")
        case False:
            return Para(text, "fail", label=f"{label}{glyphs.failed} ")
        case _:
            return Para(text, label=f"{label}  ")


def _asked(asked: Json) -> Iterator[Para]:
    if isinstance(asked, list):
        for message in asked:
            if isinstance(message, dict):
                yield from _message(message)
    elif isinstance(asked, dict):
        for name, value in asked.items():
            yield marked((f"{name}: ", "dim"), (_text(value), "plain"))
    else:
        yield Para(_text(asked))


def _message(message: JsonObject) -> Iterator[Para]:
    yield Para(str(message.get("role", "")), "dim")
    said = text_of(message.get("content"))
    if said:
        yield Para(said, indent=2)
    for name, value in message.items():
        if name not in ("role", "content") and value:
            yield marked((f"{name}: ", "dim"), (_text(value), "plain"), indent=2)


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
