from array import array

from tui_eval.engine.judging.rescored_trials import RescoredTrials


def test_of_a_request_about_a_whole_run_the_last_trials_are_held() -> None:
    """Those before them fill batches: none of their questions waits for company."""
    rescored = RescoredTrials()
    rescored.add(array("q", range(100_000)))
    assert len(rescored) == 1000
    assert rescored.hurried(99_999)
    assert not rescored.hurried(98_999)
    assert not rescored.alone(99_999)


def test_a_single_one_is_graded_alone_until_it_is_done() -> None:
    rescored = RescoredTrials()
    rescored.add([7])
    rescored.add([8, 9])
    assert [rescored.alone(7), rescored.hurried(7)] == [True, False]
    assert [rescored.alone(8), rescored.hurried(8), rescored.hurried(9)] == [False, True, True]
    for trial in (7, 8, 9):
        rescored.discard(trial)
    assert len(rescored) == 0
    assert not rescored.alone(7)
