"""What rows of a list tell: which columns are shown, and what of an id."""

from dataclasses import replace
from pathlib import Path

from tests.support import reading
from tests.ui.playing import plain_run
from tui_eval.store.read import run_queries
from tui_eval.ui.run.list.seen_rows import SeenRows


def seen(store: Path, *ids: str) -> SeenRows:
    made = plain_run(store, 1)
    with reading(store) as db:
        trial = run_queries.trial(db, made.trials[0])
    assert trial is not None
    rows = SeenRows()
    rows.see(replace(trial, case_id=case_id) for case_id in ids)
    return rows


def test_ids_are_cut_where_they_are_alike(store: Path) -> None:
    rows = seen(store, "gsm8k-test-0010", "gsm8k-test-0011")
    assert rows.longest_id == 15
    assert rows.shortened("gsm8k-test-0010", 15, "…") == "gsm8k-test-0010"
    assert rows.shortened("gsm8k-test-0010", 10, "…") == "gsm8k…0010"
    assert rows.shortened("gsm8k-test-0010", 3, "…") == "…0010"


def test_an_id_keeps_what_tells_its_group_from_others(store: Path) -> None:
    subjects = ("anatomy", "high_school_biology", "high_school_physics", "college_physics")
    rows = seen(store, *(f"mmlu-{subject}-{n:03}" for subject in subjects for n in range(3)))

    def short(case_id: str, room: int) -> str:
        return rows.shortened(case_id, room, "…")

    assert short("mmlu-high_school_biology-001", 26) == "mm…high_school_biology-001"
    assert short("mmlu-high_school_biology-001", 14) == "mm…biology-001"
    assert short("mmlu-anatomy-002", 12) == "…anatomy-002"
    # `physics-001` would be either
    assert short("mmlu-high_school_physics-001", 14) == "…high_school_physics-001"
    assert short("mmlu-college_physics-001", 14) == "…college_physics-001"


def test_a_group_that_is_seen_later_is_told_apart_too(store: Path) -> None:
    rows = seen(store, "mmlu-college_physics-001", "mmlu-anatomy-001")
    cut = rows.shortened("mmlu-college_physics-001", 14, "…")
    with reading(store) as db:
        (trial,) = run_queries.trials_at(db, 1, [0])
    rows.see([replace(trial, case_id="mmlu-college_biology-001")])
    assert rows.shortened("mmlu-college_physics-001", 14, "…") != cut


def test_ids_of_too_many_groups_lose_what_all_begin_with(store: Path) -> None:
    rows = seen(store, *(f"squality-{n}-q{n % 3}-bart" for n in range(300)))
    assert rows.shortened("squality-255-q0-bart", 12, "…") == "…255-q0-bart"


def test_ids_that_begin_otherwise_are_left_whole(store: Path) -> None:
    assert seen(store, "france", "germany").shortened("germany", 4, "…") == "germany"
    mixed = seen(store, "an-id", "an-other-id", "a")
    assert mixed.shortened("an-id", 4, "…") == "an-id"
    assert mixed.shortened("an-other-id", 4, "…") == "…other-id"


def test_columns_that_tell_nothing_are_known(store: Path) -> None:
    made = plain_run(store, 1)
    with reading(store) as db:
        trial = run_queries.trial(db, made.trials[0])
    assert trial is not None
    graded = SeenRows()
    graded.see([replace(trial, score=1.0, latency_s=None)])
    assert (graded.partial_scores, graded.latencies) == (False, False)
    graded.see([replace(trial, score=0.5, latency_s=0.2)])
    graded.see([replace(trial, score=None, latency_s=None)])
    assert (graded.partial_scores, graded.latencies) == (True, True)
