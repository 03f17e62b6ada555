"""The one choke point: turns foreign text into what may be shown.

Text from models, servers and files is data. Before it reaches a terminal, control characters
(C0, C1, DEL), bidirectional overrides and isolates, characters without a width of their own and
lone surrogates are replaced by visible stand-ins, so no escape sequence survives and no
neighbouring text moves.
"""

import re

# Unicode's Default_Ignorable_Code_Point, with annotation and hieroglyph format controls; the
# combining marks of living scripts are not among them.
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001345f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_CONTROL = "\x00-\x08\x0b-\x1f\x7f-\x9f"
_LINE_BREAKS = "\u2028\u2029"
_UNSAFE = re.compile(f"[{_CONTROL}{_LINE_BREAKS}{_INVISIBLE}\ud800-\udfff]")
_UNSAFE_LINE = re.compile(f"[\t\n{_CONTROL}{_LINE_BREAKS}{_INVISIBLE}\ud800-\udfff]")
_STYLE_SELECTORS = "\ufe0e\ufe0f"  # text or emoji style for the character before
_STYLED = re.compile(  # the blocks whose characters such a selector is defined for
    "[#*0-9\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u27bf\u2900-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff]"
)
# Marks stacked on one character reach into the rows above and below it: those of any script do.
_STACKED = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u06d6-\u06dc\u06df-\u06e4"
    "\u0730-\u074a\u07eb-\u07f3\u0816-\u0819\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc"
    "\u0ec8-\u0ece\u0f71-\u0f7e\u0f80-\u0f84\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u302a-\u302f"
    "\u3099\u309a\ua66f-\ua672\ua674-\ua67d\ufe20-\ufe2f"
)
_STACK = re.compile(f"([{_STACKED}]{{4}})[{_STACKED}]+")


def visible(text: str) -> str:
    """Make text safe to show over several lines; newline and tab stay, CRLF becomes a newline."""
    return _UNSAFE.sub(_stand_in, _unstacked(text.replace("\r\n", "\n")))


def visible_line(text: str, limit: int | None = None) -> str:
    """Make text safe to show on one line: newlines and tabs are made visible too.

    Args:
        text: Foreign text of any length and content.
        limit: The most characters to give, the ellipsis included; None: all.
    """
    if limit is None:
        if text.isascii() and text.isprintable():
            return text  # most is
        return _UNSAFE_LINE.sub(_stand_in, _unstacked(text))
    # cut before replacing, so that the cost does not grow with what is not shown
    shown = visible_line(text[: limit + 1])
    if len(text) <= limit and len(shown) <= limit:
        return shown
    return shown[: limit - 1] + "…" if limit > 0 else ""


def _unstacked(text: str) -> str:
    return text if text.isascii() else _STACK.sub(r"\1…", text)


def _stand_in(match: re.Match[str]) -> str:
    character = match.group()
    code = ord(character)
    if character == "\n":
        return "⏎"
    if character == "\t":
        return " "
    if code < 0x20:
        return chr(0x2400 + code)  # the control pictures block: ␀ … ␟
    if code == 0x7F:
        return "\u2421"
    if character in _STYLE_SELECTORS and _STYLED.match(match.string, match.start() - 1):
        return ""  # terminals disagree about the width it gives; without it there is one
    return f"‹U+{code:04X}›"
