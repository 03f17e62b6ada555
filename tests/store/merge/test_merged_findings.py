"""What judges said keeps in another store what it was copied from, and whether it counts."""

import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.engine.harness import Harness
from tests.store.merge.test_merging import part, united
from tui_eval.store.connection import open_readable
from tui_eval.store.merge import merging
from tui_eval.store.requests import Verb


def said(path: Path) -> list[Any]:
    """Return what judges said of each trial, whether it counts, and what it was copied from."""
    with closing(open_readable(path)) as db:
        return db.execute(
            "SELECT f.score_key, f.at, f.superseded, o.at FROM findings f "
            "JOIN trials t ON t.id = f.trial LEFT JOIN findings o ON o.id = f.origin "
            "ORDER BY f.at, f.score_key, f.superseded, t.id"
        ).fetchall()


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
