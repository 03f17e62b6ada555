"""What is known of conversations that have no output yet, and of what their calls took."""

import json
import sqlite3
from dataclasses import dataclass

from tui_eval.model.json import JsonObject
from tui_eval.model.outputs import stored_reply
from tui_eval.model.outputs.output import Output


@dataclass(frozen=True, slots=True)
class StoredCall:
    """A call of a conversation that was answered."""

    party: str
    """Who was asked: `target` or `user`."""
    asked: bytes
    """The digest of all that was asked."""
    said: tuple[JsonObject, ...]
    """The messages since the reply before."""
    reply: Output


def calls(db: sqlite3.Connection, trial: int) -> list[StoredCall]:
    """Return the calls of a trial that were answered, in order, while it has no output."""
    return [
        StoredCall(party, asked, tuple(json.loads(said)), stored_reply.from_json(json.loads(reply)))
        for party, asked, said, reply in db.execute(
            "SELECT party, asked, said, reply FROM conversation_calls WHERE trial = ? "
            "ORDER BY number",
            (trial,),
        )
    ]


def messages(db: sqlite3.Connection, trial: int) -> tuple[JsonObject, ...]:
    """Return what was said after the prompt in a conversation that has no output yet."""
    said: list[JsonObject] = []
    for call in calls(db, trial):
        said += call.said
        if call.party == "target":
            said += call.reply.messages or ({"role": "assistant", "content": call.reply.text},)
    return tuple(said)


@dataclass(frozen=True, slots=True)
class ConversationFigures:
    """What the conversations of a run took beside what their attempts are counted for."""

    further_calls: int = 0
    """Calls to targets beside the one that each attempt is counted for."""
    user_calls: int = 0
    user_input_tokens: int = 0
    user_output_tokens: int = 0
    cost_usd: float | None = 0.0
    """Of the simulated user; None: some of it is unknown."""
    known_usd: float = 0.0
    about_usd: float | None = None
    """That, and estimates; None: nothing is estimated."""

    @property
    def unestimated(self) -> bool:
        """Whether some of what is unknown is not in `about_usd` either."""
        return self.cost_usd is None and self.about_usd is None


NO_CONVERSATIONS = ConversationFigures()


def conversation_figures(db: sqlite3.Connection, run: int) -> ConversationFigures:
    """Sum up what the conversations of a run took."""
    if db.execute("SELECT 1 FROM attempt_calls LIMIT 1").fetchone() is None:
        return NO_CONVERSATIONS
    # an attempt is counted as one request where it is known to have made a call that was answered,
    # or failed; one that is lost or was withdrawn is counted for none. What failed between two
    # calls was no call to the target
    calls, user_calls, read, produced, known, priced, rows, about, estimated = db.execute(
        "SELECT ifnull(sum(c.calls - (a.state = 'answered' OR (a.state = 'failed' "
        "AND a.error_kind IN ('user', 'tool', 'template', 'attachment')))), 0), "
        "ifnull(sum(c.user_calls), 0), "
        "ifnull(sum(c.user_input_tokens), 0), ifnull(sum(c.user_output_tokens), 0), "
        "ifnull(sum(c.user_usd), 0.0), count(c.user_usd), count(*), "
        "ifnull(sum(ifnull(c.user_about_usd, c.user_usd)), 0.0), count(c.user_about_usd) "
        "FROM trials t JOIN attempt_calls c ON c.trial = t.id "
        "JOIN attempts a ON a.id = c.attempt WHERE t.run = ?",
        (run,),
    ).fetchone()
    return ConversationFigures(
        further_calls=calls,
        user_calls=user_calls,
        user_input_tokens=read,
        user_output_tokens=produced,
        cost_usd=known if priced == rows else None,
        known_usd=known,
        about_usd=about if estimated else None,
    )
