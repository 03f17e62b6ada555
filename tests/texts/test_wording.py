from tui_eval.texts.wording import one_of, quoted


def test_a_quote_is_short_and_on_one_line() -> None:
    assert quoted("Paris") == '"Paris"'
    assert quoted("two\nlines") == '"two⏎lines"'
    assert quoted("x" * 100) == '"' + "x" * 59 + '…"'


def test_stand_ins_do_not_make_a_quote_long() -> None:
    assert len(quoted("\u202e" * 1000)) <= 122


def test_several_are_listed_up_to_three() -> None:
    assert one_of(["a"]) == '"a"'
    assert one_of(["a", "b"]) == '"a" or "b"'
    assert one_of(["a", "b", "c"], "and") == '"a", "b" and "c"'
    assert one_of(list("abcde")) == '"a", "b", "c" or 2 more'
