"""The app on a real store, with runs in it, driven by keys."""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.screen import Screen

from tests.fresh_store import fresh_store
from tests.hostile import CONTROLS
from tests.support import Staged, do, key, output, reading, score, writing
from tui_eval.engine.engine import Engine
from tui_eval.engine.launch.create_run import create
from tui_eval.engine.settings import Settings
from tui_eval.model.answer_source import AnswerSource
from tui_eval.model.case import Case
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.model.score import tally
from tui_eval.model.states import RunState, TrialState
from tui_eval.store.rows import ColumnRow
from tui_eval.store.tx import Tx
from tui_eval.store.write import attempt_writes, run_writes, score_writes, trial_moves
from tui_eval.store.write.run_writes import NewTrial
from tui_eval.suites.spec import Suite
from tui_eval.ui.app import TuiEvalApp
from tui_eval.ui.run.list.trial_table import TrialTable
from tui_eval.ui.run.snapshot import Snapshot, snapshot
from tui_eval.ui.screens.run_screen import RunScreen
from tui_eval.ui.text.prose import Para
from tui_eval.ui.widgets.toned import Piece

_POLL_S = 0.02
_POLLS = 600
"""Looks at a condition before it is given up: they take some 15 s, and longer on a machine that is
busy with other things, where what is waited for takes longer too."""


def made_up(n: int = 12, **changes: Any) -> Suite:
    """Give a suite that asks nobody: n sums, four of five answered right."""
    described: dict[str, Any] = {
        "name": "sums",
        "cases": [
            {"id": f"sum-{i:03}", "q": f"{i} + 1?", "a": str(i + 1), "tags": [f"t{i % 2}"]}
            for i in range(n)
        ],
        "prompts": [{"user": "What is {{ q }}"}],
        "targets": [
            {"kind": "simulated", "name": "one", "answers": ["{{ a }}", "no"], "accuracy": 0.8}
        ],
        "scorers": [{"kind": "exact", "expected": "{{ a }}"}],
        "run": {"concurrency": 4},
        **changes,
    }
    return Suite.model_validate(described)


async def finished(store: Path, suite: Suite, settings: Settings | None = None) -> int:
    """Run a suite to its end; give the run's id."""
    fresh_store(store)
    run_id = create(store, suite, settings or Settings())
    await Engine(store, run_id).run()
    return run_id


def app_on(store: Path, *paths: Path, run: str | None = None) -> TuiEvalApp:
    """Give the app on a store."""
    return TuiEvalApp(store, paths, run)


def shown_on(
    app: TuiEvalApp, size: tuple[int, int] = (80, 24)
) -> AbstractAsyncContextManager[Pilot[None]]:
    """Give the app's pilot, on a screen of columns × rows."""
    return app.run_test(size=size, notifications=True)


def lines(app: TuiEvalApp) -> list[str]:
    """Give what stands on the screen, line by line."""
    width, height = app.size
    strips = app.screen._compositor.render_strips()
    return [strip.text.ljust(width)[:width] for strip in strips[:height]]


def text(app: TuiEvalApp) -> str:
    """Give what stands on the screen."""
    return "\n".join(lines(app))


async def until(
    pilot: Pilot[None], condition: Callable[[], object], what: str = "what the test waits for"
) -> None:
    """Let the app go on until something holds.

    Raises:
        AssertionError: it has not come, or the app has ended before; says what is shown instead.
    """
    app = pilot.app
    for _ in range(_POLLS):
        if condition():
            return
        if not app.is_running:
            raise AssertionError(f"{what} has not come: the app has ended")
        await pilot.pause(_POLL_S)
    assert isinstance(app, TuiEvalApp)
    where = f"{type(app.screen).__name__}, focus on {app.focused}"
    raise AssertionError(f"{what} has not come; on the screen ({where}):\n{text(app)}")


async def until_shown(pilot: Pilot[None], *words: str) -> None:
    """Let the app go on until all words stand on the screen; raises like `until`."""
    app = pilot.app
    assert isinstance(app, TuiEvalApp)
    await until(pilot, lambda: all(word in text(app) for word in words), repr(words))


async def run_screen(pilot: Pilot[None]) -> RunScreen:
    """Wait until a run is shown with its rows; give its screen."""
    await until(pilot, lambda: isinstance(pilot.app.screen, RunScreen))
    screen = pilot.app.screen
    assert isinstance(screen, RunScreen)
    run = screen.run
    await until(
        pilot, lambda: None not in (run.snapshot, run.figures, run.results, run.differences)
    )
    earlier = screen.monitor.earlier
    await until(pilot, lambda: run.snapshot is not None and run.snapshot.earlier == earlier)
    assert run.snapshot is not None
    if run.snapshot.total.total:
        await until(pilot, lambda: screen.trial_list.selected is not None)
    return screen


def cursor_case(screen: Screen[Any]) -> str | None:
    """Give the id of the case under the cursor of a run's table."""
    assert isinstance(screen, RunScreen)
    return None if screen.trial_list.selected is None else screen.trial_list.selected.case_id


def stands_on(screen: Screen[Any], case: str) -> bool:
    """Whether the cursor of a run's table is on a case."""
    return cursor_case(screen) == case


def selected_state(screen: RunScreen) -> TrialState | None:
    """Give the state of the trial under the cursor."""
    selected = screen.trial_list.selected
    return None if selected is None else selected.state


