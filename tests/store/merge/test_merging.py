"""Stores of real runs, merged; what is in the store that takes is told without its ids."""

import asyncio
import itertools
import operator
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.engine.bulk.bulk_runs import SOON, bulk_suite, run_bulk
from tests.engine.harness import Harness
from tests.engine.judging.bulk.judged_runs import Grading, bulk_judged
from tests.reports.filled import Plan, Told, cases, fill
from tests.servers.fake_bulk import FakeBulk
from tests.store.recounting import recount
from tests.waiting import until
from tui_eval.engine.engine import Engine
from tui_eval.engine.settings import Settings
from tui_eval.model.judge_quality import GoldAgreement
from tui_eval.model.runs.run_part import RunPart
from tui_eval.model.states import Verdict
from tui_eval.store.connection import open_readable, open_writable
from tui_eval.store.errors import StoreDamagedError, StoreError, StoreOlderError
from tui_eval.store.files import FileStore
from tui_eval.store.merge import numbering
from tui_eval.store.merge.merging import MergedRun, Merging, look, merge
from tui_eval.store.merge.sources import attached, numbered_otherwise, source_runs
from tui_eval.store.read import run_queries
from tui_eval.store.read.run_parts import run_parts
from tui_eval.store.requests import Verb
from tui_eval.store.write.judges.measured_judges import gold, write_measure
from tui_eval.store.write.people import grade_writes, notes
from tui_eval.store.writer import transact
from tui_eval.suites.spec import Suite

_CASES = 17
_FACTS = (
    "SELECT c.id, t.place, t.col, t.epoch, t.state, t.verdict, t.score, o.digest, o.at, "
    "t.attempts, t.input_tokens, t.output_tokens, t.cost_usd, t.error_kind, t.cached, "
    "(SELECT group_concat(x, ';') FROM (SELECT a.number || a.state || a.sent_at || "
    "ifnull((SELECT hex(digest) FROM outputs WHERE id = a.output), '') AS x FROM attempts a "
    "WHERE a.trial = t.id ORDER BY 1)), "
    "(SELECT group_concat(x, ';') FROM (SELECT s.scorer || s.verdict || s.source || s.current || "
    "s.superseded || s.at AS x FROM scores s WHERE s.trial = t.id ORDER BY 1)), "
    "(SELECT group_concat(x, ';') FROM (SELECT f.scorer || f.judge || f.purpose || f.repeat || "
    "f.made || f.superseded || (j.request IS NOT NULL) AS x FROM findings f "
    "LEFT JOIN judge_calls j ON j.id = f.call AND j.run = t.run WHERE f.trial = t.id ORDER BY 1)), "
    "(SELECT group_concat(x, ';') FROM (SELECT n.text || n.current AS x FROM notes n "
    "WHERE n.trial = t.id ORDER BY 1)), "
    "(SELECT group_concat(x, ';') FROM (SELECT g.person || g.grade || (g.output IS t.output) AS x "
    "FROM grades g WHERE g.trial = t.id AND g.run = t.run ORDER BY 1)) "
    "FROM runs r JOIN trials t ON t.run = r.id JOIN cases c ON c.run = t.run AND c.seq = t.seq "
    "LEFT JOIN outputs o ON o.id = t.output ORDER BY r.suite, c.id, t.col, t.epoch"
)
"""All that trials are and have, without ids."""


def suite(name: str = "sums", **changes: Any) -> Suite:
    """Give a suite of two targets, one of which fails often, with a judge."""
    targets = [
        {"kind": "simulated", "name": "good", "answers": ["{{ a }}"], "accuracy": 0.8},
        {"kind": "simulated", "name": "poor", "answers": ["{{ a }}"], "accuracy": 0.5}
        | {"faults": {"server_error": 0.2}},
    ]
    judged = {"kind": "judge", "name": "kind", "rubric": "Is it kind?", "judge": ["j"]}
    judged["scale"] = "pass-fail"
    described = {
        "name": name,
        "cases": [
            {"id": f"c{n}", "q": f"what is {n % 5}?", "a": str(n % 5)} for n in range(_CASES)
        ],
        "prompts": [{"user": "{{ q }}"}],
        "targets": targets,
        "scorers": [{"kind": "exact", "expected": "{{ a }}"}, judged],
        "judges": [{"kind": "simulated", "name": "j", "batch_size": 4}],
        "run": {"epochs": 2, "retries": 1},
    }
    return Suite.model_validate(described | changes)


async def part(folder: Path, number: int, of: int = 3) -> Path:
    """Run a part of the suite in a store of its own."""
    path = folder / f"part{number}.sqlite3"
    await Harness(path).run(suite(), Settings(part=RunPart(number, of)))
    return path


