"""What groups are called, and how they are told apart where there is little room."""

from tui_eval.store.search.views import Condition, FilterKind
from tui_eval.ui.run.groups.group_rows import group_words, told_apart


def reason(scorer: str, value: str, *, reported: bool = False) -> Condition:
    return Condition(FilterKind.REASON, value, scorer, reported)


def test_a_scorer_is_named_where_groups_are_of_several() -> None:
    late = Condition(FilterKind.ERROR, "timeout")
    one = [reason("exact", "expected “…”"), late]
    assert group_words(one) == ["expected “…”", "error timeout"]
    other = reason("short", "too long", reported=True)
    assert group_words([*one, other]) == ["exact: expected “…”", "error timeout", "short: too long"]


def test_a_requirement_comes_before_the_scorer_that_wants_it() -> None:
    polite, brief = (
        Condition(FilterKind.REQUIREMENT, text, scorer)
        for text, scorer in (("Is polite", "manners"), ("Is brief", "form"))
    )
    assert group_words([polite]) == ["Is polite"]
    assert group_words([polite, brief]) == ["Is polite (manners)", "Is brief (form)"]


def test_texts_that_read_alike_once_cut_show_where_they_differ() -> None:
    texts = [
        "reasoning: the output was truncated at its token limit",
        "reasoning: the output was taken away by a filter",
        "reasoning: something else that is too long",
    ]
    shown = told_apart(texts, 26, "…")
    assert all(text.startswith("reason") for text in shown)
    assert shown[0].endswith("…truncated at its token limit")
    assert shown[1].endswith("…taken away by a filter")
    assert shown[2] == texts[2]
    assert len({text[:26] for text in shown}) == 3
    assert told_apart(texts, 80, "…") == texts
