"""The grade that a person is giving, key by key."""

from collections.abc import Sequence

from tui_eval.model.json import Json
from tui_eval.suites.data.grade_forms import GradeQuestion, of_scale, wrong_grade

CHARACTERS = frozenset("0123456789.-")
"""What numbers are made of; digits also name requirements."""
_LONGEST = 12
"""Characters of a number."""


class GradeEntry:
    """Takes keys until they make a grade.

    A verdict is given with one key whatever the question. A scale of one digit takes one key too,
    a longer one a number and `enter`. Of requirements the digits turn single ones, and a verdict
    is that of all that are left; criteria are graded one after the other.
    """

    def __init__(self, question: GradeQuestion, lines: Sequence[str]) -> None:
        """Begin to give a grade.

        Args:
            question: Which grades are valid.
            lines: The requirements or criteria; empty: the output is graded as a whole.
        """
        self.question = question
        self.lines = tuple(lines)
        self.typed = ""
        """A number that is not ended yet."""
        self.marks: list[bool | None] = [None] * len(self.lines)
        """Of requirements: whether each is met; None: not said yet."""
        self.grades: list[Json] = []
        """Of criteria: those that are graded already."""
        self.problem: str | None = None
        """Why the last key made no grade; None: nothing is wrong."""

    @property
    def takes_lines(self) -> bool:
        """Whether single requirements are said to be met, or not."""
        return self.question.form == "requirements" and bool(self.lines)

    @property
    def takes_numbers(self) -> bool:
        """Whether a number of the scale can be given."""
        return self.question.form in ("scale", "criteria")

    @property
    def takes_digits(self) -> bool:
        """Whether digits mean anything."""
        return self.takes_numbers or self.takes_lines

    @property
    def one_digit(self) -> bool:
        """Whether each grade of the scale is a single digit."""
        low, high = float(self.question.low), float(self.question.high)
        return low >= 0 and 1 < high <= 9 and low.is_integer() and high.is_integer()

    @property
    def begun(self) -> bool:
        """Whether anything is entered."""
        return bool(self.typed or self.grades) or any(mark is not None for mark in self.marks)

    def verdict(self, passed: bool) -> Json:
        """Give a verdict: of requirements that of all about which nothing was said."""
        if self.takes_lines:
            return [passed if mark is None else mark for mark in self.marks]
        return "pass" if passed else "fail"

    def press(self, character: str) -> Json:
        """Take a digit, point or sign; return the grade that it completes, None: none yet."""
        self.problem = None
        if self.takes_lines:
            self._turn(character)
            return None
        if not self.takes_numbers:
            self.problem = "pass or fail is asked here"
            return None
        self.typed = (self.typed + character)[:_LONGEST]
        return self.enter() if self.one_digit and character.isdecimal() else None

    def _turn(self, digit: str) -> None:
        at = int(digit) - 1 if digit.isdecimal() else -1
        if not 0 <= at < len(self.lines):
            self.problem = f"there are {len(self.lines)} requirements"
            return
        self.marks[at] = not self.marks[at] if self.marks[at] is not None else True

    def enter(self) -> Json:
        """End a number, or what is said of requirements; return the grade, None: none yet."""
        self.problem = None
        if self.takes_lines:
            left = sum(mark is None for mark in self.marks)
            if left:
                self.problem = f"{left} of {len(self.lines)} requirements are left"
                return None
            return list[Json](self.marks)
        number = _number(self.typed)
        self.typed = ""
        if number is None:
            self.problem = f"{of_scale(self.question)}, pass or fail is asked"
            return None
        if self.question.form == "criteria":
            return self._criterion(number)
        self.problem = next(wrong_grade(number, self.question), None)
        return None if self.problem else number

    def _criterion(self, number: Json) -> Json:
        one = GradeQuestion(self.question.scorer, "scale", self.question.low, self.question.high)
        self.problem = next(wrong_grade(number, one), None)
        if self.problem is None:
            self.grades.append(number)
        return list(self.grades) if len(self.grades) == len(self.lines) else None

    def erase(self) -> bool:
        """Take the last key back; False: nothing was entered."""
        self.problem = None
        if self.typed:
            self.typed = self.typed[:-1]
            return True
        if self.grades:
            self.grades.pop()
            return True
        if any(mark is not None for mark in self.marks):
            self.marks = [None] * len(self.lines)
            return True
        return False

    def hint(self) -> str:
        """Say which keys make a grade."""
        if self.takes_lines:
            return "digits turn single ones; y the others are met, n they are not; enter ends"
        if not self.takes_numbers:
            return "y pass, n fail"
        low, high = f"{self.question.low:g}", f"{self.question.high:g}"
        end = "" if self.one_digit else " and enter"
        if self.question.form == "criteria" and self.lines:
            nth = f"criterion {len(self.grades) + 1} of {len(self.lines)}"
            return f"{nth}: {low}–{high}{end}; y pass, n fail as a whole"
        return f"{low}–{high}{end}, or y pass, n fail"


def _number(text: str) -> Json:
    try:
        value = float(text)
    except ValueError:
        return None
    return int(value) if value.is_integer() else value
