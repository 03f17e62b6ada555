import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_eval.texts.normal import normalized


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("The quick, brown fox!", "quick brown fox"),
        ("  An  apple\na day ", "apple day"),
        ("U.S.A.", "usa"),
        ("theory", "theory"),
        ("“Ça va”", "ça va"),
        ("ＡＢＣ", "abc"),
        ("Straße", "strasse"),
        ("A", "a"),
        ("the", "the"),
        ("?!", ""),
        ("", ""),
    ],
)
def test_case_punctuation_articles_and_space_go(text: str, form: str) -> None:
    assert normalized(text) == form


@given(st.text())
def test_normalizing_again_changes_nothing(text: str) -> None:
    once = normalized(text)
    assert normalized(once) == once


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_case_makes_no_difference(text: str) -> None:
    assert normalized(text.upper()) == normalized(text.lower())


@pytest.mark.timeout(20)
@pytest.mark.parametrize("marks", ["\u0301\u0316", "\u0344\u0316", "\uff9e\u0301", "\u0f73\u0f71"])
def test_a_flood_of_marks_is_brought_to_its_form_in_time(marks: str) -> None:
    once = normalized("a" + marks * 100_000)
    assert 1 < len(once) < 100
    assert normalized(once) == once
