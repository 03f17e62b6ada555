"""The base of all readers: the conversation that is put together, and the bytes it is read from."""

from abc import ABC, abstractmethod
from collections.abc import Hashable
from enum import Enum, auto
from typing import ClassVar, Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.output import Failure, Usage
from tui_eval.targets.transcripts import values
from tui_eval.targets.transcripts.own_failure import own_failure
from tui_eval.targets.transcripts.token_tally import TokenTally

LONGEST_LINE: Final = 16_000_000
"""Bytes of one event; a longer one is dropped."""
MOST_READ: Final = 64_000_000
"""Bytes of a transcript that are read; what comes after them is dropped."""


class Reader(ABC):
    """Reads one transcript, from its first byte on.

    `feed` takes any pieces in order, `finish` says that there are no more. All attributes may be
    looked at in between: they hold what is known so far. `feed` takes time in the length of its
    piece, and at the end of a long event in that of the event (16 MB at most): a caller on an event
    loop feeds large files elsewhere. A reader is one thread's at a time.
    """

    FORMAT: ClassVar[str]
    """The name suites give it."""
    ASKED_BY: ClassVar[str]
    """How the program is told to write it, for the message that says that it did not."""
    TELLS_END: ClassVar[bool] = False
    """Whether a whole one has a `finish_reason` or a failure at its end: else it broke off."""

    def __init__(self) -> None:
        self.messages: list[JsonObject] = []
        """The conversation in the form of chat APIs: `role`, `content`, `tool_calls`,
        `tool_call_id`; `reasoning_content` where it tells its thoughts."""
        self.text: str | None = None
        """What it says it answers, else its last message so far; None: it has said nothing."""
        self.model: str | None = None
        """The model it says it asks."""
        self.cost_usd: float | None = None
        """What it says it cost; None: it does not say."""
        self.turn = 0
        """How many replies of its model there are, the one under way included."""
        self.tool: str | None = None
        """The name of the tool that it called last and that has not answered; None: there is none.
        """
        self.tool_calls = 0
        """How many tools it called."""
        self.finish_reason: str | None = None
        """Why it says it ended, in the words of `Output.finish_reason`; `limit:turns` and
        `limit:cost_usd` where it kept to a limit of its own."""
        self.failure: Failure | None = None
        """Why it says it failed: its last word, None where it went on. Once finished, the kind
        `transcript` where nothing in it is of this format; that says less than an exit code that
        is a failure, or a limit that ended the program before it wrote anything."""
        self.unknown = 0
        """How many events were skipped as their kind, or form, is unknown."""
        self.dropped = 0
        """How many lines were no event: too long, cut, no JSON, or beyond the bound."""
        self._tokens = TokenTally()
        self._under_way: JsonObject | None = None
        self._key: Hashable = None
        self._open: dict[str, str] = {}
        self._is_own = False
        self._why_not: str | None = None

    @property
    def steps(self) -> int:
        """How many steps its work had: a reply with the tools that it calls is one."""
        return self.turn

    @property
    def usage(self) -> Usage:
        """The tokens it says it took; what it tells twice of one reply counts once."""
        return self._tokens.total

    @abstractmethod
    def feed(self, piece: bytes) -> None:
        """Read what comes next; any content is taken, and nothing raised for it."""

    def finish(self) -> None:
        """Read what is left, and say so where none of it is of this format."""
        self._end()
        if not self._is_own:
            why = self._why_not or self.ASKED_BY
            self.failure = Failure("transcript", f"this is no transcript of {self.FORMAT}: {why}")

    @abstractmethod
    def _end(self) -> None:
        """Read what is left."""

    def _reply(self, key: Hashable = None) -> JsonObject:
        """Return the message of the reply under way; a new one where the key is another.

        Args:
            key: Which reply; None: whichever is under way.
        """
        if self._under_way is None or (key is not None and key != self._key):
            self._under_way = {"role": "assistant", "content": None}
            self._key = key
            self.messages.append(self._under_way)
            self.turn += 1
            self.failure = None  # it went on
        return self._under_way

    def _say(self, said: str, key: Hashable = None, between: str = "\n") -> None:
        """Add to the text of a reply."""
        message = self._reply(key)
        before = message["content"]
        message["content"] = said if not before else f"{before}{between}{said}"
        self.text = values.text(message["content"])

    def _think(self, thought: str, key: Hashable = None) -> None:
        """Add to what a reply was thinking."""
        message = self._reply(key)
        before = message.get("reasoning_content")
        message["reasoning_content"] = thought if not before else f"{before}\n{thought}"

    def _call(self, call_id: str, name: str, arguments: Json, key: Hashable = None) -> None:
        """Add the call of a tool to a reply."""
        message = self._reply(key)
        calls = message.setdefault("tool_calls", [])
        assert isinstance(calls, list)
        function: JsonObject = {"name": name, "arguments": values.compact(arguments)}
        calls.append({"id": call_id, "type": "function", "function": function})
        self.tool_calls += 1
        self._open[call_id] = name
        self.tool = name

    def _result(self, call_id: str, said: str | None) -> None:
        """Add what a tool answered."""
        self.messages.append({"role": "tool", "tool_call_id": call_id, "content": said or ""})
        self._open.pop(call_id, None)
        self.tool = next(reversed(self._open.values()), None)

    def _told(self, role: str, said: str | None) -> None:
        """Add a message that is not the model's: a new reply begins after it."""
        self.messages.append({"role": role, "content": said})
        self._under_way = None

    def _fail(self, said: str, word: str | None = None, status: int | None = None) -> None:
        """Note that it says it failed; see `own_failure`."""
        self.failure = own_failure(self.FORMAT, said, word=word, status=status, model=self.model)


