"""Marks on trials."""

from tui_eval.ui.run.list.marks import MarkedTrials


def test_marks_count_themselves() -> None:
    marks = MarkedTrials()
    marks.toggle(5)
    marks.add([1, 5, 9])
    assert marks.places() == [1, 5, 9]
    assert marks.count == 3
    marks.toggle(5)
    assert (5 in marks, 1 in marks, 10**9 in marks) == (False, True, False)
    marks.clear()
    assert (marks.count, marks.places()) == (0, [])


def test_marks_of_trials_that_are_not_listed_are_counted() -> None:
    marks = MarkedTrials()
    assert marks.outside([1, 2]) == 0
    marks.add([1, 5, 9])
    assert marks.outside(None) == 0
    assert marks.outside([5, 7, 10**6]) == 2
    assert marks.outside([]) == 3
