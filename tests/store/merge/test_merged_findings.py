"""What judges said keeps in another store what it was copied from, and whether it counts."""

import itertools
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from tests.engine.harness import Harness
from tests.store.merge.test_merging import part, said, suite, united
from tui_eval.engine.settings import Settings
from tui_eval.model.runs.run_part import RunPart
from tui_eval.store.connection import open_writable
from tui_eval.store.merge import merging
from tui_eval.store.requests import Verb


@pytest.mark.parametrize("portion", [4, 2000])
async def test_what_judges_said_is_the_same_where_an_older_copy_came_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, portion: int
) -> None:
    monkeypatch.setattr(merging, "_PORTION", portion)
    path = await part(tmp_path, 1)
    older = Path(shutil.copy(path, tmp_path / "older.sqlite3"))
    harness = Harness(path)
    run = 1
    some = [trial.id for trial in harness.trials(run)][::2]
    await harness.again(run, Verb.RETRY, trials=some[:4])
    await harness.again(run, Verb.RESCORE, trials=some[4:7])
    told = said(path)
    assert {row[-1] is None for row in told} == {row[-2] == 0 for row in told} == {True, False}
    for name, order in (("last", [path]), ("both", [older, path]), ("anew", [path, older, path])):
        into = tmp_path / f"{name}.sqlite3"
        united(into, order)
        assert said(into) == told, name


def steps_of_merge(into: Path, store: Path) -> int:
    """Merge a store; return how many thousand steps SQLite has gone."""
    steps = itertools.count()
    with closing(open_writable(into)) as db:
        db.set_progress_handler(lambda: next(steps) < 0, 1000)
        merging.merge(db, store)
    return next(steps)


async def test_equal_outputs_take_no_more_the_more_there_are(tmp_path: Path) -> None:
    """All findings but one are copies: merging them again, too, goes from few rows to few."""
    first, again = [], []
    for n in (40, 160):
        cases = [{"id": f"c{at}", "q": "what is 1?", "a": "1"} for at in range(n)]
        target = {"kind": "simulated", "name": "good", "answers": ["1"]}
        path, other = tmp_path / f"{n}.sqlite3", tmp_path / f"other{n}.sqlite3"
        for store in (path, other):
            described = suite(cases=cases, targets=[target])
            await Harness(store).run(described, Settings(part=RunPart(1, 1)))
        into = tmp_path / f"into{n}.sqlite3"
        first.append(steps_of_merge(into, path))
        again.append(steps_of_merge(into, other))  # all trials are in both
        copies = [row for row in said(into) if row[-1] is not None]
        assert len(copies) > n
    assert first[1] < 5 * first[0]
    assert again[1] < 5 * again[0]
