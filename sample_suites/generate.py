"""Write the generated exercises: `python sample_suites/generate.py`.

Questions are drawn with a fixed seed, so that every run writes the same files; answers come from
Python's own arithmetic and calendar. The tests work them out again in another way.
"""

import calendar
import datetime
import itertools
import json
import operator
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).resolve().parent / "data"
SEED = 20260101

# fmt: off
_ONES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
         "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
         "nineteen"]
_TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
# fmt: on

Exercise = dict[str, str | int]


def words(number: int) -> str:
    """Write a whole number from 0 to 99 in English words."""
    if number < len(_ONES):
        return _ONES[number]
    tens, ones = divmod(number, 10)
    return _TENS[tens] + (f"-{_ONES[ones]}" if ones else "")


@dataclass(frozen=True)
class Calculation:
    """One form of question with two numbers."""

    topic: str
    question: str
    first: range
    second: range
    answer: Callable[[int, int], int]


_SMALL, _TEENS, _LARGE, _FACTORS = range(1, 10), range(10, 21), range(11, 50), range(2, 11)
_BOXES = "A box holds {a} pens. How many pens do {b} boxes hold?"
_BIRDS = "There are {a} birds on a roof and {b} fly away. How many are left?"
_CALCULATIONS = (
    Calculation("sum", "What is {a} plus {b}?", _SMALL, _SMALL, operator.add),
    Calculation("large sum", "What is {a} plus {b}?", _LARGE, _LARGE, operator.add),
    Calculation("difference", "What is {a} minus {b}?", _TEENS, _SMALL, operator.sub),
    Calculation("product", "What is {a} times {b}?", _FACTORS, _FACTORS, operator.mul),
    Calculation("boxes", _BOXES, _FACTORS, _FACTORS, operator.mul),
    Calculation("birds", _BIRDS, _TEENS, _SMALL, operator.sub),
)


def arithmetic(draw: random.Random) -> Iterator[Exercise]:
    """Give 25 calculations in words of each form; no question comes twice.

    Args:
        draw: The source of the numbers.
    """
    for form in _CALCULATIONS:
        pairs = list(itertools.product(form.first, form.second))
        for number, (a, b) in enumerate(draw.sample(pairs, 25), 1):
            yield {
                "id": f"{form.topic.replace(' ', '-')}-{number:02}",
                "topic": form.topic,
                "question": form.question.format(a=words(a), b=words(b)),
                "answer": form.answer(a, b),
            }


def dates(draw: random.Random) -> Iterator[Exercise]:
    """Give exercises with days, months and years.

    Args:
        draw: The source of the dates.
    """
    days, months = list(calendar.day_name), list(calendar.month_name)[1:]
    for place, weekday in enumerate(days):
        for steps, text in ((1, "after"), (2, "two days after")):
            yield {
                "id": f"weekday-{place + 1}-{steps}",
                "topic": "weekday",
                "question": f"Which day of the week comes {text} {weekday}?",
                "answer": days[(place + steps) % 7],
            }
    for place, month in enumerate(months):
        yield {
            "id": f"month-{place + 1:02}",
            "topic": "month",
            "question": f"Which month comes after {month}?",
            "answer": months[(place + 1) % 12],
        }
        yield {
            "id": f"length-{place + 1:02}",
            "topic": "length",
            "question": f"How many days does {month} 2023 have?",
            "answer": calendar.monthrange(2023, place + 1)[1],
        }
    for number, day in enumerate(_some_days(draw, 30), 1):
        yield {
            "id": f"iso-{number:02}",
            "topic": "iso",
            "question": f"Write {_long(day)} as year-month-day.",
            "answer": day.isoformat(),
        }
    for number, day in enumerate(_some_days(draw, 30), 1):
        yield {
            "id": f"next-{number:02}",
            "topic": "next day",
            "question": f"Which date comes the day after {_long(day)}?",
            "answer": _long(day + datetime.timedelta(days=1)),
        }
    centuries = [1900, 2000, 2100]  # the years where the simple rule fails
    fourths = draw.sample(range(1904, 2000, 4), 9)
    others = draw.sample([year for year in range(1901, 2100) if year % 4], 10)
    for year in sorted(centuries + fourths + others):
        yield {
            "id": f"leap-{year}",
            "topic": "leap year",
            "question": f"Is {year} a leap year?",
            "answer": "Yes" if calendar.isleap(year) else "No",
        }


def _some_days(draw: random.Random, count: int) -> list[datetime.date]:
    first = datetime.date(1950, 1, 1).toordinal()
    last = datetime.date(2035, 12, 31).toordinal()
    return [datetime.date.fromordinal(day) for day in draw.sample(range(first, last), count)]


def _long(day: datetime.date) -> str:
    return f"{day.day} {calendar.month_name[day.month]} {day.year}"


def write(name: str, exercises: Iterator[Exercise]) -> None:
    """Write one dataset as JSON lines, without the questions that the prompt shows as examples.

    Args:
        name: The file's name in `data/`, without its ending.
        exercises: The cases, in the order of the file.
    """
    examples = (DATA / f"{name}-examples.jsonl").read_text(encoding="utf-8").splitlines()
    shown = {json.loads(line)["question"] for line in examples}
    asked = [exercise for exercise in exercises if exercise["question"] not in shown]
    lines = [json.dumps(exercise, ensure_ascii=False) + "\n" for exercise in asked]
    (DATA / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")


def main() -> None:
    """Write every generated dataset."""
    # one source a file: a change to one set of exercises leaves the others as they are
    write("arithmetic", arithmetic(random.Random(SEED)))
    write("dates", dates(random.Random(SEED)))


if __name__ == "__main__":
    main()
