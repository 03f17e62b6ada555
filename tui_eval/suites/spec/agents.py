"""The coding agents that a target can name: how each is started, asked and read.

Facts about programs of others, as far as the rest needs them; `targets/transcripts` reads what they
write. A preset never grants an agent permissions: what it may do without asking is the suite's to
say in `args`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

TRANSCRIPT_FORMATS: Final = (
    "messages",
    "atif",
    "claude-code",
    "codex",
    "gemini",
    "opencode",
    "aider",
    "mini-swe-agent",
)
"""Every form of transcript that can be read."""


@dataclass(frozen=True, slots=True)
class AgentPreset:
    """What is known of one agent."""

    name: str
    """How suites name it; also the name of its form of transcript."""
    command: tuple[str, ...]
    """What it is started with; model, `args` of the suite and prompt follow in this order."""
    model: tuple[str, ...]
    """The option that names the model, in front of it."""
    prompt: tuple[str, ...] | None
    """The option in front of the prompt, which is the last argument; empty: it takes none. None:
    the prompt is the program's input."""
    keys: tuple[str, ...]
    """The variables that may hold its key; which it needs depends on the model."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables that it is always given: nothing asked, nothing updated, nothing reported."""
    transcript: str = "stdout"
    """Where it writes its transcript: `stdout`, or `file:` and a path in the workspace."""
    output: Literal["last_message", "diff"] = "last_message"
    """What its output is where the suite does not say."""
    limit_codes: Mapping[int, str] = field(default_factory=dict)
    """Exit codes that say that it kept to a limit of its own, and the finish reason of each."""
    auth_codes: tuple[int, ...] = ()
    """Exit codes that say that it could not sign in, which every trial would meet."""
    again: tuple[str, ...] | None = None
    """What is put behind `command` for a further turn of its last conversation in the same
    workspace and home; None: it has none."""


AGENTS: Final[dict[str, AgentPreset]] = {
    one.name: one
    for one in (
        AgentPreset(
            name="claude-code",
            command=("claude", "-p", "--verbose", "--output-format", "stream-json"),
            model=("--model",),
            prompt=None,
            keys=("ANTHROPIC_API_KEY",),
            env={"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
            again=("--continue",),
        ),
        AgentPreset(
            name="codex",
            command=("codex", "exec", "--json", "--skip-git-repo-check"),
            model=("--model",),
            prompt=None,
            keys=("CODEX_API_KEY", "OPENAI_API_KEY"),
            again=("resume", "--last"),
        ),
        AgentPreset(
            name="gemini",
            command=("gemini", "--output-format", "stream-json"),
            model=("--model",),
            prompt=None,
            keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
            env={"GEMINI_CLI_TRUST_WORKSPACE": "true"},
            limit_codes={53: "limit:turns"},
            auth_codes=(41,),
            again=("--resume", "latest"),
        ),
        AgentPreset(
            name="opencode",
            command=("opencode", "run", "--format", "json"),
            model=("--model",),
            prompt=None,
            keys=("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"),
            env={"OPENCODE_DISABLE_AUTOUPDATE": "1"},
            again=("--continue",),
        ),
        AgentPreset(
            name="aider",
            command=(
                *("aider", "--yes-always", "--no-pretty", "--no-stream", "--no-git"),
                *("--no-show-model-warnings", "--no-show-release-notes"),
            ),
            model=("--model",),
            prompt=("--message",),
            keys=("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"),
            env={
                "AIDER_CHECK_UPDATE": "false",
                "AIDER_ANALYTICS": "false",
                # its histories would be files of the workspace that it changed
                "AIDER_CHAT_HISTORY_FILE": "/dev/null",
                "AIDER_INPUT_HISTORY_FILE": "/dev/null",
            },
            output="diff",
        ),
        AgentPreset(
            name="mini-swe-agent",
            command=("mini", "--yolo", "--exit-immediately", "--output", "trajectory.json"),
            model=("--model",),
            prompt=("--task",),
            keys=("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"),
            env={"MSWEA_SILENT_STARTUP": "1", "MSWEA_CONFIGURED": "true"},
            transcript="file:trajectory.json",
            output="diff",
        ),
    )
}
"""The presets, by name."""
