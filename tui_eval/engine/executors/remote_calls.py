"""The calls of a conversation that a worker holds: known, allowed and counted by the engine."""

import asyncio
from collections.abc import Callable

from tui_eval.engine.executors.handful import CallAnswer, CallAsked, CallMade, CallSend
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.targets.conversation.call_log import DialogueCall, HeldError, Send


class RemoteCalls:
    """The calls of one attempt, at its worker: each is made here once the engine lets it leave."""

    counted = True
    call_s = 0.0

    def __init__(self, attempt: int, tell: Callable[[CallAsked | CallMade], None]) -> None:
        """Begin with no call.

        Args:
            attempt: The attempt.
            tell: Sends the engine a message; it does not wait.
        """
        self._attempt = attempt
        self._tell = tell
        self._heard: asyncio.Queue[CallSend | CallAnswer] = asyncio.Queue()
        self.held: str | None = None

    def heard(self, message: CallSend | CallAnswer) -> None:
        """Take what the engine says of the call that is waited for."""
        self._heard.put_nowait(message)

    async def ask(self, call: DialogueCall, send: Send) -> Output | Failure:
        """Return the reply to a call: the one that the engine knows, or that comes when it is sent.

        Raises:
            HeldError: the engine lets none leave now.
        """
        self._tell(CallAsked(self._attempt, call))
        said = await self._heard.get()
        if isinstance(said, CallSend):
            self._tell(CallMade(self._attempt, await send()))
            said = await self._heard.get()
        assert isinstance(said, CallAnswer), "what was sent is answered"
        if said.reply is None:
            self.held = said.held
            raise HeldError(said.held)
        return said.reply
