"""A scorer in a line."""

import pytest

from tui_eval.ui.suites.scorer_words import scorer_in_words


@pytest.mark.parametrize(
    ("settings", "judges", "words"),
    [
        ({"kind": "exact", "expected": "{{ a }}"}, 0, "exact: expected {{ a }}"),
        ({"kind": "includes", "ignore_case": True}, 0, "includes: ignore case"),
        ({"kind": "json", "extra_keys": False}, 0, "json: no extra keys"),
        ({"kind": "numeric", "tolerance": 1.0}, 0, "numeric: tolerance 1"),
        (
            {"kind": "judge", "rubric": "Good, or bad?", "scale": [1.0, 5.0], "pass_at": 3.0},
            1,
            "judge: rubric “Good, or bad?”, scale 1–5, passes at 3",
        ),
        ({"kind": "judge", "name": "good", "judge": ["small"]}, 1, "good (judge)"),
        ({"kind": "judge", "judge": ["a", "b"]}, 2, "judge: judge a; b"),
        (
            {"kind": "judge", "requirements": ["Is polite", "Is short"]},
            1,
            "judge: requirements Is polite; Is short",
        ),
        (
            {"kind": "regex", "expected": "^a$", "of": "reasoning", "required": False},
            0,
            "regex: expected ^a$, of reasoning, reported only",
        ),
        ({"kind": "exact", "expected": "x" * 61}, 0, f"exact: expected {'x' * 59}…"),
        ({"kind": "tool_calls", "calls": [{"name": "f"}]}, 0, 'tool_calls: calls [{"name": "f"}]'),
        ({"kind": "code"}, 0, "code"),
    ],
)
def test_a_scorer_is_told_in_words(settings: dict[str, object], judges: int, words: str) -> None:
    assert scorer_in_words(settings, judges) == words
