"""The suites of `how-to/benchmarks-you-have.md` are run, over made-up rows and over real ones."""

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.engine.harness import Harness
from tests.servers.fake_judge import asked, reply
from tests.servers.fake_model import FakeModel, Reply, Script
from tui_eval.engine.settings import Settings
from tui_eval.model.states import TrialState, Verdict
from tui_eval.suites.loading.suite_file import load

PAGE = Path(__file__).parent.parent / "docs" / "how-to" / "benchmarks-you-have.md"
BLOCKS = {
    text.split("\n")[0].removeprefix("# "): text
    for text in re.findall(r"^```toml\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
}
DATA = Path(os.environ.get("TUI_EVAL_DATA", Path(__file__).parents[1].parent / "shared" / "data"))

Row = dict[str, Any]
Answer = Callable[[Row, int], str]
"""What a model says to a row: to its first question (0) or a later one."""


def row(number: int, **columns: Any) -> Row:
    return {"id": f"c{number}", **columns}


DOUBLE = "def double{n}(x):\n    "
TESTS = "def check(candidate):\n    assert candidate(4) == 8\n"
CHOICES = ["Mars", "Jupiter", "Venus", "Earth"]
CITY = [{"name": "look_up", "arguments": {"city": "Paris"}}]
NO_COMMA = {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
TOOLS = [{"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}]


@dataclass(frozen=True)
class Benchmark:
    """A suite of the page, with rows of the columns that the page shows."""

    file: str
    data: str
    rows: tuple[Row, ...]
    """The first is answered right, the second wrong."""
    right: Answer
    wrong: str
    beside: tuple[tuple[str, Any], ...] = ()
    """Files that it reads beside its data: lists of rows, or a JSON value."""
    real: str | None = None
    """The file of real rows."""


def completed(asked_row: Row, turn: int) -> str:
    body = asked_row.get("target") or "return 2 * x\n"
    return f"```python\n{asked_row['input']}{body}```"


def letter(asked_row: Row, turn: int) -> str:
    return f"{asked_row['target']}."


SOLVED = tuple(
    row(9 + n, input=f"Which is number {n}?", target="A",
        metadata={"subject": subject, "choices": CHOICES})
    for n, subject in enumerate(["astronomy"] * 6 + ["history"])
)  # fmt: skip
BENCHMARKS = (
    Benchmark(
        "humaneval.toml",
        "humaneval.jsonl",
        tuple(
            row(n, input=DOUBLE.format(n=n), metadata={"entry_point": f"double{n}", "test": TESTS})
            for n in range(2)
        ),
        completed,
        "I would rather not.",
        real="humaneval.jsonl",
    ),
    Benchmark(
        "ifeval.toml",
        "ifeval.jsonl",
        tuple(row(n, input=f"Number {n} without commas", metadata=NO_COMMA) for n in range(2)),
        lambda asked_row, turn: "one two three",
        "one, two, three",
        real="ifeval.jsonl",
    ),
    Benchmark(
        "mmlu.toml",
        "mmlu.jsonl",
        tuple(
            row(
                n,
                input=f"Which is largest of {n}?",
                target="B",
                metadata={"subject": "astronomy", "choices": CHOICES},
            )
            for n in range(2)
        ),
        letter,
        "None of them.",
        beside=(("mmlu_dev.jsonl", SOLVED),),
        real="mmlu_5subjects_x100.jsonl",
    ),
    Benchmark(
        "tools.toml",
        "tools.jsonl",
        tuple(row(n, input=f"How warm is it in Paris at {n}?", expected=CITY) for n in range(2)),
        lambda asked_row, turn: "(a call)",
        "I cannot know.",
        beside=(("tools.json", TOOLS),),
    ),
    Benchmark(
        "two-turns.toml",
        "two_turns.jsonl",
        tuple(
            row(
                n,
                metadata={"category": "writing"},
                messages=[{"role": "user", "content": f"{say} {n}"} for say in ("Write", "Again")],
            )
            for n in range(2)
        ),
        lambda asked_row, turn: f"good {turn}",
        "bad",
        real="mtbench_questions.jsonl",
    ),
)


def script(benchmark: Benchmark, rows: tuple[Row, ...], wrong: str | None) -> Script:
    """Play model and judge: each row is answered right, `wrong` (an id) is not."""

    def grade(item: Mapping[str, Any]) -> dict[str, Any]:
        return {"score": 9 if item["output"] == "good 1" else 1}  # the reply to the second turn

    def play(call: Any) -> Reply:
        request = asked(call.body)
        if request is not None:
            return Reply(text=reply(request, grade))
        users = [one["content"] for one in call.body["messages"] if one["role"] == "user"]
        found = next(
            one for one in rows if _question(one) in users[0] or _question(one) in users[-1]
        )
        if found["id"] == wrong:
            return Reply(text=benchmark.wrong)
        if benchmark.file == "tools.toml":
            return Reply("tool_calls")
        return Reply(text=benchmark.right(found, len(users) - 1))

    return play


def _question(asked_row: Row) -> str:
    return str(
        asked_row["messages"][0]["content"] if "messages" in asked_row else asked_row["input"]
    )


def written(folder: Path, benchmark: Benchmark) -> Path:
    """Write a suite and all that it reads as the page says."""
    for name, content in (
        ("model.toml", BLOCKS["model.toml"]),
        (benchmark.file, BLOCKS[benchmark.file]),
    ):
        (folder / name).write_text(content, "utf-8")
    for name, value in ((benchmark.data, benchmark.rows), *benchmark.beside):
        lines = name.endswith(".jsonl")
        text = "".join(json.dumps(one) + "\n" for one in value) if lines else json.dumps(value)
        (folder / name).write_text(text, "utf-8")
    return folder / benchmark.file


async def ran(
    folder: Path, suite: Path, server: FakeModel, sets: dict[str, str], limit: int | None = None
) -> tuple[Harness, int]:
    where = {"targets.0.base_url": server.base_url}
    if "[judge]" in BLOCKS[suite.name]:
        where["judge.base_url"] = server.base_url
    harness = Harness(folder / "store.db")
    loaded = load(suite, sets={**where, **sets}, trusted=True)
    return harness, await harness.run(loaded, Settings(limit=limit))


def test_the_page_shows_these_suites() -> None:
    assert set(BLOCKS) == {"model.toml", *(one.file for one in BENCHMARKS)}


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=lambda one: one.file)
async def test_a_suite_of_the_page_grades_made_up_rows(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    suite = written(tmp_path, benchmark)
    async with FakeModel(script=script(benchmark, benchmark.rows, "c1")) as server:
        harness, run = await ran(tmp_path, suite, server, {})
    verdicts = {trial.case_id: trial.verdict for trial in harness.trials(run)}
    assert verdicts == {"c0": Verdict.PASS, "c1": Verdict.FAIL}


@pytest.mark.skipif(
    not DATA.is_dir(), reason="the datasets are not there (TUI_EVAL_DATA, ../shared/data)"
)
@pytest.mark.parametrize(
    "benchmark", [one for one in BENCHMARKS if one.real], ids=lambda one: one.file
)
async def test_a_suite_of_the_page_grades_real_rows(benchmark: Benchmark, tmp_path: Path) -> None:
    suite = written(tmp_path, benchmark)
    assert benchmark.real is not None
    with (DATA / benchmark.real).open(encoding="utf-8") as lines:
        rows = tuple(json.loads(next(lines)) for _ in range(3))
    sets = {"dataset.path": str(DATA / benchmark.real)}
    if benchmark.file == "mmlu.toml":
        sets["prompt.examples.path"] = str(DATA / "mmlu_dev_5shot.jsonl")
    async with FakeModel(script=script(benchmark, rows, rows[1]["id"])) as server:
        harness, run = await ran(tmp_path, suite, server, sets, limit=3)
    trials = {trial.case_id: trial for trial in harness.trials(run)}
    assert {trial.state for trial in trials.values()} == {TrialState.DONE}
    assert Verdict.UNGRADED not in {trial.verdict for trial in trials.values()}
    if benchmark.file != "ifeval.toml":  # whose instructions three words do not follow
        passed = [name for name, trial in trials.items() if trial.verdict is Verdict.PASS]
        assert passed == [rows[0]["id"], rows[2]["id"]]
