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
        return para_words(question_paras(shown, [Para("Quite well.")], 60, 30))

    assert page(" Quite well.\n").count("Quite well.") == 1
    assert page("Let me see.").count("Quite well.") == 1


def test_a_long_question_leaves_the_output_in_view() -> None:
    shown = ShownQuestion(
        question=cast("OutputQuestion", None),
        asked="\n".join(f"line {n}" for n in range(30)),
        output="Quite well.",
        messages=(),
        expected=("Well.",),
        context=None,
        rubric=None,
    )

    def page(height: int, *, whole: bool = False) -> list[str]:
        paras = question_paras(shown, [Para("Quite well.")], 60, height, whole=whole)
        return [para.text for para in paras]

    assert page(10)[:5] == [
        "Question",
        "line 0",
        "line 1",
        "line 2",
        "… 27 more lines; x shows all",
    ]
    assert len(page(10)) == 10
    assert "Quite well." in page(10)[:8]
    assert "Quite well." in page(5)[:5]
    assert "line 29" in page(10, whole=True)
    assert "line 29" in page(40)  # where there is room for all of it
