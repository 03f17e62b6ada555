"""Lists and figures of runs that were merged: the ids of their trials do not go with the places."""

from pathlib import Path

import pytest

from tests.store.merge.test_merging import part
from tests.support import reading, writing
from tui_eval.store.merge.merging import merge
from tui_eval.store.read import run_queries
from tui_eval.store.read.figures.call_spending import unanswered
from tui_eval.store.search import groups, views
from tui_eval.store.search.groups import Grouping, Groups
from tui_eval.store.search.views import View


async def merged(folder: Path) -> Path:
    """Give a store with a run that was merged of three parts, whose cases take turns."""
    path = folder / "all.sqlite3"
    for number in (2, 1, 3):
        of_part = await part(folder, number)
        with writing(path) as db:
            merge(db, of_part)
    return path


async def test_each_group_counts_what_it_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "_SLICE", 5)
    with reading(await merged(tmp_path)) as db:
        (run,) = run_queries.runs(db)
        for by in Grouping:
            counting = Groups(run.id, by, None, run.total)
            while counting.step(db):
                pass
            listed = {
                part: len(views.places(db, run.id, View((part,)))) for part in counting.counts
            }
            assert dict(counting.counts) == listed
            assert listed or by not in (Grouping.REASON, Grouping.SCORER)


async def test_attempts_without_an_answer_are_those_of_all_parts(tmp_path: Path) -> None:
    path = await merged(tmp_path)
    with writing(path) as db:
        db.execute("UPDATE attempts SET state = 'lost'")
        (run,) = run_queries.runs(db)
        attempts = dict(
            db.execute(
                "SELECT t.col, count(*) FROM attempts a JOIN trials t ON t.id = a.trial GROUP BY 1"
            )
        )
        found = unanswered(db, run.id, abandoned=False)
    assert {col: of_column.lost for col, of_column in found.items()} == attempts
