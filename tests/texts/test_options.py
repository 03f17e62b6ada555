import pytest

from tui_eval.texts.options import labelled, options


def test_options_are_labelled_by_letters_in_their_order() -> None:
    made = options(["Paris", "Lyon"])
    assert made.labels == ("A", "B")
    assert made.text_of("B") == "lyon"


def test_labels_that_are_part_of_every_text_are_not_part_of_it() -> None:
    assert options(["A) Paris", "B) Lyon"]).texts == ("paris", "lyon")
    assert options(["A) Paris", "Lyon"]).texts == ("a) paris", "lyon")


def test_single_letters_are_labels_themselves() -> None:
    made = options(["X", "Y"])
    assert (made.labels, made.texts) == (("X", "Y"), ())
    assert options(["5", "7"]).labels == ("A", "B")


def test_without_options_a_letter_is_a_label() -> None:
    assert options(None).labels[-1] == "J"
    assert options(None, ["(M)"]).labels[-1] == "M"


@pytest.mark.parametrize(
    ("written", "label"),
    [
        ("B", "B"),
        ("(b)", "B"),
        ("b.", "B"),
        ("Lyon", "B"),
        (" **lyon** ", "B"),
        ("C", None),
        ("Nice", None),
        ("", None),
    ],
)
def test_a_label_or_a_text_names_an_option(written: str, label: str | None) -> None:
    assert options(["Paris", "Lyon"]).labelled(written) == label


def test_a_text_that_two_options_have_names_neither() -> None:
    assert options(["yes", "yes", "no"]).labelled("yes") is None
    assert options(["yes", "yes", "no"]).labelled("A") == "A"


def test_more_options_than_letters_and_equal_labels_are_refused() -> None:
    with pytest.raises(ValueError, match="27 options"):
        options([f"option {number}" for number in range(27)])
    with pytest.raises(ValueError, match='label "X"'):
        labelled([("X", "a"), ("X", "b")])
