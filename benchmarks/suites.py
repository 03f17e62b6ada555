"""The suite that benchmarks run: questions whose right answer is the question itself."""

import json
from dataclasses import dataclass
from pathlib import Path

from tui_eval.suites.loading.suite_file import load
from tui_eval.suites.spec import Suite

_TAGS = 'tags = "topic"\n'
_JUDGE = """
[[scorers]]
kind = "judge"
name = "judged"
requirements = ["Answers the question"]

[judge]
kind = "simulated"
name = "judge"
"""


def tag(number: int, tags: int) -> str:
    """Give the tag of case number so many, one of so many."""
    return f"topic-{number % tags}"


def question(number: int) -> str:
    """Give what case number so many asks, and wants back."""
    return f"question {number}"


@dataclass(frozen=True)
class Shape:
    """What a run of so many cases is made of beside them."""

    targets: int = 1
    epochs: int = 1
    tags: int = 0
    """How many tags there are; each case has one of them, where there are any."""
    judged: bool = False
    """Whether a judge grades each output beside the rule."""

    @property
    def trials(self) -> int:
        """How many trials a case has."""
        return self.targets * self.epochs


PLAIN = Shape()


def write(
    folder: Path,
    base_url: str,
    cases: int,
    in_flight: int,
    timeout_s: float | None = None,
    shape: Shape = PLAIN,
) -> Path:
    """Write the suite and its dataset into a folder; give the suite's file.

    Args:
        folder: Where; made where it is missing.
        base_url: The server that is asked.
        cases: How many there are.
        in_flight: How many calls there may be at once.
        timeout_s: Seconds for an attempt; None: the default.
        shape: Its targets, epochs, tags and judge.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "cases.jsonl").open("w", encoding="utf-8") as file:
        for number in range(cases):
            row = {"id": f"c{number}", "q": question(number)}
            if shape.tags:
                row["topic"] = tag(number, shape.tags)
            file.write(json.dumps(row) + "\n")
    timeout = "" if timeout_s is None else f"timeout = {timeout_s}\n"
    suite = folder / "bench.toml"
    suite.write_text(
        f"""name = "bench"

[dataset]
path = "cases.jsonl"
{_TAGS if shape.tags else ""}
[prompt]
user = "{{{{ q }}}}"
{"".join(_target(base_url, number) for number in range(shape.targets))}
[[scorers]]
kind = "exact"
expected = "{{{{ q }}}}"
{_JUDGE if shape.judged else ""}
[run]
concurrency = {in_flight}
epochs = {shape.epochs}
{timeout}""",
        encoding="utf-8",
    )
    return suite


def echo(folder: Path, base_url: str, cases: int, in_flight: int, shape: Shape = PLAIN) -> Suite:
    """Write the suite, and load it."""
    return load(write(folder, base_url, cases, in_flight, shape=shape))


def _target(base_url: str, number: int) -> str:
    """Give the lines of one target; the first is called after its model."""
    name = f'name = "target-{number}"\n' if number else ""
    return f'\n[[targets]]\n{name}base_url = "{base_url}"\nmodel = "fake-model"\n'
