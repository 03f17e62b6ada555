"""The recorded transcripts, and what each says."""

from pathlib import Path
from typing import Final, NamedTuple

from tui_eval.model.outputs.output import Usage
from tui_eval.targets.transcripts import Reader, reader_of

RECORDED: Final = Path(__file__).parent / "recorded"


class Said(NamedTuple):
    """What is to be read from a transcript."""

    roles: str
    """The first letter of each message's role."""
    text: str | None
    usage: Usage = Usage()
    cost_usd: float | None = None
    tools: tuple[str, ...] = ()
    finish: str | None = None
    failure: str | None = None
    """The kind of its failure, with `!` where it is everybody's and `?` where it may pass."""


_DONE: Final = "All done: the file is there."

WHAT_IS_SAID: Final = {
    "chat-lines.jsonl": Said("uata", "All done.", Usage(30, 7), cost_usd=0.75, tools=("write",)),
    "atif-1.7.json": Said(
        "suaata", "All done.", Usage(220, 15, cached=40), cost_usd=0.75, tools=("bash",)
    ),
    "claude-code-ok.jsonl": Said(
        "atta", _DONE, Usage(2242, 59, cached=2000), 0.003735, ("Bash", "Bash"), "stop"
    ),
    "claude-code-turns.jsonl": Said(
        "attat", "I will look.", Usage(2242, 84, cached=2000), 0.00436, ("Bash",) * 3, "limit:turns"
    ),
    "claude-code-401.jsonl": Said(
        "a", "Invalid API key · Fix external API key", Usage(0, 0, cached=0), 0.0, failure="auth!"
    ),
    "claude-code-429.jsonl": Said(
        "a",
        "API Error: Request rejected (429) · slow down",
        Usage(0, 0, cached=0),
        0.0,
        failure="rate_limit?",
    ),
    "codex-ok.jsonl": Said(
        "aata", _DONE, Usage(401, 60, 20, 100), tools=("command_execution",), finish="stop"
    ),
    "codex-401.jsonl": Said("", None, failure="auth!"),
    "codex-429.jsonl": Said("", None, failure="rate_limit?"),
    "codex-500.jsonl": Said("", None, failure="server_error?"),
    "gemini-ok.jsonl": Said(
        "uatta",
        _DONE,
        Usage(602, 50, cached=80),
        tools=("run_shell_command", "read_file"),
        finish="stop",
    ),
    "gemini-turns.jsonl": Said(
        "uattattatt",
        "I will look.",
        Usage(906, 75, cached=120),
        tools=("run_shell_command", "read_file") * 3,
        finish="limit:turns",
    ),
    "gemini-401.jsonl": Said("u", None, Usage(0, 0, cached=0), failure="auth!"),
    "opencode-ok.jsonl": Said(
        "atta", _DONE, Usage(802, 40, 0, 60), 0.000822, ("read", "bash"), "stop"
    ),
    "opencode-401.jsonl": Said("", None, failure="auth!"),
    "aider-ok.txt": Said("as", "All done.\n\n\n\nmade.txt\n\n```\none\n\n```", Usage(400, 20)),
    "aider-401.txt": Said("", None, failure="auth!"),
    "mini-swe-agent-ok.json": Said(
        "suatat", "I will look.", Usage(801, 40, 16, 60), tools=("bash", "bash"), finish="stop"
    ),
    "mini-swe-agent-401.json": Said("su", None, failure="auth!"),
}


def format_of(file: str) -> str:
    """Return the format of a recorded transcript."""
    name = file.rsplit(".", 1)[0].rsplit("-", 1)[0] if file != "chat-lines.jsonl" else "messages"
    return name if not file.startswith("atif") else "atif"


def read(name: str, *pieces: bytes) -> Reader:
    """Read pieces as a format, to the end."""
    reader = reader_of(name)
    for piece in pieces:
        reader.feed(piece)
    reader.finish()
    return reader


def all_of(reader: Reader) -> dict[str, object]:
    """Return everything that a reader tells."""
    names = ("messages", "text", "usage", "cost_usd", "turn", "tool", "steps", "tool_calls",
             "unknown", "dropped", "failure", "finish_reason", "model")  # fmt: skip
    return {name: getattr(reader, name) for name in names}
