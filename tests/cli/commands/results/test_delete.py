import json
import os
import re
import sys
from pathlib import Path

import ptyprocess
import pytest

from tests.cli.conftest import Command, Place
from tests.support import do, writing
from tui_eval.store import lease
from tui_eval.store.read import run_queries


def names(tui_eval: Command) -> list[str]:
    return [document["run"] for document in json.loads(tui_eval("runs", "--json").out)]


def test_runs_are_deleted_with_what_only_they_have(place: Place, tui_eval: Command) -> None:
    suite = place.suite(n=3)
    for _ in range(3):
        tui_eval("run", suite)
    newest, middle, oldest = names(tui_eval)
    done = tui_eval("delete", oldest, newest, "last", "--yes", "--json")
    assert done.code == 0
    told = json.loads(done.out)
    assert told["bytes"] > 0
    assert told == {
        "runs": [oldest, newest], "trials": 6, "outputs": 0, "kept_outputs": 3,
        "bytes": told["bytes"], "files": 0, "file_bytes": 0, "at_providers": [],
    }  # fmt: skip
    assert names(tui_eval) == [middle]
    assert json.loads(tui_eval("show", middle, "--json").out)["counts"]["passed"] == 3
    # what stays is found by the next run
    again = json.loads(tui_eval("run", suite, "--json").out)
    assert again["requests"]["cached_outputs"] == 3
    done = tui_eval("delete", *names(tui_eval), "--yes")
    assert re.fullmatch(r"deleted \S+, \S+: 6 trials, 3 outputs, about \d+.* of text\n", done.out)
    assert names(tui_eval) == []
    fresh = json.loads(tui_eval("run", suite, "--json").out)
    assert fresh["requests"]["cached_outputs"] == 0


def test_the_log_of_its_engine_goes_too(place: Place, tui_eval: Command) -> None:
    tui_eval("run", place.suite())
    (name,) = names(tui_eval)
    log = place.store.parent / "logs" / f"{name}.log"
    log.parent.mkdir(exist_ok=True)
    log.write_text("what it did")
    tui_eval("delete", name, "--yes")
    assert not log.exists()


def test_without_a_terminal_it_needs_yes(place: Place, tui_eval: Command) -> None:
    tui_eval("run", place.suite())
    done = place.program("delete", "last")
    assert (done.code, done.out) == (2, "")
    assert "say --yes" in done.err
    assert len(names(tui_eval)) == 1


@pytest.mark.parametrize(("answer", "left"), [("n", 1), ("y", 0)])
def test_with_a_terminal_it_asks(place: Place, tui_eval: Command, answer: str, left: int) -> None:
    tui_eval("run", place.suite())
    process = ptyprocess.PtyProcess.spawn(
        [sys.executable, "-m", "tui_eval", "delete", "last"],
        cwd=str(place.folder),
        env={**os.environ, **place.environment},
    )
    heard = b""
    while b"[y/N]" not in heard:
        heard += process.read()
    assert b"4 trials, 4 outputs" in heard
    assert b"asks for them again" in heard
    process.write(f"{answer}\n".encode())
    try:
        while True:
            heard += process.read()
    except EOFError:
        pass
    process.wait()
    assert process.exitstatus == (0 if left == 0 else 2)
    assert len(names(tui_eval)) == left
    assert (b"nothing was deleted" in heard) == (left == 1)


def test_nothing_goes_where_one_is_live_or_unknown(place: Place, tui_eval: Command) -> None:
    for _ in range(2):
        tui_eval("run", place.suite())
    newest, oldest = names(tui_eval)
    with writing(Path(place.store)) as db:
        run = run_queries.run_named(db, newest).id
        do(db, lambda tx: lease.acquire(tx, run))
        done = tui_eval("delete", oldest, newest, "--yes")
        assert (done.code, done.out) == (2, "")
        assert f"{newest} is live" in done.err
        do(db, lambda tx: lease.release(tx, run))
    assert tui_eval("delete", oldest, "nobody", "--yes").code == 2
    assert len(names(tui_eval)) == 2
