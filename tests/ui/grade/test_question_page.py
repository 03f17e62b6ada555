"""What a person sees of an output that is to be graded, as paragraphs."""

from typing import cast

from tests.ui.playing import para_words
from tui_eval.engine.control.output_questions import OutputQuestion
from tui_eval.ui.grade.question_page import ShownQuestion, question_paras
from tui_eval.ui.text.prose import Para


def test_a_conversation_shows_its_last_reply_once() -> None:
    def page(last: str) -> str:
        shown = ShownQuestion(
            question=cast("OutputQuestion", None),  # by what it is graded stands elsewhere
            asked="How do you do?",
            output="Quite well.",
            messages=[
                {"role": "user", "content": "Really?"},
                {"role": "assistant", "content": last},
            ],
            expected=(),
            context=None,
            rubric=None,
        )
        return para_words(question_paras(shown, [Para("Quite well.")]))

    assert page(" Quite well.\n").count("Quite well.") == 1
    assert page("Let me see.").count("Quite well.") == 1
