import pytest

from tui_eval.model.exit_code import ExitCode, worst


@pytest.mark.parametrize(
    ("codes", "code"),
    [
        ([], 0),
        ([0, 0], 0),
        ([0, 3], 3),
        ([3, 1, 0], 1),
        ([1, 2, 3], 2),
        ([0, 130, 2, 1], 130),
    ],
)
def test_the_worst_code_is_that_of_all(codes: list[int], code: int) -> None:
    assert worst(codes) == code


def test_every_code_has_its_place() -> None:
    assert [worst([code]) for code in ExitCode] == list(ExitCode)
