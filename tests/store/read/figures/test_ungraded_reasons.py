import random
import sqlite3
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reports.filled import FAIL, Plan, Told, cases, fill
from tests.support import reading, writing
from tui_eval.model.score import Grade
from tui_eval.store.read.figures.ungraded_reasons import (
    UngradedReasons,
    UngradedRow,
    ungraded_reasons,
)
from tui_eval.store.text import pack, unpack_text

_REASONS = ("silent", "cut short", "é", "\ud800 alone", "split")


def drawn(draw: random.Random, folder: Path) -> Path:
    """Fill a store with a run of which many trials lack grades, some of several scorers."""
    path = folder / "store.sqlite3"
    told = [
        Told(Grade.ungraded(draw.choice(_REASONS))) if draw.random() < 0.7 else Told(FAIL)
        for _ in range(15)
    ]
    fill(path, Plan({"a": told}, cases(15)))
    with writing(path) as db:
        for trial in range(1, 16):
            for scorer in ("judged", "other"):
                if draw.random() < 0.5:
                    continue
                db.execute(
                    "INSERT INTO scores (trial, output, scorer, verdict, reason, source, weight, "
                    "required, current, at) SELECT id, output, ?, 'ungraded', ?, ?, 1, 1, ?, 0 "
                    "FROM trials WHERE id = ?",
                    (
                        scorer,
                        pack(draw.choice(_REASONS)),
                        "judge" if scorer == "judged" else "code",
                        draw.random() < 0.8,
                        trial,
                    ),
                )
    return path


def plainly(db: sqlite3.Connection, most: int) -> UngradedReasons:
    """Give the same, by going through all scores in Python."""
    scorers: defaultdict[str, Counter[str]] = defaultdict(Counter)
    trials: defaultdict[str, set[int]] = defaultdict(set)
    first: dict[str, int] = {}
    judged = False
    for trial, reason, scorer, source, score in db.execute(
        "SELECT t.place, s.reason, s.scorer, s.source, s.id FROM trials t JOIN scores s "
        "ON s.trial = t.id WHERE t.verdict = 'ungraded' AND s.verdict = 'ungraded' "
        "AND s.current = 1 ORDER BY t.place, s.id"
    ):
        trials[unpack_text(reason)].add(trial)
        scorers[unpack_text(reason)][scorer] += 1
        first[unpack_text(reason)] = min(first.get(unpack_text(reason), score), score)
        judged = judged or source == "judge"
    ranked = sorted(
        trials, key=lambda reason: (-len(trials[reason]), min(trials[reason]), first[reason])
    )
    rows = [UngradedRow(scorers[one], one, len(trials[one])) for one in ranked]
    return UngradedReasons(
        tuple(rows[:most]), len(rows[most:]), sum(row.n for row in rows[most:]), judged
    )


@given(st.integers(0, 1 << 32), st.integers(1, 6))
@settings(max_examples=15, deadline=None)
def test_reasons_are_what_going_through_all_scores_gives(
    tmp_path_factory: pytest.TempPathFactory, seed: int, most: int
) -> None:
    path = drawn(random.Random(seed), tmp_path_factory.mktemp("drawn"))
    with reading(path) as db:
        assert ungraded_reasons(db, 1, most) == plainly(db, most)
        assert ungraded_reasons(db, 2, most) == UngradedReasons()
