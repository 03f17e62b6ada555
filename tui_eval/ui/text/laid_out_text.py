"""Which of them a text plainly is, and how it is shown then."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from tui_eval.ui.text.code import code_para
from tui_eval.ui.text.json_text import is_json, json_para
from tui_eval.ui.text.markdown import is_markdown, markdown_paras
from tui_eval.ui.text.prose import Para
from tui_eval.ui.theme.glyphs import Glyphs

MOST_JSON = 2_000_000
MOST_MARKDOWN = 60_000
"""Characters up to which a text is laid out; a longer one is shown as it came."""
AT_ONCE = 3_000
"""Characters that may be laid out while one waits."""
_DIFF = re.compile(
    r"^(?:diff --git |--- \S[^\n]{0,500}\n\+\+\+ \S|@@ -\d{1,9}(?:,\d{1,9})? \+\d)", re.MULTILINE
)
_LOOKED_AT = 20_000


class TextForm(StrEnum):
    """What a text plainly is."""

    JSON = "JSON"
    DIFF = "a diff"
    MARKDOWN = "Markdown"
    PLAIN = "text"


@dataclass(frozen=True, slots=True)
class LaidOutText:
    """A text, laid out."""

    form: TextForm
    paras: Sequence[Para]


@lru_cache(maxsize=8)
def lay_out_text(text: str, width: int, glyphs: Glyphs) -> LaidOutText:
    """Lay a text out as what it plainly is; foreign text of any length, so in a thread.

    Args:
        text: The text.
        width: Cells there are.
        glyphs: The shapes.
    """
    if len(text) <= MOST_JSON and is_json(text):
        return LaidOutText(TextForm.JSON, [json_para(text)])
    if _DIFF.search(text[:_LOOKED_AT]) and not _fenced(text):
        # before Markdown: there the signs of its lines would be those of a list, and lost
        return LaidOutText(TextForm.DIFF, [code_para(text, "diff")])
    if len(text) <= MOST_MARKDOWN and is_markdown(text):
        return LaidOutText(TextForm.MARKDOWN, markdown_paras(text, width, glyphs))
    return LaidOutText(TextForm.PLAIN, [Para(text)])


def _fenced(text: str) -> bool:
    """Whether a text quotes code as Markdown does: a diff in it is laid out by that."""
    return "\n```" in f"\n{text[:_LOOKED_AT]}"
