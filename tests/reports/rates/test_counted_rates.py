"""Cases that are counted as rows of the store against the same cases put together one by one."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from tests.reports.filled import CANCELLED, ERROR, FAIL, OPEN, UNGRADED, Plan, Told, cases, filled
from tui_eval.reports.rates import counted_rates
from tui_eval.store.read.figures import chunk_queries

_FATES = (Told(), Told(FAIL), Told(UNGRADED), ERROR, CANCELLED, OPEN)


@pytest.mark.parametrize("cluster", [None, "n"])
def test_rows_counted_together_come_to_what_cases_one_by_one_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cluster: str | None
) -> None:
    draw = random.Random(7)
    of = [
        replace(case, tags=tuple(draw.sample("xyz", draw.randrange(3))), fields={"n": case.seq % 5})
        for case in cases(120)
    ]
    of = [replace(case, weight=draw.choice([1.0, 1.0, 2.0])) for case in of]
    plan = Plan({name: draw.choices(_FATES, k=120) for name in ("a", "b")}, of, cluster=cluster)
    with filled(tmp_path / "store.db", plan) as (db, run):
        together = counted_rates._alike(db, run, range(120), cluster)
        monkeypatch.setattr(chunk_queries, "several_epochs", lambda *_: True)
        one_by_one = counted_rates._alike(db, run, range(120), cluster)
    assert list(together[0].items()) == list(one_by_one[0].items())
    assert list(together[1].items()) == list(one_by_one[1].items())
    assert 20 < len(together[0]) < together[0].total() == 240, "alike ones are one entry"
