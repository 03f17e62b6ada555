"""Why an endpoint stopped: the one table of finish reasons, in the words of all dialects.

What is not in it is never taken for a finished answer. The words come from the documentation of
the chat, responses and messages APIs of OpenAI, Azure, Anthropic, Gemini, Mistral, DeepSeek,
Cohere, Bedrock, OpenRouter and Zhipu, and of the servers vLLM, SGLang, TGI, llama.cpp and Ollama.
"""

import re
from enum import StrEnum
from typing import Final


class Ending(StrEnum):
    """What a finish reason says of an answer."""

    FINISHED = "finished"
    """The model ended by itself, or wants a tool called."""
    CUT = "cut"
    """A limit ended it: on tokens, or one of a trial's `limits`."""
    FILTERED = "filtered"
    """A content filter, or a model that declines, took it away."""
    BROKEN_OFF = "broken off"
    """Something failed at the endpoint that may pass: a further attempt may get an answer."""
    UNKNOWN = "unknown"
    """Nothing here says; asking again may well give the same."""


_ENDINGS: Final = {
    "stop": Ending.FINISHED,
    "tool_calls": Ending.FINISHED,
    "length": Ending.CUT,
    "content_filter": Ending.FILTERED,
    "error": Ending.BROKEN_OFF,
}
"""The protocol's own words, and what each says."""
_WORDS: Final = {
    "stop": "stop end_turn stop_sequence eos eos_token endoftext word complete completed",
    "tool_calls": "tool_calls tool_call tool_use function_call function_calls",
    "length": (
        "length max_tokens max_output_tokens max_completion_tokens max_length model_length "
        "token_limit limit context_length_exceeded model_context_window_exceeded"
    ),
    "content_filter": (
        "content_filter content_filtered safety image_safety prohibited_content blocklist spii "
        "refusal guardrail_intervened sensitive error_toxic"
    ),
    "error": (
        "error abort aborted cancel cancelled canceled expired failed interrupted timeout "
        "time_out timed_out time_limit overloaded insufficient_system_resource internal_error "
        "server_error network_error queued in_progress"
    ),
}
"""All words that mean the same as the protocol's own."""


def _folded(reason: str) -> str:
    """Return a reason however it is spelled: `MAX_TOKENS`, `maxTokens`, `max-tokens`."""
    return re.sub(r"[-_ ]", "", reason[:_LONGEST]).lower()


_LONGEST: Final = 64
"""Characters of a reason that are looked at: longer than any word there is."""
_TABLE: Final = {
    _folded(word): (_ENDINGS[own], own) for own, words in _WORDS.items() for word in words.split()
}
LIMITS: Final = (
    "wall",
    "cpu_s",
    "memory",
    "disk",
    "processes",
    "tokens",
    "cost_usd",
    "turns",
    "tool_calls",
)
"""The limits of a trial that end it; as finish reasons they are `limit:wall`, …"""
_LIMIT_PREFIX: Final = "limit:"
_TABLE.update(
    {_folded(own): (Ending.CUT, own) for own in (f"{_LIMIT_PREFIX}{name}" for name in LIMITS)}
)
_NOWHERE: Final = (Ending.UNKNOWN, "")


def _found(reason: str) -> tuple[Ending, str]:
    # nearly all there are stand there as they are
    return _TABLE.get(reason) or _TABLE.get(_folded(reason), _NOWHERE)


def ending(reason: str | None) -> Ending:
    """Return what a finish reason says; an endpoint that gives none is taken to have finished."""
    if not reason:
        return Ending.FINISHED
    return _found(reason)[0]


def canonical(reason: str) -> str:
    """Return the protocol's own word for a finished, cut or filtered answer; others as they are."""
    how, own = _found(reason)
    return reason if how in (Ending.BROKEN_OFF, Ending.UNKNOWN) else own


def trial_limit(reason: str | None) -> str | None:
    """Return which of a trial's `limits` a finish reason names; None: none of them."""
    own = canonical(reason) if reason else ""
    return own.removeprefix(_LIMIT_PREFIX) if own.startswith(_LIMIT_PREFIX) else None


def folded_words(*of: Ending) -> tuple[str, ...]:
    """Return the words that say one of these, in lower case and without `_`, `-` and spaces."""
    return tuple(word for word, (how, _) in _TABLE.items() if how in of)
