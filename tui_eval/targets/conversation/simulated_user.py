"""The simulated user: a model that is told who it is, and speaks after each reply."""

import re
from collections.abc import Sequence
from typing import Final

from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.conversation import text_of
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.suites.spec.user import UserSpec
from tui_eval.suites.templates.template import Names, Template
from tui_eval.targets.base import Asked
from tui_eval.targets.model.endpoint_connection import EndpointConnection
from tui_eval.targets.model.model_caller import ModelCaller

_ROLE: Final = (
    "You play the user in a conversation with an assistant; you are not the assistant. Write only "
    "what the user says next, in the user's voice, and no more than one message. When the "
    "conversation is over for the user, write {stop} alone.\n\nThe user:\n{instructions}"
)
_BEGIN: Final = "(The conversation begins. Write the user's first message.)"


class SimulatedUser(ModelCaller, Asked):
    """Asks a model for what the user says next."""

    def __init__(self, spec: UserSpec, connection: EndpointConnection) -> None:
        """Make the user; its connection is shared with whoever asks at the same address.

        Raises:
            TemplateError: its instructions are no template.
        """
        self._connection = connection
        super().__init__(spec, f"user|{connection.name}")
        self._spec: UserSpec = spec
        self._instructions = Template(spec.instructions, "user.instructions")
        word = rf"{re.escape(spec.stop)}(?!\w)[ \t.!]*"
        self._stop = re.compile(rf"^[ \t]*{word}$|(?<!\w){word}\s*\Z", re.MULTILINE)
        """Alone in a line, or the last word: one that is spoken of ends nothing."""

    def settings(self, names: Names) -> JsonObject:
        """Return all that decides about what it says in a case: part of the request.

        Raises:
            TemplateError: its instructions cannot be rendered.
        """
        return {
            "identity": self.identity(),
            "params": self._spec.params,
            "instructions": self._instructions.text(names),
            "stop": self._spec.stop,
            "max_turns": self._spec.max_turns,
        }

    def request(self, settings: JsonObject, said: Sequence[JsonObject]) -> JsonObject:
        """Return the request for its next turn.

        Args:
            settings: As `settings` gave them.
            said: The conversation so far: what the user said is its own.
        """
        role = _ROLE.format(stop=settings["stop"], instructions=settings["instructions"])
        messages: list[JsonObject] = [
            {"role": "system", "content": role},
            {"role": "user", "content": _BEGIN},
        ]
        for message in said:
            text = text_of(message.get("content"))
            if message.get("role") == "user":
                messages.append({"role": "assistant", "content": text})
            elif message.get("role") == "assistant" and text:
                messages.append({"role": "user", "content": text})
        return self._messages(messages)

    async def ask(self, request: JsonObject) -> Output | Failure:
        """Make one call; what it cost is in the reply."""
        return await self._connection.call(self._spec, request, self._spec.timeout)

    def heard(self, reply: Output) -> tuple[str | None, bool]:
        """Return what it says (None: nothing more), and whether that ends the conversation."""
        text = reply.text or ""
        if self._stop.search(text) is None:
            return text, False
        return self._stop.sub("", text).strip() or None, True
