import pytest

from tui_eval.scoring import patterns

SLOW = r"(a|aa)+$"
LONG = "a" * 60 + "!"


def test_the_limit_is_a_second() -> None:
    assert patterns.LIMIT_S == 1.0
    assert str(patterns.TooSlowError()) == "the pattern took longer than 1 s"


def test_a_search_that_backtracks_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "LIMIT_S", 0.01)
    with pytest.raises(patterns.TooSlowError):
        patterns.search(patterns.compiled(SLOW), LONG)
    with pytest.raises(patterns.TooSlowError):
        patterns.last(patterns.compiled(SLOW), LONG)


def test_going_through_too_many_matches_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "LIMIT_S", 0.0)
    with pytest.raises(patterns.TooSlowError):
        patterns.last(patterns.compiled("a"), LONG)


def test_the_last_match_is_given() -> None:
    found = patterns.last(patterns.compiled(r"a(\d)"), "a1 a2 b3")
    assert found is not None
    assert found.group(1) == "2"
    assert patterns.last(patterns.compiled("z"), "a1") is None


def test_what_is_no_pattern_is_refused_with_the_reason() -> None:
    with pytest.raises(patterns.PatternError, match="missing"):
        patterns.compiled("(a")