class LinewiseReader(Reader):
    """A reader of lines."""

    def __init__(self) -> None:
        super().__init__()
        self._line = bytearray()
        self._too_long = False
        self._left = MOST_READ

    def feed(self, piece: bytes) -> None:
        """Read what comes next; a line once it is whole."""
        *whole, rest = piece.split(b"\n")
        for part in whole:
            self._extend(part)
            self._close()
        self._extend(rest)

    def _end(self) -> None:
        """Take a last line that has no end."""
        self._close()

    def _extend(self, part: bytes) -> None:
        if len(self._line) + len(part) > LONGEST_LINE:
            self._too_long = True
            self._line.clear()
        if not self._too_long:
            self._line += part

    def _close(self) -> None:
        raw = bytes(self._line).removesuffix(b"\r")
        too_long = self._too_long
        self._line.clear()
        self._too_long = False
        self._left -= len(raw)
        if too_long or self._left < 0 or not self._read(raw):
            self.dropped += 1

    @abstractmethod
    def _read(self, line: bytes) -> bool:
        """Read a line without its end; return False where it cannot be."""


class Seen(Enum):
    """What an event was taken for."""

    OWN = auto()
    """One that only this format has."""
    ANYBODYS = auto()
    """One that was read, and that other formats have in the same form."""
    UNKNOWN = auto()
    """None that is known in this form: it was skipped."""


class EventReader(LinewiseReader):
    """A reader of events: JSON objects, one a line. A last one that is cut is no JSON."""

    def _read(self, line: bytes) -> bool:
        if not line.strip():
            return True
        try:
            event = values.decoded(line)
            if not isinstance(event, dict):
                return False
            seen = self._event(event)
        except (ValueError, RecursionError):
            return False
        self._is_own |= seen is Seen.OWN
        self.unknown += seen is Seen.UNKNOWN
        return True

    @abstractmethod
    def _event(self, event: JsonObject) -> Seen:
        """Read one event."""


class DocumentReader(Reader):
    """A reader of one JSON document: nothing is known before its end."""

    def __init__(self) -> None:
        super().__init__()
        self._raw = bytearray()
        self._too_long = False

    def feed(self, piece: bytes) -> None:
        """Keep what comes next."""
        if len(self._raw) + len(piece) > MOST_READ:
            self._too_long = True
            self._raw.clear()
        if not self._too_long:
            self._raw += piece

    def _end(self) -> None:
        raw = bytes(self._raw)
        self._raw.clear()
        if self._too_long:
            self._why_not = f"it is longer than {MOST_READ // 1_000_000} MB"
            return
        try:
            document = values.decoded(raw)
        except (ValueError, RecursionError):
            self._why_not = "it is not one whole JSON document"
            return
        if isinstance(document, dict) and self._document(document):
            self._is_own = True

    @abstractmethod
    def _document(self, document: JsonObject) -> bool:
        """Read the whole; return whether it is of this format."""