def first_snapshot(store: Path, run: int) -> Snapshot:
    """Give what a screen knows first of a run."""
    with reading(store) as db:
        return snapshot(db, run, -1, [])


def words(line: Iterable[Piece]) -> str:
    """Give the words of a line."""
    return "".join(piece.text for piece in line)


def para_words(paras: Iterable[Para]) -> str:
    """Give the words of paragraphs, one a line after its label."""
    return "\n".join(f"{para.label} {para.text}" for para in paras)


def row_texts(screen: RunScreen) -> list[str]:
    """Give the rows that are drawn, without the head."""
    table = screen.query_one(TrialTable)
    return [table.render_line(y).text for y in range(1, len(table.shown) + 1)]


def by_hand(
    store: Path,
    cases: Sequence[Case],
    *,
    answers: Sequence[Output | Failure | None],
    columns: Sequence[str] = ("one",),
    reasons: Sequence[str] = (),
    suite: str = "by-hand",
    spec: str = "{}",
    state: RunState = RunState.DONE,
) -> Staged:
    """Write a run through the store's own functions: what an engine would have written.

    Args:
        store: The store's file.
        cases: The cases.
        answers: What came of each trial, in dataset order; None: it stays queued.
        columns: The columns' names.
        reasons: Why each graded trial failed; shorter or empty: those trials pass.
        suite: The suite's name.
        spec: The frozen suite.
        state: The run's state.
    """

    def unit(tx: Tx) -> Staged:
        run = run_writes.create(
            tx,
            run_writes.NewRun(suite=suite, spec=spec, settings={}),
        )
        run_writes.add_columns(
            tx,
            run,
            [
                ColumnRow(
                    index, name, name, None, "simulated", name, "endpoint", AnswerSource.SIMULATED
                )
                for index, name in enumerate(columns)
            ],
        )
        run_writes.add_cases(tx, run, cases)
        trials = [
            NewTrial(place, place // len(columns), place % len(columns), 0, key(suite, place))
            for place in range(len(cases) * len(columns))
        ]
        run_writes.add_trials(tx, run, trials)
        run_writes.staged(tx, run)
        run_writes.move(tx, run, RunState.RUNNING)
        ids = [
            row[0]
            for row in tx.db.execute("SELECT id FROM trials WHERE run = ? ORDER BY place", (run,))
        ]
        for place, (trial, answer) in enumerate(zip(ids, answers, strict=True)):
            if answer is not None:
                reason = reasons[place] if place < len(reasons) else None
                settle(tx, trial, key(suite, place), answer, reason)
        if state is not RunState.RUNNING:
            run_writes.move(tx, run, state)
        return Staged(run, tuple(ids))

    fresh_store(store)
    with writing(store) as db:
        return do(db, unit)


def settle(
    tx: Tx, trial: int, generation_key: bytes, answer: Output | Failure, reason: str | None = None
) -> None:
    """Write what came of a trial; a reason makes it fail."""
    attempt = attempt_writes.start_attempt(tx, trial, queue_s=0.01, wait_s=None)
    assert attempt is not None
    if isinstance(answer, Failure):
        attempt_writes.fail_attempt(tx, attempt, answer, 0.2)
        trial_moves.fail_trial(tx, trial, answer)
        return
    attempt_writes.answer(tx, attempt, trial, generation_key, answer, 0.5)
    given = score(reason is None)
    if reason is not None:
        grade = given.grade
        given = type(given)("exact", type(grade)(grade.verdict, grade.value, reason, raw=reason))
    score_writes.add_scores(tx, trial, [given], fresh=True)
    trial_moves.settle(tx, trial, tally([given]))


def plain_run(store: Path, n: int = 30, failing: Sequence[int] = (3, 7)) -> Staged:
    """Write a finished run of one column: all trials pass but those named."""
    cases = [Case(i, f"case-{i:03}", {"n": i}, tags=(f"t{i % 2}",)) for i in range(n)]
    answers = [output(f"answer {i}", latency_s=0.1 + i / 100) for i in range(n)]
    reasons = [f"expected {i}" if i in failing else None for i in range(n)]
    return by_hand(store, cases, answers=answers, reasons=reasons)  # type: ignore[arg-type]


def open_run(store: Path, n: int) -> Staged:
    """Write a run whose trials all wait."""
    cases = [Case(i, f"case-{i:04}", {}) for i in range(n)]
    return by_hand(store, cases, answers=[None] * n, state=RunState.RUNNING)


def write_config(file: Path, said: str) -> None:
    """Write the person's configuration, and make its folder where it is not there."""
    file.parent.mkdir(exist_ok=True)
    file.write_text(said)


def sql(store: Path, statement: str, *args: object) -> list[tuple[Any, ...]]:
    """Ask a store something."""
    db = sqlite3.connect(store)
    try:
        return db.execute(statement, args).fetchall()
    finally:
        db.close()


def assert_clean(app: TuiEvalApp) -> None:
    """Check every cell of the screen, what lies over it included."""
    for strip in app.screen._compositor.render_strips():
        for segment in strip:
            assert not CONTROLS & set(segment.text), segment
            assert "\u202e" not in segment.text
            style = segment.style
            if style is not None:
                assert style.link is None
                assert "app.quit" not in str(style.meta)
