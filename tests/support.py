"""What tests of several packages need: stores with runs in them, texts of every kind."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from hypothesis import strategies as st

from tui_eval.model.answer_source import AnswerSource
from tui_eval.model.case import Case
from tui_eval.model.json import digest
from tui_eval.model.outputs.output import Output, Usage
from tui_eval.model.score import Grade, Score
from tui_eval.model.states import RunState
from tui_eval.store.connection import open_readable, open_writable
from tui_eval.store.rows import ColumnRow
from tui_eval.store.tx import Tx
from tui_eval.store.write import run_writes
from tui_eval.store.write.run_writes import NewTrial
from tui_eval.store.writer import transact

T = TypeVar("T")

DATA = Path(__file__).parent / "data"

any_text = st.text(st.characters(exclude_categories=()), max_size=40)
"""Every string Python can have: NUL, lone surrogates, controls, noncharacters."""

ODD_TEXTS = [
    "",
    "\x00",
    "a\x00b",
    "\ud800",
    "x\udc00y",
    "\ufffe\uffff",
    "\x1b[2J",
    "é😀\u202e",
    "a\nb\r\n\tc",
    "'\"\\%_;--",
]
"""Texts that some layer or other is known to choke on."""


@contextmanager
def about(what: object) -> Iterator[None]:
    """Have what fails here say what it was about: one of many that a test goes through."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"about {what}")
        raise


def joined(text: str) -> str:
    """Give a text as JSON gives it back: two surrogates that are a pair are one character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


@dataclass(frozen=True)
class Staged:
    """A run whose trials are all there."""

    run: int
    trials: tuple[int, ...]
    """Their ids in dataset order."""


def key(*parts: object) -> bytes:
    """Make a generation key."""
    return digest(["a key", *parts])


def case(seq: int = 0, case_id: str | None = None, **fields: object) -> Case:
    """Make a case."""
    return Case(seq, f"case-{seq}" if case_id is None else case_id, {"n": seq, **fields})  # type: ignore[dict-item]


def column(index: int = 0) -> ColumnRow:
    """Make a column; each has an endpoint of its own."""
    return ColumnRow(
        index=index,
        name=f"target-{index}",
        target=f"target-{index}",
        prompt=None,
        kind="simulated",
        model=f"model-{index}",
        endpoint=f"endpoint-{index}",
        source=AnswerSource.SIMULATED,
    )


def output(text: str | None = "Paris", *, cost: float | None = 0.001, **more: object) -> Output:
    """Make an output that took half a second, ten tokens there and five back."""
    settings: dict[str, object] = {
        "finish_reason": "stop",
        "usage": Usage(10, 5),
        "latency_s": 0.5,
        **more,
    }
    return Output(text, cost_usd=cost, **settings)  # type: ignore[arg-type]


def score(passed: bool | None = True, scorer: str = "exact", **more: object) -> Score:
    """Make a score; `passed` None: ungraded."""
    grade = Grade.ungraded("cut short") if passed is None else Grade.of(passed, "as expected")
    return Score(scorer, grade, **more)  # type: ignore[arg-type]


def new_run(db: sqlite3.Connection, suite: str = "capitals", columns: int = 1) -> int:
    """Make a run in state `pending`; give its id."""

    def unit(tx: Tx) -> int:
        run = run_writes.create(
            tx,
            run_writes.NewRun(suite=suite, path="capitals.toml", spec="{}", settings={}),
        )
        run_writes.add_columns(tx, run, [column(index) for index in range(columns)])
        return run

    return transact(db, unit)


def stage(db: sqlite3.Connection, run: int, trials: Sequence[NewTrial], cases: int) -> Staged:
    """Put cases and trials into a run."""

    def unit(tx: Tx) -> None:
        run_writes.add_cases(tx, run, [case(seq) for seq in range(cases)])
        run_writes.add_trials(tx, run, trials)
        run_writes.staged(tx, run)

    transact(db, unit)
    rows = db.execute("SELECT id FROM trials WHERE run = ? ORDER BY place", (run,))
    return Staged(run, tuple(row[0] for row in rows))


def staged(
    db: sqlite3.Connection,
    n: int = 3,
    *,
    columns: int = 1,
    epochs: int = 1,
    suite: str = "capitals",
    running: bool = True,
) -> Staged:
    """Make a run of n cases with all their trials queued; running, unless told otherwise."""
    run = new_run(db, suite, columns)
    places = (
        (seq, col, epoch) for seq in range(n) for col in range(columns) for epoch in range(epochs)
    )
    trials = [
        NewTrial(place, seq, col, epoch, key(suite, seq, col, epoch))
        for place, (seq, col, epoch) in enumerate(places)
    ]
    made = stage(db, run, trials, n)
    if running:
        transact(db, lambda tx: run_writes.move(tx, run, RunState.RUNNING))
    return made


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a store for writing, for a while."""
    db = open_writable(path)
    try:
        yield db
    finally:
        db.close()


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a store for reading, for a while."""
    db = open_readable(path)
    try:
        yield db
    finally:
        db.close()


def do(db: sqlite3.Connection, unit: Callable[[Tx], T]) -> T:
    """Run a unit in a transaction of its own."""
    return transact(db, unit)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
