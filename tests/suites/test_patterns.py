import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_eval.suites import loop_bounds, patterns

SLOW = r"(a|aa)+$"
LONG = "a" * 60 + "!"


def test_the_limit_is_a_second_and_the_pattern_is_named() -> None:
    assert patterns.LIMIT_S == 1.0
    assert str(patterns.TooSlowError("a+")) == "the pattern /a+/ took longer than 1 s"
    assert len(str(patterns.TooSlowError("a" * 999))) < 120


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


@pytest.mark.parametrize(
    "pattern",
    [
        "(?<n>a){99999999}",
        "a{99999999}",
        "[a-z]{99999999,}",
        "((a{1000}){1000}){1000}",
        "(?:(?:(?:a){100,200}){100}){100}",
        "(?:" * 40 + "a" + ")+" * 40,
        "(?<=(a){1000000})b",
        "(?:foo){e<=3}{9999999}",
        r"(a{1000}[(]){1000}",
        r"(x([)]a{1000}){1000})",
        "(?x)(a{1000} # (\n){1000}",
        "(?x:(a{1000} # (\n)){1000}",
        "(?V1)[[a][(]]{9999999}",
        "(a(?#)\\(){9999999}",
        r"([\](]a{1000}){1000}",
        "[[:alpha:](]{9999999}",
        "a" * 200_000,
    ],
)
def test_a_pattern_that_is_huge_when_written_out_is_refused(pattern: str) -> None:
    with pytest.raises(patterns.PatternError, match="it repeats too much"):
        patterns.compiled(pattern)


@pytest.mark.parametrize("pattern", ["(" * 5000 + ")" * 5000, "(?:" * 150 + "a" + ")" * 150])
def test_a_pattern_that_nests_too_deeply_is_refused(pattern: str) -> None:
    with pytest.raises(patterns.PatternError, match="deep in each other"):
        patterns.compiled(pattern)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (
            r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b",
            "0" * 8 + "-0000" * 3 + "-" + "0" * 12,
        ),
        (r"(?s)^.{20000,}$", "x" * 20_000),
        (r"(?x) ^ \d+ (?: , \d+ )* $ # numbers (and no letters)", "1,2,3"),
        (r"^(?:[^,]*,){50}", "," * 50),
        (r"(?:(?:\w+\s+)+[.!?]\s+)+(?:x+y+)+z+a+b+c+d+e+f+g+h+", "a b . xyzabcdefgh"),
        (r"[[](?:a|b{2,3})+[]]{1,1000000}", "[abb]"),
        ("a{,4}b{2}?c{x}{", "aaabbc{x}{"),
    ],
)
def test_patterns_that_people_write_are_compiled(pattern: str, text: str) -> None:
    assert patterns.search(patterns.compiled(pattern), text)


_ATOMS = st.sampled_from(["a", "[ab]", "[)]", "[(]", "[]]", r"\(", r"\]", "(?#()", "x{2}", ".+"])


@given(
    st.recursive(_ATOMS, lambda inner: st.lists(inner, min_size=1, max_size=3).map("".join).flatmap(
        lambda joined: st.sampled_from([f"({joined}){{3}}", f"(?:{joined})+", f"({joined})*"])
    ), max_leaves=8)
)  # fmt: skip
def test_the_size_is_never_less_than_what_is_written_out(pattern: str) -> None:
    """Each group is written out by hand here, innermost first."""
    bare = pattern.replace("(?#()", "")
    bare = re.sub(r"\[\]\]|\[[^\]]*\]|\\.", "a", bare)
    group = re.compile(r"\((?:\?:)?([^()]*)\)(\{3\}|\+|\*)")
    while found := group.search(bare):
        inner = re.sub(r"x\{2\}", "xx", found[1]).replace(".+", "..")
        times = {"{3}": 3, "+": 2, "*": 1}[found[2]]
        bare = bare[: found.start()] + inner * times + bare[found.end() :]
    written = re.sub(r"x\{2\}", "xx", bare).replace(".+", "..")
    assert patterns.size(pattern) >= len(written)


def test_only_so_much_is_kept_of_what_was_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = patterns._Kept()
    monkeypatch.setattr(patterns, "_kept", kept)
    monkeypatch.setattr(patterns, "_KEPT", 1_000)
    first = patterns.compiled("a{300}")
    assert patterns.compiled("a{300}") is first
    for letter in "bcd":
        patterns.compiled(letter + "{300}")
    assert kept.get(("a{300}", False)) is None
    assert kept.get(("d{300}", False)) is not None


def test_what_takes_longer_is_not_done_at_once() -> None:
    slow = patterns.compiled(SLOW)
    with loop_bounds.within(0.005), pytest.raises(loop_bounds.NotAtOnceError):
        patterns.search(slow, LONG)
    with loop_bounds.within(0.005), pytest.raises(loop_bounds.NotAtOnceError):
        patterns.last(slow, LONG)
    with loop_bounds.within(60), pytest.raises(loop_bounds.NotAtOnceError):
        patterns.compiled("q{9999}")
    with loop_bounds.within(60):
        assert patterns.search(patterns.compiled("q{9}"), "q" * 9)
