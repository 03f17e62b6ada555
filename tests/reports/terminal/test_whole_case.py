import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import hostile
from tests.reports.filled import CANCELLED, FAIL, OPEN, UNGRADED, Plan, Told, cases, fill, filled
from tests.support import reading
from tui_eval.model.case import Case
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.model.score import Grade, Score, tally
from tui_eval.model.states import RunState
from tui_eval.model.visible import visible
from tui_eval.reports.terminal.tables import AnsiStyle
from tui_eval.reports.terminal.whole_case import case_in_full
from tui_eval.store.connection import open_writable
from tui_eval.store.write import attempt_writes, score_writes, trial_moves, trial_verbs
from tui_eval.store.writer import transact


@contextmanager
def writing(folder: Path) -> Iterator[sqlite3.Connection]:
    db = open_writable(folder / "store.db")
    try:
        yield db
    finally:
        db.close()


def told(folder: Path, run: int, case: str = "case-0", now: float = 0.0) -> str:
    with reading(folder / "store.db") as db:
        return "\n".join(case_in_full(db, run, case, now, AnsiStyle()))


def of(folder: Path, what: Told, **more: object) -> str:
    """Give what is told of a run with one trial."""
    return told(folder, fill(folder / "store.db", Plan({"gpt": [what]}, cases(1), **more)))  # type: ignore[arg-type]


