import pytest

from tui_eval.statistics.multiplicity import holm


def test_holm_agrees_with_the_reference() -> None:
    # statsmodels 0.14, multipletests(…, method="holm")
    assert holm([0.01, 0.04, 0.03, 0.005, 0.2]) == pytest.approx([0.04, 0.09, 0.09, 0.025, 0.2])


def test_what_has_no_p_is_no_test() -> None:
    assert holm([None, 0.02, None, 0.5]) == [None, 0.04, None, 0.5]
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1.0, 1.0]
