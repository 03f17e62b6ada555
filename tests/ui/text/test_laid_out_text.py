"""Outputs laid out as what they plainly are; nothing of them is lost or acts."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import hostile
from tests.hostile import CONTROLS
from tests.support import any_text
from tui_eval.ui.text.code import code_para
from tui_eval.ui.text.json_text import is_json, json_para
from tui_eval.ui.text.laid_out_text import TextForm, lay_out_text
from tui_eval.ui.text.markdown import markdown_paras
from tui_eval.ui.text.prose import Para, drawn, lay_out
from tui_eval.ui.theme.glyphs import UNICODE

HOSTILE = [*hostile.corpus(most=30_000), *hostile.more()]

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | any_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(values, max_size=4) | st.dictionaries(any_text, values, max_size=4))
def test_json_laid_out_says_the_same(value: object) -> None:
    text = json.dumps(value)
    assert is_json(text)
    assert json.loads(json_para(text).text) == json.loads(drawn(text))


def test_json_keeps_figures_and_keys_as_they_were_written() -> None:
    text = '{"a": 1.50, "a": 12345678901234567890123, "big": 1e999}'
    assert is_json(text)
    assert json_para(text).text.replace("\n", "").replace("  ", "") == (
        '{"a": 1.50,"a": 12345678901234567890123,"big": 1e999}'
    )


def test_short_json_stays_in_a_line() -> None:
    assert json_para('{"a":[1,{"b":null}],"c":"' + "x" * 40 + '","d":{}}').text.split("\n") == [
        "{",
        '  "a": [1, {"b": null}],',
        f'  "c": "{"x" * 40}",',
        '  "d": {}',
        "}",
    ]


def marked_in(para: Para, tone: str) -> list[str]:
    return [para.text[mark.start : mark.end] for mark in para.marks if mark.tone == tone]


def test_markdown_in_its_parts() -> None:
    paras = markdown_paras(
        "# Title\nSay *it* **loud** with `code`, [here](https://x.example/y).\n\n"
        "1. one\n2. two\n   - deep\n\n| n | v |\n|---|---|\n| aa | 1 |\n\n"
        "```python\ndef f(): return 'x'\n```\n<b>&amp;</b>",
        60,
        UNICODE,
    )
    said = [f"{' ' * para.indent}{para.label}|{para.text}" for para in paras if para.text]
    assert said == [
        "|Title",
        "|Say it loud with code, here (https://x.example/y).",
        "1.|one",
        "2.|two",
        "  ·|deep",
        "|n   v",
        "|──  ─",
        "|aa  1",
        "|python",
        "  |def f(): return 'x'",
        "|<b>&amp;</b>",
    ]
    assert paras[0].tone == "heading"
    assert marked_in(paras[2], "strong") == ["loud"]
    code = next(para for para in paras if para.text.startswith("def"))
    assert marked_in(code, "quoted") == ["'x'"]


def test_a_table_that_is_too_wide_is_given_as_records() -> None:
    paras = markdown_paras(f"| n | v |\n|---|---|\n| a | {'x' * 50} |", 30, UNICODE)
    assert [para.text for para in paras] == ["n: a", f"v: {'x' * 50}"]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Paris", TextForm.PLAIN),
        ("Paris [1] and 2 * 3 * 4", TextForm.PLAIN),
        ("snake_case_name and -5 - 3", TextForm.PLAIN),
        ('{"a": 1}', TextForm.JSON),
        ('{"a": 1', TextForm.PLAIN),
        ("Here:\n```\nx\n```", TextForm.MARKDOWN),
        ("- a\n- b", TextForm.MARKDOWN),
        ("# Title", TextForm.MARKDOWN),
        ("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n- old\n- two", TextForm.DIFF),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n- old\n+ new", TextForm.DIFF),
        ("Here:\n```diff\n--- a/x\n+++ b/x\n```", TextForm.MARKDOWN),
        ("---\n+++ so to say", TextForm.PLAIN),
        ("#hashtag", TextForm.PLAIN),
    ],
)
def test_only_what_plainly_is_something_is_laid_out(text: str, form: TextForm) -> None:
    assert lay_out_text(text, 60, UNICODE).form is form


def test_a_diff_keeps_the_signs_and_the_indentation_of_its_lines() -> None:
    text = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-    return 1\n+    return 2"
    (para,) = lay_out_text(text, 60, UNICODE).paras
    assert para.text == text
    assert marked_in(para, "removed")[-1].rstrip("\n").endswith("-    return 1")
    assert marked_in(para, "added")[-1].endswith("+    return 2")


def test_a_language_nobody_knows_loads_nothing() -> None:
    assert code_para("x = 1", "nonsense; import os").marks == ()


@pytest.mark.parametrize("text", [one.text for one in HOSTILE], ids=[one.id for one in HOSTILE])
def test_hostile_texts_are_laid_out_literally_and_soon(text: str) -> None:
    began = time.monotonic()
    for dressed in (text, f"# a\n{text}\n```html\n{text[:9000]}\n```"):
        for line in lay_out(lay_out_text(dressed, 60, UNICODE).paras, 60):
            assert not CONTROLS & set(line.text)
            assert "\u202e" not in line.text
            assert all(0 <= m.start < m.end <= len(line.text) for m in line.marks)
    assert time.monotonic() - began < 20