def trial_of(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT id FROM trials").fetchone()[0])


def test_a_pass_shows_answer_measure_score_and_attempt(tmp_path: Path) -> None:
    text = of(tmp_path, Told())
    assert text.startswith("case case-0 of capitals-")
    for part in (
        "\n  n: 0\n",
        "\ngpt  pass, score 1.00\n",
        "\n  output\n    Paris\n",
        "finish stop, call 0.50s, tokens in/out 10/5, cost $0.0010\n",
        "\n  exact: pass 1.00  as expected\n",
        "\n  attempt 1 answered  queue 0.00s, call 0.50s",
    ):
        assert part in text
    assert "epoch" not in text


def test_every_epoch_is_told(tmp_path: Path) -> None:
    run = fill(tmp_path / "store.db", Plan({"gpt": [Told(), Told(FAIL)]}, cases(1), epochs=2))
    text = told(tmp_path, run)
    assert "gpt · epoch 1  pass" in text
    assert "gpt · epoch 2  fail" in text
    assert "\ngpt: mean 0.50, sd 0.71 over 2 epochs\n" in text


def test_an_error_is_told_with_every_attempt(tmp_path: Path) -> None:
    failure = Failure(
        "server_error", "answered 503: no\nroom", status=503, retry_after_s=20.0, partial="Par"
    )
    text = of(tmp_path, Told(grade=None, failure=failure, attempts=2))
    assert "\ngpt  error: server_error: answered 503: no⏎room\n" in text
    assert "attempt 1 failed" in text
    assert "    rate_limit: slow down\n" in text
    assert "attempt 2 failed  queue 0.00s, call 0.10s, HTTP 503, asked to wait 20.0s\n" in text
    assert "    server_error: answered 503: no\n    room\n" in text
    assert "    had arrived\n      Par" in text


def test_the_conversation_of_a_failed_attempt_is_told(tmp_path: Path) -> None:
    said: tuple[JsonObject, ...] = (
        {"role": "assistant", "content": "I look.", "tool_calls": [{"id": "1"}]},
        {"role": "tool", "tool_call_id": "1", "content": "two\nlines"},
    )
    text = of(tmp_path, Told(failure=Failure("exit", "code 3", partial="I look.", messages=said)))
    assert "    its conversation\n      assistant\n        I look.\n" in text
    assert "      tool\n        two\n        lines" in text
    assert "had arrived" not in text  # the last that was said stands in the conversation


def test_what_is_open_says_what_it_waits_for(tmp_path: Path) -> None:
    run = fill(tmp_path / "store.db", Plan({"gpt": [OPEN]}, cases(1), state=RunState.INTERRUPTED))
    assert "gpt  queued: waits for its turn" in told(tmp_path, run)
    now = time.time()
    with writing(tmp_path) as db:
        trial = trial_of(db)
        transact(db, lambda tx: attempt_writes.start_attempt(tx, trial, queue_s=0.0, wait_s=None))
        assert "gpt  running: the call is in flight\n" in told(tmp_path, run)
        assert "attempt 1 sent" in told(tmp_path, run)
        transact(db, lambda tx: trial_moves.wait(tx, trial, "Retry-After", now + 20.0))
    assert "gpt  running: Retry-After, 12.0s left\n" in told(tmp_path, run, now=now + 8.0)
    assert "left" not in told(tmp_path, run, now=now + 30.0)


def test_a_cancelled_trial_says_so(tmp_path: Path) -> None:
    assert "\ngpt  cancelled" in of(tmp_path, CANCELLED)


def test_what_is_ungraded_has_its_reason_and_no_value(tmp_path: Path) -> None:
    text = of(tmp_path, Told(UNGRADED, finish_reason="length"))
    assert "gpt  ungraded, score –" in text
    assert "exact: ungraded  the output was cut short\n" in text
    assert "finish length" in text


def test_an_answer_without_text_and_one_that_calls_tools_are_told(tmp_path: Path) -> None:
    assert "  the answer has no text\n" in of(tmp_path / "none", Told(text=None))
    run = fill(tmp_path / "store.db", Plan({"gpt": [Told()]}, cases(1)))
    call = {"type": "function", "function": {"name": "look_up", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    with writing(tmp_path) as db:
        db.execute("UPDATE outputs SET text = NULL, messages = ?", (json.dumps([message]),))
        db.commit()
    assert f"  calls a tool\n    {json.dumps(call)}\n" in told(tmp_path, run)


def test_a_score_that_is_only_reported_says_so(tmp_path: Path) -> None:
    assert "exact (reported only): pass 1.00" in of(tmp_path, Told(required=False))


def test_earlier_outputs_and_scores_are_told_after_those_that_count(tmp_path: Path) -> None:
    run = fill(tmp_path / "store.db", Plan({"gpt": [Told(text="first try")]}, cases(1)))
    with writing(tmp_path) as db:
        trial = trial_of(db)

        def again() -> None:
            attempt = transact(
                db, lambda tx: attempt_writes.start_attempt(tx, trial, queue_s=0.0, wait_s=None)
            )
            assert attempt is not None
            new = Output("second try", finish_reason="stop")
            score = Score("exact", Grade.of(False, "not this one"))
            transact(db, lambda tx: attempt_writes.answer(tx, attempt, trial, b"k" * 32, new, 0.1))
            transact(db, lambda tx: score_writes.add_scores(tx, trial, [score], fresh=True))
            transact(db, lambda tx: trial_moves.settle(tx, trial, tally([score])))

        transact(db, lambda tx: trial_verbs.retry(tx, trial))
        again()
    text = told(tmp_path, run)
    assert "\n  output\n    second try\n" in text
    assert "    gave, before it was asked again\n      first try\n" in text
    now, before = text.index("exact: fail 0.00  not this one"), text.index("exact: pass 1.00")
    assert now < text.index("scores that count no more") < before


def test_a_cached_trial_says_that_nobody_was_asked(tmp_path: Path) -> None:
    run = fill(tmp_path / "store.db", Plan({"gpt": [Told()]}, cases(1)))
    with writing(tmp_path) as db:
        db.execute("UPDATE trials SET cached = 1")
        db.execute("DELETE FROM attempts")
        db.commit()
    text = told(tmp_path, run)
    assert "from the cache" in text
    assert "no attempt: the output was in the store" in text


def test_a_case_the_run_does_not_have_is_nothing(tmp_path: Path) -> None:
    run = fill(tmp_path / "store.db", Plan({"gpt": [Told()]}, cases(1)))
    assert told(tmp_path, run, "case-9") == ""


def test_no_hostile_text_reaches_a_terminal_as_it_is(tmp_path: Path) -> None:
    texts = hostile.outputs()
    graded = [Told(Grade.of(False, f"got {text}", text), text=text) for text in texts]
    errors = [Told(grade=None, failure=Failure("timeout", text, partial=text)) for text in texts]
    asked = [Case(i, f"{i} {text}", {"n": text}, tags=(text,)) for i, text in enumerate(texts)]
    with filled(tmp_path / "store.db", Plan({"gpt": graded, "b": errors}, asked)) as (db, run):
        whole = [list(case_in_full(db, run, case.id, 0.0, AnsiStyle())) for case in asked]
    assert all(whole)
    assert not [line for lines in whole for line in lines if visible(line) != line]
