"""Bash's command line: what is replaced, and how a name is written into it."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_eval.cli.completion.bash_line import bash_line


@pytest.mark.parametrize(
    ("line", "fragment", "words", "incomplete", "quote"),
    [
        ("tui-eval ", "", [], "", ""),
        ("tui-eval sh", "sh", [], "sh", ""),
        ("tui-eval show last --case 'a b", "a b", ["show", "last", "--case"], "a b", "'"),
        ('tui-eval show "a \\$', "a \\$", ["show"], "a $", '"'),
        ("tui-eval show a\\ ", "a\\ ", ["show"], "a ", ""),
        ("tui-eval show 'a'b", "'a'b", ["show"], "ab", ""),
        ("STORE=x tui-eval show q", "q", ["show"], "q", ""),
        ("/opt/bin/tui-eval show '' q", "q", ["show", ""], "q", ""),
        ("tui-eval show a\\", "a\\", ["show"], "a", ""),
    ],
)
def test_a_line_is_taken_apart(
    line: str, fragment: str, words: list[str], incomplete: str, quote: str
) -> None:
    found = bash_line(line, fragment)
    assert [*found.words] == words
    assert (found.incomplete, found.quote, found.before) == (incomplete, quote, 0)


@pytest.mark.parametrize(
    ("line", "fragment", "whole", "written"),
    [
        ("tui-eval show x:", "", "x:y z", "y\\ z"),
        ("tui-eval show --case=a=", "", "--case=a=b", "b"),
        ("tui-eval show --case=se", "se", "--case=semi;rm", "semi\\;rm"),
        ("tui-eval show --case='a ", "a ", "--case=a b", "a b"),
    ],
)
def test_what_bash_leaves_is_not_written_again(
    line: str, fragment: str, whole: str, written: str
) -> None:
    assert bash_line(line, fragment).written(whole) == written


HOSTILE = [
    "$(touch x)",
    "`touch x`",
    "a;b",
    "it's",
    'q"x',
    "back\\slash",
    "!bang",
    "~",
    "*",
    "&",
    "#",
]


@pytest.mark.parametrize("word", HOSTILE)
def test_a_name_stands_for_itself_in_any_quotation(word: str) -> None:
    bare = bash_line("tui-eval show ", "").written(word)
    assert bare is not None
    assert shlex.split(bare) == [word]
    single = bash_line("tui-eval show '", "").written(word)
    assert single == (None if "'" in word else word)
    double = bash_line('tui-eval show "', "").written(word)
    if "!" in word:
        assert double is None
    else:
        assert double is not None
        assert bash_line(f'tui-eval show "{double}', double).incomplete == word
        assert "`" not in double.replace("\\`", "")
        assert "$" not in double.replace("\\$", "")


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), min_size=1))
def test_what_is_written_is_read_back(word: str) -> None:
    written = bash_line("tui-eval show ", "").written(word)
    assert written is not None
    read = bash_line(f"tui-eval show {written}", written)
    assert read.incomplete == word
    assert read.before == 0
