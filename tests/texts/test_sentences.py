import pytest

from tui_eval.texts.sentences import count_sentences, whole_words, words


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("   \n ", 0),
        ("No end", 1),
        ("One. Two! Three?", 3),
        ("Mr. Smith met Dr. Who at 5 p.m. in Rome.", 1),
        ("J. R. R. Tolkien wrote it. I read it.", 2),
        ("So am I. You too.", 2),
        ('"Stop!" She ran. (He did not.)', 3),
        ("Wait... Then go.", 2),
        ("It grew by 3.5 percent. Then it fell.", 2),
        ("1. First.\n2. Second.", 2),
        ("It was 12. The rest came later.", 2),
        ("see e.g. the list", 1),
        ("Really?! Yes.", 2),
        ("**Bold.** Next.", 2),
        ("the end. small letter goes on", 1),
        ("What? small letters are a sentence too", 2),
    ],
)
def test_sentences_are_counted_by_their_ends(text: str, count: int) -> None:
    assert count_sentences(text) == count


def test_words_are_runs_of_letters_or_have_signs_inside() -> None:
    assert words("COVID-19, it's U.S.A. now") == ["COVID", "19", "it", "s", "U", "S", "A", "now"]
    assert whole_words("COVID-19, it's U.S.A.") == ["COVID-19", "it", "s", "U.S.A"]
