"""Conversations in the cases, sent by one prompt."""

import itertools
import json
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.conversation import INSTRUCTING, ROLES, read_messages
from tui_eval.suites.importers.shape import ImportNotes

_KEPT: Final = ("name", "tool_call_id")
"""What is taken of a message beside who says what, and which tools it calls."""


def text_of(content: Json) -> str | None:
    """Return the text of a message's content; None: it has parts that are no text."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = [
            one if isinstance(one, str) else one.get("text")
            for one in content
            if isinstance(one, str) or (isinstance(one, dict) and one.get("type") != "reasoning")
        ]
        found = [text for text in texts if isinstance(text, str)]
        return "\n".join(found) if len(found) == len(texts) else None
    return None


def as_messages(value: Json, losses: ImportNotes, where: str) -> list[JsonObject]:
    """Return messages in the form of the chat API; anything else is left out and noted.

    A text is the message of a user.
    """
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    given = value if isinstance(value, list) else []
    messages = [message for one in given if (message := _message(one, losses, where)) is not None]
    try:
        return read_messages([*messages])
    except ValueError as error:
        losses.note(f"is no conversation ({error}): it was left out", where)
        return []


def _message(given: Json, losses: ImportNotes, where: str) -> JsonObject | None:
    role = given.get("role") if isinstance(given, dict) else None
    if not isinstance(given, dict) or role not in ROLES:
        losses.note("a message that is neither of system, developer, user, assistant nor tool was "
                    "left out", where)  # fmt: skip
        return None
    message: JsonObject = {"role": role, "content": given.get("content")}
    message |= {name: given[name] for name in _KEPT if given.get(name) is not None}
    if isinstance(calls := given.get("tool_calls"), list) and calls and role == "assistant":
        message["tool_calls"] = [_call(one) for one in calls]
    text = text_of(given.get("content"))
    if text is not None:
        message["content"] = text
    elif isinstance(given.get("content"), list):
        message["content"] = _parts(given["content"], losses, where)
    if message["content"] in (None, []) and "tool_calls" not in message:
        losses.note("a message that says nothing here was left out", where)
        return None
    return message


def _call(call: Json) -> Json:
    """Return a call in the form of the chat API; other tools have name and arguments flat."""
    if not isinstance(call, dict) or isinstance(call.get("function"), dict):
        return call
    name = call.get("function") or call.get("name")
    arguments = call.get("arguments", {})
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    function: JsonObject = {"name": name, "arguments": text}
    return {"id": call.get("id"), "type": "function", "function": function}


def _parts(content: Json, losses: ImportNotes, where: str) -> list[Json]:
    found: list[Json] = []
    for one in content if isinstance(content, list) else ():
        part: JsonObject = {"type": "text", "text": one} if isinstance(one, str) else {}
        part = one if isinstance(one, dict) else part
        match part.get("type"):
            case "text" | "input_text" | "output_text":
                found.append({"type": "text", "text": part.get("text")})
            case "image_url" | "input_audio":
                found.append(part)
            case "image" | "input_image" if _is_address(
                url := part.get("image") or part.get("image_url")
            ):
                found.append({"type": "image_url", "image_url": {"url": url}})
            case "reasoning":
                pass
            case kind:
                losses.note(f"a part of a message of type {kind} was left out", where)
    return found


def _is_address(value: Json) -> bool:
    return isinstance(value, str) and value.startswith(("data:", "http://", "https://"))


_TOLD: Final = "{{ chat | rejectattr('role', 'equalto', 'user') | list }}"
_ASKED: Final = "{{ chat | selectattr('role', 'equalto', 'user') | list }}"


class Conversations:
    """The conversations of all cases, and the one prompt that sends each of them."""

    def __init__(self, losses: ImportNotes, *, sent: bool = True) -> None:
        """Look at conversations.

        Args:
            losses: Where guesses are noted.
            sent: Whether they were sent as they stand; else they are somebody's data, and what the
                user says in a row may be turns.
        """
        self._losses = losses
        self._sent = sent
        self._only_questions = True
        self._replies = False
        """Whether somebody else than the user says anything that is no instruction."""
        self._turns = False
        """Whether the user says several things in a row: turns whose replies are not there."""

    def see(self, messages: list[JsonObject]) -> list[Json]:
        """Look at a conversation; return it as the case's column `chat`."""
        only = [(one["role"], isinstance(one["content"], str)) for one in messages]
        self._only_questions &= only == [("user", True)]
        roles = [str(one["role"]) for one in messages]
        self._replies |= not {*roles} <= {*INSTRUCTING, "user"}
        self._turns |= ("user", "user") in itertools.pairwise(roles)
        return [dict(one) for one in messages]

    def prompt(self) -> JsonObject:
        """Return the prompt for a column `chat`."""
        if self._only_questions:
            return {"user": "{{ chat[0].content }}"}
        if self._turns and not self._replies and not self._sent:
            self._losses.guess(
                "what the user says in a row, without replies, is asked turn by turn"
            )
            return {"initial_session": _TOLD, "turns": _ASKED}
        return {"messages": "{{ chat }}"}