@pytest.fixture(scope="module")
def parts_once(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("parts")

    async def run() -> list[Path]:
        return [await part(folder, number) for number in (1, 2, 3)]

    return asyncio.run(run())


@pytest.fixture
def parts(parts_once: list[Path], tmp_path: Path) -> list[Path]:
    """Give the stores of three parts of the suite, copies that a test may change."""
    return [Path(shutil.copy(path, tmp_path / path.name)) for path in parts_once]


def united(into: Path, stores: Sequence[Path]) -> list[MergedRun]:
    """Merge stores, and see that the store that took is sound."""
    with closing(open_writable(into)) as db:
        merged = [run for store in stores for run in merge(db, store)]
        recount(db)
        places = db.execute("SELECT run, place FROM trials ORDER BY run, place").fetchall()
        counted = itertools.groupby(places, key=lambda row: row[0])
        assert all([p for _, p in rows] == [*range(len(places))] for _, rows in counted) or (
            db.execute("SELECT count(*) FROM runs").fetchone()[0] > 1
        )
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert not db.execute("SELECT 1 FROM runs WHERE lease_pid IS NOT NULL").fetchall()
    return merged


def facts(path: Path) -> list[Any]:
    """Return all that is known of the trials of a store."""
    with closing(open_readable(path)) as db:
        return db.execute(_FACTS).fetchall()


def said(path: Path) -> list[Any]:
    """Return what judges said of each trial, whether it counts, and what it was copied from."""
    with closing(open_readable(path)) as db:
        return db.execute(
            "SELECT f.score_key, f.at, f.superseded, o.at FROM findings f "
            "JOIN trials t ON t.id = f.trial LEFT JOIN findings o ON o.id = f.origin "
            "ORDER BY f.at, f.score_key, f.superseded, t.id"
        ).fetchall()


def run_of(path: Path) -> Any:
    """Return the only run of a store."""
    with closing(open_readable(path)) as db:
        (row,) = run_queries.runs(db)
    return row


def spec_of(path: Path) -> Any:
    """Return how the only run of a store is scored."""
    with closing(open_readable(path)) as db:
        return db.execute("SELECT spec FROM runs").fetchone()[0]


def counted(path: Path) -> Counter[str]:
    """Return how many rows the tables have that merging fills."""
    tables = (
        *("runs", "cases", "trials", "outputs", "attempts", "scores", "findings", "judge_calls"),
        *("judge_items", "notes", "grades", "limits", "merged_runs", "run_parts", "columns"),
    )
    with closing(open_readable(path)) as db:
        return Counter(
            {name: db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables}
        )


async def test_parts_in_any_order_and_any_number_of_times_are_the_whole_run(
    parts: list[Path], tmp_path: Path
) -> None:
    whole = tmp_path / "whole.sqlite3"
    await Harness(whole).run(suite())
    orders = [parts, parts[::-1], [parts[1], *parts, *parts[::2]]]
    found = []
    for n, order in enumerate(orders):
        into = tmp_path / f"into{n}.sqlite3"
        for store in order:  # each by itself: places move whenever one comes between
            united(into, [store])
        found.append((facts(into), counted(into) - Counter(limits=counted(into)["limits"])))
    assert found[0] == found[1] == found[2]
    by_case = [(row[:7], row[7]) for row in facts(whole)]  # outputs of a seed are the same
    assert [(row[:7], row[7]) for row in found[0][0]] == by_case
    row = run_of(tmp_path / "into0.sqlite3")
    assert (row.state, row.partial, row.total) == ("done", False, _CASES * 4)
    assert "part" not in row.settings
    assert len(found[0][0]) == row.total


async def test_of_several_stores_the_cases_are_closed_up_once(
    parts: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_by_one, together = tmp_path / "one-by-one.sqlite3", tmp_path / "together.sqlite3"
    for store in parts:
        united(one_by_one, [store])
    closed = []
    monkeypatch.setattr(
        numbering, "close_up", lambda *of, really=numbering.close_up: closed.append(really(*of))
    )
    with closing(open_writable(together)) as db:
        merging = Merging(db)
        taken = [run.new for store in parts for run in merging.take(store)]
        (again,) = merging.take(parts[0])
        assert run_of(together).live
        merging.close()
    assert len(closed) == 1
    assert (sum(taken), again.new + again.taken) == (_CASES * 4, 0)
    assert facts(together) == facts(one_by_one)
    assert counted(together) == counted(one_by_one)
    rows = [run_of(path) for path in (together, one_by_one)]
    assert [(row.state, row.partial, row.total, row.live) for row in rows] == [
        ("done", False, _CASES * 4, False)
    ] * 2


@pytest.mark.parametrize("next_one", [0, 1, 2], ids=["the first", "the last", "another"])
async def test_a_merge_that_was_killed_before_it_closed_up_is_ended_by_any_of_the_stores(
    parts: list[Path], tmp_path: Path, next_one: int
) -> None:
    into, at_once = tmp_path / "into.sqlite3", tmp_path / "at-once.sqlite3"
    with closing(open_writable(into)) as db:
        merging = Merging(db)
        for store in parts[:2]:
            merging.take(store)
        assert db.execute("SELECT state, stopped_by FROM runs").fetchone() == (
            "interrupted",
            "merge",
        )
        db.execute("UPDATE runs SET lease_pid = NULL")  # as a process that is gone
    united(into, [parts[next_one]])
    united(at_once, parts[: max(next_one + 1, 2)])
    assert facts(into) == facts(at_once)
    assert (run_of(into).state, run_of(into).partial) == ("done", next_one < 2)


async def test_a_store_that_cannot_be_used_leaves_what_was_merged_before_it_whole(
    parts: list[Path], tmp_path: Path
) -> None:
    into, alone = tmp_path / "into.sqlite3", tmp_path / "alone.sqlite3"
    parts[1].write_bytes(b"no store")
    with closing(open_writable(into)) as db:
        merging = Merging(db)
        merging.take(parts[0])
        with pytest.raises(StoreError):
            merging.take(parts[1])
        merging.close()
    united(alone, parts[:1])
    assert facts(into) == facts(alone)
    assert run_of(into).state == "done"


async def test_a_run_is_partial_until_all_its_parts_are_there(
    parts: list[Path], tmp_path: Path
) -> None:
    into = tmp_path / "into.sqlite3"
    united(into, [parts[2], parts[0]])
    row = run_of(into)
    with closing(open_readable(into)) as db:
        found = run_parts(db, row.id)
        assert found is not None
        assert (found.numbers, found.of, found.missing) == ((1, 3), 3, (2,))
        assert found.of_cases == _CASES
        assert found.cases < _CASES
    assert row.partial
    united(into, [parts[1]])
    assert not run_of(into).partial


async def test_what_changed_in_a_store_since_is_taken_and_nothing_else(
    parts: list[Path], tmp_path: Path
) -> None:
    into = tmp_path / "into.sqlite3"
    united(into, parts)
    harness = Harness.__new__(Harness)
    harness.path = parts[0]
    run = run_of(parts[0])
    retried = harness.trials(run.id)[0]
    await harness.again(run.id, Verb.RETRY, trials=[retried.id])
    (again,) = united(into, parts[:1])
    assert (again.new, again.taken) == (0, 1)
    anew = tmp_path / "anew.sqlite3"
    united(anew, parts)
    assert facts(into) == facts(anew)
    (nothing,) = united(into, parts[:1])
    assert (nothing.new, nothing.taken) == (0, 0)


async def test_a_judge_that_was_measured_again_is_taken_though_no_trial_has_changed(
    parts: list[Path], tmp_path: Path
) -> None:
    into = tmp_path / "into.sqlite3"
    united(into, parts)
    measured = GoldAgreement(12, 0, 0.75, 0.47, 0.91, 0.5, None, None)
    with closing(open_writable(parts[0])) as db:
        run = run_of(parts[0]).id
        transact(db, lambda tx: write_measure(tx, run, "kind", "j", b"later", measured))
    with closing(open_readable(into)) as db:
        (planned,) = look(db, parts[0])
    (done,) = united(into, parts[:1])
    assert (planned.new, planned.taken, planned.judging) == (0, 0, 1)
    assert (done.new, done.taken, done.judging) == (0, 0, 1)
    with closing(open_readable(into)) as db:
        assert gold(db, run_of(into).id, b"later") == measured
    (nothing,) = united(into, parts[:1])
    assert nothing.judging == 0


async def test_what_was_done_in_copies_of_a_store_is_taken_from_each(
    parts: list[Path], tmp_path: Path
) -> None:
    copies = [Path(shutil.copy(parts[0], tmp_path / f"copy{n}.sqlite3")) for n in (0, 1)]
    run = run_of(parts[0]).id
    for n, path in enumerate(copies):  # the first copy counts further than the second
        harness = Harness.__new__(Harness)
        harness.path = path
        some = [one.id for one in harness.trials(run)]
        await harness.again(run, Verb.RETRY, trials=some[6:8] if n else some[:5])
    found: list[list[Any]] = []
    for order in (copies, copies[::-1]):
        into = tmp_path / f"into{len(found)}.sqlite3"
        united(into, parts)
        for path in order:
            with closing(open_readable(into)) as db:
                (planned,) = look(db, path)
            (done,) = united(into, [path])
            assert (planned.new, planned.taken) == (done.new, done.taken)
        assert sum(one.taken for one in united(into, [*copies, *parts])) == 0
        found.append(facts(into))
    assert found[0] == found[1]


async def test_stores_that_were_merged_are_merged(parts: list[Path], tmp_path: Path) -> None:
    some, others = tmp_path / "some.sqlite3", tmp_path / "others.sqlite3"
    united(some, parts[:2])
    united(others, parts[2:])
    united(others, [some])
    at_once = tmp_path / "at_once.sqlite3"
    united(at_once, parts)
    assert facts(others) == facts(at_once)
    assert not run_of(others).partial


async def test_what_a_run_of_parts_is_rests_on_no_order(parts: list[Path], tmp_path: Path) -> None:
    with closing(open_writable(parts[0])) as db:
        db.execute("UPDATE runs SET state = 'cancelled', reason = 'by hand'")
    states = set()
    for order in (parts, parts[::-1]):
        into = tmp_path / f"into{order[0].stem}.sqlite3"
        united(into, order)
        states.add((run_of(into).state, run_of(into).reason))
    assert states == {("done", None)}
    alone = tmp_path / "alone.sqlite3"
    united(alone, parts[:1])
    assert (run_of(alone).state, run_of(alone).reason) == ("cancelled", "by hand")


async def test_a_run_is_scored_as_the_one_that_it_was_made_of(
    parts: list[Path], tmp_path: Path
) -> None:
    into, both = tmp_path / "into.sqlite3", tmp_path / "both.sqlite3"
    united(into, parts[:1])
    united(both, parts[:2])
    before = spec_of(into)
    with closing(open_writable(parts[0])) as db:
        db.execute("UPDATE runs SET spec = replace(spec, 'Is it kind?', 'Is it short?')")
        trial = db.execute("SELECT min(id) FROM trials").fetchone()[0]
        transact(db, lambda tx: notes.write(tx, {trial: "scored anew"}))
    united(into, parts[:1])
    united(both, parts[:1])
    assert spec_of(into) == spec_of(parts[0]) != before
    assert spec_of(both) == before


async def test_of_two_outputs_of_a_trial_the_earlier_counts_and_the_other_is_kept(
    tmp_path: Path,
) -> None:
    lost, again = tmp_path / "lost.sqlite3", tmp_path / "again.sqlite3"
    for path in (lost, again):  # a part that was taken for lost, and is run again elsewhere
        seed = {"kind": "simulated", "name": "good", "answers": ["{{ a }}"], "latency_s": 0.0}
        await Harness(path).run(suite(targets=[seed]), Settings(part=RunPart(1, 2)))
    merged = []
    for n, order in enumerate(([lost, again], [again, lost])):
        into = tmp_path / f"into{n}.sqlite3"
        united(into, order)
        merged.append(into)
    assert facts(merged[0]) == facts(merged[1])
    with closing(open_readable(merged[0])) as db:
        (trials,) = db.execute("SELECT count(*) FROM trials").fetchone()
        kept = db.execute("SELECT superseded, count(*) FROM outputs GROUP BY 1").fetchall()
        assert kept == [(0, trials), (1, trials)]
        earlier = db.execute(
            "SELECT count(*) FROM trials t JOIN outputs o ON o.id = t.output "
            "WHERE o.at = (SELECT min(x.at) FROM attempts a JOIN outputs x ON x.id = a.output "
            "WHERE a.trial = t.id)"
        ).fetchone()
        assert earlier == (trials,)
        assert db.execute("SELECT DISTINCT attempts FROM trials").fetchall() == [(2,)]
        numbers = db.execute("SELECT number, count(*) FROM attempts GROUP BY 1").fetchall()
        assert numbers == [(1, trials), (2, trials)]


async def test_grades_and_notes_of_both_stores_are_united(
    parts: list[Path], tmp_path: Path
) -> None:
    into = tmp_path / "into.sqlite3"
    united(into, parts)

    with closing(open_readable(parts[0])) as db:
        (case,) = db.execute("SELECT id FROM cases ORDER BY id LIMIT 1").fetchone()
    for path, who in ((parts[0], "there"), (into, "here")):
        with closing(open_writable(path)) as db:
            _remark(db, case, who)
    united(into, parts)
    with closing(open_readable(into)) as db:
        people = db.execute("SELECT person FROM grades ORDER BY 1").fetchall()
        texts = db.execute("SELECT text, current FROM notes ORDER BY at").fetchall()
    assert people == [("here",), ("here",), ("there",), ("there",)]
    assert texts == [("there was here", 0), ("here was here", 1)]
    with closing(open_readable(into)) as db:
        last = db.execute("SELECT grade FROM grades WHERE person = 'there' ORDER BY id").fetchall()
    assert last == [('"fail"',), ('"pass"',)]
    before = counted(into)
    united(into, parts)
    assert counted(into) == before


def _remark(db: sqlite3.Connection, case: str, who: str) -> None:
    """Have somebody write a note on a trial and grade it, twice."""
    trial, output, run = db.execute(
        "SELECT t.id, t.output, t.run FROM trials t JOIN cases c ON c.run = t.run "
        "AND c.seq = t.seq WHERE c.id = ? AND t.col = 0 AND t.epoch = 0",
        (case,),
    ).fetchone()
    transact(db, lambda tx: notes.write(tx, {trial: f"{who} was here"}))
    for passed in (False, True):
        said = Verdict.PASS if passed else Verdict.FAIL
        grade = grade_writes.NewGrade(trial, output, "kind", who, said.value, said, None)
        transact(db, partial(grade_writes.add, run=run, grades=[grade]))


async def test_a_merge_that_was_killed_goes_on(
    parts: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui_eval.store.merge.merging._PORTION", 7)
    into, at_once = tmp_path / "into.sqlite3", tmp_path / "at-once.sqlite3"
    united(at_once, parts)
    united(into, parts[1:])
    seen = 0

    def die(_: int) -> None:
        nonlocal seen
        seen += 1
        if seen == 2:
            raise KeyboardInterrupt

    with closing(open_writable(into)) as db:
        with pytest.raises(KeyboardInterrupt):
            merge(db, parts[0], die)
        assert db.execute("SELECT state, reason FROM runs").fetchone() == (
            "interrupted",
            "half merged; merge the same store again",
        )
        db.execute("UPDATE runs SET lease_pid = NULL")  # as a process that is gone
    united(into, parts[:1])
    assert facts(into) == facts(at_once)
    assert run_of(into).state == "done"


def broken_off(into: Path, store: Path) -> None:
    """Merge a store, and be killed after the first portion."""

    def die(_: int) -> None:
        raise KeyboardInterrupt

    with closing(open_writable(into)) as db:
        with pytest.raises(KeyboardInterrupt):
            merge(db, store, die)
        db.execute("UPDATE runs SET lease_pid = NULL")  # as a process that is gone


async def test_what_a_killed_merge_began_is_found_by_other_parts(
    parts: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui_eval.store.merge.merging._PORTION", 7)
    into, at_once = tmp_path / "into.sqlite3", tmp_path / "at-once.sqlite3"
    united(at_once, parts)
    broken_off(into, parts[0])
    united(into, parts[1:])
    with closing(open_readable(into)) as db:
        found = run_parts(db, run_of(into).id)
    assert found is not None
    assert (found.numbers, found.missing) == ((2, 3), (1,))
    assert run_of(into).partial
    united(into, parts[:1])
    assert facts(into) == facts(at_once)
    assert not run_of(into).partial


class Killed(BaseException):
    """In place of a process that is gone: nothing of the program sees it coming."""


def killed_before(into: Path, store: Path, left: int) -> bool:
    """Merge a store, and be killed after so many transactions; return whether it was."""
    counted = itertools.count()

    def or_die(*args: Any) -> Any:
        if next(counted) == left:
            raise Killed
        return transact(*args)

    with (
        pytest.MonkeyPatch.context() as patched,
        closing(open_writable(into)) as db,
    ):
        patched.setattr("tui_eval.store.merge.merging._PORTION", 7)
        for module in ("merging", "numbering"):
            patched.setattr(f"tui_eval.store.merge.{module}.transact", or_die)
        try:
            merge(db, store)
        except Killed:
            db.execute("UPDATE runs SET lease_pid = NULL")
            return True
    return False


def copied_from_the_last(path: Path) -> None:
    """Have the last of equal findings be what the others were copied from: it is merged last."""
    with closing(open_writable(path)) as db:
        for first, last in db.execute(
            "SELECT origin, max(id) FROM findings WHERE origin IS NOT NULL "
            "GROUP BY 1 HAVING origin < min(id)"
        ).fetchall():
            asked = db.execute("SELECT call, position FROM findings WHERE id = ?", (first,))
            into = "UPDATE findings SET origin = ?, call = ?, position = ? WHERE id = ?"
            db.execute(into, (None, *asked.fetchone(), last))
            db.execute(into, (last, None, None, first))
            db.execute("UPDATE findings SET origin = ? WHERE origin = ?", (last, first))


async def test_a_merge_that_is_killed_anywhere_is_gone_on_with(
    parts: list[Path], tmp_path: Path
) -> None:
    """Between any two transactions, also where some of the store was here, and another is next."""
    at_once, begun = tmp_path / "at-once.sqlite3", tmp_path / "begun.sqlite3"
    copied_from_the_last(parts[0])
    united(begun, [parts[0], parts[2]])
    harness = Harness.__new__(Harness)
    harness.path = parts[0]
    some = [trial.id for trial in harness.trials(1) if trial.place % 3]
    await harness.again(1, Verb.RETRY, trials=some)
    copied_from_the_last(parts[0])
    united(at_once, parts)
    wanted = facts(at_once), said(at_once)
    assert any(origin is not None for *_, origin in wanted[1])
    into = tmp_path / "into.sqlite3"
    for left in itertools.count():
        shutil.copy(begun, into)
        if not killed_before(into, parts[0], left):
            break
        row = run_of(into)
        assert (row.state, row.stopped_by) in (("interrupted", "merge"), ("done", None))
        united(into, [parts[1], parts[0]])
        assert (facts(into), said(into)) == wanted, left
        assert sum(one.new + one.taken for one in united(into, parts)) == 0
    assert left > 5


async def test_what_a_killed_merge_began_under_a_free_name_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui_eval.store.merge.merging._PORTION", 7)
    into, other = tmp_path / "into.sqlite3", tmp_path / "other.sqlite3"
    for path in (into, other):
        await Harness(path).run(suite())
        with closing(open_writable(path)) as db:
            db.execute("UPDATE runs SET name = 'sums-same'")
    broken_off(into, other)
    united(into, [other])
    with closing(open_readable(into)) as db:
        assert {row.total for row in run_queries.runs(db)} == {_CASES * 4}
        assert len(run_queries.runs(db)) == 2


async def test_whole_runs_are_taken_as_they_are_under_names_that_are_free(tmp_path: Path) -> None:
    one, other = tmp_path / "one.sqlite3", tmp_path / "other.sqlite3"
    for path in (one, other):
        harness = Harness(path)
        for name in ("sums", "more"):
            await harness.run(suite(name))
    with closing(open_writable(other)) as db:
        with closing(open_readable(one)) as first:
            names = first.execute("SELECT name FROM runs ORDER BY id").fetchall()
        for at, (name,) in enumerate(names, 1):
            db.execute("UPDATE runs SET name = ? WHERE id = ?", (name, at))
    into = tmp_path / "into.sqlite3"
    united(into, [one, other])
    assert Counter(map(str, facts(into))) == Counter(map(str, [*facts(one), *facts(other)]))
    with closing(open_readable(into)) as db:
        assert len({row.name for row in run_queries.runs(db)}) == 4
    before = counted(into)
    united(into, [other, one])
    assert counted(into) == before


async def test_what_a_run_is_compared_with_comes_along(tmp_path: Path) -> None:
    path, into = tmp_path / "one.sqlite3", tmp_path / "into.sqlite3"
    harness = Harness(path)
    for _ in range(2):
        await harness.run(suite())
    with closing(open_writable(path)) as db:
        digest = b"f" * 32
        for n, base, file in ((2, 1, None), (1, None, digest)):
            db.execute("INSERT INTO run_bases VALUES (?, 'base', ?, ?)", (n, base, file))
        db.execute("INSERT INTO baseline_files VALUES (?, 1, x'')", (digest,))
    with closing(open_writable(into)) as db:  # runs have other numbers here
        db.execute("INSERT INTO meta VALUES ('last run', 40)")
    united(into, [path])
    with closing(open_readable(into)) as db:
        (name,) = db.execute("SELECT name FROM runs WHERE id = 41").fetchone()
        assert db.execute(
            "SELECT run, name, base, file FROM run_bases ORDER BY run"
        ).fetchall() == [
            (41, "base", None, digest),
            (42, name, 41, None),
        ]
        assert db.execute("SELECT digest FROM baseline_files").fetchall() == [(digest,)]


async def test_a_copy_of_a_store_is_merged_back_into_it(tmp_path: Path) -> None:
    into, copied = tmp_path / "into.sqlite3", tmp_path / "copied.sqlite3"
    harness = Harness(into)
    run = await harness.run(suite())
    with closing(open_readable(into)) as db, closing(sqlite3.connect(copied)) as copy:
        db.backup(copy)
    elsewhere = Harness.__new__(Harness)
    elsewhere.path = copied
    await elsewhere.again(run, Verb.RETRY, trials=[trial.id for trial in elsewhere.trials(run)[:3]])
    (merged,) = united(into, [copied])
    assert merged.new == 0
    assert facts(into) == facts(copied)
    assert run_of(into).wall_s >= harness.row(run).wall_s


async def test_trust_does_not_come_along(parts: list[Path], tmp_path: Path) -> None:
    with closing(open_writable(parts[0])) as db:
        db.execute("UPDATE runs SET settings = json_set(settings, '$.permit', 'sealed')")
    into = tmp_path / "into.sqlite3"
    united(into, parts[:1])
    assert "permit" not in run_of(into).settings


async def test_trials_that_were_queued_can_be_resumed_where_they_are_merged(tmp_path: Path) -> None:
    path, into = tmp_path / "part1.sqlite3", tmp_path / "into.sqlite3"
    slow = {"kind": "simulated", "name": "good", "answers": ["{{ a }}"], "latency_s": 0.2}
    harness = Harness(path)
    described = suite(targets=[slow], run={"concurrency": 1})
    async with harness.working(described) as (run, _):
        await until(lambda: harness.counts(run).running)
        await harness.asked(run, Verb.STOP)
    assert harness.counts(run).queued
    united(into, [path])
    row = run_of(into)
    assert (row.state, row.stopped_by) == ("interrupted", "merge")
    there = Harness.__new__(Harness)
    there.path = into
    with closing(open_writable(into)) as db:  # quick from here
        spec = "json_set(spec, '$.targets[0].latency_s', 0, '$.run.concurrency', 50)"
        db.execute(f"UPDATE runs SET spec = {spec}")
    await there.again(row.id, Verb.RESUME)
    assert run_of(into).state == "done"


async def test_files_of_workspaces_come_along_and_missing_ones_are_told(tmp_path: Path) -> None:
    path, into = tmp_path / "one.sqlite3", tmp_path / "into.sqlite3"
    harness = Harness(path)
    await harness.run(suite())
    files = FileStore.beside(path)
    with closing(open_writable(path)) as db, files.hold():
        kept = [files.put(content) for content in (b"a list", b"a file")]
        gone = b"\x01" * 32
        workspace = kept[0].digest
        for digest, size in ((kept[0].digest, 6), (kept[1].digest, 6), (gone, 1)):
            db.execute("INSERT INTO kept_files VALUES (?, ?)", (digest, size))
            db.execute("INSERT INTO workspace_files VALUES (?, ?)", (workspace, digest))
        db.execute("UPDATE outputs SET workspace = ? WHERE id = 1", (workspace,))
    (merged,) = united(into, [path])
    assert merged.missing_files == 1
    assert FileStore.beside(into).get(kept[1].digest) == b"a file"
    with closing(open_readable(into)) as db:
        assert db.execute(
            "SELECT count(*) FROM outputs WHERE workspace IS NOT NULL"
        ).fetchone() == (1,)


async def test_what_would_be_merged_is_told_before(parts: list[Path], tmp_path: Path) -> None:
    into = tmp_path / "into.sqlite3"
    (planned,) = look(None, parts[0])
    (done,) = united(into, parts[:1])
    assert (planned.new, planned.run) == (done.new, done.run)
    with closing(open_readable(into)) as db:
        (second,) = look(db, parts[1])
        assert (second.run, second.new) == (done.run, run_of(parts[1]).total)
        (again,) = look(db, parts[0])
        assert (again.new, again.taken) == (0, 0)


def test_a_store_is_not_merged_into_itself_nor_one_that_is_none(
    tmp_path: Path, recwarn: object
) -> None:
    path = tmp_path / "one.sqlite3"
    with closing(open_writable(path)) as db:
        with pytest.raises(StoreError, match="not merged into itself"):
            merge(db, path)
        viewed = tmp_path / "viewed.sqlite3"
        shutil.copy(path, viewed)
        with closing(sqlite3.connect(viewed)) as other:
            other.execute("CREATE VIEW more AS SELECT * FROM runs")
            other.commit()
        with pytest.raises(StoreDamagedError, match="its tables are not those"):
            merge(db, viewed)
        older = tmp_path / "older.sqlite3"
        shutil.copy(path, older)
        with closing(sqlite3.connect(older)) as other:
            other.execute("PRAGMA user_version = 3")
        with pytest.raises(StoreOlderError, match=r"runs --store .*older\.sqlite3` brings it up"):
            merge(db, older)


@pytest.mark.parametrize("place", ["trials.state", "trials.verdict", "scores.verdict"])
def test_a_store_with_words_that_are_unknown_is_refused(
    parts: list[Path], tmp_path: Path, place: str
) -> None:
    table, column = place.split(".")
    with closing(sqlite3.connect(parts[0])) as db, db:
        db.execute(f"UPDATE {table} SET {column} = 'lol' WHERE id = 1")
    into = tmp_path / "into.sqlite3"
    with pytest.raises(StoreDamagedError, match=f"{place} is lol"):
        united(into, parts[:1])
    with closing(open_readable(into)) as db:
        assert not run_queries.runs(db)


async def test_a_part_whose_cases_have_lost_their_numbers_is_left_out(
    parts: list[Path], tmp_path: Path
) -> None:
    """Its cases would stand in the places of others; what is there stays as it was."""
    into = tmp_path / "into.sqlite3"
    united(into, parts[:1])
    before = facts(into), run_of(into)
    with closing(sqlite3.connect(parts[1])) as db, db:
        db.execute("UPDATE cases SET number = NULL")
    with closing(open_readable(into)) as db:
        (looked,) = look(db, parts[1])
    (refused,) = united(into, parts[1:2])
    assert refused.refusal is not None
    assert "of the whole run" in refused.refusal
    assert looked.refusal == refused.refusal
    assert (facts(into), run_of(into)) == before


@contextmanager
def counted_steps(db: sqlite3.Connection) -> Iterator[list[int]]:
    """Count what SQLite does meanwhile, in hundreds of its instructions."""
    done = [0]

    def count() -> int:
        done[0] += 1
        return 0  # it goes on

    db.set_progress_handler(count, 100)
    try:
        yield done
    finally:
        db.set_progress_handler(None, 0)


def _note(seen: list[int], steps: list[int], _: int) -> None:
    seen.append(steps[0])


def test_a_portion_takes_the_same_whatever_the_size_of_both_stores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No statement goes through a whole table: a run of millions has thousands of portions."""
    monkeypatch.setattr("tui_eval.store.merge.merging._PORTION", 100)
    most: dict[bool, list[int]] = {True: [], False: []}
    for n in (200, 4000):
        source, into = tmp_path / f"source{n}.sqlite3", tmp_path / f"into{n}.sqlite3"
        fill(source, Plan({"gpt": [Told()] * n}, cases(n)))
        for fresh in (True, False):
            with closing(open_writable(into)) as db, counted_steps(db) as steps:
                seen: list[int] = []
                (run,) = merge(db, source, partial(_note, seen, steps))
            assert (run.new, run.taken) == ((n, 0) if fresh else (0, n))
            most[fresh].append(max(map(operator.sub, seen[1:], seen)))
            with closing(sqlite3.connect(source)) as db, db:  # all of it was scored again since
                db.execute("UPDATE trials SET since = since + 1, change = change + 10000")
    assert all(large < 1.2 * small for small, large in most.values()), most


async def test_whether_numbers_agree_is_seen_in_time_that_grows_with_the_cases(
    parts: list[Path], tmp_path: Path
) -> None:
    """Two parts of millions of cases are not compared case with case."""
    into = tmp_path / "into.sqlite3"
    united(into, parts[:1])
    more = (
        "WITH RECURSIVE n (n) AS (SELECT ?1 UNION ALL SELECT n + 1 FROM n WHERE n + 1 < ?2) "
        "INSERT INTO cases (run, seq, id, data, number) "
        "SELECT (SELECT id FROM runs), n, ?3 || n, '{}', 2 * n + ?4 FROM n"
    )
    counts = []
    (source,) = source_runs(parts[1])
    for begin, end in ((1000, 2000), (2000, 5000)):
        for number, path in enumerate((into, parts[1])):
            with closing(sqlite3.connect(path)) as db, db:
                db.execute(more, (begin, end, f"more {number} ", number))
        with closing(open_writable(into)) as db, attached(db, parts[1]), counted_steps(db) as steps:
            assert numbered_otherwise(db, source, run_of(into).id) is None
        counts.append(steps[0])
    assert counts[1] < 8 * counts[0]


async def test_a_run_that_is_live_is_left_out(tmp_path: Path) -> None:
    path, into = tmp_path / "one.sqlite3", tmp_path / "into.sqlite3"
    harness = Harness(path)
    slow = {"kind": "simulated", "name": "good", "answers": ["{{ a }}"], "latency_s": 0.2}
    async with harness.working(suite(targets=[slow])) as (run, _):
        await until(lambda: harness.counts(run).running)
        (merged,) = united(into, [path])
        assert merged.refusal is not None
        assert "is live" in merged.refusal
        assert not counted(into)["runs"]
        await harness.asked(run, Verb.STOP)


async def test_a_part_that_was_scored_by_another_suite_does_not_unite(
    parts: list[Path], tmp_path: Path
) -> None:
    into = tmp_path / "into.sqlite3"
    with closing(open_writable(parts[1])) as db:
        db.execute(
            "UPDATE runs SET spec = json_set(spec, '$.scorers[0].ignore_case', json('true'))"
        )
    (first, second) = united(into, parts[:2])
    assert first.refusal is None
    assert second.refusal is not None
    assert "scored by another suite" in second.refusal
    with closing(open_readable(into)) as db:
        (looked,) = look(db, parts[1])
    assert looked.refusal == second.refusal


@pytest.mark.parametrize("asked", ["target", "judge"])
async def test_a_run_that_waits_in_bulk_is_left_out_until_it_has_ended(
    tmp_path: Path, asked: str
) -> None:
    """Its trials would be queued, and paid, once more."""
    path, into = tmp_path / "one.sqlite3", tmp_path / "into.sqlite3"
    harness = Harness(path)
    async with FakeBulk(Grading(), looks=0) as server:
        judged = bulk_judged(server, 4, judge={"batch_size": 1})
        of = bulk_suite(server, 4) if asked == "target" else judged
        run = await run_bulk(harness, of, submit=True)
        (merged,) = united(into, [path])
        host = server.base_url.split("/")[2]
        assert merged.refusal == f"has 4 requests at {host} in bulk: resume it first"
        assert not counted(into)["runs"]
        server.finish()
        await Engine(path, run, polling=SOON).run()
    (merged,) = united(into, [path])
    assert merged.refusal is None
    assert facts(into)
