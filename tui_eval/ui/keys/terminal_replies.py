"""What terminals reply to questions that nobody here asked: it is not typed.

An editor or another program that has just ended may have asked the terminal what it is. The reply
then comes to the app. Textual takes what it does not know for keys, some of which would act.
"""

import re
from collections.abc import Iterable

from textual._xterm_parser import XTermParser
from textual.drivers import linux_driver
from textual.message import Message

_REPLY = re.compile(
    r"\x1b\[[?>=][\d;]*[cu]"  # what it is (DA1 to DA3); how it reports keys (kitty)
    r"|\x1b\[[?>]\d*(?:;\d+)*n"  # how it is
    r"|\x1b[\]P_^][^\x07\x1b]*(?:\x07|\x1b\\)"  # colours, settings, versions: OSC, DCS, APC, PM
)


class TypedOnly(XTermParser):
    """Reads what comes from the terminal, without replies that nobody waits for.

    One that comes in two pieces is still taken for keys: terminals write a reply at once.
    """

    def feed(self, data: str) -> Iterable[Message]:
        """Take what came; give what it means."""
        typed = _REPLY.sub("", data) if "\x1b" in data else data
        return super().feed(typed) if typed or not data else ()  # nothing at all is the end


def ignore() -> None:
    """Have Textual's driver read terminals by `TypedOnly`; it has no setting for that."""
    setattr(linux_driver, "XTermParser", TypedOnly)  # noqa: B010 - a class is no variable to mypy
