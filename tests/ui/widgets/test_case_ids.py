"""Ids of cases where they have no room."""

from tui_eval.ui.widgets.case_ids import CaseIds


def seen(*case_ids: str) -> CaseIds:
    ids = CaseIds()
    for case_id in case_ids:
        ids.see(case_id)
    return ids


def test_ids_are_cut_where_they_are_alike() -> None:
    ids = seen("gsm8k-test-0010", "gsm8k-test-0011")
    assert ids.longest == 15
    assert ids.shortened("gsm8k-test-0010", 15, "…") == "gsm8k-test-0010"
    assert ids.shortened("gsm8k-test-0010", 10, "…") == "gsm8k…0010"
    assert ids.shortened("gsm8k-test-0010", 3, "…") == "…0010"


def test_an_id_keeps_what_tells_its_group_from_others() -> None:
    subjects = ("anatomy", "high_school_biology", "high_school_physics", "college_physics")
    ids = seen(*(f"mmlu-{subject}-{n:03}" for subject in subjects for n in range(3)))

    def short(case_id: str, room: int) -> str:
        return ids.shortened(case_id, room, "…")

    assert short("mmlu-high_school_biology-001", 26) == "mm…high_school_biology-001"
    assert short("mmlu-high_school_biology-001", 14) == "mm…biology-001"
    assert short("mmlu-anatomy-002", 12) == "…anatomy-002"
    # `physics-001` would be either
    assert short("mmlu-high_school_physics-001", 14) == "…high_school_physics-001"
    assert short("mmlu-college_physics-001", 14) == "…college_physics-001"


def test_a_group_that_is_seen_later_is_told_apart_too() -> None:
    ids = seen("mmlu-college_physics-001", "mmlu-anatomy-001")
    cut = ids.shortened("mmlu-college_physics-001", 14, "…")
    ids.see("mmlu-college_biology-001")
    assert ids.shortened("mmlu-college_physics-001", 14, "…") != cut


def test_ids_of_too_many_groups_lose_what_all_begin_with() -> None:
    ids = seen(*(f"squality-{n}-q{n % 3}-bart" for n in range(300)))
    assert ids.shortened("squality-255-q0-bart", 12, "…") == "…255-q0-bart"


def test_ids_that_begin_otherwise_are_left_whole() -> None:
    assert seen("france", "germany").shortened("germany", 4, "…") == "germany"
    mixed = seen("an-id", "an-other-id", "a")
    assert mixed.shortened("an-id", 4, "…") == "an-id"
    assert mixed.shortened("an-other-id", 4, "…") == "…other-id"


def test_an_id_needs_room_for_what_tells_it_from_others() -> None:
    assert seen("squality-50827-q0-bart", "squality-62212-q4").telling == 14
    assert seen("france", "germany").telling == len("germany")
