"""An output as it stands before a judge: what it is graded by, and how a reply must look."""

import json
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.output import Output
from tui_eval.model.score import Grade
from tui_eval.scoring import parts
from tui_eval.scoring.check import Check
from tui_eval.scoring.judge.shown_messages import bounded, of_output
from tui_eval.suites import loop_bounds
from tui_eval.suites.scorers.judge.judge_settings import SIMILARITY
from tui_eval.suites.scorers.setting_error import SettingError

Kind: TypeAlias = Literal["scale", "pass-fail", "requirements", "criteria", "similarity"]

WHOLE: Final = (0,)
"""The numbers of what is graded as a whole: a rubric."""
_LISTED: Final = {"requirements": "requirement", "criteria": "criterion"}
_BYTES_A_TOKEN: Final = 4
_AT_ONCE: Final = 200_000
"""Characters of an output that are written as JSON in a few milliseconds."""
_OVERHEAD: Final = 12
"""Tokens of an item's id and punctuation, about."""


@dataclass(frozen=True, slots=True)
class ReplyForm:
    """How a reply about one item must look."""

    kind: Kind
    low: float
    """The lowest score; 0 for pass-fail and requirements."""
    high: float
    """The highest score; 1 for pass-fail and requirements."""
    numbers: tuple[int, ...]
    """What is asked: the requirements or criteria by number, from 1; `WHOLE` for a rubric."""

    @property
    def written(self) -> int:
        """How many grades a model writes in the reply."""
        return 0 if self.kind == SIMILARITY else len(self.numbers)


@dataclass(frozen=True, slots=True)
class Item:
    """One output with all that it is graded by."""

    form: ReplyForm
    body: JsonObject
    """As it stands in a request, without its id; keys without a value are left out."""
    tokens: int
    """About how many tokens it takes: a quarter of the bytes of its JSON, and a little."""

    def only(self, numbers: tuple[int, ...]) -> "Item":
        """Return the same about some of its requirements or criteria; they keep their numbers."""
        name = _LISTED.get(self.form.kind)
        if name is None or numbers == self.form.numbers:
            return self
        listed = self.body[self.form.kind]
        assert isinstance(listed, list)
        left: list[Json] = [
            entry for entry in listed if isinstance(entry, dict) and entry[name] in numbers
        ]
        form = ReplyForm(self.form.kind, self.form.low, self.form.high, numbers)
        return _item(form, {**self.body, self.form.kind: left})


MESSAGES: Final = "messages"
"""The field of an item that holds an output's messages."""


def item(check: Check, output: Output) -> Item | Grade:
    """Return what a judge is asked about an output, or the grade where a rule decides.

    Nothing is asked about an output that says nothing: it fails.

    Args:
        check: A judge's check, as rendered for the case.
        output: What the target produced.

    Raises:
        NotAtOnceError: where it is to be done at once and could take longer.
    """
    by_rubric = check.settings["form"] != SIMILARITY  # else the two texts alone are compared
    done = of_output(check.of, output) if by_rubric else ()
    silent = done and check.of == "text" and output.text is None
    part = "" if silent else parts.part_or_grade(check.of, output)
    if isinstance(part, Grade):
        return part
    if not part.strip() and not done:
        return Grade.of(False, "the output is empty")
    loop_bounds.allow(len(part), _AT_ONCE)
    settings = check.settings
    body: JsonObject = {
        "input": _asked(check.input) if by_rubric else None,
        "reference": settings["reference"],
        "context": settings["show"],
        "rubric": settings["rubric"],
        "requirements": _numbered(settings["requirements"], "requirement"),
        "criteria": _numbered(settings["criteria"], "criterion"),
        MESSAGES: bounded(done) or None,
        "output": part,
    }
    return _item(_form(settings), {key: value for key, value in body.items() if value is not None})


def _asked(given: Json) -> Json:
    """Return what was asked as a judge sees it: of a long conversation both ends."""
    listed = given if isinstance(given, list) else []
    messages = [one for one in listed if isinstance(one, dict)]
    return bounded(messages) if messages and len(messages) == len(listed) else given


def split(whole: Item) -> list[Item]:
    """Return an item for each requirement or criterion of one."""
    return [whole.only((number,)) for number in whole.form.numbers]


def _item(form: ReplyForm, body: JsonObject) -> Item:
    return Item(form, body, len(as_text(body).encode()) // _BYTES_A_TOKEN + _OVERHEAD)


def as_text(asked: JsonObject) -> str:
    """Return JSON as judges read it: letters as they are, lone surrogates escaped."""
    text = json.dumps(asked, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode()


def _form(settings: JsonObject) -> ReplyForm:
    kind = settings["form"]
    if kind == "requirements":
        return ReplyForm("requirements", 0, 1, _counted(settings["requirements"]))
    if kind == "pass-fail":
        return ReplyForm("pass-fail", 0, 1, WHOLE)
    low, high = bounds(settings)
    if kind == SIMILARITY:
        return ReplyForm("similarity", low, high, WHOLE)
    if kind == "criteria":
        return ReplyForm("criteria", low, high, _counted(settings["criteria"]))
    return ReplyForm("scale", low, high, WHOLE)


def bounds(settings: JsonObject) -> tuple[float, float]:
    """Return the lowest and the highest score of a check's scale."""
    scale = settings["scale"]
    if scale is None:
        return 0.0, 1.0
    if not isinstance(scale, list) or len(scale) != 2:
        raise SettingError("scale has no lowest and highest score")
    low, high = scale
    assert isinstance(low, int | float)
    assert isinstance(high, int | float)
    return low, high


def _counted(listed: Json) -> tuple[int, ...]:
    return tuple(range(1, len(listed) + 1)) if isinstance(listed, list) else ()


def _numbered(listed: Json, name: str) -> Json:
    if not isinstance(listed, list):
        return None
    return [
        {name: number, **({k: v for k, v in entry.items() if k in ("name", "text")})}
        if isinstance(entry, dict)
        else {name: number, "text": entry}
        for number, entry in enumerate(listed, 1)
    ]
