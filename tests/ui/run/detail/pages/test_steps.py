"""An agent's work as steps that are folded to a line each."""

from tests.ui.playing import para_words
from tui_eval.model.json import JsonObject
from tui_eval.ui.run.detail.folds import Folds
from tui_eval.ui.run.detail.pages.steps import step_paras
from tui_eval.ui.text.prose import lay_out
from tui_eval.ui.theme.glyphs import UNICODE


def work(n: int) -> list[JsonObject]:
    """Give the messages of n steps, each a call of a tool with what it gave."""
    made: list[JsonObject] = [{"role": "user", "content": "do it"}]
    for at in range(n):
        function: JsonObject = {"name": "bash", "arguments": f'{{"cmd": "ls {at}"}}'}
        call: JsonObject = {"id": f"c{at}", "type": "function", "function": function}
        made.append({"role": "assistant", "content": f"step {at}", "tool_calls": [call]})
        made.append({"role": "tool", "tool_call_id": f"c{at}", "content": "a\nb\n" * 20})
    return made


def said(folds: Folds, began: tuple[float, ...] = ()) -> str:
    return para_words(step_paras(work(3), folds, 80, UNICODE, began=began))


def test_each_step_is_a_line_with_its_seconds() -> None:
    shown = said(Folds(), (0.5, 2.0, 2.25))
    assert 'bash({"cmd": "ls 0"}) · step 0  1.50s' in shown
    assert 'bash({"cmd": "ls 1"}) · step 1  0.25s' in shown
    assert shown.rstrip().endswith("step 2")  # nobody knows when the last one ended
    at_one_look = said(Folds(), (0.5, 0.5, 2.25))  # which of the two took longer was not seen
    assert "step 0\n" in at_one_look
    assert "step 1\n" in at_one_look
    assert "do it" in shown
    assert "tool" not in shown


def test_a_step_unfolds_alone_or_with_all() -> None:
    alone = said(Folds().turned(-2))
    assert alone.count("assistant") == 1
    assert '▸ calls bash({"cmd": "ls 1"})' in alone
    assert said(Folds().all_turned()).count("assistant") == 3


def test_steps_of_foreign_text_are_one_line_each() -> None:
    messages: list[JsonObject] = [{"role": "assistant", "content": "a\nb\x1b[31m\tc\u202e" * 50}]
    (para,) = step_paras(messages, Folds(), 80, UNICODE)
    assert len(list(lay_out([para], 78))) == 1
    assert "\x1b" not in para.text
    assert "\n" not in para.text


def test_ten_thousand_steps_are_a_line_each() -> None:
    paras = step_paras(work(10_000), Folds(), 80, UNICODE)
    lines = list(lay_out(paras, 79, most=20_000_000))
    assert len(lines) == 10_000 + 3  # and what was asked
