"""What was answered, and how it is kept."""

import sqlite3

from tui_eval.store.migrations.script import run_script

_ANSWERS = (  # how an answer ends that is one: without `_`, `-` and spaces, in lower case
    "'', 'stop', 'endturn', 'stopsequence', 'eos', 'eostoken', 'endoftext', 'word', 'complete', "
    "'completed', 'toolcalls', 'toolcall', 'tooluse', 'functioncall', 'functioncalls', 'length', "
    "'maxtokens', 'maxoutputtokens', 'maxcompletiontokens', 'maxlength', 'modellength', "
    "'tokenlimit', 'limit', 'contextlengthexceeded', 'modelcontextwindowexceeded', "
    "'contentfilter', 'contentfiltered', 'safety', 'imagesafety', 'prohibitedcontent', "
    "'blocklist', 'spii', 'refusal', 'guardrailintervened', 'sensitive', 'errortoxic'"
)


def broken_off_outputs(db: sqlite3.Connection) -> None:
    """Let no output be used again that its endpoint has broken off; it stays where it is."""
    db.execute(
        "UPDATE outputs SET superseded = 1 WHERE superseded = 0 AND finish_reason IS NOT NULL "
        "AND replace(replace(replace(lower(finish_reason), '_', ''), '-', ''), ' ', '') "
        f"NOT IN ({_ANSWERS})"
    )


_LONG_TEXTS = """
CREATE TABLE long_texts (               -- of messages, once each
    digest BLOB PRIMARY KEY,            -- SHA-256 of its UTF-8
    characters INTEGER NOT NULL,
    text TEXT NOT NULL
);
CREATE TABLE output_texts (             -- where in an output's messages they are cut
    output INTEGER NOT NULL,
    place TEXT NOT NULL,                -- JSON: the message's number, then keys
    digest BLOB NOT NULL,
    PRIMARY KEY (output, place)
) WITHOUT ROWID;
CREATE INDEX output_texts_digest ON output_texts (digest);
"""


def long_texts_once(db: sqlite3.Connection) -> None:
    """Make room for long texts of messages beside them; earlier ones stay as they are."""
    run_script(db, _LONG_TEXTS)


_SELF_REPORTED = """
ALTER TABLE outputs ADD COLUMN self_reported INTEGER NOT NULL DEFAULT 0;  -- usage and cost_usd
UPDATE outputs SET self_reported = 1, cost_usd = a.about_usd FROM attempts a
WHERE a.output = outputs.id AND a.about_tokens = 0 AND a.about_usd IS NOT NULL;
"""


def outputs_self_reported(db: sqlite3.Connection) -> None:
    """Keep whose word it is what an output took: until now only an agent's money told."""
    run_script(db, _SELF_REPORTED)


_CONVERSATIONS = """
CREATE TABLE conversation_calls (       -- replies of conversations whose output is still to come
    trial INTEGER NOT NULL,
    number INTEGER NOT NULL,            -- in the conversation, from 0
    party TEXT NOT NULL,                -- who was asked: target, user
    asked BLOB NOT NULL,                -- digest of all that was asked
    said TEXT NOT NULL,                 -- JSON: messages since the reply before
    reply TEXT NOT NULL,                -- JSON, see model.stored_reply
    PRIMARY KEY (trial, number)
) WITHOUT ROWID;
CREATE TABLE attempt_calls (            -- of attempts that make several, those that were answered
    attempt INTEGER PRIMARY KEY,
    trial INTEGER NOT NULL,
    calls INTEGER NOT NULL DEFAULT 0,   -- what they took is in attempts
    user_calls INTEGER NOT NULL DEFAULT 0,
    user_input_tokens INTEGER NOT NULL DEFAULT 0,
    user_output_tokens INTEGER NOT NULL DEFAULT 0,
    user_usd REAL DEFAULT 0,            -- NULL: some of it is unknown
    user_about_usd REAL                 -- that, and estimates; NULL: nothing is estimated
);
CREATE INDEX attempt_calls_trial ON attempt_calls (trial);
"""


def conversations(db: sqlite3.Connection) -> None:
    """Keep each reply within a conversation until its output is there, and what calls took."""
    run_script(db, _CONVERSATIONS)
