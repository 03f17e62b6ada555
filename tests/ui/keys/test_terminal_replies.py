"""What a terminal replies to others is not typed; what people type is."""

import pytest
from textual import events
from textual.drivers import linux_driver

from tui_eval.ui.keys import terminal_replies
from tui_eval.ui.keys.terminal_replies import TypedOnly

REPLIES = [
    "\x1b[?1;2c",
    "\x1b[>41;330;0c",
    "\x1b[?u",
    "\x1b]11;rgb:0000/0000/0000\x07",
    "\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
    "\x1bP1$r0m\x1b\\",
    "\x1bP>|tmux 3.4\x1b\\",
    "\x1b_Gi=31;OK\x1b\\",
]


def keys(*pieces: str) -> list[str]:
    """Return the keys that are found; what is no whole sequence at the end is keys, too."""
    parser = TypedOnly()
    found = [event for piece in (*pieces, "") for event in parser.feed(piece)]
    return [event.key for event in found if isinstance(event, events.Key)]


def test_replies_are_no_keys() -> None:
    assert keys(*REPLIES) == []


def test_what_is_typed_around_replies_is_typed() -> None:
    assert keys(*(f"a{reply}b" for reply in REPLIES)) == ["a", "b"] * len(REPLIES)


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        ("\x1b", "escape"),
        ("\x1b[A", "up"),
        ("\x1bOP", "f1"),
        ("\x1b[3~", "delete"),
        ("?", "question_mark"),
    ],
)
def test_keys_of_several_characters_are_keys(typed: str, key: str) -> None:
    assert keys(typed) == [key]


def test_the_end_of_the_terminal_is_still_its_end() -> None:
    parser = TypedOnly()
    list(parser.feed("\x1b[?u"))
    assert not parser.is_eof
    list(parser.feed(""))
    assert parser.is_eof


def test_textuals_driver_reads_terminals_so() -> None:
    terminal_replies.ignore()
    assert vars(linux_driver)["XTermParser"] is TypedOnly
