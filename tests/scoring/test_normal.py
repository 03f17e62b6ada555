import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_eval.scoring.normal import normalized


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
