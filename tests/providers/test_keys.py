import pytest

from tui_eval.providers.keys import (
    MissingKeyError,
    is_word,
    keep_secret,
    redact,
    redact_answer,
    redact_json,
    resolve,
    word_note,
)


def test_a_key_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", " sk-123456789 \n")
    assert resolve("MY_KEY", "target 'x'") == "sk-123456789"


def test_a_missing_key_names_the_variable_who_needs_it_and_how_to_set_it() -> None:
    with pytest.raises(MissingKeyError) as caught:
        resolve("MY_KEY", "target 'x' (api.example.com)", {})
    said = str(caught.value)
    assert "MY_KEY is not set" in said
    assert "target 'x' (api.example.com)" in said
    assert "export MY_KEY=" in said
    assert "\n" not in said


@pytest.mark.parametrize("value", ["sk-1234\n5678", "sk 12345678", "sk-12345678é"])
def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(value: str) -> None:
    with pytest.raises(MissingKeyError) as caught:
        resolve("MY_KEY", "target 'x'", {"MY_KEY": value})
    assert "1234" not in str(caught.value)


def test_a_resolved_key_is_replaced_by_its_name() -> None:
    resolve("MY_KEY", "x", {"MY_KEY": "sk-123456789"})
    assert redact("you sent Bearer sk-123456789, sk-123456789!") == (
        "you sent Bearer [MY_KEY], [MY_KEY]!"
    )
    assert redact_json({"a": ["sk-123456789", 1, None], "sk-123456789": True}) == {
        "a": ["[MY_KEY]", 1, None],
        "[MY_KEY]": True,
    }


def test_a_key_is_replaced_in_a_url_and_in_json_too() -> None:
    keep_secret('a/b"c+d=efgh', "MY_KEY")
    assert "efgh" not in redact("https://x/?key=a%2Fb%22c%2Bd%3Defgh")
    assert "efgh" not in redact('{"key": "a/b\\"c+d=efgh"}')


def test_a_key_inside_another_leaves_nothing_of_either() -> None:
    keep_secret("abcdefgh", "SHORT")
    keep_secret("abcdefgh-ijklmnop", "LONG")
    assert redact("abcdefgh-ijklmnop abcdefgh") == "[LONG] [SHORT]"


def test_a_word_is_no_secret() -> None:
    keep_secret("test", "MY_KEY")
    assert redact("this is a test") == "this is a test"


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ("lm-studio", True),
        ("EMPTY", True),
        ("not-needed", True),
        ("Elephants", True),
        ("test1234", True),
        ("sk-1234567890", False),
        ("sk-no-key-required", True),
        ("sk-test-SECRETKEY0001", False),
        ("sk-secretword", False),
        ("xKqPzWvTnB", False),
        ("a1b2c3d4e5", False),
        ("qwertzuiopasdfgh", False),
        ("correct-horse-battery-staple", False),
        ("4f9d0c31", False),
    ],
)
def test_a_key_that_is_a_word_stays_in_answers_and_nowhere_else(value: str, word: bool) -> None:
    keep_secret(value, "MY_KEY")
    assert is_word(value) is word
    assert redact_answer(f"I run in {value}.") == f"I run in {value if word else '[MY_KEY]'}."
    assert redact_json([value]) == [value if word else "[MY_KEY]"]
    assert redact(value) == (value if len(value) < 8 else "[MY_KEY]")
    note = word_note("MY_KEY", {"MY_KEY": value})
    assert (note is not None) is word
    assert value not in str(note)


def test_no_key_is_no_word() -> None:
    assert word_note("MY_KEY", {}) is None
